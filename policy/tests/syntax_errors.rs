//! Syntax errors are PostgreSQL's: message, SQLSTATE and position.

#![expect(clippy::expect_used, reason = "tests fail by panicking")]

use pgmoat_policy::policy::Limits;
use pgmoat_policy::{STACK_BYTES, parse};

/// Text, message, SQLSTATE, position in characters from 1: as PostgreSQL 15.18 answered each of
/// these texts in a simple Query.
#[rustfmt::skip]
const RECORDED: &[(&str, &str, &str, Option<usize>)] = &[
    ("SELEC 1", "syntax error at or near \"SELEC\"", "42601", Some(1)),
    ("SELECT FROM FROM t", "syntax error at or near \"FROM\"", "42601", Some(13)),
    ("SELECT 1 FROM", "syntax error at end of input", "42601", Some(14)),
    ("SELECT (1", "syntax error at end of input", "42601", Some(10)),
    ("SELECT 1)", "syntax error at or near \")\"", "42601", Some(9)),
    ("SELECT a FROM t WHERE", "syntax error at end of input", "42601", Some(22)),
    ("SELECT a FROM t WHERE a = = 1", "syntax error at or near \"=\"", "42601", Some(27)),
    ("SELECT a, FROM t", "syntax error at or near \"FROM\"", "42601", Some(11)),
    ("SELECT a FROM t ORDER a", "syntax error at or near \"a\"", "42601", Some(23)),
    ("SELECT a FROM t GROUP BY a HAVING", "syntax error at end of input", "42601", Some(34)),
    ("INSERT INTO t VALUE (1)", "syntax error at or near \"VALUE\"", "42601", Some(15)),
    ("INSERT INTO t (a, b VALUES (1, 2)", "syntax error at or near \"VALUES\"", "42601", Some(21)),
    ("INSERT INTO t VALUES (1, 2", "syntax error at end of input", "42601", Some(27)),
    ("UPDATE t SET a = 1 b = 2", "syntax error at or near \"b\"", "42601", Some(20)),
    ("UPDATE t WHERE a = 1", "syntax error at or near \"WHERE\"", "42601", Some(10)),
    ("DELETE t WHERE a = 1", "syntax error at or near \"t\"", "42601", Some(8)),
    ("SELECT CASE WHEN a THEN 1", "syntax error at end of input", "42601", Some(26)),
    ("SELECT CASE a END", "syntax error at or near \"END\"", "42601", Some(15)),
    ("SELECT a FROM t LIMIT 1, 2", "LIMIT #,# syntax is not supported", "42601", Some(17)),
    ("SELECT 'abc", "unterminated quoted string at or near \"'abc\"", "42601", Some(8)),
    ("SELECT \"abc", "unterminated quoted identifier at or near \"\"abc\"", "42601", Some(8)),
    ("SELECT $$abc", "unterminated dollar-quoted string at or near \"$$abc\"", "42601", Some(8)),
    ("SELECT $x$abc$y$", "unterminated dollar-quoted string at or near \"$x$abc$y$\"", "42601", Some(8)),
    ("SELECT /* abc", "unterminated /* comment at or near \"/* abc\"", "42601", Some(8)),
    ("SELECT 1 /* a /* b */", "unterminated /* comment at or near \"/* a /* b */\"", "42601", Some(10)),
    ("SELECT E'\\u12'", "invalid Unicode escape", "22025", Some(10)),
    ("SELECT E'\\UFFFFFFFF'", "invalid Unicode escape value at or near \"\\UFFFFFFFF\"", "42601", Some(10)),
    ("SELECT U&'\\zzzz'", "invalid Unicode escape", "42601", Some(11)),
    ("SELECT U&'\\D800'", "invalid Unicode surrogate pair", "42601", Some(16)),
    ("SELECT B'012", "unterminated bit string literal at or near \"B'012\"", "42601", Some(8)),
    ("SELECT X'1G", "unterminated hexadecimal string literal at or near \"X'1G\"", "42601", Some(8)),
    ("SELECT 1 AS", "syntax error at end of input", "42601", Some(12)),
    ("SELECT \"a\".", "syntax error at end of input", "42601", Some(12)),
    ("SELECT a.b.c.d.e.* FROM", "syntax error at end of input", "42601", Some(24)),
    ("SELECT * FROM t JOIN u", "syntax error at end of input", "42601", Some(23)),
    ("SELECT * FROM t JOIN u ON", "syntax error at end of input", "42601", Some(26)),
    ("SELECT * FROM (SELECT 1", "syntax error at end of input", "42601", Some(24)),
    ("SELECT * FROM t,", "syntax error at end of input", "42601", Some(17)),
    ("CREATE TABEL t (a int)", "syntax error at or near \"TABEL\"", "42601", Some(8)),
    ("CREATE TABLE t (a int,)", "syntax error at or near \")\"", "42601", Some(23)),
    ("DROP TABLE", "syntax error at end of input", "42601", Some(11)),
    ("GRANT ALL TO bob", "syntax error at or near \"TO\"", "42601", Some(11)),
    ("SELECT 1; SELEC 2", "syntax error at or near \"SELEC\"", "42601", Some(11)),
    ("SELECT 1; SELECT 2; SELECT (3; SELECT 4", "syntax error at or near \";\"", "42601", Some(30)),
    ("BEGIN; INSERT INTO t VALUES (1)); COMMIT", "syntax error at or near \")\"", "42601", Some(32)),
    ("SELECT a, a, a, a FROM t WHERE a = a AND a a a", "syntax error at or near \"a\"", "42601", Some(44)),
    ("SELECT 'é' || 'ü' FROM tä WHERE x = )", "syntax error at or near \")\"", "42601", Some(37)),
    ("SELECT 'a' 'b'", "syntax error at or near \"'b'\"", "42601", Some(12)),
    ("SELECT 1 1", "syntax error at or near \"1\"", "42601", Some(10)),
    ("SELECT ARRAY[1, 2", "syntax error at end of input", "42601", Some(18)),
    ("SELECT a[1 FROM t", "syntax error at or near \"FROM\"", "42601", Some(12)),
    ("SELECT a IN () FROM t", "syntax error at or near \")\"", "42601", Some(14)),
    ("SELECT a BETWEEN 1 FROM t", "syntax error at or near \"FROM\"", "42601", Some(20)),
    ("SELECT count(* FROM t", "syntax error at or near \"FROM\"", "42601", Some(16)),
    ("SELECT f(a => ) ", "syntax error at or near \")\"", "42601", Some(15)),
    ("WITH x AS SELECT 1 SELECT 2", "syntax error at or near \"SELECT\"", "42601", Some(11)),
    ("WITH x (SELECT 1) SELECT 2", "syntax error at or near \"SELECT\"", "42601", Some(9)),
    ("SELECT 1 UNION", "syntax error at end of input", "42601", Some(15)),
    ("SELECT 1 UNION ALL ORDER BY 1", "syntax error at or near \"ORDER\"", "42601", Some(20)),
    ("SELECT 123abc", "trailing junk after numeric literal at or near \"123abc\"", "42601", Some(8)),
    ("SELECT 1e FROM t", "trailing junk after numeric literal at or near \"1e\"", "42601", Some(8)),
    ("SELECT $1abc", "trailing junk after parameter at or near \"$1abc\"", "42601", Some(8)),
    ("SELECT \"\"", "zero-length delimited identifier at or near \"\"\"\"", "42601", Some(8)),
    ("EXPLAIN", "syntax error at end of input", "42601", Some(8)),
    ("PREPARE p AS", "syntax error at end of input", "42601", Some(13)),
    ("EXECUTE", "syntax error at end of input", "42601", Some(8)),
    ("DECLARE c CURSOR", "syntax error at end of input", "42601", Some(17)),
    ("FETCH", "syntax error at end of input", "42601", Some(6)),
    ("COPY t FROM", "syntax error at end of input", "42601", Some(12)),
    ("COPY t TO STDOUT WITH (FORMAT", "syntax error at end of input", "42601", Some(30)),
    ("SET", "syntax error at end of input", "42601", Some(4)),
    ("SET a", "syntax error at end of input", "42601", Some(6)),
    ("SET TRANSACTION ISOLATION LEVEL FOO", "syntax error at or near \"FOO\"", "42601", Some(33)),
    ("ROLLBACK TO", "syntax error at end of input", "42601", Some(12)),
    ("SELECT a FROM t FOR", "syntax error at end of input", "42601", Some(20)),
    ("SELECT a FROM t FOR UPDATE OF", "syntax error at end of input", "42601", Some(30)),
    ("SELECT cast(a AS) FROM t", "syntax error at or near \")\"", "42601", Some(17)),
    ("SELECT a::", "syntax error at end of input", "42601", Some(11)),
    ("SELECT a:: FROM t", "syntax error at or near \"FROM\"", "42601", Some(12)),
    ("SELECT NOT FROM t", "syntax error at or near \"FROM\"", "42601", Some(12)),
    ("SELECT a NOT b FROM t", "syntax error at or near \"b\"", "42601", Some(14)),
    ("SELECT a IS b FROM t", "syntax error at or near \"b\"", "42601", Some(13)),
    ("SELECT a FROM t WHERE a = 1 AND", "syntax error at end of input", "42601", Some(32)),
    (" FROM FROM", "syntax error at or near \"FROM\"", "42601", Some(2)),
    ("SELECT a FROM t ORDER BY a ORDER BY b", "syntax error at or near \"ORDER\"", "42601", Some(28)),
    ("(SELECT a FROM t ORDER BY a) ORDER BY b LIMIT 1 LIMIT 2", "multiple ORDER BY clauses not allowed", "42601", Some(39)),
    ("SELECT f(VARIADIC a, b)", "syntax error at or near \",\"", "42601", Some(20)),
    ("SELECT percentile_cont(DISTINCT 0.5) WITHIN GROUP (ORDER BY a)", "cannot use DISTINCT with WITHIN GROUP", "42601", Some(38)),
    ("SELECT a FROM t FETCH FIRST 1 ROW WITH TIES", "WITH TIES cannot be specified without ORDER BY clause", "42601", None),
    ("SELECT sum(a) OVER (ROWS UNBOUNDED FOLLOWING) FROM t", "frame start cannot be UNBOUNDED FOLLOWING", "42P20", Some(26)),
    ("SELECT sum(a) OVER (ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM t", "frame starting from current row cannot have preceding rows", "42P20", Some(50)),
    ("SELECT *.a FROM t", "syntax error at or near \".\"", "42601", Some(9)),
    ("SELECT a.*.b FROM t", "improper use of \"*\" at or near \"FROM\"", "42601", Some(14)),
    ("SELECT a FROM a.b.c.d.e", "improper qualified name (too many dotted names): a.b.c.d.e", "42601", Some(15)),
    ("CREATE TABLE t (a float(0))", "precision for type float must be at least 1 bit", "22023", Some(25)),
    ("CREATE TABLE t (a int COLLATE \"C\" COLLATE \"D\")", "multiple COLLATE clauses not allowed", "42601", Some(35)),
    ("SELECT (a, b) OVERLAPS (c, d, e)", "wrong number of parameters on right side of OVERLAPS expression", "42601", Some(24)),
    ("SELECT 'x' AS a b", "syntax error at or near \"b\"", "42601", Some(17)),
    (";;;)", "syntax error at or near \")\"", "42601", Some(4)),
    (" ' ", "unterminated quoted string at or near \"' \"", "42601", Some(2)),
    ("\\d", "syntax error at or near \"\\\"", "42601", Some(1)),
    ("SELECT @", "syntax error at end of input", "42601", Some(9)),
    ("SELECT 1 @", "syntax error at end of input", "42601", Some(11)),
    ("SELECT a FROM t WHERE id = ?", "syntax error at end of input", "42601", Some(29)),
    ("SELECT {1}", "syntax error at or near \"{\"", "42601", Some(8)),
    ("SELECT a ]", "syntax error at or near \"]\"", "42601", Some(10)),
    ("SELECT 1_000", "trailing junk after numeric literal at or near \"1_000\"", "42601", Some(8)),
    ("SELECT 0x2G", "trailing junk after numeric literal at or near \"0x2G\"", "42601", Some(8)),
    ("SELECT 0b12", "trailing junk after numeric literal at or near \"0b12\"", "42601", Some(8)),
    ("SELECT E'\\q' E'b'", "syntax error at or near \"E'b'\"", "42601", Some(14)),
    ("VALUES (1), (2,", "syntax error at end of input", "42601", Some(16)),
    ("VALUES", "syntax error at end of input", "42601", Some(7)),
    ("TABLE", "syntax error at end of input", "42601", Some(6)),
    ("MERGE INTO t USING s ON a WHEN MATCHED THEN FOO", "syntax error at or near \"FOO\"", "42601", Some(45)),
    ("ALTER TABLE t ADD COLUMN", "syntax error at end of input", "42601", Some(25)),
    ("SELECT * FROM t TABLESAMPLE", "syntax error at end of input", "42601", Some(28)),
    ("SELECT trim(FROM) FROM t", "syntax error at or near \")\"", "42601", Some(17)),
    ("SELECT extract(year a) FROM t", "syntax error at or near \"a\"", "42601", Some(21)),
    ("SELECT row(1, 2", "syntax error at end of input", "42601", Some(16)),
    ("SELECT grouping(", "syntax error at end of input", "42601", Some(17)),
    ("SELECT EXISTS SELECT 1", "syntax error at or near \"1\"", "42601", Some(22)),
    ("SELECT a FROM t WINDOW w (ORDER BY a)", "syntax error at or near \"(\"", "42601", Some(26)),
    ("LISTEN 1", "syntax error at or near \"1\"", "42601", Some(8)),
    ("CALL f", "syntax error at end of input", "42601", Some(7)),
    ("DO", "syntax error at end of input", "42601", Some(3)),
];

/// Texts among them for which the answer differs, and why that is right.
#[rustfmt::skip]
const DIFFERENT: &[(&str, &str)] = &[
    ("SELECT E'\\u12'", "the grammar's own action: its message says no place"),
    ("SELECT U&'\\zzzz'", "the grammar's own action: its message says no place"),
    ("SELECT U&'\\D800'", "the grammar's own action: its message says no place"),
    ("(SELECT a FROM t ORDER BY a) ORDER BY b LIMIT 1 LIMIT 2", "the grammar's own action: its message says no place"),
    ("SELECT percentile_cont(DISTINCT 0.5) WITHIN GROUP (ORDER BY a)", "the grammar's own action: its message says no place"),
    ("SELECT sum(a) OVER (ROWS UNBOUNDED FOLLOWING) FROM t", "the grammar's own action: its message says no place"),
    ("SELECT sum(a) OVER (ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM t", "the grammar's own action: its message says no place"),
    ("SELECT a FROM a.b.c.d.e", "the grammar's own action: its message says no place"),
    ("CREATE TABLE t (a float(0))", "the grammar's own action: its message says no place"),
    ("CREATE TABLE t (a int COLLATE \"C\" COLLATE \"D\")", "the grammar's own action: its message says no place"),
    ("SELECT (a, b) OVERLAPS (c, d, e)", "the grammar's own action: its message says no place"),
    ("SELECT $1abc", "the parser reads $1 and abc; the server refuses it"),
    ("SELECT 1_000", "PostgreSQL 16 and later take it; the server refuses it"),
];

#[test]
fn errors_are_those_that_postgresql_15_reported() {
    let differences = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(|| RECORDED.iter().filter_map(difference).collect::<Vec<_>>())
        .expect("a thread")
        .join()
        .expect("no panic");
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
}

fn difference(&(text, message, sqlstate, position): &(&str, &str, &str, Option<usize>)) -> Option<String> {
    let expected = (message.to_owned(), sqlstate, position);
    let answered = parse::parse(text, &Limits::default()).err().map(|denial| {
        let characters = |at: u32| {
            let before = text.get(..usize::try_from(at).ok()?)?;
            Some(before.chars().count() + 1)
        };
        (denial.message, denial.sqlstate.0, denial.at.and_then(characters))
    });
    let known = DIFFERENT.iter().any(|(different, _)| *different == text);
    match (answered == Some(expected.clone()), known) {
        (true, false) | (false, true) => None,
        (true, true) => Some(format!("{text:?}: agrees, and is listed as different")),
        (false, false) => Some(format!("{text:?}: {answered:?}, not {expected:?}")),
    }
}
