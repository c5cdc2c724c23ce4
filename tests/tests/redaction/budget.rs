//! The error budget: so many errors over tenants' rows a minute, for all sessions of a principal together.

use pgmoat_lab::POLICY_YAML;
use pgmoat_tests::front::{b, e, p, s};
use pgmoat_tests::{Proxied, Raw, Stack};

use crate::{error, run};

const COUNTED: &str = "SELECT 1 / (id - id) FROM app.orders WHERE tenant_id = 'acme'";
const HARMLESS: &str = "SELECT count(*) FROM app.orders WHERE tenant_id = 'acme'";

fn proxy(budget: u32) -> Proxied {
    let place = "tenancy:\n";
    let policy = POLICY_YAML.replace(place, &format!("{place}  error_budget: {budget}\n"));
    assert_ne!(policy, POLICY_YAML);
    Stack::get().proxy_with(|config| config.policy = policy).unwrap()
}

fn acme(proxied: &Proxied) -> Raw {
    Raw::connect(&proxied.login("acme_app")).unwrap()
}

#[test]
fn what_is_over_the_budget_is_refused_in_every_session_of_the_principal_and_in_no_other() {
    let proxied = proxy(5);
    let (mut one, mut two) = (acme(&proxied), acme(&proxied));
    for _ in 0..2 {
        assert_eq!(one.query(COUNTED).unwrap().codes(), ["22012"]);
        assert_eq!(two.ask(&[p("", COUNTED), b("", "", &[]), e("", 0), s()]).unwrap().codes(), ["22012"]);
    }
    assert_eq!(one.query(HARMLESS).unwrap().codes(), Vec::<String>::new());
    assert_eq!(one.query(COUNTED).unwrap().codes(), ["22012"]);
    for raw in [&mut one, &mut two, &mut acme(&proxied)] {
        let heard = raw.query(HARMLESS).unwrap();
        assert_eq!(heard.to_string(), "E(53400) Z(I)");
        let refused = error(&heard, HARMLESS);
        assert!(refused.field(b'D').unwrap().starts_with("code: budget_errors, policy: "));
        assert!(refused.field(b'M').unwrap().contains("it is renewed at 20"), "{:?}", refused.field(b'M'));
        let parse = raw.ask(&[p("", HARMLESS), b("", "", &[]), e("", 0), s()]).unwrap();
        assert_eq!(parse.to_string(), "E(53400) Z(I)");
        // What is not about tenants' rows goes on.
        assert_eq!(raw.query("SELECT 1 + 1").unwrap().codes(), Vec::<String>::new());
        assert_eq!(raw.query("SELECT count(*) FROM app.plans").unwrap().codes(), Vec::<String>::new());
    }
    let mut globex = Raw::connect(&proxied.login("globex_app")).unwrap();
    let others = "SELECT count(*) FROM app.orders WHERE tenant_id = 'globex'";
    assert_eq!(globex.query(others).unwrap().codes(), Vec::<String>::new());
    let log = proxied.proxy.log();
    assert!(log.contains("the error budget is spent"), "{log}");
}

#[test]
fn a_portal_that_was_bound_before_is_refused_too() {
    let proxied = proxy(1);
    let (mut one, mut two) = (acme(&proxied), acme(&proxied));
    let with_value = "SELECT id FROM app.orders WHERE tenant_id = $1";
    assert_eq!(one.query("BEGIN").unwrap().to_string(), "C Z(T)");
    let heard = one.ask(&[p("s", with_value), b("c", "s", &["acme"]), e("c", 1), s()]).unwrap();
    assert_eq!(heard.to_string(), "1 2 D s Z(T)");
    assert_eq!(two.query(COUNTED).unwrap().codes(), ["22012"]);
    assert_eq!(one.ask(&[e("c", 1), s()]).unwrap().to_string(), "E(53400) Z(E)");
    assert_eq!(one.query("ROLLBACK").unwrap().to_string(), "C Z(I)");
    assert_eq!(one.ask(&[b("", "s", &["acme"]), s()]).unwrap().to_string(), "E(53400) Z(I)");
}

#[test]
fn a_cursor_that_was_opened_before_is_refused_too() {
    let proxied = proxy(1);
    let (mut one, mut two) = (acme(&proxied), acme(&proxied));
    let declare = "BEGIN; DECLARE c CURSOR FOR SELECT id FROM app.orders WHERE tenant_id = 'acme'";
    assert_eq!(one.query(declare).unwrap().codes(), Vec::<String>::new());
    assert_eq!(one.query("FETCH 1 FROM c").unwrap().codes(), Vec::<String>::new());
    assert_eq!(two.query(COUNTED).unwrap().codes(), ["22012"]);
    assert_eq!(one.query("FETCH 1 FROM c").unwrap().to_string(), "E(53400) Z(E)");
}

#[test]
fn a_cursors_errors_count() {
    let proxied = proxy(1);
    let mut raw = acme(&proxied);
    run(&mut raw, &format!("BEGIN; DECLARE c CURSOR FOR {COUNTED}"));
    assert_eq!(raw.query("FETCH 1 FROM c").unwrap().codes(), ["22012"]);
    run(&mut raw, "ROLLBACK");
    assert_eq!(raw.query(HARMLESS).unwrap().codes(), ["53400"]);
}

#[test]
fn errors_that_say_nothing_about_other_rows_are_not_counted() {
    let proxied = proxy(1);
    let mut raw = acme(&proxied);
    for (sqlstate, sql) in [
        ("23505", "INSERT INTO app.products (tenant_id, sku, name, price) VALUES ('acme', 'SKU-3', 'x', 1)"),
        ("23503", "INSERT INTO app.orders (tenant_id, customer_id) VALUES ('acme', 424242)"),
        ("23502", "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', NULL)"),
        ("42803", "SELECT note, count(*) FROM app.orders WHERE tenant_id = 'acme'"),
        ("22012", "SELECT 1 / 0"),
        ("42501", "SELECT count(*) FROM app.orders"),
        ("42703", "SELECT nosuch FROM app.orders WHERE tenant_id = 'acme'"),
    ] {
        assert_eq!(raw.query(sql).unwrap().codes(), [sqlstate], "{sql}");
    }
    // A Parse looks at no row.
    let parse =
        raw.ask(&[p("", "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 'x'"), s()]).unwrap();
    assert_eq!(parse.codes(), ["22P02"]);
    assert_eq!(raw.query(HARMLESS).unwrap().codes(), Vec::<String>::new());
    // An error in a transaction counts once, and what follows it in there does not.
    assert_eq!(raw.query("BEGIN").unwrap().to_string(), "C Z(T)");
    assert_eq!(raw.query("SELECT 1 / 0").unwrap().codes(), ["22012"]);
    assert_eq!(raw.query(HARMLESS).unwrap().codes(), ["25P02"]);
    assert_eq!(raw.query("ROLLBACK").unwrap().codes(), Vec::<String>::new());
    assert_eq!(raw.query(HARMLESS).unwrap().codes(), Vec::<String>::new());
    assert_eq!(raw.query(COUNTED).unwrap().codes(), ["22012"]);
    assert_eq!(raw.query(HARMLESS).unwrap().codes(), ["53400"]);
}

#[test]
fn a_pipeline_gets_no_more_errors_than_the_budget_has() {
    let proxied = proxy(5);
    let mut raw = acme(&proxied);
    let all: Vec<_> = (0..200).map(|_| pgmoat_tests::front::q(COUNTED)).collect();
    raw.send(&all).unwrap();
    let codes = raw.read(200).unwrap().codes();
    assert_eq!(codes.len(), 200);
    let let_through = codes.iter().filter(|code| *code == "22012").count();
    assert_eq!(let_through, 5, "the rest: {:?}", codes.last());
}
