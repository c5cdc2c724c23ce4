//! Traps of queries.

use super::super::Gen;
use crate::schema::Class;
use crate::tree::{Tree, condition, fill, optional, scalar, text};
use crate::worlds::major;

/// What the first branch of a recursion yields, the second need not.
pub(super) fn recursion(made: &mut Gen) -> Vec<Tree> {
    made.saw("recursive CTE");
    let own = made.own(Class::Tenant);
    let next = made.one(&["r.t", "'globex'", "'globex'", "'acme'", "NULL", "upper(r.t)", "r.t || ' '"]);
    let target = made.one(&["o.id", "count(*)", "max(o.id)"]);
    let relation = made.one(&["app.orders", "app.notes", "more.tickets", "app.customers"]);
    fill(
        "WITH RECURSIVE r(t, n) AS (SELECT {}::text, 1 UNION ALL SELECT {}, r.n + 1 FROM r WHERE r.n < 3) \
         SELECT {} FROM {} AS o JOIN r ON o.tenant_id = r.t",
        [own, next, target, relation],
    )
}

/// Children repeat the parent's primary key, which PostgreSQL takes for one all the same.
pub(super) fn grouped_by_key(made: &mut Gen) -> Vec<Tree> {
    made.saw("GROUP BY a key");
    let relation = made.one(&["app.notes", "app.notes", "app.orders", "ONLY app.notes"]);
    let keys = made.one(&["n.id", "n.id", "n.id", "n.id, n.tenant_id"]);
    if made.rng.chance(50) {
        // Of the same form they would be one condition, which PostgreSQL moves to WHERE.
        let (one, own) = (made.own_is("n.tenant_id"), made.own(Class::Tenant));
        let other = condition(fill("n.tenant_id IN ({}, 'acme')", [own]));
        let operator = made.one(&["<", "=", ">"]);
        return fill(
            "SELECT n.id, count(*) FROM {} AS n GROUP BY {} HAVING ({} OR {} AND count(*) {} 2)",
            [relation, keys, one, other, operator],
        );
    }
    let own = made.own(Class::Tenant);
    let outside = fill("JOIN (VALUES ({}::text), ('acme')) AS v(t) ON v.t = d.tenant_id", [own]);
    let outside = match made.rng.chance(70) {
        true => scalar(outside),
        false => made.maybe_where("d.tenant_id", 90),
    };
    fill(
        "SELECT d.id, d.c FROM (SELECT n.tenant_id, n.id, count(*) AS c FROM {} AS n GROUP BY {}) AS d {}",
        [relation, keys, outside],
    )
}

pub(super) fn distinct_on(made: &mut Gen) -> Vec<Tree> {
    made.saw("DISTINCT ON");
    let key = made.one(&["n.body", "n.id", "n.tenant_id", "n.body, n.tenant_id"]);
    let inside = made.maybe_where("n.tenant_id", 15);
    let outside = made.own_is("d.tenant_id");
    fill(
        "SELECT d.id FROM (SELECT DISTINCT ON ({}) n.tenant_id, n.id, n.body FROM app.notes AS n{} \
         ORDER BY {}, 1, 2, 3) AS d WHERE {}",
        [key.clone(), inside, key, outside],
    )
}

/// Beside a row that meets none, the outer column is NULL, which rows of nobody's equal.
pub(super) fn null_outside(made: &mut Gen) -> Vec<Tree> {
    made.saw("correlated chain");
    let on = made.own_is("o.tenant_id");
    let operator = made.one(&["IS NOT DISTINCT FROM", "IS NOT DISTINCT FROM", "="]);
    let id = made.one(&["99", "1", "p.price_cents"]);
    let kind = made.one(&["LEFT JOIN", "LEFT JOIN", "JOIN", "FULL JOIN"]);
    fill(
        "SELECT p.code, (SELECT count(*) FROM app.notes AS n WHERE n.tenant_id {} o.tenant_id) \
         FROM app.plans AS p {} app.orders AS o ON {} AND o.id = {}",
        [operator, kind, on, id],
    )
}

/// A scalar sub-select without a row is NULL.
pub(super) fn null_is_own(made: &mut Gen) -> Vec<Tree> {
    let relation = made.one(&["app.orders", "app.notes", "app.customers", "more.tickets"]);
    let operator = made.one(&["IS NOT DISTINCT FROM", "IS NOT DISTINCT FROM", "="]);
    let own = made.own(Class::Tenant);
    let tail = made.one(&[" WHERE FALSE", " LIMIT 0", " OFFSET 1", "", " WHERE TRUE", " HAVING FALSE"]);
    fill("SELECT o.id FROM {} AS o WHERE o.tenant_id {} (SELECT {}::text{})", [relation, operator, own, tail])
}

/// A membership that is no conjunct tells FALSE from NULL.
pub(super) fn membership(made: &mut Gen) -> Vec<Tree> {
    made.saw("tenant column IN sub-select");
    let filter = made.one(&["x.note = 'gift'", "x.note = '7'", "x.id > 2", "x.status = 'new'"]);
    let inside = made.rng.chance(15).then(|| fill(" AND {}", [made.own_is("x.tenant_id")]));
    let inside = inside.map_or(text(""), optional);
    let own = made.own_is("o.tenant_id");
    fill(
        "SELECT o.id, o.tenant_id IN (SELECT x.tenant_id FROM app.orders AS x WHERE {}{}) \
         FROM app.orders AS o WHERE {}",
        [filter, inside, own],
    )
}

/// An aggregate makes a row of no rows, with whatever stands beside it.
pub(super) fn empty_aggregate(made: &mut Gen) -> Vec<Tree> {
    made.saw("never true");
    // JSON's own aggregates are no functions.
    let targets: &[&'static str] = match major() {
        ..16 => &["count(*)", "count(*)", "1"],
        16.. => &["count(*)", "1", "json_arrayagg(n.id)", "json_objectagg('a': n.id)"],
    };
    let target = made.one(targets);
    let inside = made.maybe_where("o.tenant_id", 20);
    let never = made.one(&["FALSE", "1 = 0", "2 < 1"]);
    let tail = made.one(&["", "", " HAVING TRUE", " GROUP BY ()", " GROUP BY n.id"]);
    fill(
        "SELECT {}, (SELECT count(*) FROM app.orders AS o{}) FROM app.notes AS n WHERE {}{}",
        [target, inside, never, tail],
    )
}

/// The merged column of an outer join is not one side's.
pub(super) fn merged(made: &mut Gen) -> Vec<Tree> {
    made.saw("merged column");
    let kind = made.one(&["FULL JOIN", "FULL JOIN", "FULL JOIN", "RIGHT JOIN", "LEFT JOIN"]);
    let names = made.one(&["tenant_id, id", "tenant_id, id", "tenant_id, id", "id"]);
    let filter = made.one(&["id = q.n", "id = q.n", "id = q.n", "id >= 1"]);
    let own = made.own_is("a.tenant_id");
    let more = match made.rng.weighted(&[60, 20, 20]) {
        0 => text(""),
        1 => optional(fill(" AND {}", [made.own_is("tenant_id")])),
        _ => optional(fill(" AND {}", [made.own_is("b.tenant_id")])),
    };
    fill(
        "SELECT b.id, b.tenant_id FROM (app.orders AS a JOIN app.plans AS p ON {}) {} app.orders AS b \
         USING ({}), (VALUES (1), (3), (101)) AS q(n) WHERE {}{}",
        [own, kind, names, filter, more],
    )
}

/// varchar = char(n) is char(n)'s comparison, in which 'acme ' is 'acme'.
pub(super) fn chain_of_types(made: &mut Gen) -> Vec<Tree> {
    made.saw("chain");
    let relation = made.one(&["more.tickets", "more.tickets", "app.notes"]);
    let column = made.one(&["l.code", "l.code", "l.nm", "l.other", "l.tenant_id"]);
    let (first, second) = (made.own(Class::Tenant), made.own_is("l.tenant_id"));
    fill(
        "SELECT t.id FROM {} AS t JOIN more.labels AS l ON t.tenant_id = {} WHERE {} = {} AND {}",
        [relation, column.clone(), column, first, second],
    )
}

/// A collation in which 'ACME' is 'acme'.
pub(super) fn chain_of_collations(made: &mut Gen) -> Vec<Tree> {
    made.saw("chain");
    let relation = made.one(&["more.tickets", "app.notes", "app.orders"]);
    let own = made.own(Class::Tenant);
    if made.rng.chance(35) {
        let collation = made.one(&["more.ci", "more.ci", "\"C\"", "\"POSIX\"", "\"default\""]);
        return fill(
            "SELECT t.id FROM {} AS t WHERE t.tenant_id COLLATE {} = {}",
            [relation, collation, own],
        );
    }
    let column = made.one(&["l.alike", "l.alike", "l.other"]);
    let second = made.own_is("l.tenant_id");
    fill(
        "SELECT t.id FROM {} AS t JOIN more.labels AS l ON t.tenant_id = {} WHERE {} = {} AND {}",
        [relation, column.clone(), column, own, second],
    )
}

/// A rack of nobody's may stand in our hall.
pub(super) fn key_backwards(made: &mut Gen) -> Vec<Tree> {
    made.saw("key carries");
    let kind = made.one(&["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN"]);
    let side = made.rng.chance(50);
    let own = made.own_is(if side { "h.tenant_id" } else { "r.tenant_id" });
    fill(
        "SELECT r.id, h.name FROM more.racks AS r {} more.halls AS h ON h.id = r.hall_id WHERE {}",
        [kind, own],
    )
}

/// The key without the tenant is no key by itself, or is not compared.
pub(super) fn key_without_rest(made: &mut Gen) -> Vec<Tree> {
    made.saw("key carries");
    let own = made.own_is("b.tenant_id");
    match made.rng.chance(50) {
        true => {
            let on = made.one(&["d.id = b.depot_id", "d.id = b.id", "d.id <= b.depot_id"]);
            fill("SELECT d.name FROM more.bins AS b JOIN more.depots AS d ON {} WHERE {}", [on, own])
        }
        false => {
            let on =
                made.one(&["h.id = b.hall_id", "h.id = b.id", "h.id >= b.hall_id", "h.name <> b.tenant_id"]);
            fill("SELECT h.name FROM more.racks AS b JOIN more.halls AS h ON {} WHERE {}", [on, own])
        }
    }
}

/// A sub-select may be evaluated for rows that the join drops later; its locks stay.
pub(super) fn lock_of_subselect(made: &mut Gen) -> Vec<Tree> {
    made.saw("locking clause");
    let own = made.own(Class::Tenant);
    let inside = match made.rng.weighted(&[75, 25]) {
        0 => text("o.tenant_id = c.tenant_id"),
        _ => made.own_is("o.tenant_id"),
    };
    let lock = made.one(&[" FOR UPDATE", " FOR SHARE", " FOR NO KEY UPDATE", ""]);
    fill(
        "SELECT c.id FROM app.notes AS c JOIN (VALUES ({}::text), ('acme')) AS x(t) ON x.t = c.tenant_id \
         WHERE (SELECT o.id FROM app.orders AS o WHERE {} ORDER BY o.id LIMIT 1{}) > 0",
        [own, inside, lock],
    )
}

/// A locking clause reaches into the sub-selects that it names.
pub(super) fn lock_of_derived(made: &mut Gen) -> Vec<Tree> {
    made.saw("locking clause");
    let own = made.own(Class::Tenant);
    let inside = made.maybe_where("o.tenant_id", 25);
    // With an order of its own it is planned by itself, and locks what it reads.
    let order = made.one(&[" ORDER BY o.id", " ORDER BY o.id", ""]);
    let lock = made.one(&[" FOR UPDATE OF d", " FOR UPDATE", " FOR SHARE OF d", " FOR UPDATE OF v", ""]);
    fill(
        "SELECT d.id FROM (SELECT o.tenant_id, o.id FROM app.orders AS o{}{}) AS d \
         JOIN (VALUES ({}::text), ('acme')) AS v(t) ON v.t = d.tenant_id{}",
        [inside, order, own, lock],
    )
}

/// Another use of a parameter fixes its type.
pub(super) fn parameter_of_two_types(made: &mut Gen) -> Vec<Tree> {
    made.saw("bound T");
    let param = made.param("acme");
    let ty = made.one(&["\"char\"", "\"char\"", "name", "varchar", "text", "bpchar"]);
    let relation = made.one(&["app.orders", "app.notes", "more.tickets"]);
    fill("SELECT {}::{}, o.id FROM {} AS o WHERE o.tenant_id = {}", [param.clone(), ty, relation, param])
}

/// What is restricted outside may become T inside.
pub(super) fn recursion_from_outside(made: &mut Gen) -> Vec<Tree> {
    made.saw("recursive CTE");
    let inside = made.maybe_where("o.tenant_id", 25);
    let passed = made.one(&["'acme'::text", "'acme'::text", "r.t"]);
    let outside = made.own_is("r.t");
    fill(
        "WITH RECURSIVE r(id, t, n) AS (SELECT o.id, o.tenant_id, 1 FROM app.notes AS o{} \
         UNION ALL SELECT r.id, {}, r.n + 1 FROM r WHERE r.n < 3) SELECT r.id FROM r WHERE {}",
        [inside, passed, outside],
    )
}

/// Each reference to a CTE reads it.
pub(super) fn two_references(made: &mut Gen) -> Vec<Tree> {
    made.saw("CTE reference");
    let how = made.one(&["", "MATERIALIZED ", "NOT MATERIALIZED "]);
    let inside = made.maybe_where("o.tenant_id", 15);
    let one = made.own_is("a.tenant_id");
    let other = match made.rng.chance(40) {
        true => optional(fill(" AND {}", [made.own_is("b.tenant_id")])),
        false => text(""),
    };
    fill(
        "WITH x AS {}(SELECT o.id, o.tenant_id FROM app.notes AS o{}) \
         SELECT a.id, b.id FROM x AS a JOIN x AS b ON b.id >= a.id WHERE {}{}",
        [how, inside, one, other],
    )
}

/// Conditions that say less than they seem to.
pub(super) fn logic(made: &mut Gen) -> Vec<Tree> {
    let relation =
        made.one(&["app.notes", "app.orders", "app.daily_revenue", "more.tickets", "app.open_orders"]);
    let own = made.own(Class::Tenant);
    let condition = match made.rng.below(7) {
        0 => {
            let other = made.one(&["n.tenant_id IS NULL", "FALSE", "n.tenant_id > 'b'", "n.tenant_id < 'b'"]);
            fill("NOT (n.tenant_id <> {} AND {})", [own, other])
        }
        1 => fill("n.tenant_id = {}", [made.one(&["'ACME'", "'Acme'", "'acme '", "'acme'"])]),
        2 => fill(
            "n.tenant_id::{} = {}",
            [made.one(&["varchar(4)", "varchar(2)", "varchar", "bpchar", "bpchar", "\"char\""]), own],
        ),
        3 => fill(
            "n.tenant_id = {}",
            [made.one(&["'acme2'::varchar(4)", "'acme'::varchar(2)", "'acme'::text"])],
        ),
        4 => vec![made.one(&["1 = 1", "2 > 1", "1 = 0", "1 <> 2", "TRUE", "'a' = 'a'", "0 <= 0", "FALSE"])],
        5 => fill("(n.tenant_id = {} OR {})", [own, made.one(&["1 = 1", "1 = 0", "NULL", "TRUE", "2 < 1"])]),
        _ => fill("NOT (n.tenant_id {} {})", [made.one(&["=", "<>", "IS DISTINCT FROM"]), own]),
    };
    fill(
        "SELECT count(*), min(n.tenant_id), max(n.tenant_id) FROM {} AS n WHERE {}",
        [relation, scalar(condition)],
    )
}

/// A condition that one side of a FULL JOIN must meet makes an outer join of it, no inner one.
pub(super) fn full_reduced(made: &mut Gen) -> Vec<Tree> {
    made.saw("FULL JOIN");
    let own = made.own(Class::Tenant);
    let kind = made.one(&["FULL JOIN", "FULL JOIN", "LEFT JOIN", "RIGHT JOIN", "JOIN"]);
    let filter = made.one(&["a.id = q.n", "a.id = q.n", "v.n = q.n"]);
    fill(
        "SELECT a.id, a.tenant_id FROM app.notes AS a {} (VALUES ({}::text, 1)) AS v(t, n) ON a.tenant_id = v.t, \
         (VALUES (1), (3), (101)) AS q(n) WHERE {}",
        [kind, own, filter],
    )
}

/// A column that is T or NULL does not make an inner join of the outer one that it comes from.
pub(super) fn null_demanded(made: &mut Gen) -> Vec<Tree> {
    made.saw("derived table");
    let kind = made.one(&["LEFT JOIN", "LEFT JOIN", "JOIN", "RIGHT JOIN"]);
    let (one, other) = (made.own_is("o.tenant_id"), made.own_is("v.tenant_id"));
    let outside = match made.rng.chance(25) {
        true => optional(fill(" WHERE {}", [made.own_is("d.t")])),
        false => text(""),
    };
    fill(
        "SELECT d.id FROM (SELECT v.tenant_id AS t, o.id FROM app.orders AS o {} app.notes AS v \
         ON o.id = v.id AND {} AND {}) AS d{}",
        [kind, one, other, outside],
    )
}

/// What a locking clause names it reaches to the bottom.
pub(super) fn lock_of_nested(made: &mut Gen) -> Vec<Tree> {
    made.saw("locking clause");
    let relation = made.one(&["app.orders", "app.notes", "app.customers"]);
    let inside = made.maybe_where("o.tenant_id", 25);
    let how = made.one(&["FOR UPDATE", "FOR SHARE", "FOR UPDATE OF x", "FOR NO KEY UPDATE"]);
    let with = made.one(&["", "", "WITH z AS (SELECT 1 AS one) "]);
    let inner = fill("({}SELECT o.id, o.tenant_id FROM {} AS o{} ORDER BY o.id)", [with, relation, inside]);
    let middle = match made.rng.chance(70) {
        true => fill(
            "(SELECT y.* FROM {} AS y JOIN (VALUES ('acme'::text), ('acme')) AS v(t) ON v.t = y.tenant_id)",
            [scalar(inner)],
        ),
        false => fill("(SELECT y.* FROM {} AS y WHERE {})", [scalar(inner), made.own_is("y.tenant_id")]),
    };
    fill("SELECT x.id FROM {} AS x {}", [scalar(middle), how])
}

/// A shared relation may have children with rows of tenants.
pub(super) fn shared_parent(made: &mut Gen) -> Vec<Tree> {
    made.saw("shared parent");
    let relation = made.one(&["more.tariffs", "more.tariffs", "ONLY more.tariffs", "more.tariffs_own"]);
    let filter = match made.rng.chance(40) {
        true => optional([text(" WHERE t.id > 1")]),
        false => text(""),
    };
    let target = made.one(&["count(*)", "max(t.name)", "count(t.id)"]);
    fill("SELECT {} FROM {} AS t{}", [target, relation, filter])
}

/// A merged column has the type that both sides have in common.
pub(super) fn merged_type(made: &mut Gen) -> Vec<Tree> {
    made.saw("merged column");
    let value = made.one(&["'acme'", "'acme'", "'globex'"]);
    let ty = made.one(&["char(4)", "char(10)", "bpchar", "text", "varchar", "name", "more.plain"]);
    let other = scalar(fill("(SELECT {}::{} AS tenant_id) AS w", [value, ty]));
    let relation = made.one(&["more.tickets AS t", "more.tickets AS t", "app.notes AS t"]);
    let kind = made.one(&["RIGHT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT JOIN", "JOIN"]);
    let (left, right) = if made.rng.chance(60) { (other, relation) } else { (relation, other) };
    let own = made.own_is("tenant_id");
    fill("SELECT t.id, tenant_id FROM {} {} {} USING (tenant_id) WHERE {}", [left, kind, right, own])
}
