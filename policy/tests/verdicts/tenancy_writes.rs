//! INSERT, ON CONFLICT, UPDATE, DELETE, MERGE (policy 3.5, 3.6), and shared relations (3.4).

use crate::lab::{Lab, on_large_stack};

fn expect(cases: &'static [(&'static str, &'static str)]) {
    on_large_stack(move || Lab::new().expect("app:acme", cases));
}

#[test]
fn inserted_rows_are_the_tenants() {
    expect(&[
        ("ok", "INSERT INTO app.notes (body, tenant_id) VALUES ('x', 'acme'), ('y', 'acme'::text)"),
        ("ok", "INSERT INTO app.notes VALUES (1, 'acme', 'x')"),
        (
            "ok",
            "INSERT INTO app.notes (tenant_id, body) SELECT tenant_id, note FROM app.orders WHERE tenant_id = 'acme'",
        ),
        ("ok", "INSERT INTO app.notes (tenant_id, body) SELECT 'acme', name FROM app.plans"),
        (
            "ok",
            "INSERT INTO app.notes (tenant_id, body) SELECT tenant_id, '' FROM app.orders WHERE tenant_id = 'acme' UNION ALL SELECT 'acme', ''",
        ),
        (
            "ok",
            "INSERT INTO app.notes (id, tenant_id, body) VALUES (nextval('app.notes_id_seq'), 'acme', DEFAULT)",
        ),
        ("ok", "INSERT INTO billing.invoices (account_no, amount, issued_on) VALUES ('42', 1, '2026-01-01')"),
        ("tenant_mismatch", "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'x'), ('globex', 'y')"),
        ("tenant_unproven", "INSERT INTO app.notes (body) VALUES ('x')"),
        ("tenant_unproven", "INSERT INTO app.notes DEFAULT VALUES"),
        ("tenant_unproven", "INSERT INTO app.notes VALUES (1)"),
        ("tenant_unproven", "INSERT INTO app.notes (tenant_id, body) VALUES (DEFAULT, 'x')"),
        ("tenant_unproven", "INSERT INTO app.notes (tenant_id, body) VALUES (NULL, 'x')"),
        (
            "tenant_unproven",
            "INSERT INTO app.notes (tenant_id, body) VALUES ((SELECT 'acme' WHERE false), 'x')",
        ),
        (
            "tenant_unproven",
            "INSERT INTO app.notes (tenant_id, body) SELECT c.tenant_id, 'x' FROM app.plans p LEFT JOIN app.customers c ON c.tenant_id = 'acme'",
        ),
        ("tenant_mismatch", "INSERT INTO app.notes (tenant_id, body) SELECT 'globex', 'x'"),
        ("tenant_unproven", "INSERT INTO app.notes (tenant_id, body) SELECT code, name FROM app.plans"),
        (
            "tenant_unproven",
            "INSERT INTO app.notes (body, tenant_id) SELECT tenant_id, note FROM app.orders WHERE tenant_id = 'acme'",
        ),
        ("relation_not_allowed", "INSERT INTO app.plans VALUES ('x', 'y', 1)"),
        ("unsupported", "INSERT INTO app.open_orders (tenant_id) VALUES ('acme')"),
        ("unsupported", "UPDATE app.daily_revenue SET day = day WHERE tenant_id = 'acme'"),
        ("column_unknown", "INSERT INTO app.notes (tenant_id, nope) VALUES ('acme', 'x')"),
        ("catalog_not_allowed", "INSERT INTO pg_catalog.pg_class DEFAULT VALUES"),
    ]);
}

#[test]
fn conflicting_rows_are_the_tenants() {
    expect(&[
        (
            "ok",
            "INSERT INTO app.products (tenant_id, sku, name, price) VALUES ('acme', 's', 'n', 1) ON CONFLICT (tenant_id, sku) DO UPDATE SET name = excluded.name, tenant_id = excluded.tenant_id",
        ),
        (
            "ok",
            "INSERT INTO app.products (tenant_id, sku, name, price) VALUES ('acme', 's', 'n', 1) ON CONFLICT ON CONSTRAINT products_tenant_id_sku_key DO UPDATE SET name = 'x'",
        ),
        (
            "ok",
            "INSERT INTO app.products AS p (id, tenant_id, sku, name, price) VALUES (1, 'acme', 's', 'n', 1) ON CONFLICT (id) DO UPDATE SET name = 'x' WHERE p.tenant_id = 'acme'",
        ),
        (
            "ok",
            "INSERT INTO app.products AS p (id, tenant_id, sku, name, price) VALUES (1, 'acme', 's', 'n', 1) ON CONFLICT (id) DO UPDATE SET name = 'x' WHERE p.tenant_id = excluded.tenant_id",
        ),
        (
            "ok",
            "INSERT INTO app.products (id, tenant_id, sku, name, price) VALUES (1, 'acme', 's', 'n', 1) ON CONFLICT DO NOTHING",
        ),
        (
            "tenant_unproven",
            "INSERT INTO app.products (id, tenant_id, sku, name, price) VALUES (1, 'acme', 's', 'n', 1) ON CONFLICT (id) DO UPDATE SET name = 'x'",
        ),
        (
            "tenant_unproven",
            "INSERT INTO app.products AS p (id, tenant_id, sku, name, price) VALUES (1, 'acme', 's', 'n', 1) ON CONFLICT (id) DO UPDATE SET name = 'x' WHERE excluded.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "INSERT INTO app.products AS p (id, tenant_id, sku, name, price) SELECT id, 'acme', 's', 'n', 1 FROM app.orders WHERE tenant_id = 'acme' ON CONFLICT (id) DO UPDATE SET name = 'x' WHERE p.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "INSERT INTO app.products (id, tenant_id, sku, name, price) SELECT id, 'acme', 's', 'n', 1 FROM app.orders WHERE tenant_id = 'acme' ON CONFLICT DO NOTHING",
        ),
        (
            "tenant_unproven",
            "INSERT INTO app.products (id, tenant_id, sku, name, price) VALUES (1, 'acme', 's', 'n', 1) ON CONFLICT ON CONSTRAINT products_pkey DO UPDATE SET name = 'x'",
        ),
        (
            "tenant_column_write",
            "INSERT INTO app.products (tenant_id, sku, name, price) VALUES ('acme', 's', 'n', 1) ON CONFLICT (tenant_id, sku) DO UPDATE SET tenant_id = excluded.name",
        ),
    ]);
}

#[test]
fn a_long_list_of_conflicts_is_a_limit() {
    on_large_stack(|| {
        let lab = Lab::new();
        let rows = |count: usize| {
            let rows: Vec<String> = (0..count).map(|n| format!("({n}, 'acme', 's', 'n', 1)")).collect();
            format!(
                "INSERT INTO app.products (id, tenant_id, sku, name, price) VALUES {} ON CONFLICT DO NOTHING",
                rows.join(", ")
            )
        };
        assert_eq!(lab.denial("app:acme", &rows(100)), None);
        let denial = lab.denial("app:acme", &rows(101));
        assert_eq!(denial.map(|denial| denial.code.to_string()).as_deref(), Some("limit_conflict_rows"));
    });
}

#[test]
fn changed_rows_are_the_tenants() {
    expect(&[
        ("ok", "UPDATE app.orders SET note = 'x' WHERE tenant_id = 'acme'"),
        (
            "ok",
            "UPDATE app.orders o SET note = c.full_name FROM app.customers c WHERE o.tenant_id = 'acme' AND c.tenant_id = o.tenant_id",
        ),
        ("ok", "UPDATE app.orders SET tenant_id = tenant_id, note = 'x' WHERE tenant_id = 'acme'"),
        ("ok", "UPDATE app.orders SET (tenant_id, note) = ('acme', 'x') WHERE tenant_id = 'acme'"),
        (
            "ok",
            "DELETE FROM app.orders o USING app.customers c WHERE o.tenant_id = 'acme' AND c.tenant_id = 'acme'",
        ),
        ("tenant_unproven", "UPDATE app.orders SET note = 'x'"),
        (
            "tenant_unproven",
            "UPDATE app.orders o SET note = 'x' FROM app.customers c WHERE o.tenant_id = 'acme' AND c.id = o.customer_id",
        ),
        ("tenant_column_write", "UPDATE app.orders SET tenant_id = 'globex' WHERE tenant_id = 'acme'"),
        ("tenant_column_write", "UPDATE app.orders SET tenant_id = DEFAULT WHERE tenant_id = 'acme'"),
        (
            "tenant_column_write",
            "UPDATE app.orders SET (tenant_id, note) = (SELECT 'acme', 'x') WHERE tenant_id = 'acme'",
        ),
        ("tenant_column_write", "UPDATE app.orders SET tenant_id = note WHERE tenant_id = 'acme'"),
        ("tenant_unproven", "DELETE FROM app.orders"),
        (
            "tenant_unproven",
            "WITH d AS (DELETE FROM app.orders RETURNING *) SELECT * FROM d WHERE tenant_id = 'acme'",
        ),
        ("relation_not_allowed", "UPDATE app.plans SET name = 'x'"),
        ("relation_not_allowed", "SELECT * FROM app.plans FOR UPDATE"),
        ("ok", "SELECT * FROM app.orders WHERE tenant_id = 'acme' FOR UPDATE SKIP LOCKED"),
    ]);
}

#[test]
fn merge() {
    expect(&[
        (
            "ok",
            "MERGE INTO app.notes n USING app.orders o ON n.tenant_id = o.tenant_id AND o.tenant_id = 'acme' AND n.id = o.id WHEN MATCHED THEN DELETE",
        ),
        (
            "ok",
            "MERGE INTO app.notes n USING (SELECT * FROM app.orders WHERE tenant_id = 'acme') o ON n.tenant_id = o.tenant_id AND n.id = o.id WHEN NOT MATCHED THEN INSERT (tenant_id, body) VALUES (o.tenant_id, 'x')",
        ),
        (
            "tenant_unproven",
            "MERGE INTO app.notes n USING app.orders o ON n.tenant_id = o.tenant_id AND o.tenant_id = 'acme' AND n.id = o.id WHEN NOT MATCHED THEN INSERT (tenant_id, body) VALUES ('acme', 'x')",
        ),
        (
            "tenant_unproven",
            "MERGE INTO app.notes n USING (VALUES (1)) v(id) ON n.id = v.id WHEN MATCHED THEN DELETE",
        ),
        (
            "tenant_unproven",
            "MERGE INTO app.notes n USING (VALUES (1)) v(id) ON n.id = v.id AND n.tenant_id = 'acme' WHEN NOT MATCHED THEN INSERT (body) VALUES ('x')",
        ),
        (
            "tenant_mismatch",
            "MERGE INTO app.notes n USING (VALUES (1)) v(id) ON n.id = v.id AND n.tenant_id = 'acme' WHEN NOT MATCHED THEN INSERT (tenant_id, body) VALUES ('globex', 'x')",
        ),
        (
            "tenant_column_write",
            "MERGE INTO app.notes n USING (VALUES (1)) v(id) ON n.id = v.id AND n.tenant_id = 'acme' WHEN MATCHED THEN UPDATE SET tenant_id = 'globex'",
        ),
        (
            "tenant_unproven",
            "MERGE INTO app.notes n USING (VALUES (1)) v(id) ON n.id = v.id AND n.tenant_id = 'acme' WHEN NOT MATCHED BY SOURCE THEN DELETE",
        ),
        (
            "ok",
            "MERGE INTO app.notes n USING (VALUES (1)) v(id) ON n.id = v.id AND n.tenant_id = 'acme' WHEN NOT MATCHED BY SOURCE AND n.tenant_id = 'acme' THEN DELETE",
        ),
    ]);
}

#[test]
fn what_a_condition_says_of_the_old_row_says_nothing_of_the_new_one() {
    expect(&[
        (
            "ok",
            "UPDATE app.orders o SET note = 'x' WHERE tenant_id = 'acme' RETURNING (SELECT count(*) FROM app.notes n WHERE n.tenant_id = o.tenant_id)",
        ),
        (
            "ok",
            "DELETE FROM app.orders o WHERE tenant_id = 'acme' AND note = 'acme' RETURNING (SELECT count(*) FROM app.notes n WHERE n.tenant_id = o.note)",
        ),
        (
            "tenant_unproven",
            "UPDATE app.orders o SET note = 'globex' WHERE tenant_id = 'acme' AND note = 'acme' RETURNING (SELECT count(*) FROM app.notes n WHERE n.tenant_id = o.note)",
        ),
        (
            "tenant_unproven",
            "MERGE INTO app.orders o USING app.plans p ON o.tenant_id = 'acme' AND o.note = 'acme' WHEN MATCHED THEN UPDATE SET note = 'globex' RETURNING (SELECT count(*) FROM app.notes n WHERE n.tenant_id = o.note)",
        ),
        (
            "tenant_unproven",
            "MERGE INTO app.orders o USING app.plans p ON o.tenant_id = 'acme' AND o.note = 'acme' WHEN NOT MATCHED BY SOURCE AND o.tenant_id = 'acme' THEN UPDATE SET note = (SELECT min(n.body) FROM app.notes n WHERE n.tenant_id = o.note)",
        ),
        (
            "tenant_unproven",
            "MERGE INTO app.orders o USING app.plans p ON o.tenant_id = 'acme' AND o.note = 'acme' WHEN NOT MATCHED BY SOURCE AND o.tenant_id = o.note THEN DELETE",
        ),
    ]);
}

#[test]
fn subscripts_of_a_merged_row_are_judged() {
    expect(&[
        (
            "tenant_unproven",
            "MERGE INTO app.customers c USING (SELECT 1 AS k) p ON c.tenant_id = 'acme' AND c.id = -1 WHEN NOT MATCHED THEN INSERT (tenant_id, email, full_name, tags[(SELECT count(*) FROM app.orders)]) VALUES ('acme', 'a@b', 'x', 'y')",
        ),
        (
            "tenant_mismatch",
            "MERGE INTO app.customers c USING app.plans p ON c.tenant_id = 'acme' AND c.full_name = p.code WHEN NOT MATCHED THEN INSERT (tenant_id, email, full_name, profile[(SELECT string_agg(ssn, ',') FROM app.customers WHERE tenant_id = 'globex')]) VALUES ('acme', 'a@b', 'x', '1')",
        ),
        (
            "tenant_unproven",
            "INSERT INTO app.customers (tenant_id, email, full_name, tags[(SELECT count(*) FROM app.orders)]) VALUES ('acme', 'a@b', 'x', 'y')",
        ),
        (
            "tenant_unproven",
            "UPDATE app.customers SET tags[(SELECT count(*) FROM app.orders)] = 'y' WHERE tenant_id = 'acme'",
        ),
    ]);
}

#[test]
fn what_a_change_returns_is_the_tenants() {
    expect(&[
        (
            "ok",
            "WITH moved AS (DELETE FROM app.orders WHERE tenant_id = 'acme' AND id < 5 RETURNING *) INSERT INTO app.notes (tenant_id, body) SELECT tenant_id, note FROM moved",
        ),
        (
            "ok",
            "WITH o AS (INSERT INTO app.orders (tenant_id, customer_id) VALUES ('acme', 3) RETURNING id, tenant_id) INSERT INTO app.notes (tenant_id, body) SELECT o.tenant_id, 'x' FROM o",
        ),
        (
            "ok",
            "WITH u AS (UPDATE app.orders SET note = 'x' WHERE tenant_id = 'acme' AND id = 2 RETURNING *) SELECT u.id, c.full_name FROM u JOIN app.customers c ON c.id = u.customer_id AND c.tenant_id = u.tenant_id",
        ),
        (
            "tenant_unproven",
            "WITH u AS (UPDATE app.orders SET note = 'globex' WHERE tenant_id = 'acme' AND note = 'acme' RETURNING *) SELECT c.full_name FROM u JOIN app.customers c ON c.tenant_id = u.note",
        ),
        (
            "tenant_unproven",
            "WITH moved AS (DELETE FROM app.orders WHERE id < 5 RETURNING *) INSERT INTO app.notes (tenant_id, body) SELECT tenant_id, note FROM moved",
        ),
    ]);
}

/// From 18 on; each may be NULL: an inserted row had no old one.
#[test]
fn returning_sees_the_row_before_and_behind_the_change() {
    on_large_stack(|| {
        const POLICY: &str = "version: 1
search_path: [app, public]
tenancy: { tables: [{ match: 'app.plans', shared: true }, { match: 'app.*', column: tenant_id }] }
roles:
  clerk:
    tenant: required
    statements: [select, insert, update, delete, merge]
    relations: { allow: ['app.*'] }
    columns: { deny: ['app.customers.ssn'] }
    masks: [{ column: app.customers.email, kind: 'null' }]
    functions: { preset: standard }
";
        let insert = "INSERT INTO notes (tenant_id, body) VALUES ('acme', 'x')";
        let update = "UPDATE customers SET full_name = 'x' WHERE tenant_id = 'acme'";
        let merge = "MERGE INTO notes n USING plans p ON n.tenant_id = 'acme' AND n.body = p.code WHEN MATCHED THEN DELETE \
                     WHEN NOT MATCHED THEN INSERT (tenant_id, body) VALUES ('acme', 'x')";
        for (expected, change, returning) in [
            ("ok", insert, "new.id, old.id, new.*, new"),
            ("ok", insert, "WITH (OLD AS o, NEW AS n) o.body, n.body"),
            ("relation_unknown", insert, "WITH (OLD AS o) old.body"),
            ("unsupported", insert, "WITH (OLD AS notes) notes.body"),
            ("ok", "DELETE FROM notes new WHERE new.tenant_id = 'acme'", "new.body, old.body"),
            ("ok", update, "old.full_name, new.full_name, old.email"),
            ("ok", update, "(SELECT count(*) FROM orders o WHERE o.tenant_id = old.tenant_id)"),
            ("ok", merge, "merge_action(), old.body, (SELECT merge_action()), new.body"),
            // What may be NULL is no key to rows whose tenant is.
            (
                "tenant_unproven",
                update,
                "(SELECT count(*) FROM orders o WHERE o.tenant_id IS NOT DISTINCT FROM old.tenant_id)",
            ),
            ("tenant_unproven", update, "(SELECT count(*) FROM orders o WHERE o.tenant_id = old.full_name)"),
            ("column_not_allowed", update, "old.ssn"),
            ("column_not_allowed", update, "old"),
            ("masked_column_use", update, "upper(old.email)"),
            ("masked_column_use", update, "(SELECT upper(new.email))"),
            ("column_not_allowed", update, "xmin(old)"),
            ("column_not_allowed", update, "old.xmin"),
            ("ok", update, "old.tableoid"),
            ("column_unknown", insert, "old.nothing"),
            ("function_not_allowed", update, "merge_action()"),
            ("tenant_unproven", "UPDATE customers SET full_name = 'x'", "old.id"),
        ] {
            let statement = format!("{change} RETURNING {returning}");
            let newest = Lab::with_policy(POLICY).on(180_000);
            newest.expect("clerk:acme", &[(expected, &statement)]);
        }
        let before = "INSERT INTO notes (tenant_id, body) VALUES ('acme', 'x') RETURNING old.id";
        Lab::new().on(170_000).expect(
            "app:acme",
            &[("relation_unknown", before), ("function_not_allowed", "SELECT merge_action()")],
        );
        let passed_on = "WITH w AS (INSERT INTO notes (tenant_id, body) VALUES ('acme', 'x') RETURNING old.tenant_id AS t) \
                         INSERT INTO notes (tenant_id, body) SELECT t, 'y' FROM w";
        Lab::new().on(180_000).expect("app:acme", &[("tenant_unproven", passed_on)]);
    });
}

/// What a generated tenant column follows from, nobody looks into.
#[test]
fn rows_whose_tenant_column_is_generated_are_not_changed() {
    on_large_stack(|| {
        let lab = Lab::new().with_relation("notes", |notes| {
            let columns = notes["columns"].as_array_mut().unwrap();
            columns.iter_mut().find(|column| column["name"] == "tenant_id").unwrap()["generated"] =
                "s".into();
        });
        lab.expect(
            "app:acme",
            &[
                ("ok", "SELECT * FROM notes WHERE tenant_id = 'acme'"),
                ("ok", "DELETE FROM notes WHERE tenant_id = 'acme'"),
                ("tenant_column_write", "UPDATE notes SET body = 'globex' WHERE tenant_id = 'acme'"),
                ("tenant_column_write", "UPDATE notes SET (body) = ROW('globex') WHERE tenant_id = 'acme'"),
                (
                    "tenant_column_write",
                    "MERGE INTO notes n USING plans p ON n.tenant_id = 'acme' AND n.body = p.code WHEN MATCHED THEN UPDATE SET body = 'globex'",
                ),
            ],
        );
    });
}

/// A parent's rows are its children's, too: they must be the tenant's by the same entry.
#[test]
fn a_parent_is_not_read_where_a_child_belongs_to_tenants_by_another_entry() {
    on_large_stack(|| {
        let under = |parent: &'static str| {
            Lab::new()
                .with_relation("customers", |child| {
                    child["inherits"] = serde_json::json!([{ "schema": "app", "name": parent }]);
                })
                .with_relation(parent, |relation| relation["has_children"] = true.into())
        };
        under("plans").expect(
            "app:acme",
            &[
                ("relation_not_allowed", "SELECT count(*) FROM plans"),
                ("ok", "SELECT count(*) FROM countries"),
                ("ok", "SELECT count(*) FROM customers WHERE tenant_id = 'acme'"),
            ],
        );
        under("orders").expect("app:acme", &[("ok", "SELECT count(*) FROM orders WHERE tenant_id = 'acme'")]);
    });
}

/// RETURNING * of a MERGE has the source's columns before the target's.
#[test]
fn merge_returning_star_begins_with_the_source() {
    on_large_stack(|| {
        let merge = "WITH m(one, two, id, tenant) AS (MERGE INTO app.customers c USING (SELECT 1, 'globex'::text) s(a, b) \
                     ON c.tenant_id = 'acme' AND c.id = 1 WHEN MATCHED THEN DELETE RETURNING *)";
        for (expected, column) in [("tenant_unproven", "two"), ("ok", "tenant")] {
            let read = format!("{merge} SELECT o.id FROM m JOIN app.orders o ON o.tenant_id = m.{column}");
            Lab::new().on(170_000).expect("app:acme", &[(expected, &read)]);
        }
    });
}
