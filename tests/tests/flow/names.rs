//! Wire and SQL share one name space: PREPARE, EXECUTE, DEALLOCATE, DECLARE, FETCH, MOVE, CLOSE.

use pgmoat_lab::POLICY_YAML;
use pgmoat_tests::front::{b, c_statement, d_portal, e, p, q, s};
use pgmoat_tests::{Proxied, Raw, Stack, Transcript};

fn session() -> (Proxied, Raw) {
    let proxied = Stack::get().proxy().unwrap();
    let raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    (proxied, raw)
}

/// The error's message, with the client's name.
fn said(heard: &Transcript, message: &str) {
    assert_eq!(heard.error_field(b'M').as_deref(), Some(message), "{heard}");
}

const MINE: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' ORDER BY id LIMIT 5";

#[test]
fn a_name_of_sqls_is_one_of_the_wires_and_the_other_way_round() {
    let (_proxied, mut raw) = session();
    raw.send(&[q("PREPARE pp (int) AS SELECT $1 + 1")]).unwrap();
    raw.expect("C Z(I)").unwrap();
    raw.send(&[b("", "pp", &["41"]), e("", 0), s()]).unwrap();
    raw.expect("2 D C Z(I)").unwrap();
    raw.send(&[p("pp", "SELECT 1"), s()]).unwrap();
    let heard = raw.expect("E(42P05) Z(I)").unwrap();
    said(&heard, "prepared statement \"pp\" already exists");
    raw.send(&[c_statement("pp"), s(), q("EXECUTE pp(1)")]).unwrap();
    raw.expect("3 Z(I) E(26000) Z(I)").unwrap();
    raw.send(&[p("Ww", "SELECT 7"), s()]).unwrap();
    raw.expect("1 Z(I)").unwrap();
    raw.send(&[q("EXECUTE \"Ww\"; EXECUTE \"Ww\"")]).unwrap();
    raw.expect("T D C T D C Z(I)").unwrap();
    raw.send(&[q("PREPARE \"Ww\" AS SELECT 1")]).unwrap();
    let heard = raw.expect("E(42P05) Z(I)").unwrap();
    said(&heard, "prepared statement \"Ww\" already exists");
    raw.send(&[q("EXECUTE ww")]).unwrap();
    raw.expect("E(26000) Z(I)").unwrap();
}

#[test]
fn names_go_along_with_the_text() {
    let (_proxied, mut raw) = session();
    raw.send(&[q("PREPARE a AS SELECT 1; EXECUTE a; DEALLOCATE a; PREPARE a AS SELECT 1, 2; EXECUTE a")])
        .unwrap();
    raw.expect("C T D C C C T D C Z(I)").unwrap();
    // What ran before the error stays: PREPARE is no part of a transaction.
    raw.send(&[q("PREPARE b AS SELECT 3; SELECT 1/0; DEALLOCATE b")]).unwrap();
    raw.expect("C E(22012) Z(I)").unwrap();
    raw.send(&[q("EXECUTE b")]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
    raw.send(&[q("DEALLOCATE ALL"), q("EXECUTE b")]).unwrap();
    raw.expect("C Z(I) E(26000) Z(I)").unwrap();
}

#[test]
fn what_is_prepared_is_judged_when_it_is_bound() {
    let (_proxied, mut raw) = session();
    raw.send(&[q("PREPARE other AS SELECT id FROM app.orders WHERE tenant_id = 'globex'")]).unwrap();
    raw.expect("E(42501) Z(I)").unwrap();
    raw.send(&[q("PREPARE mine (text) AS SELECT id FROM app.orders WHERE tenant_id = $1 LIMIT 1")]).unwrap();
    raw.expect("C Z(I)").unwrap();
    raw.send(&[q("EXECUTE mine('globex')")]).unwrap();
    raw.expect("E(42501) Z(I)").unwrap();
    raw.send(&[b("", "mine", &["globex"]), e("", 0), s()]).unwrap();
    raw.expect("E(42501) Z(I)").unwrap();
    raw.send(&[q("EXECUTE mine('acme')")]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
    raw.send(&[b("", "mine", &["acme"]), e("", 0), s()]).unwrap();
    raw.expect("2 D C Z(I)").unwrap();
}

#[test]
fn cursors_are_portals() {
    let (_proxied, mut raw) = session();
    raw.send(&[q("BEGIN"), q(&format!("DECLARE cc CURSOR FOR {MINE}"))]).unwrap();
    raw.expect("C Z(T) C Z(T)").unwrap();
    raw.send(&[q("FETCH 2 FROM cc"), q("MOVE 1 FROM CC")]).unwrap();
    raw.expect("T D D C Z(T) C Z(T)").unwrap();
    raw.send(&[d_portal("cc"), e("cc", 1), s()]).unwrap();
    raw.expect("T D s Z(T)").unwrap();
    raw.send(&[p("", "FETCH ALL FROM cc"), b("", "", &[]), e("", 0), s()]).unwrap();
    raw.expect("1 2 D C Z(T)").unwrap();
    raw.send(&[q("CLOSE cc; CLOSE cc")]).unwrap();
    let heard = raw.expect("E(34000) Z(E)").unwrap();
    said(&heard, "cursor \"cc\" does not exist");
    raw.send(&[q("ROLLBACK"), q("BEGIN")]).unwrap();
    raw.expect("C Z(I) C Z(T)").unwrap();
    raw.send(&[p("", MINE), b("Pp", "", &[]), s(), q("FETCH 1 FROM \"Pp\"")]).unwrap();
    raw.expect("1 2 Z(T) T D C Z(T)").unwrap();
    raw.send(&[q("DECLARE \"Pp\" CURSOR FOR SELECT 1")]).unwrap();
    let heard = raw.expect("E(42P03) Z(E)").unwrap();
    said(&heard, "cursor \"Pp\" already exists");
}

#[test]
fn a_cursor_goes_with_its_transaction_and_one_with_hold_stays() {
    let (_proxied, mut raw) = session();
    let declare = |name: &str, hold: &str| q(&format!("DECLARE {name} CURSOR {hold} FOR {MINE}"));
    raw.send(&[q("BEGIN"), declare("short", ""), declare("long", "WITH HOLD"), q("COMMIT")]).unwrap();
    raw.expect("C Z(T) C Z(T) C Z(T) C Z(I)").unwrap();
    raw.send(&[q("FETCH 1 FROM short"), q("FETCH 1 FROM long"), q("CLOSE long")]).unwrap();
    raw.expect("E(34000) Z(I) T D C Z(I) C Z(I)").unwrap();
    raw.send(&[declare("long", "WITH HOLD"), q("FETCH 9 FROM long"), q("CLOSE ALL"), q("FETCH 1 FROM long")])
        .unwrap();
    raw.expect("C Z(I) T D D D D D C Z(I) C Z(I) E(34000) Z(I)").unwrap();
    // What a savepoint takes along may be declared again.
    raw.send(&[q("BEGIN"), q("SAVEPOINT s"), declare("again", ""), q("ROLLBACK TO s"), declare("again", "")])
        .unwrap();
    raw.expect("C Z(T) C Z(T) C Z(T) C Z(T) C Z(T)").unwrap();
    raw.send(&[q("FETCH 1 FROM again")]).unwrap();
    raw.expect("T D C Z(T)").unwrap();
}

#[test]
fn a_cursors_rows_count_over_all_fetches() {
    let cap = "    functions: { preset: standard, allow: [\"app.net_price\"] }\n    limits: { rows: { max: 3, over: cut } }\n";
    let policy =
        POLICY_YAML.replacen("    functions: { preset: standard, allow: [\"app.net_price\"] }\n", cap, 1);
    assert_ne!(policy, POLICY_YAML);
    let proxied = Stack::get().proxy_with(|config| config.policy = policy).unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q("BEGIN"), q(&format!("DECLARE cc CURSOR FOR {MINE}"))]).unwrap();
    raw.expect("C Z(T) C Z(T)").unwrap();
    raw.send(&[q("FETCH 2 FROM cc"), q("FETCH 2 FROM cc"), q("FETCH 2 FROM cc")]).unwrap();
    raw.expect("T D D C Z(T) T D N C Z(T) T N C Z(T)").unwrap();
}
