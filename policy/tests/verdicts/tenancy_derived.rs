//! Derived tables, CTEs, views, set operations (policy 3.3): what a filter outside restricts
//! inside, and what between the two makes it blind.

use crate::lab::{Lab, on_large_stack};

fn expect(cases: &'static [(&'static str, &'static str)]) {
    on_large_stack(move || Lab::new().expect("app:acme", cases));
}

#[test]
fn from_outside() {
    expect(&[
        // text of text and varchar, the widest of integers: every value is what it was.
        (
            "ok",
            "SELECT count(*) FROM (SELECT tenant_id, id FROM app.notes UNION ALL SELECT tenant_id::varchar, id::int FROM app.orders) x WHERE x.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT 1 FROM app.orders o JOIN (SELECT 'acme'::varchar AS t UNION SELECT 'acme'::text) x ON x.t = o.tenant_id",
        ),
        (
            "ok",
            "SELECT 1 FROM billing.invoices i JOIN (VALUES (42::int), (42::bigint)) x(t) ON x.t = i.account_no",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o JOIN (SELECT 'acme'::text AS t UNION SELECT 'acme'::bpchar) x ON x.t = o.tenant_id",
        ),
        ("ok", "SELECT * FROM (SELECT tenant_id AS t, id FROM app.orders) o WHERE t = 'acme'"),
        ("ok", "SELECT * FROM (SELECT DISTINCT tenant_id FROM app.orders) o WHERE tenant_id = 'acme'"),
        (
            "ok",
            "SELECT * FROM (SELECT DISTINCT ON (tenant_id, id) tenant_id, id FROM app.orders) o WHERE tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT * FROM (SELECT tenant_id, count(*) FROM app.orders GROUP BY 1) o WHERE tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT * FROM (SELECT tenant_id, status, count(*) FROM app.orders GROUP BY CUBE (tenant_id, status)) o WHERE tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT * FROM (SELECT tenant_id, customer_id FROM app.orders GROUP BY id) o WHERE tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT * FROM (SELECT tenant_id, rank() OVER w FROM app.orders WINDOW w AS (PARTITION BY tenant_id)) o WHERE tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT * FROM (SELECT tenant_id FROM app.orders UNION SELECT tenant_id FROM app.events) u WHERE tenant_id = 'acme'",
        ),
        ("ok", "SELECT * FROM app.tenant_totals WHERE tenant_id = 'acme'"),
        (
            "ok",
            "SELECT * FROM app.order_lines l JOIN app.orders o ON o.id = l.order_id AND o.tenant_id = l.tenant_id WHERE o.tenant_id = 'acme'",
        ),
        (
            "ok",
            "WITH o AS (SELECT * FROM app.orders) SELECT 1 FROM o a JOIN o b ON a.id = b.id WHERE a.tenant_id = 'acme' AND b.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT * FROM (SELECT tenant_id, id FROM app.orders LIMIT 9) o WHERE tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT * FROM (SELECT tenant_id, id FROM app.orders OFFSET 0) o WHERE tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT * FROM (SELECT DISTINCT ON (id) tenant_id, id FROM app.orders) o WHERE tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT * FROM (SELECT max(tenant_id) AS tenant_id FROM app.orders) o WHERE tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT * FROM (SELECT tenant_id, rank() OVER (ORDER BY id) FROM app.orders) o WHERE tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT * FROM (SELECT tenant_id, generate_series(1, 2) FROM app.orders) o WHERE tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT * FROM (SELECT 'acme' AS tenant_id, id FROM app.orders) o WHERE tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT * FROM (SELECT tenant_id || '' AS tenant_id FROM app.orders) o WHERE tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT * FROM (SELECT tenant_id, id FROM app.notes GROUP BY id, tenant_id, body) o, (SELECT tenant_id, body FROM app.notes GROUP BY id) p WHERE o.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT * FROM (SELECT tenant_id FROM app.orders UNION SELECT note FROM app.orders) u WHERE tenant_id = 'acme'",
        ),
        ("tenant_unproven", "SELECT * FROM app.global_totals"),
        (
            "tenant_unproven",
            "WITH o AS (SELECT * FROM app.orders) SELECT (SELECT count(*) FROM o) FROM o WHERE tenant_id = 'acme'",
        ),
        ("tenant_unproven", "WITH o AS (SELECT * FROM app.orders) SELECT 1"),
        (
            "tenant_unproven",
            "SELECT * FROM (SELECT tenant_id, id FROM app.orders FOR UPDATE) o WHERE tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT * FROM (SELECT tenant_id, id FROM app.orders) o WHERE tenant_id = 'acme' FOR UPDATE",
        ),
    ]);
}

#[test]
fn recursion() {
    expect(&[
        // What a query inside the recursive branch yields is no more than the last guess.
        (
            "tenant_unproven",
            "WITH RECURSIVE r AS (SELECT tenant_id a, note b FROM app.orders WHERE tenant_id = 'acme' UNION ALL (WITH q AS (SELECT * FROM r) SELECT q.b, o.note FROM q JOIN app.orders o ON o.tenant_id = q.a)) SELECT * FROM r",
        ),
        (
            "tenant_unproven",
            "WITH RECURSIVE r AS (SELECT tenant_id a, note b FROM app.orders WHERE tenant_id = 'acme' UNION ALL SELECT x.b, o.note FROM (WITH q AS (SELECT * FROM r) SELECT * FROM q) x JOIN app.orders o ON o.tenant_id = x.a) SELECT * FROM r",
        ),
        (
            "ok",
            "WITH RECURSIVE r AS (SELECT tenant_id a, note b FROM app.orders WHERE tenant_id = 'acme' UNION ALL (WITH q AS (SELECT * FROM r) SELECT q.a, o.note FROM q JOIN app.orders o ON o.tenant_id = q.a)) SELECT * FROM r",
        ),
        (
            "ok",
            "WITH RECURSIVE r AS (SELECT id, tenant_id FROM app.orders WHERE tenant_id = 'acme' UNION ALL SELECT o.id, o.tenant_id FROM app.orders o JOIN r ON o.tenant_id = r.tenant_id AND o.id = r.id + 1) SELECT * FROM r",
        ),
        (
            "ok",
            "WITH RECURSIVE r(t, n) AS (SELECT 'acme'::text, 1 UNION ALL SELECT t, n + 1 FROM r WHERE n < 3) SELECT 1 FROM app.orders o JOIN r ON r.t = o.tenant_id",
        ),
        (
            "tenant_unproven",
            "WITH RECURSIVE r AS (SELECT id, tenant_id FROM app.orders UNION ALL SELECT o.id, o.tenant_id FROM app.orders o JOIN r ON o.tenant_id = r.tenant_id) SELECT * FROM r WHERE tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "WITH RECURSIVE r(t, n) AS (SELECT 'acme'::text, 1 UNION ALL SELECT 'globex', n + 1 FROM r WHERE n < 3) SELECT 1 FROM app.orders o JOIN r ON r.t = o.tenant_id",
        ),
        // A NULL that comes a round later is no T to be inserted.
        (
            "tenant_unproven",
            "WITH RECURSIVE r(t, u, n) AS (SELECT 'acme'::text, 'acme'::text, 1 UNION ALL SELECT u, (SELECT 'acme'::text WHERE false), n + 1 FROM r WHERE n < 3) INSERT INTO app.notes (tenant_id, body) SELECT t, 'x' FROM r",
        ),
        (
            "tenant_unproven",
            "WITH RECURSIVE r(t, u, v, n) AS (SELECT 'acme'::text, 'acme'::text, 'acme'::text, 1 UNION ALL SELECT u, v, (SELECT 'acme'::text WHERE false), n + 1 FROM r WHERE n < 4) INSERT INTO app.notes (tenant_id, body) SELECT t, 'x' FROM r",
        ),
        (
            "ok",
            "WITH RECURSIVE r(t, u, n) AS (SELECT 'acme'::text, 'acme'::text, 1 UNION ALL SELECT u, t, n + 1 FROM r WHERE n < 3) INSERT INTO app.notes (tenant_id, body) SELECT t, 'x' FROM r",
        ),
        ("unsupported", "WITH RECURSIVE a AS (SELECT * FROM orders), orders AS (SELECT 1) SELECT * FROM a"),
    ]);
}

#[test]
fn names_prove_nothing() {
    expect(&[
        ("ok", "WITH orders AS (SELECT 1 AS id) SELECT * FROM orders"),
        (
            "tenant_unproven",
            "WITH orders AS (SELECT 'acme' AS tenant_id) SELECT 1 FROM app.orders o, orders WHERE orders.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM (SELECT 'acme' AS tenant_id) orders, app.orders o WHERE orders.tenant_id = 'acme'",
        ),
        ("tenant_unproven", "SELECT 1 FROM app.orders AS o(id, t, tenant_id) WHERE o.tenant_id = 3"),
        ("ok", "SELECT 1 FROM app.orders AS o(id, t, tenant_id) WHERE o.t = 'acme'"),
        (
            "ambiguous",
            "SELECT tenant_id FROM app.orders o, app.customers c WHERE o.tenant_id = 'acme' AND c.tenant_id = 'acme'",
        ),
        ("column_unknown", "SELECT nope FROM app.orders WHERE tenant_id = 'acme'"),
        ("relation_unknown", "SELECT x.id FROM app.orders WHERE tenant_id = 'acme'"),
        ("relation_unknown", "SELECT orders.id FROM app.orders o WHERE o.tenant_id = 'acme'"),
        ("ok", "SELECT app.orders.id, lab.app.orders.id FROM app.orders WHERE tenant_id = 'acme'"),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.orders o WHERE EXISTS (SELECT 1 FROM app.plans WHERE tenant_id = 'acme')",
        ),
        ("relation_unknown", "SELECT 1 FROM app.plans p JOIN (SELECT p.code) x ON true"),
        ("ok", "SELECT 1 FROM app.plans p JOIN LATERAL (SELECT p.code) x ON true"),
        ("column_unknown", "SELECT 1 FROM app.plans p RIGHT JOIN LATERAL (SELECT p.code) x ON true"),
    ]);
}

#[test]
fn every_place_is_looked_into() {
    expect(&[
        ("tenant_unproven", "SELECT (SELECT max(id) FROM app.orders)"),
        ("tenant_unproven", "SELECT 1 ORDER BY (SELECT max(id) FROM app.orders)"),
        ("tenant_unproven", "SELECT 1 LIMIT (SELECT max(id) FROM app.orders)"),
        (
            "tenant_unproven",
            "SELECT count(*) FILTER (WHERE EXISTS (SELECT 1 FROM app.orders)) FROM app.plans",
        ),
        (
            "tenant_unproven",
            "SELECT sum(1) OVER (PARTITION BY (SELECT max(id) FROM app.orders)) FROM app.plans",
        ),
        (
            "tenant_unproven",
            "SELECT string_agg(code, '' ORDER BY (SELECT max(id) FROM app.orders)) FROM app.plans",
        ),
        ("tenant_unproven", "SELECT (ARRAY[1])[(SELECT max(id) FROM app.orders)]"),
        (
            "tenant_unproven",
            "SELECT 1 FROM app.plans p JOIN app.countries c ON EXISTS (SELECT 1 FROM app.orders)",
        ),
        ("tenant_unproven", "SELECT 1 FROM generate_series(1, (SELECT max(id) FROM app.orders)) g"),
        ("tenant_unproven", "VALUES ((SELECT max(id) FROM app.orders))"),
        ("tenant_unproven", "SELECT code FROM app.plans GROUP BY code, (SELECT max(id) FROM app.orders)"),
        ("tenant_unproven", "SELECT CASE (SELECT max(id) FROM app.orders) WHEN 1 THEN 1 END"),
        (
            "tenant_unproven",
            "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', (SELECT max(note) FROM app.orders))",
        ),
        (
            "tenant_unproven",
            "UPDATE app.notes SET body = (SELECT max(note) FROM app.orders) WHERE tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "DELETE FROM app.notes WHERE tenant_id = 'acme' RETURNING (SELECT max(note) FROM app.orders)",
        ),
        ("tenant_unproven", "COPY (SELECT * FROM app.orders) TO STDOUT"),
        ("tenant_unproven", "COPY app.orders TO STDOUT"),
        ("ok", "COPY app.plans TO STDOUT"),
        ("tenant_unproven", "DECLARE c CURSOR FOR SELECT * FROM app.orders"),
        ("tenant_unproven", "PREPARE p AS SELECT * FROM app.orders"),
    ]);
}

#[test]
fn what_is_locked_is_restricted_where_it_is_locked() {
    on_large_stack(|| {
        Lab::new().expect(
            "app:acme",
            &[
                (
                    "ok",
                    "SELECT o.id FROM app.orders o WHERE o.tenant_id = 'acme' AND EXISTS (SELECT 1 FROM app.notes n WHERE n.tenant_id = o.tenant_id) FOR UPDATE OF o",
                ),
                // Nor through a sub-select that passes the outer column on.
                (
                    "tenant_unproven",
                    "SELECT c.id FROM app.customers c JOIN (VALUES ('acme'), ('acme')) v(t) ON v.t = c.tenant_id WHERE (SELECT o.id FROM app.orders o, LATERAL (SELECT c.tenant_id AS t) x WHERE o.tenant_id = x.t LIMIT 1 FOR UPDATE OF o) > 0",
                ),
                (
                    "tenant_unproven",
                    "SELECT c.id FROM app.customers c JOIN (VALUES ('acme'), ('acme')) v(t) ON v.t = c.tenant_id WHERE (WITH x AS (SELECT c.tenant_id AS t) SELECT o.id FROM app.orders o, x WHERE o.tenant_id = x.t LIMIT 1 FOR UPDATE OF o) > 0",
                ),
                (
                    "ok",
                    "SELECT c.id FROM app.customers c WHERE c.tenant_id = 'acme' AND (SELECT o.id FROM app.orders o WHERE o.tenant_id = 'acme' AND o.customer_id = c.id LIMIT 1 FOR UPDATE) > 0",
                ),
                (
                    "tenant_unproven",
                    "SELECT c.id FROM app.customers c JOIN (VALUES ('acme')) x(t) ON x.t = c.tenant_id WHERE (SELECT o.id FROM app.orders o WHERE o.tenant_id = c.tenant_id LIMIT 1 FOR UPDATE) > 0",
                ),
                (
                    "tenant_unproven",
                    "SELECT c.tenant_id, count((SELECT o.id FROM app.orders o WHERE o.tenant_id = c.tenant_id LIMIT 1 FOR UPDATE)) FROM app.customers c GROUP BY ROLLUP (c.tenant_id) HAVING c.tenant_id = 'acme'",
                ),
                (
                    "tenant_unproven",
                    "SELECT 1 FROM app.customers c, LATERAL (SELECT * FROM app.orders o WHERE o.tenant_id = c.tenant_id) x WHERE c.tenant_id = 'acme' FOR UPDATE OF x",
                ),
            ],
        );
    });
}

#[test]
fn a_window_by_primary_key_is_one_row() {
    expect(&[
        (
            "ok",
            "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY id) r FROM app.orders) x WHERE tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY status) r FROM app.orders) x WHERE tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY id), count(*) OVER () r FROM app.orders) x WHERE tenant_id = 'acme'",
        ),
    ]);
}

#[test]
fn what_yields_no_row_reads_none() {
    expect(&[
        ("ok", "SELECT * FROM app.orders LIMIT 0"),
        ("ok", "SELECT * FROM (SELECT * FROM app.orders) t LIMIT 0"),
        ("ok", "SELECT (SELECT count(*) FROM app.orders) LIMIT 0"),
        ("ok", "SELECT id, (SELECT count(*) FROM app.customers) FROM app.orders WHERE FALSE"),
        ("ok", "SELECT (SELECT count(*) FROM app.customers) WHERE FALSE"),
        ("tenant_unproven", "SELECT * FROM app.orders LIMIT 1"),
        ("tenant_unproven", "SELECT * FROM app.orders LIMIT (SELECT 0)"),
        ("tenant_unproven", "SELECT * FROM app.orders OFFSET 0"),
        ("tenant_unproven", "SELECT * FROM app.orders ORDER BY id FETCH FIRST 0 ROWS WITH TIES"),
        ("tenant_unproven", "SELECT * FROM app.orders LIMIT 0 FOR UPDATE"),
        ("tenant_unproven", "SELECT * FROM app.plans LIMIT 0 OFFSET (SELECT count(*) FROM app.orders)"),
        (
            "tenant_unproven",
            "SELECT (SELECT count(*) FROM app.customers), max(id) FROM app.orders WHERE FALSE",
        ),
        (
            "tenant_unproven",
            "SELECT (SELECT count(*) FROM app.customers) FROM app.orders WHERE FALSE HAVING true",
        ),
        (
            "tenant_unproven",
            "SELECT (SELECT count(*) FROM app.customers) FROM app.orders WHERE FALSE GROUP BY ()",
        ),
        (
            "tenant_unproven",
            "SELECT (SELECT max(o.id)), (SELECT count(*) FROM app.customers) FROM app.orders o WHERE FALSE",
        ),
        ("tenant_unproven", "WITH d AS (DELETE FROM app.orders RETURNING 1) SELECT * FROM d LIMIT 0"),
    ]);
}

/// Grouping sets leave a column out of some rows: what looks at it from above may see NULL.
#[test]
fn grouping_sets_extend_with_nulls() {
    expect(&[
        (
            "tenant_unproven",
            "SELECT o.tenant_id, (SELECT count(*) FROM notes n WHERE n.tenant_id IS NOT DISTINCT FROM o.tenant_id) FROM orders o WHERE o.tenant_id = 'acme' GROUP BY ROLLUP (o.tenant_id)",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM orders o WHERE o.tenant_id = 'acme' GROUP BY CUBE (o.tenant_id) HAVING EXISTS (SELECT 1 FROM notes n WHERE n.tenant_id IS NOT DISTINCT FROM o.tenant_id)",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM orders o WHERE o.tenant_id = 'acme' GROUP BY GROUPING SETS ((o.tenant_id), ()) ORDER BY (SELECT count(*) FROM notes n WHERE n.tenant_id IS NOT DISTINCT FROM o.tenant_id)",
        ),
        (
            "tenant_unproven",
            "SELECT (SELECT count(*) FROM (SELECT o.tenant_id AS t) d JOIN notes n ON n.tenant_id IS NOT DISTINCT FROM d.t) FROM orders o WHERE o.tenant_id = 'acme' GROUP BY ROLLUP (o.tenant_id)",
        ),
        (
            "ok",
            "SELECT o.tenant_id, (SELECT count(*) FROM notes n WHERE n.tenant_id = o.tenant_id) FROM orders o WHERE o.tenant_id = 'acme' GROUP BY ROLLUP (o.tenant_id)",
        ),
        (
            "ok",
            "SELECT o.tenant_id, (SELECT count(*) FROM notes n WHERE n.tenant_id IS NOT DISTINCT FROM o.tenant_id) FROM orders o WHERE o.tenant_id = 'acme' GROUP BY o.tenant_id",
        ),
        (
            "ok",
            "SELECT 1 FROM orders o WHERE o.tenant_id = 'acme' AND EXISTS (SELECT 1 FROM notes n WHERE n.tenant_id IS NOT DISTINCT FROM o.tenant_id) GROUP BY ROLLUP (o.tenant_id)",
        ),
    ]);
}

/// A key that is no output makes rows, too, beside which an array ends earlier.
#[test]
fn set_returning_keys_pad() {
    on_large_stack(|| {
        let mut lab = Lab::new();
        let golden = include_str!("../../golden/lab-catalog.json");
        let column = r#""name" : "tenant_id", "not_null" : true"#;
        let nullable = golden.replace(column, &column.replace("true", "false"));
        assert_ne!(golden, nullable);
        lab.catalog = pgmoat_policy::Catalog::parse(&nullable).unwrap();
        lab.expect(
            "app:acme",
            &[
                (
                    "tenant_unproven",
                    "INSERT INTO notes (tenant_id, body) SELECT unnest('{acme}'::text[]), 'x' ORDER BY generate_series(1, 3)",
                ),
                (
                    "tenant_unproven",
                    "INSERT INTO notes (tenant_id, body) SELECT DISTINCT ON (generate_series(1, 3)) unnest('{acme}'::text[]), 'x'",
                ),
                (
                    "tenant_column_write",
                    "UPDATE notes SET tenant_id = q.t FROM (SELECT unnest('{acme}'::text[]) t GROUP BY generate_series(1, 3)) q WHERE tenant_id = 'acme'",
                ),
                ("ok", "INSERT INTO notes (tenant_id, body) SELECT unnest('{acme}'::text[]), 'x' ORDER BY 1 LIMIT 5"),
                (
                    "ok",
                    "SELECT 1 FROM orders o JOIN (SELECT unnest('{acme}'::text[]) t ORDER BY generate_series(1, 3)) u ON o.tenant_id = u.t",
                ),
            ],
        );
    });
}

/// PostgreSQL hands the clause on to every derived table within one that it names.
#[test]
fn a_locking_clause_reaches_all_the_way_in() {
    let join = "JOIN (VALUES ('acme'), ('acme')) v(t) ON v.t = y.tenant_id";
    for inner in [
        "(SELECT * FROM app.orders ORDER BY id) y",
        "(WITH z AS (SELECT 1) SELECT * FROM app.orders) y",
        "(SELECT * FROM (SELECT * FROM app.orders) w) y",
    ] {
        for (expected, clause) in
            [("ok", ""), ("tenant_unproven", "FOR UPDATE"), ("tenant_unproven", "FOR SHARE OF x")]
        {
            let sql = format!("SELECT * FROM (SELECT y.* FROM {inner} {join}) x {clause}");
            on_large_stack(move || Lab::new().expect("app:acme", &[(expected, &sql)]));
        }
    }
    on_large_stack(move || {
        let sql = format!(
            "SELECT * FROM (SELECT y.* FROM (SELECT * FROM app.orders WHERE tenant_id = 'acme') y {join}) x FOR UPDATE"
        );
        Lab::new().expect("app:acme", &[("ok", &sql), ("ok", &sql.replace("FOR UPDATE", "FOR UPDATE OF x"))]);
    });
}

/// From 17 on; an aggregate makes a row of no rows.
#[test]
fn aggregates_of_sql_json_are_aggregates() {
    on_large_stack(|| {
        Lab::new().on(170_000).expect(
            "app:acme",
            &[
                ("tenant_unproven", "SELECT (SELECT count(*) FROM app.orders), json_arrayagg(o.id) FROM app.orders o WHERE FALSE"),
                (
                    "tenant_unproven",
                    "SELECT (SELECT count(*) FROM app.orders), (SELECT json_objectagg('a': o.id)) FROM app.orders o WHERE FALSE",
                ),
                ("ok", "SELECT (SELECT count(*) FROM app.orders), json_array(o.id) FROM app.orders o WHERE FALSE"),
                ("tenant_unproven", "SELECT * FROM (SELECT o.tenant_id AS t, json_arrayagg(o.id) FROM app.orders o) x WHERE t = 'acme'"),
            ],
        );
    });
}

#[test]
fn a_volatile_function_in_a_sub_select_runs_for_each_row_around_it() {
    on_large_stack(|| {
        let with = |s: &str| {
            format!(
                "SELECT x.id, x.s FROM (SELECT o.tenant_id, o.id, {s} s FROM app.orders o) x \
                 JOIN (VALUES ('acme'), ('acme')) v(t) ON v.t = x.tenant_id"
            )
        };
        Lab::new().expect(
            "app:acme",
            &[
                ("ok", &with("(SELECT lower(o.note))")),
                ("tenant_unproven", &with("(SELECT clock_timestamp())")),
            ],
        );
    });
}
