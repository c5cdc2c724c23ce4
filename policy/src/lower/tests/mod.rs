//! Every construct lowers to what it says, and nothing that stands in a tree is lost.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod complete;
mod render;
mod table;

use super::*;

fn statements(text: &str) -> Vec<Statement> {
    match pg_query::parse(text, 0) {
        Ok(tree) => lower(text, tree.protobuf, &[]),
        Err(error) => panic!("{text}: {error}"),
    }
}

fn shown(text: &str) -> String {
    statements(text).iter().map(render::statement).collect::<Vec<_>>().join(" ;; ")
}

fn size(text: &str) -> crate::ir::Size {
    statements(text).first().unwrap().size
}

#[test]
fn spans_are_the_statements_without_what_is_around_them() {
    let text = " -- first\n SELECT 1 /* a */ ; ;\n/* b; */ SELECT 'é;' ; SELECT 3 -- end";
    let spans: Vec<&str> =
        statements(text).iter().map(|statement| text.get(statement.span.clone()).unwrap()).collect();
    assert_eq!(spans, ["SELECT 1", "SELECT 'é;'", "SELECT 3"]);
    let text = ";\n SELECT 1\t;;\r\n\u{b}SELECT 'é; ' ;; SELECT $$ ; $$\u{c};";
    let spans: Vec<&str> =
        statements(text).iter().map(|statement| text.get(statement.span.clone()).unwrap()).collect();
    assert_eq!(spans, ["SELECT 1", "SELECT 'é; '", "SELECT $$ ; $$"], "where there is no comment");
    for empty in ["", " ", ";", "-- x", "/* x */;;"] {
        assert_eq!(shown(empty), "Empty", "{empty:?}");
    }
}

#[test]
fn places_are_bytes_of_the_whole_text() {
    let text = "SELECT 'é'; SELECT a FROM t WHERE b = $1";
    let all = format!("{:?}", statements(text));
    for (token, shown) in [("a FROM", "a"), ("t WHERE", "t"), ("b =", "b")] {
        let at = text.find(token).unwrap();
        assert!(
            all.contains(&format!("\"{shown}\"], star: false, at: Some({at})"))
                || all.contains(&format!("\"{shown}\"], at: Some({at})")),
            "{token}: {all}"
        );
    }
    assert!(all.contains(&format!("number: 1, at: Some({})", text.find('$').unwrap())));
}

#[test]
fn sizes_are_those_of_the_limits() {
    let deep = "SELECT 1";
    let base = size(deep).depth;
    for (text, more) in [
        ("SELECT f(1)", 1),
        ("SELECT ARRAY[1]", 1),
        ("SELECT ROW(1)", 1),
        ("SELECT ARRAY[ARRAY[ROW(f(1))]]", 4),
        ("SELECT NOT NOT true", 2),
        ("SELECT a || b || c || d", 1),
        ("SELECT a || (b || (c || d))", 3),
        ("SELECT a + b - c + d", 3),
        ("SELECT a AND b AND c AND (d AND e)", 1),
        ("SELECT a OR b AND c OR d", 2),
        ("SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4", 1),
        ("SELECT 1 FROM a JOIN b ON true JOIN c ON true JOIN d ON true", 1),
        ("SELECT (SELECT 1)", 2),
        ("SELECT 1 FROM (SELECT 1) x", 2),
        ("SELECT CASE WHEN a THEN 1 END", 1),
        ("SELECT x[1]", 1),
        ("SELECT x::int::text", 2),
    ] {
        assert_eq!(size(text).depth - base, more, "{text}");
    }
    let union =
        size("SELECT a FROM t, t JOIN u ON $3 = 1 UNION SELECT b FROM v WHERE $12 = 2 EXCEPT SELECT 3");
    assert_eq!((union.relations, union.set_operations, union.parameters), (4, 2, 12));
    let values = size("INSERT INTO t SELECT * FROM (VALUES (1), (2)) x WHERE a IN (1, 2, 3)");
    assert_eq!((values.in_list, values.insert_rows, values.relations), (3, 0, 1));
    let rows = size("INSERT INTO t VALUES (1), (2), (ARRAY[1, 2, 3, 4])");
    assert_eq!((rows.in_list, rows.insert_rows), (4, 3));
    assert_eq!(size("VALUES (1), (2), (3)").in_list, 3);
    let conditions =
        "SELECT 1 FROM t JOIN u ON a AND b WHERE a OR (b AND c AND (d AND e)) OR NOT f AND (SELECT g OR h)";
    assert_eq!(size(conditions).conditions, 2 + 3 + 4 + 2 + 2);
    assert_eq!(size("SELECT a WHERE NOT a").conditions, 0);
    assert_eq!(size("LOCK a, b").relations, 2);
    assert_eq!(size("EXPLAIN SELECT 1 FROM t").relations, 1);
}

#[test]
fn numbers_that_servers_read_differently_are_no_integers() {
    for (written, shown_as) in [
        ("42", "42"),
        ("007", "7"),
        ("-42", "-42"),
        ("- /* x */ 42", "-42"),
        ("- - 42", "42"),
        ("2147483647", "2147483647"),
        ("2147483648", "#2147483648"),
        ("-2147483648", "#-2147483648"),
        ("0x2A", "#0x2A"),
        ("-0x2A", "#0x2A"),
        ("0b101", "#0b101"),
        ("0o17", "#0o17"),
        ("1_000", "#1_000"),
        ("1.5", "#1.5"),
        ("42.0", "#42.0"),
        ("4.2e1", "#4.2e1"),
        (".5", "#.5"),
    ] {
        assert_eq!(shown(&format!("SELECT {written}")), format!("select {shown_as}"), "{written}");
    }
}
