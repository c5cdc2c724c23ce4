//! For which side a join's condition is a filter (policy 3.2), and keys that carry (3.1).

use crate::lab::{Lab, on_large_stack};

fn expect(cases: &'static [(&'static str, &'static str)]) {
    on_large_stack(move || Lab::new().expect("app:acme", cases));
}

#[test]
fn inner_and_outer() {
    expect(&[
        (
            "ok",
            "SELECT 1 FROM app.orders o JOIN app.customers c ON c.tenant_id = 'acme' AND o.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT 1 FROM app.orders o LEFT JOIN app.customers c ON c.tenant_id = 'acme' WHERE o.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT 1 FROM app.orders o LEFT JOIN app.customers c ON c.tenant_id = o.tenant_id WHERE o.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT 1 FROM app.orders o LEFT JOIN app.customers c ON true WHERE o.tenant_id = 'acme' AND c.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT 1 FROM app.customers c RIGHT JOIN app.orders o ON c.tenant_id = o.tenant_id WHERE o.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT 1 FROM app.orders o FULL JOIN app.customers c ON c.id = o.id WHERE o.tenant_id = 'acme' AND c.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT 1 FROM app.orders o FULL JOIN app.customers c ON c.tenant_id = o.tenant_id WHERE o.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT 1 FROM app.orders o FULL JOIN app.customers c USING (tenant_id) WHERE tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT 1 FROM app.plans p LEFT JOIN (app.orders o JOIN app.customers c ON c.tenant_id = o.tenant_id) ON o.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT 1 FROM app.orders NATURAL JOIN (SELECT tenant_id, id FROM app.customers) c WHERE tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT 1 FROM app.orders o LEFT JOIN LATERAL (SELECT 1 FROM app.customers c WHERE c.tenant_id = o.tenant_id LIMIT 1) x ON true WHERE o.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o LEFT JOIN app.customers c ON o.tenant_id = 'acme' AND c.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o LEFT JOIN app.customers c ON c.tenant_id = o.tenant_id AND c.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o RIGHT JOIN app.plans p ON p.code = 'pro' WHERE o.tenant_id = 'acme' OR p.code = 'x'",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o FULL JOIN app.customers c ON c.tenant_id = 'acme' AND o.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o FULL JOIN app.customers c ON c.id = o.id WHERE o.tenant_id = 'acme'",
        ),
        ("tenant_unproven", "SELECT 1 FROM app.orders o FULL JOIN app.customers c USING (tenant_id)"),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o LEFT JOIN app.customers c ON c.id = o.customer_id WHERE o.tenant_id = 'acme' AND c.id > 1",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.plans p LEFT JOIN (app.orders o LEFT JOIN app.customers c ON c.tenant_id = 'acme') ON c.tenant_id = 'acme' AND o.id = 1 OR p.code = ''",
        ),
    ]);
}

#[test]
fn a_key_with_the_tenant_in_it_carries() {
    expect(&[
        (
            "ok",
            "SELECT 1 FROM app.shipments s JOIN app.warehouses w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT 1 FROM app.shipments s LEFT JOIN app.warehouses w ON s.warehouse_id = w.id WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.shipments s JOIN app.warehouses w ON w.id = s.warehouse_id WHERE w.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.shipments s JOIN app.warehouses w ON w.id = s.warehouse_id + 1 WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.shipments s JOIN app.warehouses w ON w.id = s.order_id WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.shipments s LEFT JOIN app.warehouses w ON true WHERE s.tenant_id = 'acme' AND (w.id = s.warehouse_id OR w.id IS NULL)",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o JOIN app.customers c ON c.id = o.customer_id WHERE o.tenant_id = 'acme'",
        ),
    ]);
}

#[test]
fn a_key_may_be_trusted_by_name() {
    on_large_stack(|| {
        let text = include_str!("../../../lab/policy.yaml")
            .replace(
                "proof: [literal, bound]",
                "proof: [literal, bound]\n  trust_keys: [app.orders.customer_id]",
            )
            .replace(
                "statements: [select, insert, update, delete, merge, transaction",
                "statements: [select, delete, transaction",
            );
        let lab = Lab::with_policy(&text);
        lab.expect(
            "app:acme",
            &[
                ("ok", "SELECT 1 FROM app.orders o JOIN app.customers c ON c.id = o.customer_id WHERE o.tenant_id = 'acme'"),
                ("tenant_unproven", "SELECT 1 FROM app.orders o JOIN app.customers c ON c.id = o.id WHERE o.tenant_id = 'acme'"),
                ("tenant_unproven", "SELECT 1 FROM app.order_items i JOIN app.products p ON p.id = i.product_id WHERE i.tenant_id = 'acme'"),
            ],
        );
    });
}

/// Rows of a partition are written through its parent, of a parent through its children; and an action
/// of a key writes a column that no role may name.
#[test]
fn a_key_that_is_written_by_another_name_is_not_trusted() {
    on_large_stack(|| {
        let text = include_str!("../../../lab/policy.yaml")
            .replace(
                "proof: [literal, bound]",
                "proof: [literal, bound]\n  trust_keys: [app.orders.customer_id]",
            )
            .replace(
                "statements: [select, insert, update, delete, merge, transaction",
                "statements: [select, delete, transaction",
            );
        let golden = include_str!("../../golden/lab-catalog.json");
        let orders = r#""is_partition" : false, "kind" : "r", "name" : "orders""#;
        let none = format!(r#""inherits" : [], {orders}"#);
        let key = r#""name" : "orders_customer_id_fkey", "on_delete" : "a""#;
        let leads = format!(r#""has_children" : false, "index_leads" : ["id", "tenant_id"], {none}"#);
        let parent = r#"[{"name" : "notes", "schema" : "app"}]"#;
        let sql =
            "SELECT 1 FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.tenant_id = 'acme'";
        for (from, to) in [
            (orders, orders.to_owned()),
            (&none, none.replace("[]", parent)),
            (&none, none.replace("[]", parent).replace("false", "true")),
            (&leads, leads.replacen("false", "true", 1)),
            (key, key.replace(r#": "a""#, r#": "d""#)),
        ] {
            let same = from == to;
            let catalog = golden.replacen(from, &to, 1);
            assert_eq!(catalog == golden, same, "{from}");
            let mut lab = Lab::with_policy(&text);
            lab.catalog = pgmoat_policy::Catalog::parse(&catalog).unwrap();
            lab.expect("app:acme", &[(if same { "ok" } else { "tenant_unproven" }, sql)]);
            let problems = lab.policy.check(&lab.catalog);
            let refused = problems.iter().any(|p| p.is_error() && p.message.starts_with("cannot be trusted"));
            assert_eq!(refused, !same, "{to}");
        }
    });
}

/// A merged column has the common type of both sides, in which other values can be equal.
#[test]
fn merged_columns_of_two_types() {
    expect(&[
        (
            "tenant_unproven",
            "SELECT o.id FROM (SELECT 'acme'::char(4) AS tenant_id) w RIGHT JOIN app.orders o USING (tenant_id) \
             WHERE tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT o.id FROM (SELECT 'acme'::name AS tenant_id) w RIGHT JOIN app.orders o USING (tenant_id) \
             WHERE tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT o.id FROM app.orders o LEFT JOIN (SELECT 'acme'::varchar AS tenant_id) w USING (tenant_id) \
             WHERE tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT o.id FROM (SELECT 'acme'::varchar AS tenant_id) w JOIN app.orders o USING (tenant_id) \
             WHERE tenant_id = 'acme'",
        ),
    ]);
}
