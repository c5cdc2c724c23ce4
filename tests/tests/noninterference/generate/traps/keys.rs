//! Traps of keys that carry: which row a column is of, which column an output is, how a key is compared.

use super::super::Gen;
use crate::schema::Class;
use crate::tree::{Sort, Tree, fill, node, optional, text};
use crate::worlds::Universe;

/// A referencing relation, its column, and the referenced one.
type Key = [Tree; 3];

/// Columns of two references to one query are of two rows.
pub(super) fn rows_of_references(made: &mut Gen) -> Vec<Tree> {
    made.saw("two references to a CTE");
    let [referencing, column, referenced] = made.key();
    let how = made.one(&["", "", "MATERIALIZED ", "NOT MATERIALIZED "]);
    let inside = made.maybe_where("h.tenant_id", 12);
    let cte = node(
        Sort::Query,
        fill("SELECT h.tenant_id, h.id, h.name FROM {} AS h{}", [referenced.clone(), inside]),
    );
    // The same view twice is the same danger.
    let (with, source) = match made.rng.weighted(&[60, 20, 20]) {
        0 => (optional(fill("WITH c AS {}({}) ", [how, cte])), text("c")),
        1 => (text(""), text("more.v_halls")),
        _ => (text(""), node(Sort::From, fill("({})", [cte]))),
    };
    let mixed = made.mixed(source);
    let more = made.maybe_of("d.t");
    let own = made.own_is("s.tenant_id");
    let mut tree = vec![with];
    tree.extend(match made.rng.below(7) {
        0 => fill(
            "SELECT (SELECT string_agg(d.b, ',' ORDER BY d.b) FROM {} AS d WHERE d.a = s.{}{}) FROM {} AS s WHERE {}",
            [mixed, column, more, referencing, own],
        ),
        1 => fill(
            "SELECT s.id, e.b FROM {} AS s, LATERAL (SELECT d.b, d.t FROM {} AS d WHERE d.a = s.{}{}) AS e WHERE {}",
            [referencing, mixed, column, more, own],
        ),
        2 => fill(
            "SELECT s.id FROM {} AS s WHERE {} AND s.{} IN (SELECT d.a FROM {} AS d WHERE d.b <> ''{})",
            [referencing, own, column, mixed, more],
        ),
        3 => {
            let kind = made.one(&["LEFT JOIN", "INNER JOIN", "RIGHT JOIN", "FULL JOIN"]);
            fill(
                "SELECT d.b, d.t FROM {} AS s {} {} AS d ON d.a = s.{}{} WHERE {}",
                [referencing, kind, mixed, column, more, own],
            )
        }
        _ => fill(
            "SELECT d.b, d.t FROM {} AS s JOIN {} AS d ON d.a = s.{} WHERE {}{}",
            [referencing, mixed, column, own, more],
        ),
    });
    tree
}

/// `(referencing column, x) IN (SELECT key, y …)`: each output is what it is, not the column of its number.
pub(super) fn rows_of_members(made: &mut Gen) -> Vec<Tree> {
    made.saw("row IN sub-select");
    let [referencing, column, referenced] = made.key();
    // The key is the second column of halls, and the first of warehouses.
    let second = matches!(&referenced, Tree::Text(name) if name == "more.halls");
    let (beside, field) = match made.rng.weighted(&[50, 25, 25]) {
        0 => (text(""), made.one(&["101", "102", "101", "1"])),
        1 => (text(", generate_series(1, 3) AS x(i)"), made.one(&["x.i", "x.i + 100", "x.i + 100"])),
        _ => (text(""), made.one(&["s.id", "s.id + 100", "s.id + 100"])),
    };
    let both = made.rng.chance(88);
    let other = if both { ["z.id", "z.id", "z.id", "z.id"] } else { ["c.id", "s.id", "101", "c.id"] };
    let other = made.one(&other);
    let also = match both {
        true => fill(", {} AS z", [referenced.clone()]),
        false => Vec::new(),
    };
    let mut conditions = Vec::new();
    if made.rng.chance(80) {
        conditions.push(made.own_is("c.tenant_id"));
    }
    if both && made.rng.chance(15) {
        conditions.push(made.own_is("z.tenant_id"));
    }
    let inside = Tree::List { head: " WHERE ", between: " AND ", tail: "", least: 0, items: conditions };
    let operator = made.one(&["IN", "IN", "= ANY", "= SOME"]);
    let own = made.own_is("s.tenant_id");
    // A row as wide as may be: what counts may stand anywhere.
    let mut pairs = vec![(vec![text("s."), column], text("c.id"))];
    if made.rng.chance(85) {
        // Most often where the key's column has the other's number.
        let at = usize::from(second == made.rng.chance(75));
        pairs.insert(at, (vec![field], other));
    }
    for more in [("s.id", "s.id"), ("'x'", "c.name"), ("s.tenant_id", "s.tenant_id")] {
        if made.rng.chance(10) {
            let at = made.rng.below(pairs.len() + 1);
            pairs.insert(at, (vec![text(more.0)], text(more.1)));
        }
    }
    let (left, right): (Vec<Tree>, Vec<Tree>) =
        pairs.into_iter().map(|(left, right)| (node(Sort::Scalar, left), right)).unzip();
    let list = |items: Vec<Tree>| Tree::List { head: "", between: ", ", tail: "", least: items.len(), items };
    fill(
        "SELECT s.id FROM {} AS s{} WHERE {} AND ({}) {} (SELECT {} FROM {} AS c{}{})",
        [referencing, beside, own, list(left), operator, list(right), referenced, optional(also), inside],
    )
}

/// A key is unique bytewise; the comparison along it may not be.
pub(super) fn key_of_collation(made: &mut Gen) -> Vec<Tree> {
    made.saw("key carries");
    let collated = made.one(&["", "", "", " COLLATE \"C\"", " COLLATE more.ci"]);
    let own = made.own_is("r.tenant_id");
    let more = made.maybe_of("c.tenant_id");
    match made.rng.below(3) {
        0 => fill(
            "SELECT c.name FROM more.codes AS c WHERE c.code{} IN (SELECT r.code FROM more.coded AS r WHERE {}){}",
            [collated, own, more],
        ),
        1 => fill(
            "SELECT r.id, (SELECT string_agg(c.name, ',' ORDER BY c.name, c.tenant_id) FROM more.codes AS c \
             WHERE c.code = r.code{}{}) FROM more.coded AS r WHERE {}",
            [collated, more, own],
        ),
        _ => {
            let kind = made.one(&["JOIN", "JOIN", "LEFT JOIN"]);
            fill(
                "SELECT r.id, c.tenant_id, c.name FROM more.coded AS r {} more.codes AS c ON c.code = r.code{}{} \
                 WHERE {}",
                [kind, collated, more, own],
            )
        }
    }
}

/// A key is trusted only where its rows can be written by that name alone.
pub(super) fn trusted_key(made: &mut Gen) -> Vec<Tree> {
    made.saw("key carries");
    let relation = made.one(&[
        "more.parcels_0",
        "more.parcels_0",
        "more.parcels",
        "more.crates_old",
        "more.crates_old",
        "ONLY more.crates",
        "app.orders",
    ]);
    let own = made.own_is("b.tenant_id");
    let more = made.maybe_of("c.tenant_id");
    match made.rng.below(3) {
        0 => fill(
            "SELECT b.id, (SELECT c.full_name FROM app.customers AS c WHERE c.id = b.customer_id{}) FROM {} AS b \
             WHERE {}",
            [more, relation, own],
        ),
        1 => fill(
            "SELECT c.id FROM app.customers AS c WHERE c.id IN (SELECT b.customer_id FROM {} AS b WHERE {}){}",
            [relation, own, more],
        ),
        _ => {
            let kind = made.one(&["JOIN", "LEFT JOIN"]);
            fill(
                "SELECT b.id, c.full_name FROM {} AS b {} app.customers AS c ON c.id = b.customer_id{} WHERE {}",
                [relation, kind, more, own],
            )
        }
    }
}

impl Gen {
    /// A key that carries in this universe.
    fn key(&mut self) -> Key {
        let warehouses = self.universe != Universe::Free && self.rng.chance(50);
        if warehouses {
            [text("app.shipments"), text("warehouse_id"), text("app.warehouses")]
        } else {
            [text("more.racks"), text("hall_id"), text("more.halls")]
        }
    }

    /// A derived table with a key a, a tenant column t and a name b, of one row of the source or of two.
    fn mixed(&mut self, source: Tree) -> Tree {
        let (x, y) = (source.clone(), source.clone());
        let query = match self.rng.below(10) {
            0 => fill(
                "SELECT x.id AS a, e.t, e.b FROM {} AS x, (SELECT y.tenant_id AS t, y.name AS b FROM {} AS y) AS e",
                [x, y],
            ),
            1 => fill(
                "SELECT x.id AS a, e.t, e.b FROM {} AS x, \
                 LATERAL (SELECT y.tenant_id AS t, y.name AS b FROM {} AS y WHERE y.id >= x.id) AS e",
                [x, y],
            ),
            2 => fill(
                "SELECT x.id AS a, x.tenant_id AS t, x.name AS b FROM {} AS x \
                 UNION ALL SELECT y.id, y.tenant_id, y.name FROM {} AS y",
                [x, y],
            ),
            3 => fill("SELECT x.id AS a, x.tenant_id AS t, x.name AS b FROM {} AS x", [x]),
            4 => fill(
                "SELECT x.id AS a, x.tenant_id AS t, y.name AS b FROM {} AS x \
                 JOIN {} AS y ON y.id = x.id AND y.tenant_id = x.tenant_id",
                [x, y],
            ),
            5 => fill(
                "SELECT x.id AS a, y.name AS b, x.tenant_id AS t FROM {} AS x LEFT JOIN {} AS y ON y.id >= x.id",
                [x, y],
            ),
            6 => fill(
                "SELECT x.id AS a, x.tenant_id AS tx, e.t, e.b FROM {} AS x \
                 CROSS JOIN (SELECT y.tenant_id AS t, y.name AS b FROM {} AS y) AS e",
                [x, y],
            ),
            7 if self.universe != Universe::Free => vec![text("SELECT p.a, p.t, p.b FROM more.v_pairs AS p")],
            _ => fill("SELECT x.id AS a, y.tenant_id AS t, y.name AS b FROM {} AS x, {} AS y", [x, y]),
        };
        node(Sort::From, fill("({})", [node(Sort::Query, query)]))
    }

    /// Now and then ` AND` a condition that proves.
    fn maybe_of(&mut self, column: &'static str) -> Tree {
        match self.rng.chance(18) {
            true => optional(fill(" AND {}", [self.equality(text(column), Class::Tenant)])),
            false => text(""),
        }
    }
}
