//! Traps of expressions that fail on others' rows: where errors are denied, in whatever spelling and
//! wherever PostgreSQL may evaluate them before the tenant equality.

use super::super::Gen;
use crate::tree::{Sort, Tree, condition, fill, node, optional, text};

/// In a condition, beside an equality that comes late.
pub(super) fn in_condition(made: &mut Gen) -> Vec<Tree> {
    made.saw("fallible condition");
    let (relation, expression) = made.failing();
    let late = made.late("o.tenant_id");
    let count = made.rng.chance(40);
    let targets = text(if count { "count(*)" } else { "o.tenant_id" });
    let test = made.one(&["IS NOT NULL", "IS NULL"]);
    let failing = condition(fill("({}) {}", [expression, test]));
    match made.rng.below(5) {
        0 => fill(
            "SELECT {} FROM {} AS o {} WHERE EXISTS (SELECT 1 FROM app.plans AS p WHERE {})",
            [targets, relation, late, failing],
        ),
        1 if !count => fill("SELECT {} FROM {} AS o {} ORDER BY {}", [targets, relation, late, failing]),
        2 if count => fill("SELECT {} FILTER (WHERE {}) FROM {} AS o {}", [targets, failing, relation, late]),
        _ => fill("SELECT {} FROM {} AS o {} WHERE {}", [targets, relation, late, failing]),
    }
}

/// In a target list that nothing of its own level restricts.
pub(super) fn in_target_list(made: &mut Gen) -> Vec<Tree> {
    made.saw("fallible expression");
    let (relation, expression) = made.failing();
    let late = made.late("d.tenant_id");
    let inside = made.maybe_where("o.tenant_id", 25);
    let query = match made.rng.below(5) {
        0 => fill(
            "SELECT o.tenant_id, max(({})::text) AS m FROM {} AS o{} GROUP BY ROLLUP (o.tenant_id)",
            [expression, relation, inside],
        ),
        1 => fill(
            "SELECT o.tenant_id, count({}) AS m FROM {} AS o{} GROUP BY o.tenant_id",
            [expression, relation, inside],
        ),
        2 => fill(
            "SELECT DISTINCT o.tenant_id, ({})::text AS m FROM {} AS o{}",
            [expression, relation, inside],
        ),
        3 => fill(
            "SELECT o.tenant_id, {} AS m, row_number() OVER (PARTITION BY o.tenant_id ORDER BY o.tenant_id) AS n \
             FROM {} AS o{}",
            [expression, relation, inside],
        ),
        _ => fill("SELECT o.tenant_id, {} AS m FROM {} AS o{}", [expression, relation, inside]),
    };
    let query = node(Sort::Query, query);
    let fence = made.one(&["", "", "MATERIALIZED "]);
    let test = match made.rng.chance(40) {
        true => optional([text(" WHERE d.m IS NOT NULL")]),
        false => text(""),
    };
    match made.rng.below(3) {
        0 => fill("WITH d AS {}({}) SELECT count(d.m) FROM d {}{}", [fence, query, late, test]),
        _ => fill("SELECT count(d.m) FROM ({}) AS d {}{}", [query, late, test]),
    }
}

impl Gen {
    /// A relation o, and an expression that fails on some of others' rows, or on none.
    fn failing(&mut self) -> (Tree, Tree) {
        let (relation, expression) = *self.rng.pick(&[
            ("app.orders", "o.note::int"),
            ("app.orders", "int4(o.note)"),
            ("app.orders", "int4(o.note)"),
            ("app.orders", "numeric(o.note)"),
            ("app.orders", "to_jsonb(o.note)::int"),
            ("app.orders", "CAST(o.note AS date)"),
            ("app.orders", "mod(1, o.total)"),
            ("app.orders", "div(1, o.total)"),
            ("app.orders", "'abc' LIKE o.note"),
            ("app.orders", "like('abc', o.note)"),
            ("app.orders", "o.note::app.email"),
            ("app.orders", "email(o.note)"),
            // Not of a column, but for some rows.
            ("app.orders", "CASE WHEN o.note = 'gift' THEN 1 / (SELECT 0) END"),
            ("app.orders", "CASE WHEN o.note = 'gift' THEN (SELECT 1 UNION ALL SELECT 2) END"),
            ("app.orders", "CASE WHEN o.note = 'rush' THEN (SELECT p.price_cents FROM app.plans AS p) END"),
            ("app.orders", "(o.note).int4"),
            ("app.orders", "round(o.total)"),
            ("app.orders", "length(o.note)"),
            ("app.orders", "o.total > 1"),
            ("app.orders", "o.note || 'x'"),
            ("app.customers", "o.country::int"),
            ("app.customers", "int4(o.country)"),
            ("app.customers", "o.tags::int[]"),
            ("app.customers", "o.full_name::boolean"),
            ("app.customers", "(o.profile ->> 'ref')::int"),
            ("app.customers", "lower(o.email)"),
            ("app.order_items", "10 / o.qty"),
            ("app.order_items", "mod(10, o.qty)"),
            ("app.order_items", "10 % o.qty"),
            ("app.order_items", "o.qty + 1"),
            ("app.order_items", "o.qty::smallint"),
        ]);
        (text(relation), text(expression))
    }

    /// A restriction that PostgreSQL looks at after everything else, or one that it looks at first.
    fn late(&mut self, column: &'static str) -> Tree {
        let place = text(column);
        match self.rng.chance(75) {
            true => node(
                Sort::Scalar,
                fill("JOIN (VALUES ('acme'::text), ('acme')) AS v(t) ON v.t = {}", [place]),
            ),
            false => {
                let own = self.own_is(column);
                node(Sort::Scalar, fill("JOIN (VALUES (1)) AS v(one) ON {}", [own]))
            }
        }
    }
}
