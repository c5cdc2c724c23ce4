//! A role's `timeout_ms`: the proxy's own timer and cancel (contracts 7).

use pgmoat_lab::POLICY_YAML;
use pgmoat_tests::front::{b, e, framed, p, q, s};
use pgmoat_tests::{Proxied, Raw, Stack};

use crate::locked::{Locked, READ};
use crate::log_file::of_kind;

#[test]
fn what_runs_longer_than_the_role_may_is_cancelled() {
    let proxied = hurried();
    let mut raw = Raw::connect(&proxied.login("acme_analyst")).unwrap();
    let locked = Locked::notes(&proxied.database);
    raw.send(&[q(READ)]).unwrap();
    raw.expect("E(57014) Z(I)").unwrap();
    raw.send(&[p("", READ), b("", "", &[]), e("", 0), s()]).unwrap();
    // The lock is asked for when the text is analysed.
    raw.expect("E(57014) Z(I)").unwrap();
    raw.send(&[q("BEGIN"), q(READ)]).unwrap();
    raw.expect("C Z(T) E(57014) Z(E)").unwrap();
    raw.send(&[q("ROLLBACK")]).unwrap();
    raw.expect("C Z(I)").unwrap();
    assert_eq!(locked.waiting(), 0, "nothing is left running");
    locked.release();
    // A cancel that comes late would hit one of these.
    for _ in 0..20 {
        raw.send(&[q(READ)]).unwrap();
        raw.expect("T D C Z(I)").unwrap();
    }
    let ended = of_kind(&proxied.proxy.audit_path(), "completion");
    assert_eq!(ended.iter().filter(|line| line["sqlstate"] == "57014").count(), 3, "{ended:?}");
}

#[test]
fn a_good_bye_buys_no_time() {
    let proxied = hurried();
    let locked = Locked::notes(&proxied.database);
    for messages in [vec![q(READ)], vec![p("", READ), b("", "", &[]), e("", 0)]] {
        let mut raw = Raw::connect(&proxied.login("acme_analyst")).unwrap();
        raw.send(&[q("SELECT 1")]).unwrap();
        raw.expect("T D C Z(I)").unwrap();
        raw.send(&[messages, vec![framed(b'X', b"")]].concat()).unwrap();
        let heard = raw.read(1).unwrap();
        assert_eq!(heard.codes(), ["57014"], "{heard}");
        assert_eq!(locked.waiting(), 0, "nothing is left running");
    }
}

/// Known fault H12: the time between statements is the client's own.
#[test]
fn an_idle_client_is_in_no_hurry() {
    let proxied = hurried();
    let mut raw = Raw::connect(&proxied.login("acme_analyst")).unwrap();
    raw.send(&[q("BEGIN"), q(READ)]).unwrap();
    raw.expect("C Z(T) T D C Z(T)").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    raw.send(&[q(READ), q("COMMIT")]).unwrap();
    raw.expect("T D C Z(T) C Z(I)").unwrap();
}

#[test]
fn other_roles_have_no_such_limit() {
    let proxied = hurried();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let locked = Locked::notes(&proxied.database);
    raw.send(&[q(READ)]).unwrap();
    locked.until_waiting(1);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert_eq!(locked.waiting(), 1);
    locked.release();
    raw.expect("T D C Z(I)").unwrap();
}

/// The analyst has a second for each statement.
fn hurried() -> Proxied {
    let lab = "timeout_ms: 5000";
    assert_eq!(POLICY_YAML.matches(lab).count(), 1);
    Stack::get().proxy_with(|config| config.policy = POLICY_YAML.replace(lab, "timeout_ms: 1000")).unwrap()
}
