//! `tenancy.errors: deny` (policy 3.9): what can fail on another tenant's row.

use crate::lab::{Lab, on_large_stack};

fn expect(cases: &'static [(&'static str, &'static str)]) {
    on_large_stack(move || {
        let policy = include_str!("../../../lab/policy.yaml");
        let denying = policy.replacen("tenancy:\n", "tenancy:\n  errors: deny\n", 1);
        assert_ne!(policy, denying);
        Lab::with_policy(&denying).expect("app:acme", cases);
    });
}

#[test]
fn nothing_is_refused_where_errors_are_rebuilt() {
    on_large_stack(|| {
        Lab::new().expect(
            "app:acme",
            &[
                ("ok", "SELECT id FROM orders WHERE tenant_id = 'acme' AND note::int = 1"),
                ("ok", "SELECT id FROM orders WHERE tenant_id = 'acme' AND 100 / total > 1"),
                ("ok", "SELECT id FROM customers WHERE tenant_id = 'acme' AND full_name LIKE tenant_id"),
            ],
        );
    });
}

#[test]
fn casts_divisions_and_patterns() {
    expect(&[
        ("type_not_allowed", "SELECT id FROM orders WHERE tenant_id = 'acme' AND note::int = 1"),
        ("type_not_allowed", "SELECT id FROM orders WHERE tenant_id = 'acme' AND CAST(note AS date) > now()"),
        ("type_not_allowed", "SELECT id FROM orders WHERE tenant_id = 'acme' ORDER BY note::int"),
        (
            "type_not_allowed",
            "SELECT id FROM customers WHERE tenant_id = 'acme' AND (profile->>'age')::int > 3",
        ),
        (
            "type_not_allowed",
            "SELECT id FROM customers WHERE tenant_id = 'acme' AND full_name::app.email = 'a@b'",
        ),
        ("operator_not_allowed", "SELECT id FROM orders WHERE tenant_id = 'acme' AND 100 / total > 1"),
        (
            "operator_not_allowed",
            "SELECT id FROM orders WHERE tenant_id = 'acme' AND total % customer_id = 1",
        ),
        ("operator_not_allowed", "SELECT id FROM orders WHERE tenant_id = 'acme' AND total / 0 = 1"),
        (
            "operator_not_allowed",
            r"SELECT id FROM customers WHERE tenant_id = 'acme' AND full_name LIKE 'Globex\'",
        ),
        (
            "operator_not_allowed",
            r"SELECT id FROM customers WHERE tenant_id = 'acme' AND full_name NOT ILIKE 'a\\\'",
        ),
        (
            "operator_not_allowed",
            "SELECT id FROM customers WHERE tenant_id = 'acme' AND full_name LIKE segment",
        ),
        (
            "operator_not_allowed",
            "SELECT id FROM customers WHERE tenant_id = 'acme' AND full_name LIKE 'a' || 'b'",
        ),
        (
            "operator_not_allowed",
            "SELECT id FROM customers WHERE tenant_id = 'acme' AND full_name LIKE 'a!' ESCAPE '!'",
        ),
        ("operator_not_allowed", "SELECT id FROM customers WHERE tenant_id = 'acme' AND full_name ~ segment"),
        (
            "operator_not_allowed",
            r#"SELECT id FROM customers WHERE tenant_id = 'acme' AND full_name LIKE ANY ('{"a\\",b}')"#,
        ),
        (
            "operator_not_allowed",
            r"SELECT id FROM customers WHERE tenant_id = 'acme' AND full_name LIKE ANY (ARRAY['a', 'b\'])",
        ),
        (
            "type_not_allowed",
            "SELECT 1 FROM orders o JOIN customers c ON c.tenant_id = o.tenant_id AND o.note::bigint = c.id WHERE o.tenant_id = 'acme'",
        ),
        ("type_not_allowed", "UPDATE orders SET total = 1 WHERE tenant_id = 'acme' AND note::int = 1"),
        ("type_not_allowed", "DELETE FROM orders WHERE tenant_id = 'acme' AND note::int = 1"),
        (
            "type_not_allowed",
            "SELECT (SELECT count(*) FROM orders WHERE tenant_id = 'acme' AND note::int = 1)",
        ),
        (
            "type_not_allowed",
            "SELECT 1 FROM plans WHERE 5 IN (SELECT note::int FROM orders WHERE tenant_id = 'acme')",
        ),
        (
            "type_not_allowed",
            "SELECT 1 FROM orders o, generate_series(1, o.note::int) g WHERE o.tenant_id = 'acme'",
        ),
        (
            "type_not_allowed",
            "SELECT tenant_id, max(note::int) FROM orders GROUP BY tenant_id HAVING tenant_id = 'acme'",
        ),
        ("ok", "SELECT note::int, 100 / total, note LIKE status::text FROM orders WHERE tenant_id = 'acme'"),
        ("ok", "SELECT max(note::int) FROM orders WHERE tenant_id = 'acme' HAVING count(*) > 1"),
        (
            "ok",
            "SELECT id FROM orders WHERE tenant_id = 'acme' AND note LIKE 'a%' AND note NOT LIKE 'b\\%' AND note ~ '^x'",
        ),
        ("ok", "SELECT id FROM orders WHERE tenant_id = 'acme' AND total / 100 > 5 AND id % 2 = 0"),
        (
            "ok",
            "SELECT id FROM orders WHERE tenant_id = 'acme' AND id::text LIKE '1%' AND note::varchar = 'x'",
        ),
        ("ok", "SELECT id FROM orders WHERE tenant_id = 'acme' AND created_at > '2026-01-01'::timestamptz"),
        (
            "ok",
            "SELECT id FROM orders WHERE tenant_id = 'acme' AND note LIKE ANY ('{a%,b}') AND note LIKE ANY (ARRAY['a'])",
        ),
        ("ok", "SELECT code FROM plans WHERE name::int = 1 OR 1 / price_cents > 0"),
        ("ok", "UPDATE orders SET total = note::numeric WHERE tenant_id = 'acme'"),
        (
            "ok",
            "INSERT INTO notes (tenant_id, body) SELECT 'acme', (note::int)::text FROM orders WHERE tenant_id = 'acme'",
        ),
    ]);
}

#[test]
fn through_derived_tables_and_fences() {
    expect(&[
        // PostgreSQL pulls the sub-select up: its output is a part of the condition.
        (
            "type_not_allowed",
            "SELECT 1 FROM (SELECT note::int AS n FROM orders WHERE tenant_id = 'acme') x WHERE x.n = 1",
        ),
        (
            "type_not_allowed",
            "SELECT 1 FROM (SELECT y.n FROM (SELECT note::int AS n, tenant_id FROM orders) y WHERE y.tenant_id = 'acme') x WHERE x.n = 1",
        ),
        (
            "type_not_allowed",
            "SELECT 1 FROM (SELECT * FROM orders WHERE tenant_id = 'acme') x WHERE x.note::int = 1",
        ),
        (
            "type_not_allowed",
            "WITH x AS (SELECT * FROM orders WHERE tenant_id = 'acme') SELECT 1 FROM x WHERE note::int = 1",
        ),
        // The equality is outside: the rows of all are made.
        (
            "type_not_allowed",
            "WITH x AS MATERIALIZED (SELECT note::int AS n, tenant_id FROM orders) SELECT n FROM x WHERE tenant_id = 'acme'",
        ),
        (
            "type_not_allowed",
            "WITH x AS MATERIALIZED (SELECT * FROM orders) SELECT 1 FROM x WHERE tenant_id = 'acme' AND note::int = 1",
        ),
        // It does not stand alone.
        (
            "type_not_allowed",
            "SELECT 1 FROM (SELECT * FROM orders WHERE tenant_id = 'acme' AND note::int > 0 OFFSET 0) x",
        ),
        (
            "type_not_allowed",
            "SELECT 1 FROM (SELECT * FROM orders WHERE tenant_id = 'acme' AND id > 3 OFFSET 0) x WHERE x.note::int = 1",
        ),
        ("ok", "SELECT x.n FROM (SELECT note::int AS n FROM orders WHERE tenant_id = 'acme') x"),
        (
            "ok",
            "SELECT 1 FROM (SELECT * FROM orders WHERE tenant_id = 'acme' OFFSET 0) x WHERE x.note::int = 1 ORDER BY 100 / x.total",
        ),
        (
            "ok",
            "SELECT 1 FROM (SELECT note::int AS n FROM orders WHERE tenant_id = 'acme' OFFSET 0) x WHERE x.n = 1",
        ),
        (
            "ok",
            "WITH x AS MATERIALIZED (SELECT * FROM orders WHERE tenant_id = 'acme') SELECT 1 FROM x WHERE note::int = 1",
        ),
    ]);
}
