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
            "SELECT 1 FROM orders o, unnest(ARRAY[o.note::int]) g WHERE o.tenant_id = 'acme'",
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

#[test]
fn whatever_else_can_fail() {
    expect(&[
        // A cast by its functional notation, and to a domain.
        // 21000, as soon as it has two rows.
        (
            "unsupported",
            "SELECT o.id FROM orders o WHERE (SELECT 1 FROM countries WHERE o.id > 8) IS NULL AND tenant_id = 'acme'",
        ),
        (
            "unsupported",
            "SELECT o.id FROM orders o WHERE tenant_id = 'acme' AND id = (SELECT customer_id FROM orders x WHERE x.tenant_id = 'acme')",
        ),
        (
            "unsupported",
            "SELECT o.id FROM orders o WHERE tenant_id = 'acme' AND (id, note) = (SELECT o.id, p.code FROM plans p)",
        ),
        (
            "ok",
            "SELECT o.id FROM orders o WHERE tenant_id = 'acme' AND id = (SELECT max(x.id) FROM orders x WHERE x.tenant_id = 'acme')",
        ),
        (
            "ok",
            "SELECT o.id FROM orders o WHERE tenant_id = 'acme' AND note = (SELECT p.code FROM plans p WHERE p.code = o.note LIMIT 1)",
        ),
        (
            "ok",
            "SELECT o.id, (SELECT p.code FROM plans p WHERE p.code = o.note) FROM orders o WHERE tenant_id = 'acme'",
        ),
        (
            "unsupported",
            "SELECT o.id FROM orders o WHERE tenant_id = 'acme' AND note = (SELECT code FROM plans)",
        ),
        ("ok", "SELECT code FROM plans WHERE code = (SELECT code FROM plans)"),
        ("function_not_allowed", "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND int4(note) = 1"),
        ("function_not_allowed", "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND (note).int4 = 1"),
        (
            "type_not_allowed",
            "SELECT 1 FROM customers WHERE tenant_id = 'acme' AND app.email(full_name) = 'a@b'",
        ),
        // From other texts than text, and to a narrower type.
        ("type_not_allowed", "SELECT 1 FROM customers WHERE tenant_id = 'acme' AND country::int = 1"),
        ("type_not_allowed", "SELECT 1 FROM customers WHERE tenant_id = 'acme' AND tags::int[] = '{1}'"),
        ("type_not_allowed", "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND to_jsonb(id)::int = 1"),
        ("type_not_allowed", "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND id::int2 = 1"),
        ("type_not_allowed", "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND total::numeric(3, 2) = 1"),
        ("type_not_allowed", "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND (SELECT note)::int = 1"),
        // Arithmetic and functions.
        ("function_not_allowed", "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND mod(1, total) = 1"),
        ("function_not_allowed", "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND div(1, total) = 1"),
        ("function_not_allowed", "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND sqrt(total - 1000) > 1"),
        (
            "function_not_allowed",
            "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND to_number(note, '9') = 1",
        ),
        (
            "function_not_allowed",
            "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND date_trunc('nothing', created_at) > now()",
        ),
        (
            "function_not_allowed",
            "SELECT 1 FROM orders o, generate_series(1, 2, o.id) g WHERE o.tenant_id = 'acme'",
        ),
        (
            "operator_not_allowed",
            "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND id + 9223372036854775800 > 0",
        ),
        (
            "operator_not_allowed",
            "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND created_at + interval '290000 years' > now()",
        ),
        ("operator_not_allowed", "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND |/ total > 1"),
        ("operator_not_allowed", "SELECT 1 FROM customers WHERE tenant_id = 'acme' AND profile - 1 = '{}'"),
        ("operator_not_allowed", "SELECT 1 FROM customers WHERE tenant_id = 'acme' AND tags || tags = tags"),
        (
            "operator_not_allowed",
            "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND CASE WHEN note = 'x' THEN note ~ '(' END",
        ),
        (
            "operator_not_allowed",
            "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND note ~ ANY (ARRAY['x', 'a**'])",
        ),
        ("ok", "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND date_trunc('month', created_at) > now()"),
        ("ok", "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND created_at > now() - interval '7 days'"),
        ("ok", "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND created_at::date = current_date"),
        (
            "ok",
            "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND lower(note) || 'x' = 'ax' AND id::numeric > 1.5",
        ),
        ("ok", "SELECT 1 FROM customers WHERE tenant_id = 'acme' AND profile->>'a' = 'b' AND tags @> '{x}'"),
        ("ok", "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND note ~ '^a.*b$' AND note ~* 'x|y'"),
        (
            "ok",
            "SELECT status, count(*), sum(total) FROM orders WHERE tenant_id = 'acme' GROUP BY status ORDER BY sum(total) DESC",
        ),
    ]);
}

/// The target lists of levels that their own conditions do not restrict are evaluated for all rows,
/// and of a join that is pulled up, below that join.
#[test]
fn target_lists_of_inner_levels() {
    expect(&[
        (
            "type_not_allowed",
            "SELECT d.m FROM (SELECT tenant_id, max(note::int) m FROM orders GROUP BY ROLLUP (tenant_id)) d WHERE d.tenant_id = 'acme'",
        ),
        (
            "type_not_allowed",
            "SELECT d.m FROM (SELECT tenant_id, max(note::int) m FROM orders GROUP BY tenant_id) d JOIN (VALUES ('acme'), ('acme')) v (t) ON v.t = d.tenant_id",
        ),
        (
            "type_not_allowed",
            "SELECT d.n FROM (SELECT DISTINCT tenant_id, note::int n FROM orders) d WHERE d.tenant_id = 'acme'",
        ),
        (
            "type_not_allowed",
            "SELECT d.n FROM plans p LEFT JOIN (SELECT tenant_id, note::int n FROM orders) d ON d.tenant_id = 'acme'",
        ),
        (
            "type_not_allowed",
            "SELECT x.n FROM plans p LEFT JOIN (SELECT o.note::int n FROM orders o JOIN (VALUES ('acme'), ('acme')) v (t) ON v.t = o.tenant_id) x ON true",
        ),
        (
            "type_not_allowed",
            "SELECT 1 FROM orders o, LATERAL (SELECT o.note AS n) x WHERE o.tenant_id = 'acme' AND x.n::int = 1",
        ),
        (
            "type_not_allowed",
            "SELECT 1 FROM orders o, LATERAL (VALUES (o.note)) x (n) WHERE o.tenant_id = 'acme' AND x.n::int = 1",
        ),
        (
            "type_not_allowed",
            "SELECT x.n FROM orders o, LATERAL (SELECT o.note::int AS n LIMIT 1) x WHERE o.tenant_id = 'acme'",
        ),
        (
            "type_not_allowed",
            "SELECT x.n FROM orders o, LATERAL (VALUES (o.note::int)) x (n) WHERE o.tenant_id = 'acme'",
        ),
        (
            "type_not_allowed",
            "WITH x AS (SELECT note::int AS n FROM orders WHERE tenant_id = 'acme') SELECT 1 FROM x WHERE n = 1",
        ),
        (
            "type_not_allowed",
            "SELECT 1 FROM (SELECT note::int AS n FROM orders WHERE tenant_id = 'acme') x WHERE x.* IS NOT NULL",
        ),
        (
            "type_not_allowed",
            "SELECT 1 FROM (SELECT note::int AS n FROM orders WHERE tenant_id = 'acme') x JOIN (SELECT 1 AS n) y USING (n)",
        ),
        (
            "type_not_allowed",
            "WITH RECURSIVE t AS (SELECT note AS n FROM orders WHERE tenant_id = 'acme' UNION ALL SELECT n FROM t WHERE n::int = 1) SELECT 1 FROM t",
        ),
        (
            "ok",
            "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT 1 FROM t WHERE n / 2 = 1",
        ),
        ("ok", "SELECT d.note::int, d.total * 2 FROM (SELECT * FROM orders) d WHERE d.tenant_id = 'acme'"),
        (
            "ok",
            "SELECT (SELECT max(c.full_name::int) FROM customers c WHERE c.tenant_id = o.tenant_id) FROM orders o WHERE o.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT note::int FROM orders WHERE tenant_id = 'acme' UNION ALL SELECT 1 / id FROM orders WHERE tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT d.m FROM (SELECT max(o.note::int) m FROM orders o JOIN customers c ON c.tenant_id = o.tenant_id WHERE o.tenant_id = 'acme') d",
        ),
    ]);
}

/// What is asked of constants is asked where a cache of verdicts hears it.
#[test]
fn a_bound_tenant_does_not_hide_the_divisor() {
    expect(&[
        ("operator_not_allowed", "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND total / 0 = 1"),
        ("operator_not_allowed", "SELECT 1 FROM orders WHERE tenant_id = 'acme' AND total / -5 = 1"),
    ]);
}

/// What proves the rows already leaves a value unchecked, unless the target list is spared for its sake.
#[test]
fn a_value_for_whose_sake_a_target_list_is_spared_is_checked() {
    on_large_stack(|| {
        let policy = include_str!("../../../lab/policy.yaml");
        let lab = Lab::with_policy(&policy.replacen("tenancy:\n", "tenancy:\n  errors: deny\n", 1));
        let sql = "SELECT count(d.m) FROM (SELECT DISTINCT o.tenant_id, o.note::int AS m FROM orders o \
                   WHERE o.tenant_id = $1) d JOIN (VALUES ('acme'::text), ('acme')) v(t) ON v.t = d.tenant_id";
        assert_eq!(lab.bound("app:acme", &[], sql, &[Some("acme")]), "ok");
        assert_eq!(lab.bound("app:acme", &[], sql, &[Some("Acme")]), "at bind");
    });
}

/// References to references: the walk stays short.
#[test]
fn chains_of_ctes_are_looked_at_once() {
    on_large_stack(|| {
        let policy = include_str!("../../../lab/policy.yaml");
        let lab = Lab::with_policy(&policy.replacen("tenancy:\n", "tenancy:\n  errors: deny\n", 1));
        let links: Vec<String> = (1..30)
            .map(|n| format!("c{n} AS (SELECT a.id, a.note FROM c{m} a, c{m} b)", m = n - 1))
            .collect();
        let sql = format!(
            "WITH c0 AS (SELECT id, note FROM orders WHERE tenant_id = 'acme'), {} SELECT 1 FROM c29 WHERE note::int = 1",
            links.join(", ")
        );
        let denial = lab.denial("app:acme", &sql).unwrap();
        assert_eq!(denial.code.to_string(), "type_not_allowed");
    });
}

/// What fails need not be over a tenant's column: it is enough that one decides whether it is evaluated.
#[test]
fn what_stands_behind_a_tenants_column_fails_for_it() {
    const JOINED: &str = "FROM customers c JOIN (VALUES ('acme'), ('acme')) v (t) ON v.t = c.tenant_id WHERE";
    on_large_stack(|| {
        let policy = include_str!("../../../lab/policy.yaml");
        let lab = Lab::with_policy(&policy.replacen("tenancy:\n", "tenancy:\n  errors: deny\n", 1));
        let refused = [
            ("operator_not_allowed", "CASE WHEN full_name = 'G' THEN 1 / (SELECT 0) END = 1"),
            ("operator_not_allowed", "full_name = 'G' AND 1 / (SELECT 0) = 1"),
            ("unsupported", "CASE WHEN full_name = 'G' THEN (SELECT 1 UNION ALL SELECT 2) END = 1"),
            ("unsupported", "full_name = 'G' AND (SELECT 1 FROM plans) IS NULL"),
            ("unsupported", "full_name = 'G' AND (SELECT 1 LIMIT (SELECT -1)) IS NULL"),
            ("unsupported", "full_name = 'G' AND EXISTS (SELECT 1 LIMIT (SELECT -1))"),
            ("unsupported", "full_name = 'G' AND greatest(ROW(1), ROW(c.id)) IS NOT NULL"),
            ("operator_not_allowed", "full_name = 'G' AND c = c"),
            ("operator_not_allowed", "full_name COLLATE \"und-x-icu\" LIKE 'a%'"),
            ("function_not_allowed", "strpos(full_name COLLATE \"und-x-icu\", 'a') > 0"),
            ("ok", "full_name = 'G' AND 1 / 1 = 1"),
            ("ok", "full_name = 'G' AND (SELECT 1) = 1"),
            ("ok", "full_name = 'G' AND (SELECT max(id) FROM plans) IS NULL"),
            ("ok", "full_name = 'G' AND (SELECT 1 FROM plans LIMIT 1) IS NULL"),
            ("ok", "full_name = 'G' AND id IN (SELECT 1 FROM plans)"),
            ("ok", "full_name LIKE 'a%' AND strpos(full_name, 'a') > 0"),
            ("ok", "created_at > now() - interval '7 days'"),
        ];
        let texts = refused.map(|(code, condition)| (code, format!("SELECT c.id {JOINED} {condition}")));
        lab.expect("app:acme", &texts.each_ref().map(|(code, text)| (*code, text.as_str())));
        lab.expect(
            "app:acme",
            &[
                (
                    "function_not_allowed",
                    "SELECT tenant_id, array_agg(tags) FILTER (WHERE full_name = 'G') FROM customers GROUP BY ROLLUP (tenant_id) HAVING tenant_id = 'acme'",
                ),
                (
                    "ok",
                    "SELECT tenant_id, array_agg(full_name) FILTER (WHERE full_name = 'G') FROM customers GROUP BY ROLLUP (tenant_id) HAVING tenant_id = 'acme'",
                ),
                ("ok", "SELECT 1 / (SELECT 0) FROM plans"),
                ("ok", "SELECT CASE WHEN full_name = 'G' THEN 1 / (SELECT 0) END FROM customers WHERE tenant_id = 'acme'"),
            ],
        );
    });
}

#[test]
fn subscripts_arrays_sums_and_searches() {
    expect(&[
        ("type_not_allowed", "SELECT id FROM customers WHERE tenant_id = 'acme' AND tags[id] = 'x'"),
        ("ok", "SELECT tags[id] FROM customers WHERE tenant_id = 'acme'"),
        ("ok", "SELECT id FROM customers WHERE tenant_id = 'acme' AND tags[1] = 'x'"),
        (
            "unsupported",
            "SELECT id FROM customers WHERE tenant_id = 'acme' AND ARRAY[tags, ARRAY['a']] IS NULL",
        ),
        ("ok", "SELECT id FROM customers WHERE tenant_id = 'acme' AND ARRAY[segment, full_name] = tags"),
        (
            "function_not_allowed",
            "SELECT tenant_id FROM orders GROUP BY tenant_id, total HAVING tenant_id = 'acme' AND sum(total::float8) > 1",
        ),
        (
            "ok",
            "SELECT tenant_id FROM orders GROUP BY tenant_id HAVING tenant_id = 'acme' AND sum(total) > 1",
        ),
        (
            "operator_not_allowed",
            "SELECT id FROM orders WHERE tenant_id = 'acme' AND note @@ to_tsquery('a')",
        ),
        ("operator_not_allowed", "SELECT id FROM orders WHERE tenant_id = 'acme' AND note @@ 'a'"),
    ]);
}
