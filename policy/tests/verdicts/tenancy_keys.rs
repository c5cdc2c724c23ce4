//! Keys carry (policy 3.1) in the places and scopes where an equality of the tenant columns would:
//! into sub-selects, from and to derived tables, CTEs and views, and nowhere else.

use crate::lab::{Lab, on_large_stack};

fn expect(cases: &'static [(&'static str, &'static str)]) {
    on_large_stack(move || Lab::new().expect("app:acme", cases));
}

#[test]
fn into_sub_selects() {
    expect(&[
        (
            "ok",
            "SELECT s.id, (SELECT w.name FROM warehouses w WHERE w.id = s.warehouse_id) FROM shipments s WHERE s.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT 1 FROM shipments s WHERE s.tenant_id = 'acme' AND EXISTS (SELECT 1 FROM warehouses w WHERE w.id = s.warehouse_id AND w.name LIKE 'W%')",
        ),
        (
            "ok",
            "SELECT 1 FROM shipments s WHERE s.tenant_id = 'acme' AND NOT EXISTS (SELECT 1 FROM warehouses w WHERE w.id = s.warehouse_id)",
        ),
        (
            "ok",
            "SELECT s.id FROM shipments s WHERE s.tenant_id = 'acme' AND s.warehouse_id IN (SELECT w.id FROM warehouses w WHERE w.name LIKE 'W%')",
        ),
        (
            "ok",
            "SELECT s.id FROM shipments s WHERE s.tenant_id = 'acme' AND s.warehouse_id IN (SELECT id FROM (SELECT id, name FROM warehouses) w WHERE w.name LIKE 'W%')",
        ),
        (
            "ok",
            "SELECT s.id, x.name FROM shipments s, LATERAL (SELECT * FROM warehouses w WHERE w.id = s.warehouse_id) x WHERE s.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT s.id, x.name FROM shipments s LEFT JOIN LATERAL (SELECT name FROM warehouses w WHERE w.id = s.warehouse_id ORDER BY 1 LIMIT 1) x ON true WHERE s.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT s.id FROM shipments s WHERE s.tenant_id = 'acme' AND EXISTS (SELECT 1 FROM app.plans p WHERE EXISTS (SELECT 1 FROM warehouses w WHERE w.id = s.warehouse_id))",
        ),
        // Outwards, from a sub-select that is T's by itself.
        (
            "ok",
            "SELECT w.name FROM warehouses w WHERE w.id IN (SELECT s.warehouse_id FROM shipments s WHERE s.tenant_id = 'acme')",
        ),
        (
            "ok",
            "SELECT w.name FROM warehouses w WHERE w.id IN (SELECT warehouse_id FROM (SELECT * FROM shipments WHERE tenant_id = 'acme' LIMIT 5) s)",
        ),
        (
            "ok",
            "SELECT w.name FROM (SELECT id, name FROM warehouses) w WHERE w.id = ANY (SELECT s.warehouse_id FROM shipments s WHERE s.tenant_id = 'acme')",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM warehouses w WHERE w.id NOT IN (SELECT s.warehouse_id FROM shipments s WHERE s.tenant_id = 'acme')",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM warehouses w WHERE w.id IN (SELECT s.warehouse_id FROM shipments s)",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM warehouses w WHERE w.id IN (SELECT s.order_id FROM shipments s WHERE s.tenant_id = 'acme')",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM warehouses w WHERE w.id IN (SELECT s.warehouse_id + 0 FROM shipments s WHERE s.tenant_id = 'acme')",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM warehouses w WHERE w.id IN (SELECT s.warehouse_id FROM shipments s WHERE s.tenant_id = 'acme') OR w.name = 'x'",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM warehouses w WHERE w.id IN (SELECT s.warehouse_id FROM shipments s WHERE s.tenant_id = 'acme' UNION SELECT 1)",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM warehouses w WHERE w.id IN (SELECT s.warehouse_id FROM shipments s WHERE s.tenant_id = 'acme' GROUP BY ROLLUP (s.warehouse_id))",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM warehouses w WHERE EXISTS (SELECT 1 FROM shipments s WHERE s.warehouse_id = w.id AND s.tenant_id = 'acme')",
        ),
        (
            "tenant_unproven",
            "SELECT s.id, (SELECT w.name FROM warehouses w WHERE w.id = s.order_id) FROM shipments s WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT s.id, (SELECT w.name FROM warehouses w WHERE w.id >= s.warehouse_id) FROM shipments s WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT s.id, (SELECT w.name FROM warehouses w WHERE w.id = s.warehouse_id OR w.id = 1) FROM shipments s WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT s.id FROM shipments s WHERE s.tenant_id = 'acme' AND s.warehouse_id IN (SELECT w.id FROM warehouses w LIMIT 5)",
        ),
        (
            "tenant_unproven",
            "SELECT s.id FROM shipments s WHERE s.tenant_id = 'acme' AND s.warehouse_id IN (SELECT max(w.id) FROM warehouses w)",
        ),
        (
            "tenant_unproven",
            "SELECT s.id FROM shipments s WHERE s.tenant_id = 'acme' AND s.warehouse_id NOT IN (SELECT w.id FROM warehouses w)",
        ),
        (
            "tenant_unproven",
            "SELECT s.id FROM shipments s WHERE s.tenant_id = 'acme' AND s.warehouse_id IN (SELECT w.id FROM warehouses w UNION SELECT 1)",
        ),
        // A locking clause looks at rows that the outer level drops later.
        (
            "tenant_unproven",
            "SELECT s.id FROM shipments s WHERE s.tenant_id = 'acme' AND EXISTS (SELECT 1 FROM warehouses w WHERE w.id = s.warehouse_id FOR UPDATE)",
        ),
        (
            "tenant_unproven",
            "SELECT s.id FROM shipments s WHERE s.tenant_id = 'acme' AND EXISTS (SELECT 1 FROM warehouses w, LATERAL (SELECT s.tenant_id AS t) x WHERE w.tenant_id = x.t FOR UPDATE)",
        ),
    ]);
}

/// PostgreSQL checks a key to a partitioned table against the newest rows, also where the transaction's snapshot is older
/// and shows another tenant's row under the same key.
#[test]
fn not_to_a_partitioned_table() {
    const CASE: &str = "SELECT s.id, w.name FROM shipments s JOIN warehouses w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'";
    on_large_stack(|| {
        Lab::new().expect("app:acme", &[("ok", CASE)]);
        let partitioned = Lab::new().with_relation("warehouses", |relation| {
            relation["kind"] = "p".into();
            relation["has_children"] = true.into();
        });
        partitioned.expect("app:acme", &[("tenant_unproven", CASE)]);
        let referencing = Lab::new().with_relation("shipments", |relation| {
            relation["kind"] = "p".into();
            relation["has_children"] = true.into();
        });
        referencing.expect("app:acme", &[("ok", CASE)]);
    });
}

#[test]
fn not_from_rows_that_are_written() {
    expect(&[
        (
            "tenant_unproven",
            "INSERT INTO shipments (tenant_id, order_id, warehouse_id) VALUES ('acme', 1, 1) RETURNING (SELECT w.name FROM warehouses w WHERE w.id = warehouse_id)",
        ),
        (
            "tenant_unproven",
            "UPDATE shipments SET warehouse_id = 7 WHERE tenant_id = 'acme' RETURNING (SELECT w.name FROM warehouses w WHERE w.id = warehouse_id)",
        ),
        (
            "tenant_unproven",
            "WITH s AS (INSERT INTO shipments (tenant_id, order_id, warehouse_id) VALUES ('acme', 1, 1) RETURNING tenant_id, warehouse_id) SELECT w.name FROM s JOIN warehouses w ON w.id = s.warehouse_id",
        ),
        (
            "tenant_unproven",
            "WITH s AS (UPDATE shipments SET warehouse_id = 7 WHERE tenant_id = 'acme' RETURNING tenant_id, warehouse_id) SELECT w.name FROM s JOIN warehouses w ON w.id = s.warehouse_id",
        ),
        (
            "tenant_unproven",
            "INSERT INTO shipments AS s (tenant_id, order_id, warehouse_id) VALUES ('acme', 1, 1) ON CONFLICT (id) DO UPDATE SET id = 1 WHERE s.tenant_id = 'acme' AND EXISTS (SELECT 1 FROM warehouses w WHERE w.id = EXCLUDED.warehouse_id)",
        ),
    ]);
}

/// A row that is locked or changed is read again, in its newest version, where somebody has changed it since the
/// statement's snapshot (EvalPlanQual): its key was checked later than what a sub-select reads, or another level.
#[test]
fn not_from_rows_that_are_read_again() {
    expect(&[
        (
            "tenant_unproven",
            "UPDATE shipments s SET id = s.id WHERE tenant_id = 'acme' AND EXISTS (SELECT 1 FROM warehouses w WHERE w.id = s.warehouse_id)",
        ),
        (
            "tenant_unproven",
            "DELETE FROM shipments s WHERE tenant_id = 'acme' AND warehouse_id IN (SELECT id FROM warehouses WHERE name = 'x')",
        ),
        (
            "tenant_unproven",
            "UPDATE shipments s SET id = length((SELECT w.name FROM warehouses w WHERE w.id = s.warehouse_id)) WHERE tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "DELETE FROM shipments s WHERE tenant_id = 'acme' RETURNING (SELECT w.name FROM warehouses w WHERE w.id = s.warehouse_id)",
        ),
        (
            "tenant_unproven",
            "SELECT (SELECT w.name FROM warehouses w WHERE w.id = s.warehouse_id) FROM shipments s WHERE s.tenant_id = 'acme' FOR UPDATE",
        ),
        (
            "tenant_unproven",
            "SELECT s.id FROM shipments s WHERE s.tenant_id = 'acme' AND (SELECT w.name FROM warehouses w WHERE w.id = s.warehouse_id) = 'x' FOR KEY SHARE OF s",
        ),
        (
            "tenant_unproven",
            "SELECT s.id, x.name FROM shipments s, LATERAL (SELECT * FROM warehouses w WHERE w.id = s.warehouse_id LIMIT 1) x WHERE s.tenant_id = 'acme' FOR UPDATE OF s",
        ),
        (
            "tenant_unproven",
            "WITH s AS (SELECT * FROM shipments WHERE tenant_id = 'acme' FOR UPDATE) SELECT w.name FROM s JOIN warehouses w ON w.id = s.warehouse_id",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM (SELECT * FROM shipments WHERE tenant_id = 'acme' FOR SHARE) s JOIN warehouses w ON w.id = s.warehouse_id",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM (SELECT * FROM shipments WHERE tenant_id = 'acme' LIMIT 3) s JOIN warehouses w ON w.id = s.warehouse_id FOR UPDATE OF s",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM (SELECT * FROM (SELECT * FROM shipments WHERE tenant_id = 'acme' LIMIT 3) x) s JOIN warehouses w ON w.id = s.warehouse_id FOR NO KEY UPDATE",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM warehouses w WHERE w.id IN (SELECT warehouse_id FROM shipments WHERE tenant_id = 'acme' FOR UPDATE)",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM (SELECT * FROM (SELECT * FROM shipments WHERE tenant_id = 'acme' OFFSET 0) i) x JOIN warehouses w ON w.id = x.warehouse_id FOR UPDATE OF x",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM ((SELECT * FROM shipments WHERE tenant_id = 'acme' FOR UPDATE) LIMIT 5) x JOIN warehouses w ON w.id = x.warehouse_id",
        ),
        (
            "tenant_unproven",
            "DECLARE c CURSOR FOR SELECT w.name FROM (SELECT * FROM shipments WHERE tenant_id = 'acme' FOR UPDATE) x JOIN warehouses w ON w.id = x.warehouse_id",
        ),
        (
            "ok",
            "SELECT s.id, w.name FROM shipments s JOIN warehouses w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme' FOR UPDATE OF s",
        ),
        (
            "ok",
            "SELECT w.name FROM (SELECT * FROM shipments WHERE tenant_id = 'acme' LIMIT 3) s JOIN warehouses w ON w.id = s.warehouse_id FOR UPDATE OF w",
        ),
        (
            "ok",
            "UPDATE shipments s SET id = s.id FROM warehouses w WHERE w.id = s.warehouse_id AND s.tenant_id = 'acme'",
        ),
        (
            "ok",
            "DELETE FROM shipments s USING warehouses w WHERE w.id = s.warehouse_id AND s.tenant_id = 'acme' AND w.name = 'x'",
        ),
        (
            "ok",
            "UPDATE shipments s SET id = s.id WHERE tenant_id = 'acme' AND EXISTS (SELECT 1 FROM warehouses w WHERE w.id = s.warehouse_id AND w.tenant_id = s.tenant_id)",
        ),
        (
            "ok",
            "SELECT (SELECT w.name FROM warehouses w WHERE w.id = s.warehouse_id AND w.tenant_id = s.tenant_id) FROM shipments s WHERE s.tenant_id = 'acme' FOR UPDATE",
        ),
    ]);
}

#[test]
fn from_derived_tables() {
    expect(&[
        (
            "ok",
            "SELECT w.name FROM (SELECT * FROM shipments WHERE tenant_id = 'acme') s JOIN warehouses w ON w.id = s.warehouse_id",
        ),
        (
            "ok",
            "SELECT w.name FROM (SELECT warehouse_id FROM shipments WHERE tenant_id = 'acme' LIMIT 3) s JOIN warehouses w ON w.id = s.warehouse_id",
        ),
        (
            "ok",
            "WITH s AS (SELECT id, warehouse_id AS w FROM shipments WHERE tenant_id = 'acme') SELECT w.name FROM s LEFT JOIN warehouses w ON w.id = s.w",
        ),
        (
            "ok",
            "WITH s AS MATERIALIZED (SELECT tenant_id, warehouse_id FROM shipments) SELECT w.name FROM s JOIN warehouses w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT w.name FROM (SELECT x.* FROM (SELECT warehouse_id AS wid, order_id FROM shipments WHERE tenant_id = 'acme') x) s JOIN warehouses w ON w.id = s.wid",
        ),
        (
            "ok",
            "SELECT w.name FROM (SELECT warehouse_id, count(*) FROM shipments WHERE tenant_id = 'acme' GROUP BY warehouse_id) s JOIN warehouses w ON w.id = s.warehouse_id",
        ),
        (
            "ok",
            "SELECT (SELECT w.name FROM warehouses w WHERE w.id = s.warehouse_id) FROM (SELECT warehouse_id FROM shipments WHERE tenant_id = 'acme') s",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM (SELECT warehouse_id FROM shipments) s JOIN warehouses w ON w.id = s.warehouse_id",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM (SELECT 'acme' AS tenant_id, order_id AS warehouse_id FROM shipments WHERE tenant_id = 'acme') s JOIN warehouses w ON w.id = s.warehouse_id",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM (SELECT tenant_id, max(warehouse_id) AS warehouse_id FROM shipments WHERE tenant_id = 'acme' GROUP BY 1) s JOIN warehouses w ON w.id = s.warehouse_id",
        ),
        // The tenant column of one row beside the key of another.
        (
            "tenant_unproven",
            "SELECT w.name FROM (SELECT a.tenant_id, b.warehouse_id FROM shipments a, shipments b) s JOIN warehouses w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM (SELECT warehouse_id FROM shipments WHERE tenant_id = 'acme' UNION ALL SELECT 1) s JOIN warehouses w ON w.id = s.warehouse_id",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM (SELECT tenant_id, warehouse_id FROM shipments GROUP BY GROUPING SETS ((tenant_id), (warehouse_id))) s JOIN warehouses w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "WITH RECURSIVE s AS (SELECT tenant_id, warehouse_id FROM shipments WHERE tenant_id = 'acme' UNION ALL SELECT tenant_id, warehouse_id + 1 FROM s WHERE warehouse_id < 9) SELECT w.name FROM s JOIN warehouses w ON w.id = s.warehouse_id",
        ),
    ]);
}

#[test]
fn to_derived_tables() {
    expect(&[
        (
            "ok",
            "SELECT w.name FROM shipments s JOIN (SELECT id AS warehouse_id, name FROM warehouses) w USING (warehouse_id) WHERE s.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT w.name FROM shipments s LEFT JOIN (SELECT * FROM warehouses) w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        (
            "ok",
            "WITH w AS (SELECT id, upper(name) AS name FROM warehouses) SELECT w.name FROM shipments s JOIN w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        (
            "ok",
            "WITH w AS (SELECT id, name FROM warehouses) SELECT 1 FROM shipments s JOIN w ON w.id = s.warehouse_id JOIN w AS v ON v.id = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        (
            "ok",
            "WITH s AS (SELECT warehouse_id FROM shipments WHERE tenant_id = 'acme'), w AS (SELECT id, name FROM (SELECT * FROM warehouses) x) SELECT w.name FROM s JOIN w ON w.id = s.warehouse_id",
        ),
        (
            "ok",
            "SELECT w.n FROM shipments s JOIN (SELECT id, count(*) AS n FROM warehouses GROUP BY id) w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT 1 FROM shipments s JOIN (SELECT DISTINCT id FROM warehouses) w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM shipments s JOIN (SELECT id, name FROM warehouses LIMIT 5) w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT w.n FROM shipments s JOIN (SELECT id, count(*) OVER () AS n FROM warehouses) w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT w.n FROM shipments s JOIN (SELECT max(id) AS id, name AS n FROM warehouses GROUP BY name) w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM shipments s RIGHT JOIN (SELECT id, name FROM warehouses) w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme' OR s.id IS NULL",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM shipments s JOIN (SELECT a.id, b.name FROM warehouses a, warehouses b) w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        // One of the references says nothing.
        (
            "tenant_unproven",
            "WITH w AS (SELECT id, name FROM warehouses) SELECT 1 FROM shipments s JOIN w ON w.id = s.warehouse_id, w AS v WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM shipments s JOIN (SELECT id, name FROM warehouses UNION ALL SELECT id, body FROM notes) w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT w.name FROM shipments s JOIN (SELECT id, name FROM warehouses FOR SHARE) w ON w.id = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
    ]);
}

#[test]
fn lateral_passes_columns_on() {
    expect(&[
        ("ok", "SELECT count(*) FROM orders o, LATERAL (SELECT o.tenant_id AS t) x WHERE x.t = 'acme'"),
        (
            "ok",
            "SELECT c.id FROM orders o CROSS JOIN LATERAL (SELECT o.tenant_id AS t LIMIT 1) x JOIN customers c ON c.tenant_id = x.t WHERE o.tenant_id = 'acme'",
        ),
        (
            "ok",
            "SELECT 1 FROM orders o LEFT JOIN LATERAL (SELECT o.tenant_id AS t) x ON true WHERE x.t = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM orders o LEFT JOIN LATERAL (SELECT o.tenant_id AS t) x ON x.t = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM orders o JOIN (app.plans p LEFT JOIN LATERAL (SELECT o.tenant_id AS t) x ON x.t = 'acme') ON true",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM orders o, LATERAL (SELECT o.tenant_id || '' AS t) x WHERE x.t = 'acme'",
        ),
        (
            "tenant_unproven",
            "SELECT 1 FROM orders o, LATERAL (SELECT o.tenant_id AS t UNION ALL SELECT 'acme') x WHERE x.t = 'acme'",
        ),
        (
            "tenant_unproven",
            "INSERT INTO notes (tenant_id, body) SELECT x.t, 'b' FROM app.plans p LEFT JOIN orders o ON o.tenant_id = 'acme' CROSS JOIN LATERAL (SELECT o.tenant_id AS t) x",
        ),
    ]);
}

#[test]
fn two_references_to_one_query_are_two_rows() {
    expect(&[
        (
            "ok",
            "WITH c AS (SELECT tenant_id, id, name FROM warehouses) SELECT d.name FROM shipments s JOIN (SELECT x.id AS a, x.tenant_id AS t, x.name FROM c x) d ON d.a = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "WITH c AS (SELECT tenant_id, id, name FROM warehouses) SELECT d.name, d.t FROM shipments s JOIN (SELECT x.id AS a, y.tenant_id AS t, y.name FROM c x, c y) d ON d.a = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "WITH c AS (SELECT tenant_id, id, name FROM warehouses) SELECT d.name FROM shipments s JOIN (SELECT x.id AS a, x.tenant_id AS t, y.name FROM c x, c y) d ON d.a = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        // A level deeper: the same occurrence next to the outside is not enough.
        (
            "tenant_unproven",
            "WITH c AS (SELECT tenant_id, id, name FROM warehouses) SELECT d.t, d.b FROM shipments s JOIN (SELECT x.id AS a, x.tenant_id AS tx, e.t, e.b FROM c x, (SELECT y.tenant_id AS t, y.name AS b FROM c y) e) d ON d.a = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "WITH c AS (SELECT tenant_id, id, name FROM warehouses) SELECT d.t FROM shipments s JOIN (SELECT e.a, e.t FROM (SELECT x.id AS a, y.tenant_id AS t FROM c x, c y) e) d ON d.a = s.warehouse_id WHERE s.tenant_id = 'acme'",
        ),
        // By correlation, LATERAL and IN.
        (
            "tenant_unproven",
            "WITH c AS (SELECT tenant_id, id, name FROM warehouses) SELECT (SELECT string_agg(d.name, ',') FROM (SELECT x.id AS a, y.tenant_id AS t, y.name FROM c x, c y) d WHERE d.a = s.warehouse_id) FROM shipments s WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "WITH c AS (SELECT tenant_id, id, name FROM warehouses) SELECT d.name FROM shipments s CROSS JOIN LATERAL (SELECT x.id AS a, y.tenant_id AS t, y.name FROM c x, c y WHERE x.id = s.warehouse_id) d WHERE s.tenant_id = 'acme'",
        ),
        (
            "tenant_unproven",
            "WITH c AS (SELECT tenant_id, id FROM warehouses) SELECT s.id FROM shipments s WHERE s.tenant_id = 'acme' AND s.warehouse_id IN (SELECT d.a FROM (SELECT x.id AS a, y.tenant_id AS t FROM c x, c y) d)",
        ),
        // The referencing side, too: y's row is not the one that the key is about.
        (
            "tenant_unproven",
            "WITH c AS (SELECT tenant_id, warehouse_id FROM shipments) SELECT w.name FROM (SELECT x.warehouse_id AS a, y.tenant_id AS t FROM c x, c y WHERE y.tenant_id = 'acme') d JOIN warehouses w ON w.id = d.a",
        ),
        (
            "tenant_unproven",
            "WITH c AS (SELECT tenant_id, warehouse_id FROM shipments) SELECT w.name FROM warehouses w WHERE w.id IN (SELECT d.a FROM (SELECT x.warehouse_id AS a, y.tenant_id AS t FROM c x, c y) d WHERE d.t = 'acme')",
        ),
    ]);
}

#[test]
fn what_a_sub_select_yields_is_counted_by_its_outputs() {
    expect(&[
        (
            "ok",
            "SELECT s.id FROM shipments s WHERE s.tenant_id = 'acme' AND (1, s.warehouse_id) IN (SELECT 1, w.id FROM warehouses w)",
        ),
        (
            "ok",
            "SELECT s.id FROM shipments s WHERE s.tenant_id = 'acme' AND (s.warehouse_id, 1) IN (SELECT w.id, z.id FROM warehouses w, warehouses z WHERE z.tenant_id = 'acme')",
        ),
        (
            "tenant_unproven",
            "SELECT s.id FROM shipments s WHERE s.tenant_id = 'acme' AND (s.warehouse_id, 11) IN (SELECT w.id, z.id FROM warehouses w, warehouses z WHERE w.tenant_id = 'acme')",
        ),
        (
            "tenant_unproven",
            "SELECT s.id FROM shipments s WHERE s.tenant_id = 'acme' AND (11, s.warehouse_id) IN (SELECT z.id, w.id FROM warehouses w, warehouses z WHERE w.tenant_id = 'acme')",
        ),
        (
            "tenant_unproven",
            "SELECT s.id FROM shipments s WHERE s.tenant_id = 'acme' AND (s.warehouse_id, s.id, 11) IN (SELECT w.id, w.id, z.id FROM warehouses w, warehouses z WHERE w.tenant_id = 'acme')",
        ),
    ]);
}
