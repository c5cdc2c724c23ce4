//! Traps of names: what a name seems to mean.

use super::super::Gen;
use crate::schema::Class;
use crate::tree::{Sort, Tree, fill, node, scalar, text};

/// The key of the relation whose name the CTE bears does not hold for the CTE.
pub(super) fn cte_of_a_relation(made: &mut Gen) -> Vec<Tree> {
    made.saw("CTE of a table's name");
    let name = made.one(&["shipments", "shipments", "mine"]);
    let number = made.one(&["101", "102", "201", "1"]);
    let own = made.own_is("s.tenant_id");
    let more = made.maybe_and("w.tenant_id");
    fill(
        "WITH {}(tenant_id, warehouse_id) AS (SELECT 'acme'::text, {}) \
         SELECT w.name FROM {} AS s JOIN app.warehouses AS w ON w.id = s.warehouse_id WHERE {}{}",
        [name.clone(), number, name, own, more],
    )
}

/// A name with a schema is never a CTE's, a name without one is.
pub(super) fn schema_of_cte(made: &mut Gen) -> Vec<Tree> {
    made.saw("CTE of a table's name");
    let inside = made.own_is("o.tenant_id");
    let name = made.one(&["app.orders", "app.orders", "orders"]);
    let outside = made.maybe_where("o.tenant_id", 25);
    fill(
        "WITH orders AS (SELECT o.id, o.tenant_id FROM app.orders AS o WHERE {}) SELECT o.id FROM {} AS o{}",
        [inside, name, outside],
    )
}

/// Without RECURSIVE a CTE does not see itself.
pub(super) fn cte_in_itself(made: &mut Gen) -> Vec<Tree> {
    made.saw("CTE of a table's name");
    let relation = made.one(&["notes", "customers"]);
    let inside = made.maybe_where("x.tenant_id", 40);
    let outside = made.maybe_where("y.tenant_id", 25);
    fill(
        "WITH {} AS (SELECT x.id, x.tenant_id FROM {} AS x{}) SELECT y.id FROM {} AS y{}",
        [relation.clone(), relation.clone(), inside, relation, outside],
    )
}

/// A renamed column is not the one that it is called.
pub(super) fn renames(made: &mut Gen) -> Vec<Tree> {
    made.saw("renamed columns");
    let source = made.one(&[
        "app.customers AS l(id, email, x, tenant_id)",
        "app.customers AS l(id, email, x, tenant_id)",
        "app.customers AS l(id, tenant_id)",
        "more.labels AS l(id, other, code, nm, tenant_id)",
        "more.devices AS l(id, tenant_id, owner)",
        "app.notes AS l(id, body, tenant_id)",
    ]);
    let own = made.own_is("l.tenant_id");
    fill("SELECT l.id FROM {} WHERE {}", [source, own])
}

/// A qualifier is an alias, not a table's name.
pub(super) fn qualifier(made: &mut Gen) -> Vec<Tree> {
    made.saw("alias of another table's name");
    let alias = made.one(&["notes", "notes", "v"]);
    let own = scalar(fill("{}.tenant_id = 'acme'", [alias.clone()]));
    let more = made.maybe_and("n.tenant_id");
    match made.rng.below(3) {
        0 => fill(
            "SELECT n.id FROM app.notes AS n, (VALUES ('acme'::text)) AS {}(tenant_id) WHERE {}{}",
            [alias, own, more],
        ),
        1 => fill(
            "SELECT n.id FROM app.notes AS n JOIN (SELECT 'acme'::text AS tenant_id) AS {} ON {}{}",
            [alias, own, more],
        ),
        _ => fill(
            "WITH {} AS (SELECT 'acme'::text AS tenant_id) SELECT n.id FROM app.notes AS n, {} WHERE {}{}",
            [alias.clone(), alias, own, more],
        ),
    }
}

/// `(o).c` is a field of the column o where there is one.
pub(super) fn row_or_column(made: &mut Gen) -> Vec<Tree> {
    made.saw("field of a row");
    let column = made.one(&["o", "o", "q"]);
    let field = made.own_is("(o).tenant_id");
    let more = made.maybe_and("o.tenant_id");
    fill(
        "SELECT o.id FROM app.orders AS o, (SELECT p AS {} FROM (SELECT 'acme'::text AS tenant_id) AS p) AS d \
         WHERE {}{}",
        [column, field, more],
    )
}

/// What PostgreSQL calls a column that nobody names hides an outer column of that name.
pub(super) fn figured_name(made: &mut Gen) -> Vec<Tree> {
    made.saw("name that is figured");
    let (name, before, after) = *made.rng.pick(FIGURED);
    // The outer column is called like the inner one, or like what that might be taken for.
    let outer = if made.rng.chance(80) { name } else { made.rng.pick(FIGURED).0 };
    let value = made.one(&["'globex'", "'globex'", "'acme'"]);
    let relation = made.one(&["app.notes", "app.warehouses"]);
    let (second, third) = if made.rng.chance(50) { ("f", "g") } else { ("f", "h") };
    let z = text(format!("z(a, {second}, {third})"));
    let own = made.equality(text(format!("o.{outer}")), Class::Tenant);
    let modifying = made.rng.chance(24);
    // Of notes the second column is the tenant's, of warehouses, too.
    let reads = |source: Vec<Tree>| {
        fill(
            "(SELECT string_agg(z.f, ',' ORDER BY z.f) FROM {} AS {}, {} WHERE z.f = {})",
            [relation.clone(), z, node(Sort::From, source), text(name)],
        )
    };
    if modifying {
        made.writes = true;
        let read = fill(
            "(SELECT string_agg(z.f, ',' ORDER BY z.f) FROM app.notes AS z(a, f, g), x WHERE z.f = {})",
            [text("b")],
        );
        return fill(
            "WITH x AS (INSERT INTO more.bins (tenant_id, id, spot) VALUES ('acme', 99, (1, {})) RETURNING {}) \
             SELECT o.i, {} FROM app.notes AS o(i, b) WHERE {}",
            [
                value,
                made.one(&["(spot).*", "(spot).*", "(spot).*", "(spot).b", "bins.spot"]),
                scalar(read),
                made.own_is("o.b"),
            ],
        );
    }
    let source = vec![text(before), value, text(after)];
    let read = reads(source);
    fill("SELECT o.i, {} FROM app.notes AS o(i, {}) WHERE {}", [scalar(read), text(outer), own])
}

/// A column's name, and an item of FROM that has it, around its value.
const FIGURED: &[(&str, &str, &str)] = &[
    ("tenant_id", "(SELECT (SELECT q.* FROM (SELECT ", "::text AS tenant_id) AS q)) AS d"),
    ("tenant_id", "(SELECT (SELECT * FROM (SELECT ", "::text AS tenant_id) AS q)::text) AS d"),
    ("tenant_id", "(WITH q AS (SELECT ", "::text AS tenant_id) SELECT (TABLE q)) AS d"),
    ("tenant_id", "(SELECT (SELECT (x).* FROM (SELECT ", "::text AS tenant_id) AS x)) AS d"),
    (
        "tenant_id",
        "(SELECT CASE WHEN FALSE THEN 'x' ELSE (SELECT q.* FROM (SELECT ",
        "::text AS tenant_id) AS q) END) AS d",
    ),
    ("\"coalesce\"", "coalesce(", "::text, 'x')"),
    ("\"coalesce\"", "(SELECT coalesce(", "::text, 'x')) AS d"),
    ("\"greatest\"", "greatest(", "::text, 'a')"),
    ("\"least\"", "least(", "::text, 'x')"),
    ("value", "jsonb_array_elements_text(jsonb_build_array(", "::text)) AS k"),
    ("value", "jsonb_array_elements_text(jsonb_build_array(", "::text)) AS a"),
    ("value", "json_array_elements_text(json_build_array(", "::text)) AS k"),
    ("value", "jsonb_array_elements_text(jsonb_build_array(", "::text))"),
    ("k", "jsonb_array_elements_text(jsonb_build_array(", "::text)) AS j(k)"),
    ("key", "jsonb_each_text(jsonb_build_object(", "::text, 1)) AS j"),
    ("\"case\"", "(SELECT CASE WHEN TRUE THEN ", "::text END) AS d"),
    ("\"text\"", "(SELECT ", "::text) AS d"),
    ("\"varchar\"", "(SELECT ", "::varchar) AS d"),
    ("concat", "(SELECT concat(", ")) AS d"),
    ("concat", "concat(", ")"),
    ("c", "concat(", ") AS c"),
    ("column1", "(VALUES (", "::text)) AS d"),
    ("\"nullif\"", "(SELECT NULLIF(", "::text, 'x')) AS d"),
    ("unnest", "(SELECT unnest(ARRAY[", "])) AS d"),
    ("unnest", "unnest(ARRAY[", "])"),
    ("u", "unnest(ARRAY[", "]) AS u"),
    ("min", "(SELECT min(", "::text)) AS d"),
    ("string_to_table", "string_to_table(", ", ',')"),
    ("current_schema", "(SELECT ", "::text AS current_schema) AS d"),
];

/// `(x).*` in a row is as many elements as x has columns: what stands behind it stands further on.
pub(super) fn star_in_row(made: &mut Gen) -> Vec<Tree> {
    made.saw("star in a row");
    let (star, other) = (made.star(), made.star());
    let (tenant, last) =
        (made.one(&["'globex'", "'globex'", "'acme'"]), made.one(&["'acme'", "'acme'", "'globex'"]));
    let relation = made.one(&["app.orders", "app.notes", "app.customers"]);
    match made.rng.below(7) {
        0 => fill(
            "SELECT o.id FROM {} AS o, (SELECT {}::text AS a, 'q'::text AS b) AS y, (SELECT 'q'::text AS a, 'acme'::text AS b) AS x \
             WHERE ({}, o.tenant_id, 'q') = ('q', 'acme', (y).*)",
            [relation, tenant, star],
        ),
        1 => fill(
            "SELECT o.id FROM {} AS o, (SELECT {}::text AS a, 'q'::text AS b) AS y, (SELECT 'q'::text AS a, 'acme'::text AS b) AS x \
             WHERE ({}, o.tenant_id, 'q') IN (('q', 'acme', (y).*))",
            [relation, tenant, star],
        ),
        2 => {
            made.writes = true;
            fill(
                "INSERT INTO app.notes (id, tenant_id, body) SELECT v.* FROM (SELECT 901 AS a, {}::text AS b) AS x, \
                 LATERAL (VALUES ({}, {})) AS v",
                [tenant, star, last],
            )
        }
        3 => {
            made.writes = true;
            let own = made.own_is("n.tenant_id");
            fill(
                "UPDATE app.notes AS n SET (id, tenant_id, body) = ROW({}, {}) FROM (SELECT 901 AS a, {}::text AS b) AS x \
                 WHERE {} AND n.id = 1",
                [star, last, tenant, own],
            )
        }
        4 => {
            made.writes = true;
            let own = made.own_is("n.tenant_id");
            fill(
                "MERGE INTO app.notes AS n USING (SELECT 901 AS a, {}::text AS b) AS x ON {} AND n.id = x.a \
                 WHEN NOT MATCHED THEN INSERT (id, tenant_id, body) VALUES ({}, {})",
                [tenant, own, star, last],
            )
        }
        5 => fill(
            "SELECT o.id FROM {} AS o, (SELECT 1 AS a, {}::text AS b) AS x, \
             LATERAL (SELECT {}, {}::text AS z) AS v(id, t, z) WHERE o.tenant_id = v.t AND v.t = 'acme'",
            [relation, tenant, star, last],
        ),
        _ => fill(
            "SELECT o.id FROM {} AS o, (SELECT 1 AS a, {}::text AS b) AS x, \
             LATERAL (VALUES ({}, {}), ({}, {})) AS v(id, t, z) WHERE o.tenant_id = v.t",
            [relation, tenant, star, last.clone(), other, last],
        ),
    }
}

impl Gen {
    /// The columns a and b of x.
    fn star(&mut self) -> Tree {
        self.one(&["x.*", "(x).*", "(x).*", "x.a, x.b"])
    }

    /// Now and then ` AND` a condition that proves.
    fn maybe_and(&mut self, column: &'static str) -> Tree {
        match self.rng.chance(25) {
            true => crate::tree::optional(fill(" AND {}", [self.own_is(column)])),
            false => text(""),
        }
    }
}
