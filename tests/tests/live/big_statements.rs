//! Statements that are long or deep: a verdict or a limit, never the end of a session or of the proxy.

use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Proxied, Raw, Stack, Transcript};

use crate::memory::{assert_bounded, resident_bytes};

#[test]
fn ten_megabytes_meet_the_limit_before_the_parser() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let before = resident_bytes(&proxied);
    // It would not parse: a syntax error would show that the parser saw it.
    let text = format!("{} {}", "(".repeat(1000), "x".repeat(10 << 20));
    let heard = raw.query(&text).unwrap();
    assert_eq!(heard.to_string(), "E(42501) Z(I)");
    assert_limit("statement_bytes", &heard);
    let heard = raw.ask(&[p("", &text), b("", "", &[]), e("", 0), s()]).unwrap();
    assert_eq!(heard.to_string(), "E(42501) Z(I)");
    assert_limit("statement_bytes", &heard);
    raw.send(&[q(ONE)]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
    // The message itself, its copy, and what an allocator keeps; not a tree.
    assert_bounded(&proxied, before, 128 << 20);
}

#[test]
fn deep_and_wide_statements_get_a_verdict_or_a_limit() {
    let proxied = Stack::get().proxy().unwrap();
    let mut witness = Raw::connect(&proxied.login("globex_app")).unwrap();
    for (name, sql) in big() {
        let started = std::time::Instant::now();
        let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
        let simple = raw.query(&sql).unwrap();
        let extended = raw.ask(&[p("", &sql), b("", "", &[]), e("", 0), s()]).unwrap();
        for heard in [&simple, &extended] {
            let said = heard.error_field(b'M').unwrap_or_default();
            println!("{name}: {:?} {:?} {said}", heard.codes(), heard.error_field(b'D'));
            assert!(!heard.closed, "{name}: {}", proxied.proxy.log());
            assert!(!said.contains("decode") && !said.contains("panic"), "{name}: {said}");
            // A verdict, a limit, a syntax error, or PostgreSQL's own limits, names and types.
            let known = ["42501", "53400", "42601", "54001", "54000", "54011", "42703", "42804"];
            assert!(
                heard.codes().iter().all(|code| known.contains(&code.as_str())),
                "{name}: {heard} {said}"
            );
        }
        witness.send(&[q("SELECT id FROM app.orders WHERE tenant_id = 'globex' AND id = 1")]).unwrap();
        witness.expect("T D C Z(I)").unwrap();
        println!("  {:?}", started.elapsed());
    }
}

#[test]
fn limits_are_told_by_name() {
    let proxied = Stack::get().proxy().unwrap();
    for (limit, sql) in [
        (
            "depth",
            format!(
                "SELECT {}id{} FROM app.orders WHERE tenant_id = 'acme'",
                "abs(".repeat(200),
                ")".repeat(200)
            ),
        ),
        ("statements", [ONE; 17].join(";")),
        ("set_operations", vec!["SELECT 1"; 120].join(" UNION ALL ")),
        ("relations", joins(70)),
        ("conditions", format!("{ONE}{}", " OR id = 2".repeat(4_096))),
    ] {
        let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
        let heard = raw.query(&sql).unwrap();
        assert_eq!(heard.to_string(), "E(42501) Z(I)", "{limit}");
        assert_limit(limit, &heard);
        still_answers(&proxied, raw);
    }
}

fn still_answers(proxied: &Proxied, mut raw: Raw) {
    raw.send(&[q(ONE)]).unwrap();
    raw.expect("T D C Z(I)").map_err(|error| format!("{error}\n{}", proxied.proxy.log())).unwrap();
}

fn assert_limit(limit: &str, heard: &Transcript) {
    let detail = heard.error_field(b'D').unwrap_or_default();
    assert!(detail.starts_with(&format!("code: limit_{limit},")), "{limit}: {detail}");
}

fn big() -> Vec<(&'static str, String)> {
    let nested = |open: &str, count: usize, middle: &str, close: &str| {
        format!(
            "SELECT {}{middle}{} FROM app.orders WHERE tenant_id = 'acme' AND id = 2",
            open.repeat(count),
            close.repeat(count)
        )
    };
    vec![
        ("a sum of 10,000 terms", format!("{ONE} AND id < {}", vec!["1"; 10_000].join("+"))),
        ("10,000 concatenations", format!("{ONE} AND 'a' < {}", vec!["'b'"; 10_000].join("||"))),
        ("5,000 nested calls", nested("abs(", 5_000, "id", ")")),
        ("60,000 nested calls", nested("abs(", 50_000, "id", ")")),
        ("1,000 NOTs", format!("{ONE} AND {} true", "NOT ".repeat(1_000))),
        ("20,000 NOTs", format!("{ONE} AND {} true", "NOT ".repeat(20_000))),
        ("100,000 parentheses", nested("(", 100_000, "id", ")")),
        ("100,000 open parentheses", format!("SELECT {}", "(".repeat(100_000))),
        ("60 joins", joins(60)),
        ("1,000 joins", joins(1_000)),
        ("120 unions", vec![ONE; 120].join(" UNION ALL ")),
        ("3,000 unions", vec![ONE; 3_000].join(" UNION ALL ")),
        ("500 nested sub-selects", format!("{}{ONE}{}", "SELECT * FROM (".repeat(500), ") t".repeat(500))),
        ("10,000 ANDs", format!("{ONE}{}", " AND id = 2".repeat(10_000))),
        ("10,000 ORs", format!("{ONE} AND (id = 2{})", " OR id = 2".repeat(10_000))),
        ("a list of 60,000", format!("{ONE} AND id IN ({})", vec!["2"; 60_000].join(","))),
        ("1,000 statements", vec![ONE; 1_000].join(";")),
        ("20,000 semicolons", ";".repeat(20_000)),
        ("nested arrays", nested("ARRAY[", 3_000, "1", "]")),
        ("nested CASEs", nested("CASE WHEN true THEN ", 3_000, "1", " END")),
        ("2,000 casts", nested("", 1, &format!("id{}", "::int8".repeat(2_000)), "")),
        ("2,000 subscripts", nested("", 1, &format!("note{}", "[1]".repeat(2_000)), "")),
        (
            "a name of 100,000 letters",
            format!("SELECT {} FROM app.orders WHERE tenant_id = 'acme'", "n".repeat(100_000)),
        ),
        ("nested comments", format!("{} {ONE} {}", "/*".repeat(50_000), "*/".repeat(50_000))),
        ("100,000 operators", format!("SELECT 1 {} 1", "+".repeat(100_000))),
        ("comments and operators", format!("SELECT 1 {} 1", "+/*".repeat(40_000))),
        ("open comments", "/*".repeat(100_000)),
    ]
}

/// A query over one table and `count` joins to it.
fn joins(count: usize) -> String {
    let joins: String = (1..=count)
        .map(|n| format!(" JOIN app.orders o{n} ON o{n}.tenant_id = 'acme' AND o{n}.id = o0.id"))
        .collect();
    format!("SELECT o0.id FROM app.orders o0{joins} WHERE o0.tenant_id = 'acme' AND o0.id = 2")
}

const ONE: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
