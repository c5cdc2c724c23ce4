//! Traps of what comes a round later, or a row more: recursions that pass a value from column to
//! column, sets of rows beside unnest, grouping sets below a sub-select.

use super::super::Gen;
use crate::schema::Class;
use crate::tree::{Sort, Tree, fill, node, optional, scalar, text};

/// What one column of a recursion yields, another one yields a round later.
pub(super) fn recursion_in_rounds(made: &mut Gen) -> Vec<Tree> {
    made.saw("recursive CTE");
    let columns = 2 + made.rng.below(3);
    let names = &["t", "u", "v", "w"][..columns];
    let first = (0..columns).map(|_| scalar(fill("{}::text", [made.own(Class::Tenant)]))).collect();
    let first = row(first);
    let shift = made.rng.chance(85);
    let last = made.passed();
    let mut next: Vec<Tree> = match shift {
        true => names[1..].iter().map(|name| text(format!("r.{name}"))).collect(),
        false => names[1..].iter().map(|_| text("r.t")).collect(),
    };
    next.push(last);
    let next = row(next);
    let all = made.one(&["UNION ALL", "UNION ALL", "UNION"]);
    let step = match made.rng.below(5) {
        // A CTE inside the branch: the value goes through one query more.
        0 => fill("(WITH q AS (SELECT {}, r.n + 1 AS n FROM r WHERE r.n < 5) SELECT q.* FROM q)", [next]),
        1 => fill(
            "(WITH q AS (SELECT {}::text AS t) SELECT {}, r.n + 1 FROM r, q WHERE r.n < 5)",
            [made.own(Class::Tenant), next],
        ),
        2 => fill("SELECT {}, r.n + 1 FROM r, LATERAL (SELECT 1 AS one) AS l WHERE r.n < 5", [next]),
        _ => fill("SELECT {}, r.n + 1 FROM r WHERE r.n < 5", [next]),
    };
    let names = text(names.join(", "));
    let with = fill(
        "WITH RECURSIVE r({}, n) AS (SELECT {}, 1 {} {}) ",
        [names, first, all, node(Sort::Query, step)],
    );
    let mut tree = vec![node(Sort::Query, with)];
    let column = made.one(&["r.t", "r.t", "r.u"]);
    if made.rng.chance(35) {
        made.writes = true;
        tree.extend(fill(
            "INSERT INTO app.notes (id, tenant_id, body) SELECT 900 + r.n, {}, 'x' FROM r",
            [column],
        ));
        return tree;
    }
    let relation = made.one(&["app.orders", "app.notes", "more.tickets", "app.customers"]);
    tree.extend(match made.rng.chance(30) {
        true => fill(
            "SELECT r.n, (SELECT count(*) FROM {} AS o WHERE o.tenant_id IS NOT DISTINCT FROM {}) FROM r",
            [relation, column],
        ),
        false => fill("SELECT o.id, r.n FROM {} AS o JOIN r ON o.tenant_id = {}", [relation, column]),
    });
    tree
}

/// A recursion over rows whose tenant column comes by way of another column.
pub(super) fn recursion_over_rows(made: &mut Gen) -> Vec<Tree> {
    made.saw("recursive CTE");
    let relation = made.one(&["app.orders", "app.notes", "app.customers"]);
    let inside = made.maybe_where("a.tenant_id", 92);
    let second = made.one(&["b.tenant_id", "b.tenant_id", "r.t", "'acme'::text", "NULL", "r.u"]);
    let join = made.one(&["JOIN", "JOIN", "LEFT JOIN"]);
    let step = match made.rng.weighted(&[60, 20, 20]) {
        0 => node(Sort::Equality, [text("b.tenant_id = r.t")]),
        1 => node(Sort::Equality, [text("b.tenant_id = r.u")]),
        _ => made.own_is("b.tenant_id"),
    };
    let with = fill(
        "WITH RECURSIVE r(t, u, id, n) AS (SELECT a.tenant_id, a.tenant_id, a.id, 1 FROM {} AS a{} \
         UNION ALL SELECT r.u, {}, b.id, r.n + 1 FROM r {} {} AS b ON b.id = r.id + 1 AND {} WHERE r.n < 4) ",
        [relation.clone(), inside, second, join, relation.clone(), step],
    );
    let mut tree = vec![node(Sort::Query, with)];
    tree.extend(match made.rng.chance(50) {
        true => fill(
            "SELECT r.n, (SELECT count(*) FROM {} AS o WHERE o.tenant_id IS NOT DISTINCT FROM r.t) FROM r",
            [relation],
        ),
        false => {
            fill("SELECT o.id, r.n FROM {} AS o JOIN r ON o.tenant_id = r.t AND o.id = r.id", [relation])
        }
    });
    tree
}

/// unnest beside another set of rows, wherever that stands, is padded with NULLs.
pub(super) fn padded_unnest(made: &mut Gen) -> Vec<Tree> {
    made.saw("unnest beside rows");
    let array = match made.rng.below(4) {
        0 => fill("'{acme}'::text[]", []),
        1 => fill("ARRAY[{}, {}]", [made.own(Class::Tenant), made.own(Class::Tenant)]),
        _ => fill("ARRAY[{}]", [made.own(Class::Tenant)]),
    };
    let array = scalar(array);
    let rows =
        made.one(&["generate_series(1, 3)", "generate_series(1, 3)", "unnest(ARRAY[3, 4, 5])", "1", "1"]);
    if made.rng.chance(25) {
        return made.padded_in_from(array, rows);
    }
    let inner = match made.rng.below(8) {
        0 => fill("SELECT unnest({}) AS t, 901 AS n, {} AS g", [array, rows]),
        1 | 2 => fill("SELECT unnest({}) AS t, 901 AS n GROUP BY {}", [array, scalar([rows])]),
        3 => fill("SELECT DISTINCT ON ({}) unnest({}) AS t, 901 AS n", [rows, array]),
        4 => fill("SELECT unnest({}) AS t, count(*) OVER (ORDER BY {}) AS n", [array, rows]),
        _ => fill("SELECT unnest({}) AS t, 901 AS n ORDER BY {}", [array, rows]),
    };
    let inner = node(Sort::Query, inner);
    match made.rng.below(5) {
        0 | 1 => {
            made.writes = true;
            fill("INSERT INTO app.notes (tenant_id, id, body) SELECT q.t, 901, 'x' FROM ({}) AS q", [inner])
        }
        2 | 3 => fill(
            "SELECT (SELECT count(*) FROM app.notes AS o WHERE o.tenant_id IS NOT DISTINCT FROM q.t) FROM ({}) AS q",
            [inner],
        ),
        _ => fill("SELECT o.id FROM app.orders AS o, ({}) AS q WHERE o.tenant_id = q.t", [inner]),
    }
}

/// Above grouping sets a key is NULL in some rows.
pub(super) fn above_grouping_sets(made: &mut Gen) -> Vec<Tree> {
    made.saw("grouping sets");
    let relation = made.one(&["app.notes", "app.orders", "more.tickets", "app.customers"]);
    let operator = made.one(&["IS NOT DISTINCT FROM", "IS NOT DISTINCT FROM", "="]);
    let more = match made.rng.chance(12) {
        true => optional(fill(" AND {}", [made.own_is("n.tenant_id")])),
        false => text(""),
    };
    let read = scalar(fill(
        "(SELECT count(*) FROM {} AS n WHERE n.tenant_id {} o.tenant_id{})",
        [relation.clone(), operator, more],
    ));
    let sets = made.one(&[
        "ROLLUP (o.tenant_id)",
        "CUBE (o.tenant_id)",
        "GROUPING SETS ((o.tenant_id), ())",
        "ROLLUP (o.tenant_id, o.id)",
        "o.tenant_id, ROLLUP (o.id)",
        "DISTINCT CUBE (o.tenant_id, o.id)",
        "o.tenant_id",
    ]);
    let own = made.own_is("o.tenant_id");
    match made.rng.below(5) {
        0 => fill(
            "SELECT o.tenant_id, count(*) FROM {} AS o WHERE {} GROUP BY {} HAVING {} > 4",
            [relation, own, sets, read],
        ),
        1 => fill(
            "SELECT DISTINCT ON (1) {}, count(*) FROM {} AS o WHERE {} GROUP BY {} ORDER BY 1, 2",
            [read, relation, own, sets],
        ),
        2 => fill("SELECT s.c FROM {} AS o, LATERAL {} AS s(c) WHERE {}", [relation, read, own]),
        3 => fill(
            "SELECT max(d.c) FROM (SELECT o.tenant_id, {} AS c FROM {} AS o WHERE {} GROUP BY {}) AS d",
            [read, relation, own, sets],
        ),
        _ => fill("SELECT o.tenant_id, {} FROM {} AS o WHERE {} GROUP BY {}", [read, relation, own, sets]),
    }
}

impl Gen {
    /// What the last column of a recursion is given each round.
    fn passed(&mut self) -> Tree {
        match self.rng.weighted(&[35, 12, 12, 20, 21]) {
            0 => {
                let value = if self.rng.chance(60) { "globex" } else { "acme" };
                let param = self.param(value);
                scalar(fill("{}::text", [param]))
            }
            1 => text("NULL::text"),
            2 => text("(SELECT 'acme'::text WHERE FALSE)"),
            3 => self.one(&["'globex'::text", "'acme'::text", "upper(r.t)", "r.t || ' '"]),
            _ => self.one(&["'acme'::text", "r.t", "r.u", "(SELECT 'acme'::text)"]),
        }
    }

    /// As a function in FROM.
    fn padded_in_from(&mut self, array: Tree, rows: Tree) -> Vec<Tree> {
        let source = match self.rng.below(5) {
            0 => fill("ROWS FROM (unnest({}), generate_series(1, 3)) AS q(t, g)", [array]),
            1 => fill("unnest({}, ARRAY[1, 2, 3]) AS q(t, g)", [array]),
            2 => fill("unnest({}) WITH ORDINALITY AS q(t, g)", [array]),
            3 => fill("(SELECT unnest({}) AS t, {} AS g) AS q", [array, rows]),
            _ => fill("ROWS FROM (unnest({})) WITH ORDINALITY AS q(t, g)", [array]),
        };
        let source = node(Sort::From, source);
        match self.rng.below(3) {
            0 => {
                self.writes = true;
                fill("INSERT INTO app.notes (id, tenant_id, body) SELECT 901, q.t, 'x' FROM {}", [source])
            }
            1 => fill("SELECT o.id FROM app.notes AS o JOIN {} ON o.tenant_id = q.t", [source]),
            _ => fill(
                "SELECT (SELECT count(*) FROM app.notes AS o WHERE o.tenant_id IS NOT DISTINCT FROM q.t) FROM {}",
                [source],
            ),
        }
    }
}

/// `a, b, c`.
fn row(items: Vec<Tree>) -> Tree {
    Tree::List { head: "", between: ", ", tail: "", least: items.len(), items }
}
