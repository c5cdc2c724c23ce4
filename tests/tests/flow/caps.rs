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
    raw.send(&[q("SELECT n FROM generate_series(1, 50000000) n")]).unwrap();
    raw.expect("T D D D E(53400) Z(I)").unwrap();
    for _ in 0..20 {
        raw.send(&[q("SELECT 1")]).unwrap();
        raw.expect("T D C Z(I)").unwrap();
    }
}
