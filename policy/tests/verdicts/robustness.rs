//! Whatever the text, judging it ends in a verdict.

use std::sync::Arc;

use crate::lab::{Lab, on_large_stack};
use pgmoat_policy::{Mode, STACK_BYTES};

fn corpus() -> Vec<String> {
    let both = [
        include_str!("../../../tests/corpus/attack.jsonl"),
        include_str!("../../../tests/corpus/benign.jsonl"),
    ];
    both.iter()
        .flat_map(|text| text.lines())
        .map(|line| {
            let case: serde_json::Value = serde_json::from_str(line).unwrap();
            case["sql"].as_str().unwrap().to_owned()
        })
        .collect()
}

/// The invariant of every cache in front of a judge: one question has one answer, at any time and in
/// any thread.
#[test]
fn one_question_has_one_verdict() {
    let lab = Arc::new(Lab::new());
    let texts = Arc::new(corpus());
    let ask = |lab: &Lab, texts: &[String], backwards: bool| -> Vec<String> {
        let mut answers: Vec<(usize, String)> = Vec::new();
        let mut order: Vec<usize> = (0..texts.len()).collect();
        if backwards {
            order.reverse();
        }
        for at in order {
            for mode in [Mode::Simple, Mode::Extended { declared: &[25] }] {
                answers.push((at, format!("{:?}", lab.judge("app:acme", mode, &texts[at]).statements)));
            }
        }
        answers.sort_by_key(|(at, _)| *at);
        answers.into_iter().map(|(_, answer)| answer).collect()
    };
    let threads: Vec<_> = [false, true, false]
        .into_iter()
        .map(|backwards| {
            let (lab, texts) = (Arc::clone(&lab), Arc::clone(&texts));
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
            thread.spawn(move || ask(&lab, &texts, backwards)).unwrap()
        })
        .collect();
    let answers: Vec<Vec<String>> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    for other in &answers[1..] {
        assert_eq!(other.len(), answers[0].len());
        let differs = other.iter().zip(&answers[0]).find(|(one, other)| one != other);
        assert_eq!(differs, None);
    }
}

#[test]
fn long_and_deep_texts_get_a_verdict() {
    on_large_stack(|| {
        let lab = Lab::new();
        let nested = |open: &str, middle: &str, close: &str, count: usize| {
            format!("{}{middle}{}", open.repeat(count), close.repeat(count))
        };
        let equalities: Vec<String> =
            (0..1500).map(|n| format!("o.tenant_id = c.tenant_id AND o.id <> {n}")).collect();
        let chain: Vec<String> = (0..60).map(|n| format!("app.orders o{n}")).collect();
        let links: Vec<String> = (1..60).map(|n| format!("o{n}.tenant_id = o{}.tenant_id", n - 1)).collect();
        let arms: Vec<String> = (0..3000).map(|n| format!("(tenant_id = 'acme' AND id = {n})")).collect();
        let recursive: String = (0..12).fold("SELECT 1 AS a".to_owned(), |inner, n| {
            format!("WITH RECURSIVE r{n} AS (({inner}) UNION ALL SELECT a + 1 FROM r{n} WHERE a < 3) SELECT a FROM r{n}")
        });
        let references: String = (1..20).fold("WITH c0 AS (SELECT tenant_id FROM app.orders)".to_owned(), |text, n| {
            format!("{text}, c{n} AS (SELECT a.tenant_id FROM c{0} a JOIN c{0} b ON a.tenant_id = b.tenant_id)", n - 1)
        });
        let named: String = (1..600).map(|n| format!(", w{n} AS (w{})", n - 1)).collect();
        let equal: Vec<String> = (1..400).map(|n| format!("d.c{n} = d.c{}", n - 1)).collect();
        let columns: Vec<String> = (0..400).map(|n| format!("tenant_id AS c{n}")).collect();
        let either = format!("({} AND d.c0 = 'acme')", equal.join(" AND "));
        let texts = [
            // Flat in the parser's tree, deep in what is made of it.
            format!("SELECT (a){} FROM (SELECT 1 AS a) x", ".b".repeat(100_000)),
            format!("SELECT (a){} FROM (SELECT 1 AS a) x", "[1].b".repeat(50_000)),
            format!("SELECT {}", nested("(", "(a).b.b.b.b.b.b.b.b", ").b.b.b.b.b.b.b.b", 2_000)),
            format!(
                "SELECT 1 FROM (SELECT {} FROM app.orders) d WHERE {either} OR {either}",
                columns.join(", ")
            ),
            format!(
                "SELECT 1 FROM (SELECT tenant_id, count(*) OVER w0 FROM app.orders WINDOW w0 AS (PARTITION BY tenant_id){named}) d WHERE tenant_id = 'acme'"
            ),
            format!("SELECT {}", nested("lower(", "'x'", ")", 5000)),
            format!("SELECT {}", vec!["1"; 10_000].join(" + ")),
            format!("SELECT 1 WHERE {}", nested("NOT (", "true", ")", 1000)),
            format!(
                "SELECT 1 FROM app.orders o, app.customers c WHERE c.tenant_id = 'acme' AND {}",
                equalities.join(" AND ")
            ),
            format!(
                "SELECT 1 FROM {} WHERE o59.tenant_id = 'acme' AND {}",
                chain.join(", "),
                links.join(" AND ")
            ),
            format!("SELECT 1 FROM app.orders WHERE {}", arms.join(" OR ")),
            vec!["SELECT 1"; 120].join(" UNION ALL "),
            recursive,
            format!("{references} SELECT 1 FROM c19 WHERE tenant_id = 'acme'"),
        ];
        for text in &texts {
            let judgement = lab.judge("app:acme", Mode::Simple, text);
            assert_eq!(judgement.statements.len(), 1);
        }
    });
}

/// A chain of one binary operator counts once (policy 2), up to the parser's own bound.
#[test]
fn a_long_chain_of_one_operator_passes() {
    on_large_stack(|| {
        let lab = Lab::new();
        for (operand, operator) in [("1", " + "), ("'a'", " || "), ("o.note", " || "), ("o.total", " * ")] {
            let chain = vec![operand; 2000].join(operator);
            let sql = format!("SELECT {chain} FROM app.orders o WHERE o.tenant_id = 'acme'");
            lab.expect("app:acme", &[("ok", &sql)]);
            let sql = format!("SELECT 1 FROM app.orders o WHERE o.tenant_id = 'acme' AND ({chain}) IS NULL");
            lab.expect("app:acme", &[("ok", &sql)]);
            let longer =
                format!("SELECT {chain}{operator}{chain} FROM app.orders o WHERE o.tenant_id = 'acme'");
            lab.expect("app:acme", &[("limit_depth", &longer)]);
        }
    });
}

#[test]
fn terms_of_conditions_are_counted_over_the_whole_statement() {
    on_large_stack(|| {
        let lab = Lab::new();
        let of = |terms: usize| {
            let half = " OR id = 2".repeat(terms / 2 - 1);
            format!(
                "SELECT 1 FROM app.orders WHERE tenant_id = 'acme' AND EXISTS (SELECT 1 FROM app.plans WHERE id = 1{half}) AND (id = 1{half})"
            )
        };
        lab.expect("app:acme", &[("ok", &of(4092)), ("limit_conditions", &of(4094))]);
    });
}

/// What costs more with each name or join than the one before is refused before it is worked through.
#[test]
fn names_columns_and_merges_that_multiply_are_refused() {
    on_large_stack(|| {
        let lab = Lab::new();
        let full = |joins: usize| {
            let chain: String =
                (0..joins).map(|at| format!(" FULL JOIN (SELECT 1 a) x{at} USING (a)")).collect();
            format!("SELECT 1 FROM (SELECT 1 a) o{chain}")
        };
        let names = |count: usize| {
            let columns: Vec<String> = (0..1_000).map(|at| format!("{at} x{at}")).collect();
            let sources: String = (0..30).map(|at| format!(", w w{at}(y{at})")).collect();
            let list = vec!["x999"; count].join(", ");
            format!("WITH w AS (SELECT {}) SELECT coalesce({list}) FROM w{sources}", columns.join(", "))
        };
        let stars = |tables: usize| {
            let columns: Vec<String> = (0..1_000).map(|at| format!("1 c{at}")).collect();
            let chain: String =
                (1..tables).map(|at| format!(", LATERAL (SELECT l{}.*) l{at}", at - 1)).collect();
            format!("SELECT 1 FROM (SELECT {}) l0{chain}", columns.join(", "))
        };
        let code = |sql: &str| lab.denial("ops", sql).map(|denial| denial.code.to_string());
        assert_eq!(code(&full(40)), None);
        assert_eq!(code(&full(2_000)).as_deref(), Some("unsupported"));
        assert_eq!(code(&stars(50)), None);
        assert_eq!(code(&stars(1_500)).as_deref(), Some("unsupported"));
        assert_eq!(code(&names(5)).as_deref(), Some("ambiguous"), "looked for, and found in each");
        assert_eq!(code(&names(20_000)).as_deref(), Some("unsupported"));
    });
}
