//! What the cache finds is what a fresh judgement says: over the corpus with its constants
//! exchanged, for several tenants, through one cache.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking and say what they saw"
)]

mod dice;
mod generated;

use std::sync::Arc;

use pgmoat_policy::shape::{SlotClass, shape};
use pgmoat_policy::{
    Catalog, Given, Mode, Names, NoNames, Policy, Prepared, Principal, Recent, STACK_BYTES, Verdict,
    Verdicts, judge,
};
use serde::Deserialize;

use dice::Dice;

#[derive(Debug, Deserialize)]
struct Case {
    principal: String,
    sql: String,
}

fn cases() -> Vec<Case> {
    let files = [
        include_str!("../../../tests/corpus/attack.jsonl"),
        include_str!("../../../tests/corpus/benign.jsonl"),
        include_str!("../../../tests/corpus/benign-applications.jsonl"),
        include_str!("../../../tests/corpus/benign-policy.jsonl"),
    ];
    files.iter().flat_map(|file| file.lines()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn lab() -> (Arc<Policy>, Arc<Catalog>) {
    let policy = Policy::load(include_str!("../../../lab/policy.yaml"), "lab/policy.yaml").unwrap().policy;
    let catalog = Catalog::parse(include_str!("../../golden/lab-catalog.json")).unwrap();
    (Arc::new(policy), Arc::new(catalog))
}

/// Those who might send what this user sends. `nobody` is a tenant without rows.
fn principals(user: &str) -> &'static [&'static str] {
    match user {
        "acme_app" | "globex_app" => &["app:acme", "app:globex", "app:nobody"],
        "acme_analyst" => &["analyst:acme", "analyst:globex"],
        "ops" => &["ops"],
        other => panic!("unknown user {other}"),
    }
}

/// Runs what needs the judge's stack.
fn deep(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run).unwrap().join().unwrap();
}

/// The text with other constants of the same classes.
fn refilled(text: &str, dice: &mut Dice) -> String {
    let mut refilled = text.to_owned();
    for slot in shape(text).slots().iter().rev() {
        let new = match slot.class {
            SlotClass::String => dice.one(&STRINGS),
            SlotClass::Integer => dice.one(&INTEGERS),
            SlotClass::Number => dice.one(&NUMBERS),
        };
        // Some stay, or nearly everything would be refused.
        if dice.below(3) == 0 {
            refilled.replace_range(slot.span.clone(), new);
        }
    }
    refilled
}

const STRINGS: [&str; 20] = [
    "'acme'",
    "'globex'",
    "'initech'",
    "'ACME'",
    "'acme '",
    "''",
    "'0'",
    "'1'",
    "'42'",
    "'it''s'",
    "'{acme}'",
    "'{globex}'",
    "'{ acme , acme }'",
    "'{}'",
    "'app.orders'",
    "'pg_catalog.pg_class'",
    "'work_mem'",
    "'day'",
    "'a%'",
    "'2026-01-01'",
];
const INTEGERS: [&str; 9] = ["0", "1", "2", "3", "7", "42", "100", "1000", "2147483647"];
const NUMBERS: [&str; 6] = ["1.5", "42.0", "0.0", "2147483648", "99999999999999999999", "1e3"];

#[test]
fn what_is_found_is_what_a_fresh_judgement_says() {
    deep(|| {
        let (policy, catalog) = lab();
        let verdicts = Verdicts::new(Arc::clone(&policy), Arc::clone(&catalog), 64 << 20);
        let mut dice = Dice(7);
        let rounds = if std::env::var_os("PGMOAT_LONG").is_some() { 64 } else { 1 };
        let (mut allowed, mut told) = (0, 0);
        for case in cases() {
            for _ in 0..rounds {
                let text = refilled(&case.sql, &mut dice);
                for principal in principals(&case.principal) {
                    let principal = Principal::parse(principal).unwrap();
                    let declared = [25, 23];
                    for mode in [
                        Mode::Simple,
                        Mode::Extended { declared: &[] },
                        Mode::Extended { declared: &declared },
                    ] {
                        let found = verdicts.judge(&text, mode, &principal, &NoNames);
                        let fresh = judge(&text, mode, &principal, &policy, &catalog, &NoNames);
                        assert_eq!(
                            format!("{found:?}"),
                            format!("{fresh:?}"),
                            "{principal:?} {mode:?}\n{text}"
                        );
                        let allow =
                            |judged: &pgmoat_policy::Judged| matches!(judged.verdict, Verdict::Allow(_));
                        allowed += usize::from(fresh.statements.iter().all(allow));
                        told += 1;
                    }
                }
            }
        }
        let stats = verdicts.stats();
        println!("{told} judged, {allowed} allowed, {stats:?}");
        assert!(stats.hits > 1_000 && allowed > 1_500, "{allowed} {stats:?}");
    });
}

/// What the parser makes of a plain constant beside a constant decides, too.
#[test]
fn what_is_no_constant_in_the_tree_is_kept_to_the_letter() {
    deep(|| {
        let (policy, catalog) = lab();
        let verdicts = Verdicts::new(Arc::clone(&policy), Arc::clone(&catalog), 1 << 20);
        let rows = "SELECT id FROM app.orders WHERE tenant_id = 'acme'";
        let texts = [
            ["text", "binary", "csv"].map(|format| format!("COPY ({rows}) TO STDOUT (FORMAT '{format}')")),
            ["1", "0", "2"].map(|yes| format!("EXPLAIN (ANALYZE {yes}) {rows}")),
            ["1", "2", "3"].map(|place| format!("{rows} ORDER BY {place}")),
            ["64MB", "1GB", "8kB"].map(|size| format!("SET work_mem = '{size}'")),
        ];
        for principal in ["app:acme", "ops"] {
            let principal = Principal::parse(principal).unwrap();
            for text in texts.iter().flatten().chain(texts.iter().flatten()) {
                let found = verdicts.judge(text, Mode::Simple, &principal, &NoNames);
                let fresh = judge(text, Mode::Simple, &principal, &policy, &catalog, &NoNames);
                assert_eq!(format!("{found:?}"), format!("{fresh:?}"), "{text}");
            }
        }
        assert!(verdicts.stats().hits > 4, "{:?}", verdicts.stats());
    });
}

/// What a client's names stand for is the client's own.
#[test]
fn a_verdict_that_depends_on_names_is_not_kept() {
    struct Cursors(bool);

    impl Names for Cursors {
        fn prepared(&self, _: &str) -> Option<Prepared> {
            self.0.then(|| Prepared { text: "SELECT 1".into(), declared: Arc::new([]) })
        }

        fn cursor(&self, _: &str) -> bool {
            self.0
        }
    }

    deep(|| {
        let policy = include_str!("../../../lab/policy.yaml").replace(
            "relations: { allow: [\"app.*\", \"billing.*\"] }",
            "relations: { allow: [\"app.*\", \"billing.*\"], write_shared: [\"app.plans\"] }",
        );
        let policy = Arc::new(Policy::load(&policy, "policy.yaml").unwrap().policy);
        let (_, catalog) = lab();
        let verdicts = Verdicts::new(Arc::clone(&policy), Arc::clone(&catalog), 1 << 20);
        let principal = Principal::parse("app:acme").unwrap();
        for text in [
            "UPDATE app.plans SET name = 'x' WHERE CURRENT OF c",
            "COPY (UPDATE app.plans SET name = 'x' WHERE CURRENT OF c RETURNING code) TO STDOUT",
            "COPY (DELETE FROM app.plans WHERE CURRENT OF c RETURNING code) TO STDOUT",
            "FETCH c",
            "EXECUTE c",
            "EXPLAIN EXECUTE c",
            "CLOSE c",
            "DEALLOCATE c",
        ] {
            for has in [true, false, true] {
                let names = Cursors(has);
                let found = verdicts.judge(text, Mode::Simple, &principal, &names);
                let fresh = judge(text, Mode::Simple, &principal, &policy, &catalog, &names);
                assert_eq!(format!("{found:?}"), format!("{fresh:?}"), "{text} {has}");
            }
        }
        assert_eq!(verdicts.stats().hits, 0);
    });
}

/// One entry serves every tenant and every plain value.
#[test]
fn an_entry_is_shared_by_tenants_and_values() {
    deep(|| {
        let (policy, catalog) = lab();
        let verdicts = Verdicts::new(policy, catalog, 1 << 20);
        for number in 0..500 {
            let tenant = format!("tenant{}", number % 250);
            let principal = Principal::parse(&format!("app:{tenant}")).unwrap();
            let text = format!(
                "SELECT id, total FROM app.orders WHERE tenant_id = '{tenant}' AND id > {number} LIMIT {}",
                number + 1
            );
            let found = verdicts.judge(&text, Mode::Simple, &principal, &NoNames);
            assert!(found.denial().is_none(), "{found:?}");
        }
        let stats = verdicts.stats();
        assert_eq!((stats.hits, stats.misses, stats.shapes), (499, 1, 1), "{stats:?}");
    });
}

/// A session's own entries are those of the rules that are in force.
#[test]
fn what_was_given_last_goes_with_its_rules() {
    deep(|| {
        let (policy, catalog) = lab();
        let stricter = include_str!("../../../lab/policy.yaml").replace("tenant_id }", "email }");
        let stricter = Arc::new(Policy::load(&stricter, "policy.yaml").unwrap().policy);
        let first = Verdicts::new(policy, Arc::clone(&catalog), 1 << 20);
        let second = Verdicts::new(stricter, catalog, 1 << 20);
        let mut recent = Recent::default();
        let principal = Principal::parse("app:acme").unwrap();
        let text = "SELECT full_name FROM app.customers WHERE tenant_id = 'acme' AND id = 1";
        for (verdicts, allowed) in [(&first, true), (&first, true), (&second, false), (&first, true)] {
            let is_allowed = match verdicts.give(&mut recent, text, Mode::Simple, &principal, &NoNames) {
                Given::Kept(kept) => kept.judgement().denial().is_none(),
                Given::Fresh(judgement) => judgement.denial().is_none(),
            };
            assert_eq!(is_allowed, allowed);
        }
        assert_eq!((first.stats().hits, second.stats().hits), (2, 0));
    });
}

/// What a caller makes of a verdict is made once, and knows no constant.
#[test]
fn what_is_made_of_a_verdict_is_made_once() {
    deep(|| {
        let (policy, catalog) = lab();
        let verdicts: Verdicts<String> = Verdicts::making(policy, catalog, 1 << 20);
        let principal = Principal::parse("app:acme").unwrap();
        for number in 0..5 {
            let text =
                format!("SELECT id FROM app.orders WHERE tenant_id = 'acme' AND note = 'insert {number}'");
            match verdicts.give(&mut Recent::default(), &text, Mode::Simple, &principal, &NoNames) {
                Given::Fresh(_) => assert_eq!(number, 0),
                Given::Kept(kept) => {
                    let made = kept.made(|kept| format!("{number} {}", kept.skeleton()));
                    assert_eq!(made, "1 SELECT id FROM app.orders WHERE tenant_id = \u{1} AND note = \u{1}");
                }
            }
        }
    });
}

#[test]
fn a_cache_without_room_keeps_nothing() {
    deep(|| {
        let (policy, catalog) = lab();
        let verdicts = Verdicts::new(policy, catalog, 0);
        let principal = Principal::parse("ops").unwrap();
        for _ in 0..3 {
            verdicts.judge("SELECT 1", Mode::Simple, &principal, &NoNames);
        }
        let stats = verdicts.stats();
        assert_eq!((stats.hits, stats.misses, stats.shapes), (0, 3, 0), "{stats:?}");
    });
}

/// A text with a NUL is refused, although one of its shape without it is not.
#[test]
fn a_nul_finds_nothing() {
    deep(|| {
        let (policy, catalog) = lab();
        let verdicts = Verdicts::new(policy, catalog, 1 << 20);
        let principal = Principal::parse("ops").unwrap();
        for (text, allowed) in [("SELECT 'a'", true), ("SELECT 'a\0'", false), ("SELECT 'b'", true)] {
            let judgement = verdicts.judge(text, Mode::Simple, &principal, &NoNames);
            assert_eq!(judgement.denial().is_none(), allowed, "{text:?}");
        }
    });
}

/// However many shapes come, and whatever they are, the bound holds.
#[test]
fn it_is_bounded_in_bytes() {
    deep(|| {
        let (policy, catalog) = lab();
        let verdicts = Verdicts::new(policy, catalog, 256 << 10);
        let principal = Principal::parse("app:acme").unwrap();
        for number in 0..3_000 {
            let text = format!(
                "SELECT id AS a{number} FROM app.orders WHERE tenant_id = 'acme' ORDER BY {}",
                number % 2 + 1
            );
            verdicts.judge(&text, Mode::Simple, &principal, &NoNames);
        }
        let stats = verdicts.stats();
        assert!(stats.bytes <= 256 << 10 && stats.shapes > 50, "{stats:?}");
    });
}
