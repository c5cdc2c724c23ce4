//! Traps of values that are equal and not the same: collations that come from anywhere, operators of a
//! row's fields, types that a form takes, spaces that are none.

use super::super::Gen;
use crate::bound::{Bound, Declared};
use crate::tree::{Sort, Tree, fill, node, optional, scalar, text};

/// A column that is said to be T, under a collation of its own.
pub(super) fn collation_of_source(made: &mut Gen) -> Vec<Tree> {
    made.saw("collation of a source");
    let (source, more) = match made.rng.weighted(&[34, 26, 20, 20]) {
        0 => made.collated_function(),
        1 => (made.collated_domain(), text("")),
        2 => made.collated_field(),
        _ => (made.collated_definition(), text("")),
    };
    let own = made.own_is("d.t");
    if made.rng.chance(18) {
        made.writes = true;
        return fill(
            "INSERT INTO app.notes (id, tenant_id, body) SELECT 901, d.t, 'x' FROM {} WHERE {}{}",
            [source, own, more],
        );
    }
    let relation = made.one(&["app.orders", "app.notes", "more.tickets", "app.customers"]);
    fill("SELECT o.id FROM {} AS o, {} WHERE {} AND o.tenant_id = d.t{}", [relation, source, own, more])
}

/// A parameter of a domain has the domain's collation.
pub(super) fn collation_of_parameter(made: &mut Gen) -> Vec<Tree> {
    made.saw("collation of a source");
    let name = *made.rng.pick(&["more.loose", "more.loose", "more.plain", "text", "varchar"]);
    let declared = Declared { name, oid: 0, binary: false };
    made.params += 1;
    let value = Bound { text: Some("acme".to_owned()), declared: Some(declared) };
    let param = Tree::Param { id: made.params, value };
    let relation = made.one(&["app.orders", "app.notes", "more.tickets"]);
    let cast = made.one(&["::text", "::text", "::varchar", ""]);
    let query = fill(
        "SELECT o.id FROM {} AS o, (SELECT {}{} AS t) AS d WHERE d.t = 'acme' AND o.tenant_id = d.t",
        [relation, param, cast],
    );
    vec![made.prepared(node(Sort::Query, query))]
}

/// NULLIF has the type that its operator takes: char(n), where the other side is one.
pub(super) fn type_of_nullif(made: &mut Gen) -> Vec<Tree> {
    made.saw("NULLIF of two types");
    let left =
        made.one(&["'acme'", "'acme '", "'acme'", "'acme'::text", "'acme'::varchar", "'acme '::varchar"]);
    let right = made.one(&[
        "'x'::char(10)",
        "'x'::char(10)",
        "'x'::bpchar",
        "'x'::name",
        "'x'::text",
        "'x'",
        "'x'::\"char\"",
    ]);
    let relation = made.one(&["more.tickets", "more.tickets", "app.notes"]);
    let own = made.own_is("d.t");
    match made.rng.below(4) {
        0 => fill(
            "SELECT o.id FROM {} AS o WHERE o.tenant_id = (SELECT NULLIF({}, {}))",
            [relation, left, right],
        ),
        1 => fill(
            "SELECT o.id FROM {} AS o, (VALUES (NULLIF({}, {}))) AS d(t) WHERE {} AND o.tenant_id = d.t",
            [relation, left, right, own],
        ),
        _ => fill(
            "SELECT o.id FROM {} AS o, (SELECT NULLIF({}, {}) AS t) AS d WHERE {} AND o.tenant_id = d.t",
            [relation, left, right, own],
        ),
    }
}

/// Each field of a row is compared by the operator of its own types.
pub(super) fn operator_of_field(made: &mut Gen) -> Vec<Tree> {
    made.saw("row IN sub-select");
    let operator = made.one(&["IN", "IN", "= ANY", "= SOME"]);
    let (left, right) = match made.rng.below(5) {
        0 => ("g.grade", "'acme'::app.grade"),
        1 => ("g.grade, g.id", "'acme'::app.grade, g.id"),
        2 => ("g.id, g.label, g.grade", "g.id, g.label, 'acme'::app.grade"),
        3 => ("1, g.grade", "1, 'acme'::app.grade"),
        _ => ("g.id, g.grade", "g.id, 'acme'::app.grade"),
    };
    let form = if made.rng.chance(25) && !right.contains("g.") { "(VALUES ({}))" } else { "(SELECT {})" };
    let members = node(Sort::Query, fill(form, [text(right)]));
    let row = node(Sort::Equality, fill("({}) {} {}", [text(left), operator, members]));
    fill("SELECT g.id, g.grade FROM more.grades AS g WHERE {}", [row])
}

/// What is a space in Unicode is an element in an array literal.
pub(super) fn spaces_in_array(made: &mut Gen) -> Vec<Tree> {
    made.saw("array literal");
    let array = made.one(&[
        "'{\u{a0}}'",
        "'{\u{a0}}'",
        "'{\u{85}}'",
        "'{\u{2003}\u{a0}}'",
        "'{\u{3000}}'",
        "'{}'",
        "' { } '",
        "'{acme}'",
        "'{ acme\t}'",
        "'{\n\"acme\" , acme}'",
        "'{\u{a0}acme}'",
        "'{acme,\u{a0}}'",
        "'[1:1]={acme}'",
        "'{{acme}}'",
        "'{NULL}'",
    ]);
    match made.rng.below(4) {
        0 => {
            made.writes = true;
            fill(
                "INSERT INTO app.notes (id, tenant_id, body) SELECT 901, u.t, 'x' FROM unnest({}::text[]) AS u(t)",
                [array],
            )
        }
        1 => {
            let relation = made.one(&["app.orders", "app.notes", "more.tickets"]);
            fill(
                "SELECT o.id FROM {} AS o JOIN unnest({}::text[]) AS u(t) ON o.tenant_id = u.t",
                [relation, array],
            )
        }
        _ => {
            let relation = made.one(&["app.orders", "app.notes", "app.customers", "app.products"]);
            fill("SELECT o.id FROM {} AS o WHERE o.tenant_id = ANY ({})", [relation, array])
        }
    }
}

impl Gen {
    /// A function in FROM has the collation of what it is called with; the condition that its lateral
    /// column needs.
    fn collated_function(&mut self) -> (Tree, Tree) {
        let ordinality = self.rng.chance(20);
        let (with, names) = if ordinality { (" WITH ORDINALITY", "t, n") } else { ("", "t") };
        if self.rng.chance(45) {
            let call = self.one(&[
                "unnest(ARRAY['acme' COLLATE more.ci])",
                "unnest(ARRAY['ACME' COLLATE more.ci])",
                "unnest(ARRAY['acme', 'acme' COLLATE more.ci])",
                "concat('acme' COLLATE more.ci)",
                "string_to_table('acme' COLLATE more.ci, ',')",
                "unnest(ARRAY['acme' COLLATE \"C\"])",
                "unnest(ARRAY['acme'])",
            ]);
            let form = match self.rng.chance(20) {
                true => "ROWS FROM ({}){} AS d({})",
                false => "{}{} AS d({})",
            };
            return (node(Sort::From, fill(form, [call, text(with), text(names)])), text(""));
        }
        let call = self.one(&[
            "unnest(l.alikes)",
            "unnest(ARRAY[l.alike])",
            "concat(l.alike)",
            "string_to_table(l.alike, ',')",
            "concat(l.other)",
            "unnest(ARRAY[l.other])",
            "unnest(ARRAY[(l.mark).t::text])",
        ]);
        let own = self.own_is("l.tenant_id");
        let source = node(
            Sort::From,
            fill("more.labels AS l, LATERAL {}{} AS d({})", [call, text(with), text(names)]),
        );
        (source, node(Sort::Bool, fill(" AND {}", [own])))
    }

    /// A value that was cast to a domain keeps the domain's collation.
    fn collated_domain(&mut self) -> Tree {
        let domain = self.one(&["more.loose", "more.loose", "more.loose", "more.plain", "text"]);
        let value = match self.rng.below(6) {
            0 => fill("COALESCE('acme'::{})::text", [domain]),
            1 => fill("(ARRAY['acme'::{}])[1]::text", [domain]),
            2 => fill("concat('acme'::{})", [domain]),
            3 => fill("CASE WHEN TRUE THEN 'acme'::{} END::text", [domain]),
            _ => fill("'acme'::{}::text", [domain]),
        };
        let form = if self.rng.chance(35) { "(VALUES ({})) AS d(t)" } else { "(SELECT {} AS t) AS d" };
        node(Sort::From, fill(form, [scalar(value)]))
    }

    /// A field has the collation that its type was made with.
    fn collated_field(&mut self) -> (Tree, Tree) {
        let field = self.one(&[
            "(l.mark).t::text",
            "(l.mark).t::text",
            "(l.mark).t",
            "((ARRAY[l.mark])[1]).t::text",
            "l.alike",
            "l.alike::varchar",
            "l.other",
            "l.alikes[1]",
        ]);
        if self.rng.chance(30) {
            let own = self.own_is("l.tenant_id");
            let query = fill("(SELECT {} AS t FROM more.labels AS l WHERE {}) AS d", [field, own]);
            return (node(Sort::From, query), text(""));
        }
        let own = self.own_is("l.tenant_id");
        let source = fill("more.labels AS l, LATERAL (SELECT {} AS t) AS d", [field]);
        (node(Sort::From, source), optional(fill(" AND {}", [own])))
    }

    /// A column definition list may name a collation, or a type that has one.
    fn collated_definition(&mut self) -> Tree {
        let ty = self.one(&[
            "more.loose",
            "more.loose",
            "more.plain",
            "text COLLATE more.ci",
            "text COLLATE \"C\"",
            "text",
            "varchar",
        ]);
        let which = self.one(&["json", "jsonb"]);
        let rows = text(r#"'[{"t": "acme"}, {"t": "ACME"}]'"#);
        let form = match self.rng.chance(60) {
            true => "(SELECT x.t::text AS t FROM {}_to_recordset({}) AS x(t {})) AS d",
            false => "{}_to_recordset({}) AS d(t {})",
        };
        node(Sort::From, fill(form, [which, rows, ty]))
    }
}
