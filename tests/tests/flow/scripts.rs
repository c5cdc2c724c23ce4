//! Texts of several statements, of none, and those that let names go.

use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Front, Raw, Stack};

/// Parser and server agree on how many statements there are; else the session would end.
#[test]
fn empty_statements_are_counted_as_the_server_counts_them() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    for (text, answer) in [
        ("", "I Z(I)"),
        (";", "I Z(I)"),
        (" ; ;; -- nothing\n;", "I Z(I)"),
        ("/* a */ -- b", "I Z(I)"),
        ("SELECT 1;", "T D C Z(I)"),
        (";SELECT 1", "T D C Z(I)"),
        ("SELECT 1;;SELECT 2;;", "T D C T D C Z(I)"),
        ("SELECT 1; -- one\n; SELECT ';'; /* ; */", "T D C T D C Z(I)"),
        ("BEGIN;; SELECT 1; COMMIT;", "C T D C C Z(I)"),
        ("SELECT 1; SELECT 1/0; SELECT 2", "T D C E(22012) Z(I)"),
    ] {
        raw.send(&[q(text)]).unwrap();
        assert!(raw.expect(answer).is_ok(), "{text:?} is not answered {answer}");
    }
    raw.send(&[p("", " -- nothing"), b("", "", &[]), e("", 0), s()]).unwrap();
    raw.expect("1 2 I Z(I)").unwrap();
}

#[test]
fn a_deallocated_name_is_gone_and_its_case_is_sqls() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let used = |name: &str| [b("", name, &[]), e("", 0), s()];
    for (name, deallocate) in [
        ("pp", "DEALLOCATE pp"),
        ("pp", "DEALLOCATE PREPARE PP"),
        ("Pp", "DEALLOCATE \"Pp\""),
        ("pp", "SELECT 1; DEALLOCATE pp; SELECT 2"),
        ("pp", "DEALLOCATE ALL"),
        ("pp", "DISCARD ALL"),
    ] {
        raw.send(&[p(name, "SELECT 1"), s()]).unwrap();
        raw.expect("1 Z(I)").unwrap();
        raw.send(&used(name)).unwrap();
        raw.expect("2 D C Z(I)").unwrap();
        let heard = raw.query(deallocate).unwrap();
        assert!(heard.codes().is_empty(), "{deallocate}: {heard}");
        raw.send(&used(name)).unwrap();
        raw.expect("E(26000) Z(I)").unwrap();
    }
    raw.send(&[p("Pp", "SELECT 1"), s()]).unwrap();
    raw.expect("1 Z(I)").unwrap();
    let heard = raw.query("DEALLOCATE Pp").unwrap();
    assert_eq!(heard.codes(), ["26000"], "it folds to pp: {heard}");
    raw.send(&used("Pp")).unwrap();
    raw.expect("2 D C Z(I)").unwrap();
}

/// What was asked before the good-bye is answered; what waits for a Sync that never comes holds nobody up.
#[test]
fn a_good_bye_is_taken_in_order() {
    let one =
        |config: &mut pgmoat_lab::ProxyConfig| config.databases[0].pool = "mode: session, size: 1".into();
    let proxied = Stack::get().proxy_with(one).unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q("SELECT 1"), Front::Terminate]).unwrap();
    raw.expect("T D C Z(I) closed").unwrap();
    for unfinished in [vec![p("", "SELECT 1"), b("", "", &[]), e("", 0)], vec![q("BEGIN"), p("", "SELECT 1")]]
    {
        let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
        raw.send(&unfinished).unwrap();
        raw.send(&[Front::Terminate]).unwrap();
        let mut next = Raw::connect(&proxied.login("acme_app")).unwrap();
        next.send(&[q("SELECT 1")]).unwrap();
        // Had the proxy waited for that Sync, the only connection would not be free in time (53300).
        next.expect("T D C Z(I)").unwrap();
    }
}
