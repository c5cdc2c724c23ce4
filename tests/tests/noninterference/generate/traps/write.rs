//! Traps of statements that write.

use super::super::Gen;
use crate::schema::Class;
use crate::tree::{Tree, fill, optional, scalar, text};
use crate::worlds::major;

/// RETURNING sees the new row, of which the condition said nothing.
pub(super) fn old_row(made: &mut Gen) -> Vec<Tree> {
    made.saw("RETURNING");
    let new = made.one(&["'globex'", "'globex'", "'acme'", "o.full_name"]);
    let own = made.own_is("o.tenant_id");
    let old = made.own_is("o.full_name");
    let column = made.one(&["o.full_name", "o.full_name", "o.tenant_id"]);
    fill(
        "UPDATE app.customers AS o SET full_name = {} WHERE {} AND {} \
         RETURNING o.id, (SELECT count(*) FROM app.notes AS n WHERE n.tenant_id = {})",
        [new, own, old, column],
    )
}

/// The value that counts is found by the column's name.
pub(super) fn insert_in_another_order(made: &mut Gen) -> Vec<Tree> {
    made.saw("INSERT");
    let (a, b) = (made.one(&["'acme'", "'globex'"]), made.one(&["'globex'", "'acme'"]));
    let columns = made.one(&["id, body, tenant_id", "id, tenant_id, body", "id, body, tenant_id"]);
    fill("INSERT INTO app.notes ({}) VALUES (901, {}, {})", [columns, a, b])
}

/// A row of nobody's.
pub(super) fn insert_null(made: &mut Gen) -> Vec<Tree> {
    made.saw("INSERT … SELECT");
    let own = made.own(Class::Tenant);
    if made.rng.chance(50) {
        let tail = made.one(&[" WHERE FALSE", " LIMIT 0", "", " WHERE TRUE"]);
        return fill(
            "INSERT INTO app.notes (id, tenant_id, body) VALUES (901, (SELECT {}::text{}), 'x')",
            [own, tail],
        );
    }
    let kind = made.one(&["LEFT JOIN", "LEFT JOIN", "JOIN", "RIGHT JOIN"]);
    let on = made.own_is("c.tenant_id");
    let id = made.one(&["99", "1"]);
    fill(
        "INSERT INTO app.notes (id, tenant_id, body) SELECT 901, c.tenant_id, p.code FROM app.plans AS p \
         {} app.customers AS c ON {} AND c.id = {}",
        [kind, on, id],
    )
}

pub(super) fn assign_null(made: &mut Gen) -> Vec<Tree> {
    made.saw("UPDATE");
    let own = made.own(Class::Tenant);
    let tail = made.one(&[" WHERE FALSE", " LIMIT 0", "", " OFFSET 1"]);
    let filter = made.own_is("n.tenant_id");
    fill("UPDATE app.notes AS n SET tenant_id = (SELECT {}::text{}) WHERE {}", [own, tail, filter])
}

/// A key that another tenant may hold, without anything that would prove the row in the way ours.
///
/// INVARIANT: none of these is ever allowed: whether the key is taken would show (policy 1).
pub(super) fn arbiter(made: &mut Gen) -> Vec<Tree> {
    made.saw("ON CONFLICT");
    let key = made.one(&["101", "102", "103", "201"]);
    let guard = match made.rng.weighted(&[40, 40, 20]) {
        0 => text(""),
        1 => optional([text(" WHERE excluded.tenant_id = 'acme'")]),
        _ => optional([text(" WHERE excluded.id > 0")]),
    };
    let set = made.one(&["body = 'mine'", "body = excluded.body", "tenant_id = excluded.tenant_id"]);
    fill(
        "INSERT INTO app.notes AS n (id, tenant_id, body) VALUES ({}, 'acme', 'x') \
         ON CONFLICT (id) DO UPDATE SET {}{}",
        [key, set, guard],
    )
}

/// MERGE inserts rows of its own.
pub(super) fn merge_insert(made: &mut Gen) -> Vec<Tree> {
    made.saw("MERGE");
    let on = made.own_is("t.tenant_id");
    let tenant = made.one(&["'acme'", "'globex'", "s.g", "s.own"]);
    let key = made.one(&["901", "1"]);
    let matched = match made.rng.chance(50) {
        true => optional([text(" WHEN MATCHED THEN UPDATE SET body = s.g")]),
        false => text(""),
    };
    fill(
        "MERGE INTO app.notes AS t USING (SELECT {} AS k, 'globex'::text AS g, 'acme'::text AS own) AS s \
         ON {} AND t.id = s.k{} WHEN NOT MATCHED THEN INSERT (id, tenant_id, body) VALUES (s.k, {}, 'x')",
        [key, on, matched, tenant],
    )
}

/// The subscript of a column that is written reads what it likes.
pub(super) fn subscript(made: &mut Gen) -> Vec<Tree> {
    made.saw("subscripted target");
    let what = made.one(&["count(*)::text", "max(c.full_name)", "string_agg(c.email, ',' ORDER BY c.email)"]);
    let inside = made.maybe_where("c.tenant_id", 25);
    let subscript = scalar(fill("(SELECT {} FROM app.customers AS c{})", [what, inside]));
    let own = made.own(Class::Tenant);
    match made.rng.below(3) {
        0 => fill(
            "INSERT INTO app.customers (id, tenant_id, email, full_name, profile[{}]) \
             VALUES (901, {}, 'a@b', 'x', '1')",
            [subscript, own],
        ),
        1 => {
            let on = made.own_is("t.tenant_id");
            fill(
                "MERGE INTO app.customers AS t USING (SELECT 901 AS k) AS s ON {} AND t.id = s.k \
                 WHEN NOT MATCHED THEN INSERT (id, tenant_id, email, full_name, profile[{}]) \
                 VALUES (s.k, {}, 'a@b', 'x', '1')",
                [on, subscript, own],
            )
        }
        _ => {
            let filter = made.own_is("t.tenant_id");
            fill("UPDATE app.customers AS t SET profile[{}] = '1' WHERE {}", [subscript, filter])
        }
    }
}

/// Each row counts, of VALUES and of a query.
pub(super) fn insert_rows(made: &mut Gen) -> Vec<Tree> {
    made.saw("INSERT");
    let own = made.own(Class::Tenant);
    let other = made.one(&["'acme'", "'globex'", "DEFAULT", "'acme'"]);
    if made.rng.chance(50) {
        return fill(
            "INSERT INTO app.notes (id, tenant_id, body) VALUES (901, {}, 'x'), (902, {}, 'y')",
            [own, other],
        );
    }
    let tenant = made.one(&["x.tenant_id", "x.body", "'globex'", "'acme'", "lower(x.tenant_id)"]);
    let filter = made.own_is("x.tenant_id");
    let before = made.one(&["", "", "SELECT 990, 'acme', 'z' UNION ALL "]);
    fill(
        "INSERT INTO app.notes (id, tenant_id, body) {}SELECT x.id + 900, {}, x.body FROM app.notes AS x WHERE {}",
        [before, tenant, filter],
    )
}

/// RETURNING reads other relations.
pub(super) fn returning(made: &mut Gen) -> Vec<Tree> {
    made.saw("RETURNING");
    let inside = made.maybe_where("o.tenant_id", 30);
    let read = scalar(fill("(SELECT count(*) FROM app.orders AS o{})", [inside]));
    let own = made.own(Class::Tenant);
    match made.rng.below(3) {
        0 => fill(
            "INSERT INTO app.notes (id, tenant_id, body) VALUES (901, {}, 'x') RETURNING id, {}",
            [own, read],
        ),
        1 => {
            let filter = made.own_is("n.tenant_id");
            fill("UPDATE app.notes AS n SET body = 'x' WHERE {} RETURNING n.id, {}", [filter, read])
        }
        _ => {
            let filter = made.own_is("n.tenant_id");
            fill("DELETE FROM app.notes AS n WHERE {} RETURNING n.id, {}", [filter, read])
        }
    }
}

/// A computed tenant column changes with what it is computed of.
pub(super) fn computed(made: &mut Gen) -> Vec<Tree> {
    made.saw("computed tenant column");
    let owner = made.one(&["'globex'", "'globex'", "'acme'", "g.owner", "DEFAULT"]);
    let own = made.own_is("g.tenant_id");
    match made.rng.below(5) {
        0 => {
            let read = made.one(&["app.notes", "app.orders"]);
            fill(
                "WITH u AS (UPDATE more.owned AS g SET owner = {} WHERE {} RETURNING g.tenant_id) \
                 SELECT o.id FROM {} AS o JOIN u ON u.tenant_id = o.tenant_id",
                [owner, own, read],
            )
        }
        1 => fill(
            "MERGE INTO more.owned AS g USING (SELECT 1 AS k) AS s ON {} AND g.id = s.k \
             WHEN MATCHED THEN UPDATE SET owner = {}",
            [own, owner],
        ),
        2 => fill(
            "INSERT INTO more.owned AS g (id, owner) VALUES (901, {})",
            [made.one(&["'globex'", "'acme'"])],
        ),
        3 => fill("UPDATE more.owned AS g SET id = g.id + 50 WHERE {}", [own]),
        _ => fill("UPDATE more.owned AS g SET owner = {} WHERE {} RETURNING g.id", [owner, own]),
    }
}

/// RETURNING * of MERGE has the source's columns first: k, g, own, and then the target's.
pub(super) fn merge_returning(made: &mut Gen) -> Vec<Tree> {
    if major() < 17 {
        return returning(made);
    }
    made.saw("RETURNING * of MERGE");
    let on = made.own_is("t.tenant_id");
    let column = made.one(&["q.b", "q.b", "q.e", "q.c"]);
    let star = made.one(&["*", "*", "t.*, s.*", "s.*, t.*"]);
    let relation = made.one(&["app.orders", "app.customers", "more.tickets"]);
    fill(
        "WITH q(a, b, c, d, e, f) AS (MERGE INTO app.notes AS t \
         USING (SELECT 1 AS k, 'globex'::text AS g, 'acme'::text AS own) AS s ON {} AND t.id = s.k \
         WHEN MATCHED THEN UPDATE SET body = 'x' RETURNING {}) SELECT o.id FROM {} AS o JOIN q ON o.tenant_id = {}",
        [on, star, relation, column],
    )
}
