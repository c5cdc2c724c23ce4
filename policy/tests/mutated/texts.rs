//! The judge over mutated texts of the corpus, 10,000 or ten minutes long, and over texts at every
//! bound: a verdict, never a panic, and every place that it names is a place of the text.

use pgmoat_policy::{Catalog, Judgement, Mode, NoNames, Policy, Principal, STACK_BYTES, Verdict, judge};

use super::{Dice, rounds};

/// Words and signs that make another legal text of one more often than bytes do.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    " AND ",
    " OR ",
    " NOT ",
    "(",
    ")",
    "(SELECT 1)",
    ", ",
    "*",
    "'acme'",
    "'globex'",
    "$1",
    "$0",
    "$70000",
    "42",
    "NULL",
    "DEFAULT",
    "tenant_id",
    "app.orders",
    "o.",
    ".",
    "::text",
    "::regclass",
    "[1]",
    "ARRAY[",
    "]",
    " FROM app.orders o ",
    " JOIN app.customers c ON true ",
    " LEFT JOIN ",
    " USING (id) ",
    " NATURAL ",
    " LATERAL ",
    " WHERE ",
    " = ",
    " IS NOT DISTINCT FROM ",
    " IN ('acme') ",
    " BETWEEN 1 AND 2 ",
    " UNION ",
    " EXCEPT ",
    " GROUP BY ",
    " HAVING ",
    " ORDER BY 1 ",
    " LIMIT 1 ",
    " FOR UPDATE ",
    " RETURNING * ",
    "WITH x AS (SELECT 1) ",
    " ON CONFLICT DO NOTHING",
    " SET tenant_id = 'acme' ",
    ";",
    "; SELECT 2",
    "BEGIN;",
    "PREPARE p AS SELECT $1;",
    "EXECUTE p('acme');",
    "DECLARE c CURSOR FOR ",
    "FETCH c;",
    "SET a = b;",
    "EXPLAIN ",
    "COPY (",
    ") TO STDOUT",
    "CASE WHEN ",
    " THEN 1 END",
    "f(",
    "count(*) OVER ()",
    "'",
    "\"",
    "--",
    "/*",
    "é",
    "\n",
];

fn corpus() -> Vec<String> {
    let mut texts = Vec::new();
    for file in ["attack", "benign"] {
        let path = format!("{}/../tests/corpus/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let case: serde_json::Value = serde_json::from_str(line).unwrap();
            texts.push(case.get("sql").unwrap().as_str().unwrap().to_owned());
        }
    }
    texts
}

/// Pairs of which one may often stand where the other does.
#[rustfmt::skip]
const SWAPS: &[(&str, &str)] = &[
    (" AND ", " OR "), (" AND ", " AND NOT "), (" = ", " <> "), (" = ", " IS NOT DISTINCT FROM "), (" = ", " < "),
    ("'acme'", "'globex'"), ("'acme'", "$1"), ("'acme'", "NULL"), ("'acme'", "('acme'::text)"),
    ("'acme'", "(SELECT 'acme')"), ("'acme'", "o.tenant_id"), (" JOIN ", " LEFT JOIN "), (" JOIN ", " FULL JOIN "),
    (" WHERE ", " WHERE true OR "), (" WHERE ", " WHERE tenant_id = 'acme' AND "), (" WHERE ", " WHERE NOT "),
    (" FROM ", " FROM app.plans, "), ("SELECT ", "SELECT DISTINCT "), ("SELECT ", "SELECT count(*), "),
    ("SELECT ", "SELECT (SELECT 1), "), ("SELECT ", "EXPLAIN SELECT "), ("SELECT ", "VALUES (1) UNION ALL SELECT "),
    ("app.orders", "app.customers"), ("app.orders", "(SELECT * FROM app.orders) x"), ("app.orders", "ONLY app.orders"),
    ("app.orders", "app.orders AS o (a, b)"), ("app.orders", "pg_catalog.pg_class"), ("tenant_id", "id"),
    ("tenant_id", "o.tenant_id"), ("tenant_id", "tenant_id::text"), ("tenant_id", "lower(tenant_id)"),
    ("id", "*"), ("id", "row_to_json(o)"), ("id", "CASE WHEN true THEN id END"), ("count", "sum"),
];

/// One of the texts with some of its words swapped, and sometimes with a piece put in between, or
/// a stretch of another text.
fn mutated(texts: &[String], dice: &mut Dice) -> String {
    let mut text = texts.get(dice.roll(texts.len())).unwrap().clone();
    for _ in 0..=dice.roll(3) {
        match dice.roll(10) {
            0 => {
                let borders: Vec<usize> =
                    text.match_indices([' ', '(', ')', ',']).map(|(at, _)| at).collect();
                let at = if borders.is_empty() { 0 } else { *borders.get(dice.roll(borders.len())).unwrap() };
                text.insert_str(at, PIECES.get(dice.roll(PIECES.len())).unwrap());
            }
            1 => {
                let other = texts.get(dice.roll(texts.len())).unwrap();
                let (head, tail) = (text.split_once(" WHERE "), other.split_once(" WHERE "));
                if let (Some((head, _)), Some((_, tail))) = (head, tail) {
                    text = format!("{head} WHERE {tail}");
                }
            }
            _ => {
                let swap = SWAPS.get(dice.roll(SWAPS.len())).unwrap();
                let places: Vec<usize> = text.match_indices(swap.0).map(|(at, _)| at).collect();
                if !places.is_empty() {
                    let at = *places.get(dice.roll(places.len())).unwrap();
                    text.replace_range(at..at + swap.0.len(), swap.1);
                }
            }
        }
    }
    text
}

struct Lab {
    policy: Policy,
    catalog: Catalog,
}

impl Lab {
    fn new() -> Lab {
        let policy = Policy::load(include_str!("../../../lab/policy.yaml"), "lab/policy.yaml").unwrap();
        let catalog = Catalog::parse(include_str!("../../golden/lab-catalog.json")).unwrap();
        Lab { policy: policy.policy, catalog }
    }

    fn judge(&self, text: &str, who: &str, declared: Option<&[u32]>) -> Judgement {
        let mode = declared.map_or(Mode::Simple, |declared| Mode::Extended { declared });
        judge(text, mode, &Principal::parse(who).unwrap(), &self.policy, &self.catalog, &NoNames)
    }
}

fn on_a_big_stack<T: Send + 'static>(test: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(test).unwrap().join().unwrap()
}

/// Every place is one of the text; every denial says something.
fn sound(text: &str, judgement: &Judgement) {
    assert!(!judgement.statements.is_empty(), "{text:?}");
    for judged in &judgement.statements {
        assert!(text.get(judged.span.clone()).is_some(), "{text:?}: {:?}", judged.span);
        for name in &judged.names {
            assert!(text.get(name.span.clone()).is_some_and(|name| !name.is_empty()), "{text:?}: {name:?}");
        }
        if let Verdict::Deny(denials) = &judged.verdict {
            assert!(!denials.all().is_empty());
            for denial in denials.all() {
                let at = denial.at.map(|at| usize::try_from(at).unwrap());
                assert!(at.is_none_or(|at| text.is_char_boundary(at)), "{text:?}: {denial:?}");
                assert!(!denial.message.is_empty(), "{text:?}");
            }
        }
    }
}

#[test]
fn mutated_texts_get_a_verdict_each() {
    on_a_big_stack(|| {
        let (lab, texts, mut dice) = (Lab::new(), corpus(), Dice(0x006a_7564_6765));
        let mut parsed = 0;
        for round in rounds(10_000) {
            let text = mutated(&texts, &mut dice);
            let (who, declared) = match round % 4 {
                0 => ("app:acme", None),
                1 => ("app:acme", Some(&[][..])),
                2 => ("analyst:globex", Some(&[25, 23][..])),
                _ => ("ops", None),
            };
            let judgement = lab.judge(&text, who, declared);
            sound(&text, &judgement);
            let same = lab.judge(&text, who, declared);
            assert_eq!(format!("{judgement:?}"), format!("{same:?}"), "{text:?}: two verdicts");
            let syntax = |judgement: &Judgement| {
                judgement.denial().is_some_and(|(_, denial)| denial.code.to_string() == "syntax_error")
            };
            parsed += usize::from(!syntax(&judgement));
        }
        assert!(parsed > 2000, "only {parsed} of the mutated texts are SQL");
    });
}

/// Texts at the bounds of what is parsed at all: the whole judgement has to fit the stack, too.
#[test]
fn deep_and_long_texts_get_a_verdict_or_a_limit() {
    let nest = |start: &str, again: &str, core: &str, end: &str, times: usize| {
        format!("{start}{}{core}{}", again.repeat(times), end.repeat(times))
    };
    let mut texts = Vec::new();
    for times in [30, 60, 120, 240, 490, 1000, 2000, 5000, 10_000] {
        texts.extend([
            nest("SELECT 1", "+1", "", "", times),
            nest("SELECT 'a'", "||'a'", "", "", times),
            nest("SELECT ", "abs(", "1", ")", times),
            nest("SELECT ", "NOT ", "true", "", times),
            nest("SELECT ", "(SELECT ", "1", ")", times),
            nest("SELECT 1 FROM ", "(SELECT * FROM ", "app.orders", ") x", times),
            nest("SELECT id FROM app.orders o0 ", "JOIN app.orders o ON true ", "", "", times.min(120)),
            nest("SELECT 1 ", "UNION SELECT 1 ", "", "", times),
            nest("SELECT ", "CASE WHEN ", "true", " THEN true END", times),
            nest("SELECT ", "ARRAY[", "1", "]", times),
            nest("SELECT 1 WHERE ", "EXISTS (SELECT 1 WHERE ", "true", ")", times),
            nest("SELECT 1", "::int", "", "", times),
            nest("", "WITH x AS (", "SELECT 1", ") SELECT 1", times),
            nest("SELECT id FROM app.orders WHERE id IN (1", ", 2", ")", "", times),
            nest("SELECT id FROM app.orders WHERE tenant_id = 'acme'", " OR id = 1", "", "", times),
            nest("SELECT id FROM app.orders WHERE ", "NOT (id = 1 AND ", "true", ")", times),
        ]);
    }
    let limits = "\nlimits: { depth: 1000, in_list: 100000, set_operations: 10000, conditions: 100000 }\n";
    let loose = include_str!("../../../lab/policy.yaml").to_owned() + limits;
    let loose = Policy::load(&loose, "loose.yaml").unwrap().policy;
    on_a_big_stack(move || {
        let strict = Lab::new();
        let loose = Lab { policy: loose, ..Lab::new() };
        for text in &texts {
            for who in ["app:acme", "ops"] {
                sound(text, &strict.judge(text, who, None));
                sound(text, &loose.judge(text, who, None));
            }
        }
    });
}
