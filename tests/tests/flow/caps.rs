//! A row cap that errs fails the transaction, although the server has ended the statement well.

use pgmoat_lab::POLICY_YAML;
use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Proxied, Raw, Stack};

fn capped() -> Proxied {
    let cap = "    functions: { preset: standard, allow: [\"app.net_price\"] }\n    limits: { rows: 3 }\n";
    let policy =
        POLICY_YAML.replacen("    functions: { preset: standard, allow: [\"app.net_price\"] }\n", cap, 1);
    assert_ne!(policy, POLICY_YAML);
    Stack::get().proxy_with(|config| config.policy = policy).unwrap()
}

const FIVE: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' LIMIT 5";
const NOTE: &str = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'flow')";

#[test]
fn a_small_surplus_fails_its_transaction() {
    let proxied = capped();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q(FIVE)]).unwrap();
    raw.expect("T D D D E(53400) Z(I)").unwrap();
    raw.send(&[q("BEGIN"), q(NOTE)]).unwrap();
    raw.expect("C Z(T) C Z(T)").unwrap();
    raw.send(&[q(FIVE)]).unwrap();
    raw.expect("T D D D E(53400) Z(E)").unwrap();
    raw.send(&[q("SELECT 1")]).unwrap();
    raw.expect("E(25P02) Z(E)").unwrap();
    raw.send(&[q("COMMIT")]).unwrap();
    assert_eq!(raw.expect("C Z(I)").unwrap().commands(), ["ROLLBACK"]);
    let left = "SELECT count(*) FROM app.notes WHERE body = 'flow'";
    assert_eq!(Stack::get().cluster().psql(&proxied.database, left).unwrap().trim(), "0");
    raw.send(&[p("", FIVE), b("", "", &[]), e("", 0), s()]).unwrap();
    raw.expect("1 2 D D D E(53400) Z(I)").unwrap();
    raw.send(&[q("SELECT 1")]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
}

#[test]
fn a_large_surplus_is_cancelled() {
    let proxied = capped();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q("SELECT n FROM generate_series(1, 5000000) n")]).unwrap();
    raw.expect("T D D D E(53400) Z(I)").unwrap();
    for _ in 0..20 {
        raw.send(&[q("SELECT 1")]).unwrap();
        raw.expect("T D C Z(I)").unwrap();
    }
}

const COUNT: &str = "SELECT count(*) FROM app.notes WHERE body = 'flow'";

/// An error is never told of work that stays: what came before it in its batch is rolled back, and what follows waits.
#[test]
fn an_error_takes_its_batch_along() {
    let proxied = capped();
    let count = || Stack::get().cluster().psql(&proxied.database, COUNT).unwrap().trim().to_owned();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let run = |text: &str| [p("", text), b("", "", &[]), e("", 0)];
    let batch: Vec<_> = run(NOTE).into_iter().chain(run(FIVE)).chain(run(NOTE)).chain([s()]).collect();
    raw.send(&batch).unwrap();
    raw.expect("1 2 C 1 2 D D D E(53400) Z(I)").unwrap();
    assert_eq!(count(), "0");
    raw.send(&[q("BEGIN"), q(NOTE), q(FIVE), q(NOTE), q("COMMIT")]).unwrap();
    raw.expect("C Z(T) C Z(T) T D D D E(53400) Z(E) E(25P02) Z(E) C Z(I)").unwrap();
    assert_eq!(count(), "0");
    // What cannot be undone is not told as failed: its rows are cut.
    raw.send(&[q(&format!("{NOTE}; {FIVE}; {NOTE}"))]).unwrap();
    raw.expect("C T D D D N C C Z(I)").unwrap();
    assert_eq!(count(), "2");
}
