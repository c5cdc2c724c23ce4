//! Texts of every depth and size get statements or a denial, never a crash.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use super::nesting::{MAX_COPIED_TOKENS, MAX_DEPTH_LEVELS, Measure, is_small};
use super::*;
use crate::Code;
use crate::ir::Size;

/// Forms that nest: what stands before, what is repeated, the core, what is repeated behind it,
/// what stands behind all.
#[rustfmt::skip]
const FORMS: &[(&str, [&str; 5])] = &[
    ("sum", ["SELECT 1", "+1", "", "", ""]),
    ("concatenation", ["SELECT a", "||a", "", "", ""]),
    ("not", ["SELECT ", "NOT ", "true", "", ""]),
    ("minus", ["SELECT ", "- ", "a", "", ""]),
    ("not, minus", ["SELECT ", "NOT - ", "a", "", ""]),
    ("cast", ["SELECT 1", "::int", "", "", ""]),
    ("collate", ["SELECT a", " COLLATE c", "", "", ""]),
    ("time zone", ["SELECT a", " AT TIME ZONE b", "", "", ""]),
    ("join", ["SELECT 1 FROM t ", "JOIN t ON a = b AND c = d ", "", "", ""]),
    ("comma, join", ["SELECT 1 FROM a, (SELECT 1) b ", "CROSS JOIN c ", "", "", ""]),
    ("union", ["SELECT 1 ", "UNION SELECT 1, 2 ", "", "", ""]),
    ("except", ["SELECT 1 ", "EXCEPT ALL VALUES (1, 2) ", "", "", ""]),
    ("between", ["SELECT 1", " BETWEEN 2 AND NOT 3", "", "", ""]),
    ("distinct from", ["SELECT 1", " IS DISTINCT FROM NOT 2", "", "", ""]),
    ("and", ["SELECT a", " AND a", "", "", ""]),
    ("or", ["SELECT a = 1 AND b = 2", " OR a = 1 AND b = 2", "", "", ""]),
    ("parentheses", ["SELECT ", "(", "1", ")", ""]),
    ("call", ["SELECT ", "f(", "1", ")", ""]),
    ("named call", ["SELECT ", "f(a => 1, b => ", "1", ")", ""]),
    ("ordered call", ["SELECT ", "f(1 ORDER BY a, ", "1", ")", ""]),
    ("filter", ["SELECT ", "f() FILTER (WHERE ", "1", ")", ""]),
    ("window", ["SELECT ", "f() OVER (PARTITION BY ", "1", ")", ""]),
    ("sub-select", ["SELECT ", "(SELECT ", "1", ")", ""]),
    ("sub-select, list", ["SELECT ", "(SELECT 1, ", "1", ")", ""]),
    ("sub-select, limit", ["SELECT ", "(SELECT 1 LIMIT ", "1", ")", ""]),
    ("values", ["SELECT ", "(VALUES (1, ", "1", "))", ""]),
    ("exists", ["SELECT ", "EXISTS (SELECT 1 WHERE ", "1", ")", ""]),
    ("in", ["SELECT ", "a IN (1, ", "1", ")", ""]),
    ("in select", ["SELECT ", "a IN (SELECT ", "1", ")", ""]),
    ("any", ["SELECT ", "a = ANY (ARRAY[", "1", "])", ""]),
    ("array", ["SELECT ", "ARRAY[1, ", "1", "]", ""]),
    ("bare array", ["SELECT ARRAY", "[", "1", "]", ""]),
    ("array select", ["SELECT ", "ARRAY(SELECT ", "1", ")", ""]),
    ("row", ["SELECT ", "ROW(1, ", "1", ")", ""]),
    ("bare row", ["SELECT ", "(1, ", "1", ")", ""]),
    ("subscript", ["SELECT ", "a[", "1", "]", ""]),
    ("slice", ["SELECT ", "a[1:", "1", "]", ""]),
    ("case", ["SELECT ", "CASE WHEN ", "1", " THEN 1 END", ""]),
    ("case operand", ["SELECT ", "CASE ", "1", " WHEN 1 THEN 2 END", ""]),
    ("case else", ["SELECT ", "CASE WHEN a AND b THEN 1 ELSE ", "1", " END", ""]),
    ("negative case", ["SELECT ", "- CASE WHEN - ", "1", " THEN 1 END", ""]),
    ("coalesce", ["SELECT ", "COALESCE(a, ", "1", ")", ""]),
    ("extract", ["SELECT ", "EXTRACT(year FROM ", "1", ")", ""]),
    ("json scalar", ["SELECT ", "JSON_SCALAR(", "1", ")", ""]),
    ("json object", ["SELECT ", "JSON_OBJECT('a': ", "1", ")", ""]),
    ("json array", ["SELECT ", "JSON_ARRAY(", "1", ")", ""]),
    ("json value", ["SELECT ", "JSON_VALUE('{}', '$' PASSING ", "1", " AS x)", ""]),
    ("xmlforest", ["SELECT ", "XMLFOREST(", "1", " AS a)", ""]),
    ("type modifier", ["SELECT ", "1::a(", "1", ")", ""]),
    ("from", ["SELECT 1 FROM ", "(SELECT 1 FROM ", "t", ") x", ""]),
    ("from joined", ["SELECT 1 FROM ", "(t JOIN ", "t", " t ON true)", ""]),
    ("from function", ["SELECT 1 FROM f(", "(SELECT 1 FROM f(", "1", "))", ")"]),
    ("rows from", ["SELECT ", "(SELECT 1 FROM ROWS FROM (f(", "1", ")))", ""]),
    ("with", ["", "WITH x AS (", "SELECT 1", ") SELECT 1", ""]),
    ("with in from", ["SELECT 1 FROM ", "(WITH x AS (SELECT 1 FROM ", "t", ") SELECT 1) y", ""]),
    ("order by", ["SELECT 1 ORDER BY ", "(SELECT 1 ORDER BY ", "1", ")", ""]),
    ("grouping sets", ["SELECT 1 GROUP BY ", "GROUPING SETS (a, ", "1", ")", ""]),
    ("union bracketed", ["SELECT 1 UNION ", "(SELECT 1 UNION ", "SELECT 2", ")", ""]),
    ("deep, then chained", ["SELECT ", "(1 + ", "1", ") + 1 + 1", ""]),
    ("deep, then joined", ["SELECT 1 FROM ", "(SELECT 1 FROM ", "t", ") x JOIN u ON true JOIN u ON true", ""]),
];

fn forms(times: usize) -> impl Iterator<Item = (&'static str, String)> {
    FORMS.iter().map(move |(name, [start, again, core, end, finish])| {
        (*name, format!("{start}{}{core}{}{finish}", again.repeat(times), end.repeat(times)))
    })
}

fn on_a_big_stack<T: Send + 'static>(test: impl FnOnce() -> T + Send + 'static) -> T {
    on_a_stack_of(crate::STACK_BYTES, test)
}

fn on_a_stack_of<T: Send + 'static>(bytes: usize, test: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(bytes).spawn(test).unwrap().join().unwrap()
}

fn size(text: &str) -> Result<Size, Code> {
    let statements = parse(text, &Limits { statement_bytes: usize::MAX, ..Limits::default() });
    statements.map(|statements| statements.first().unwrap().size).map_err(|denial| denial.code)
}

/// The deepest chain of nodes in the tree, by its printed form.
fn node_depth(text: &str) -> usize {
    let tree = match pg_query::parse(text, 0) {
        Ok(tree) => format!("{:?}", tree.protobuf),
        Err(error) => panic!("{text}: {error}"),
    };
    let (mut depth, mut deepest, mut open) = (0_usize, 0, Vec::new());
    let mut rest = tree.as_str();
    while let Some(next) = rest.find(['(', ')', '{', '}', '"']) {
        let (before, after) = rest.split_at(next);
        if after.starts_with(['(', '{']) {
            let node = before.ends_with("Node ");
            depth += usize::from(node);
            deepest = deepest.max(depth);
            open.push(node);
            rest = after.get(1..).unwrap();
        } else if after.starts_with('"') {
            let string = after.get(1..).unwrap();
            let end = string.find('"').unwrap();
            rest = string.get(end + 1..).unwrap();
        } else {
            depth -= usize::from(open.pop().unwrap());
            rest = after.get(1..).unwrap();
        }
    }
    deepest
}

#[test]
fn the_measure_of_nesting_is_never_below_the_tree() {
    on_a_big_stack(|| {
        for times in [1, 2, 3, 7, 40] {
            for (name, text) in forms(times) {
                let (measured, real) = (Measure::of(&text).unwrap().depth, node_depth(&text));
                assert!(measured + 3 >= real, "{name} {times}: measured {measured}, is {real}");
            }
        }
    });
}

/// Of words, brackets and signs in any order, SQL or not, each text as long as can be.
#[test]
fn what_is_small_measures_nothing_that_is_refused() {
    const PIECES: [&str; 25] = [
        "(", "(", "[", ")", "]", "CASE ", "END ", "SELECT ", "WITH ", "JOIN ", "UNION ", "AND ", "NOT ",
        "SET(", ",(", ",", "=", ")=(", "+", ":", "a", "'x'", "$1", "\"n\"", "-",
    ];
    let (mut state, mut small) = (0x9e37_79b9_7f4a_7c15_u64, 0);
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % below
    };
    for round in 0..5000 {
        // Some of the pieces alone: what is rare among all of them is then common.
        let pieces: Vec<&str> = (0..=round % 4).map(|_| PIECES[next(PIECES.len())]).collect();
        let has = |wanted: &str| pieces.iter().any(|piece| piece.contains(wanted));
        let (mut text, mut weight) = (String::new(), 0);
        while weight < MAX_DEPTH_LEVELS {
            let piece = pieces[next(pieces.len())];
            weight += piece.len() + piece.matches(['(', '[']).count();
            if weight <= MAX_DEPTH_LEVELS {
                text.push_str(piece);
            }
        }
        if !is_small(&text) || has("CASE") && has(",") {
            continue;
        }
        small += 1;
        let Ok(measure) = Measure::of(&text) else { panic!("{text}") };
        assert!(measure.depth <= MAX_DEPTH_LEVELS && measure.copies <= MAX_COPIED_TOKENS, "{text}");
    }
    assert!(small > 1000, "{small}");
    for text in
        ["SET (a) = (b)", "SET (a)\n= (b)", "SELECT \"\"", "SELECT 1 -- x", "/* x */ SELECT 1", "x[1]=2"]
    {
        assert!(!is_small(text), "{text}");
    }
}

#[test]
fn what_the_measure_lets_pass_fits_half_the_stack() {
    on_a_stack_of(crate::STACK_BYTES / 2, || {
        let names = forms(1).map(|(name, _)| name).collect::<Vec<_>>();
        for (index, name) in names.into_iter().enumerate() {
            let text = |times| forms(times).nth(index).unwrap().1;
            let passes = |times| Measure::of(&text(times)).unwrap().depth <= MAX_DEPTH_LEVELS;
            let most = (1..=10)
                .rev()
                .fold(0, |most, bit| if passes(most + (1 << bit)) { most + (1 << bit) } else { most });
            assert!(most >= 20, "{name}: only {most} levels");
            match size(&text(most)) {
                Ok(size) => assert!(size.depth > 0, "{name}"),
                Err(code) => panic!("{name} {most} times: {code}"),
            }
        }
    });
}

#[test]
fn depth_past_every_stack_is_a_value_or_limit_depth() {
    on_a_big_stack(|| {
        for times in [1000, 5000, 10_000, 60_000] {
            for (name, text) in forms(times) {
                if text.len() > Limits::default().statement_bytes {
                    continue;
                }
                match size(&text) {
                    Ok(_) | Err(Code::Limit(LimitName::Depth)) => {}
                    Err(code) => panic!("{name} {times}: {code}"),
                }
            }
        }
    });
}

#[test]
fn long_lists_are_not_deep() {
    on_a_big_stack(|| {
        let list = |item: &str, times: usize| vec![item; times].join(", ");
        let or = vec!["(a = 1 AND b = 2)"; 5000].join(" OR ");
        let when = "WHEN a = 1 AND b > 2 THEN 'x' ".repeat(3000);
        for (text, depth) in [
            (format!("SELECT a IN ({})", list("1", 8000)), 4),
            (format!("SELECT ARRAY[{}]", list("1", 8000)), 4),
            (format!("SELECT {}", list("a + b", 5000)), 4),
            (format!("INSERT INTO t VALUES {}", list("(1, 'a', f(2))", 5000)), 4),
            (format!("SELECT 1 WHERE {or}"), 5),
            (format!("SELECT CASE {when} END"), 5),
            (format!("SELECT 1 FROM t{}", " JOIN t ON a = b".repeat(60)), 5),
            (format!("SELECT 1{}", " UNION SELECT 1".repeat(120)), 4),
            (format!("SELECT a{}", " || a".repeat(400)), 4),
            ("SELECT 1 FROM t JOIN u ON a = b;".repeat(2000), 4),
        ] {
            let size = size(&text).unwrap();
            assert!(size.depth <= depth, "{}: {}", text.get(..40).unwrap(), size.depth);
        }
    });
}

#[test]
fn a_copied_source_is_counted_before_the_parser_copies_it() {
    let bomb = |times| {
        let open = "WITH x AS (UPDATE t SET (a, b, c) = (".repeat(times);
        format!("{open}SELECT 1{}", ") RETURNING 1) SELECT 1".repeat(times))
    };
    let wide =
        format!("UPDATE t SET ({}) = (SELECT {})", vec!["a"; 1000].join(", "), vec!["1"; 1000].join(", "));
    on_a_big_stack(move || {
        assert!(size(&bomb(3)).is_ok());
        for text in [bomb(12), bomb(30), wide] {
            assert_eq!(size(&text), Err(Code::Limit(LimitName::StatementBytes)));
        }
        let plain = format!("UPDATE t SET (a, b) = (1, 2), (c, d) = (SELECT {})", "1 + ".repeat(50) + "1");
        assert!(size(&plain).is_ok());
        let rows = vec!["(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)"; 10_000].join(", ");
        assert!(size(&format!("INSERT INTO t VALUES {rows}")).is_ok());
        assert!(size(&format!("SELECT 1 WHERE (a, b) IN ({rows})")).is_ok());
    });
}

#[test]
fn an_error_in_a_long_text_is_answered_without_parsing_it_again_and_again() {
    let text = format!("SELECT {} a a a", "a, ".repeat(80_000));
    on_a_big_stack(move || {
        let denial = parse(&text, &Limits { statement_bytes: usize::MAX, ..Limits::default() });
        let denial = denial.err().unwrap();
        assert_eq!((denial.message.as_str(), denial.at), ("syntax error at or near \"a\"", None));
    });
}

#[test]
fn a_name_of_no_characters_is_refused_as_postgresql_does() {
    let denial = parse("SELECT 1 AS \"\"", &Limits::default()).err().unwrap();
    assert_eq!(denial.message, "zero-length delimited identifier at or near \"\"\"\"");
    assert_eq!((denial.code, denial.at), (Code::SyntaxError, Some(12)));
}
