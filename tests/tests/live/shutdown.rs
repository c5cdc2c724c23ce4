//! SIGTERM: nobody new, idle clients are told, busy ones finish; the audit log is closed in good order.

use std::net::{Ipv4Addr, TcpStream};

use pgmoat_tests::front::q;
use pgmoat_tests::{Proxied, Raw, Stack};

use crate::locked::{Locked, READ};
use crate::log_file::{assert_whole, lines, of_kind};
use crate::patience::{PATIENCE, eventually};

#[test]
fn idle_clients_are_told_and_busy_ones_finish() {
    let mut proxied = Stack::get().proxy().unwrap();
    let locked = Locked::notes(&proxied.database);
    let mut idle = Raw::connect(&proxied.login("acme_app")).unwrap();
    let mut rested = Raw::connect(&proxied.login("acme_app")).unwrap();
    rested.send(&[q(ONE)]).unwrap();
    rested.expect("T D C Z(I)").unwrap();
    let mut open = Raw::connect(&proxied.login("acme_app")).unwrap();
    open.send(&[q("BEGIN"), q(ONE)]).unwrap();
    open.expect("C Z(T) T D C Z(T)").unwrap();
    let mut busy = Raw::connect(&proxied.login("acme_app")).unwrap();
    busy.send(&[q(READ)]).unwrap();
    locked.until_waiting(1);

    proxied.proxy.terminate().unwrap();
    idle.expect("E(57P01,FATAL) closed").unwrap();
    rested.expect("E(57P01,FATAL) closed").unwrap();
    assert_nobody_listens(&proxied);
    assert_eq!(locked.waiting(), 1, "the busy one goes on");
    open.send(&[q(ONE), q("COMMIT")]).unwrap();
    open.expect("T D C Z(T) C Z(I) E(57P01,FATAL) closed").unwrap();
    locked.release();
    busy.expect("T D C Z(I) E(57P01,FATAL) closed").unwrap();

    let status = proxied.proxy.wait(PATIENCE).expect("it ends once nobody is there");
    assert!(status.success(), "{status}: {}", proxied.proxy.log());
    let log = proxied.proxy.audit_path();
    assert_whole(&log);
    assert_eq!(lines(&log).last().unwrap()["kind"], "close");
    assert_eq!(of_kind(&log, "logout").len(), 4);
    let backends = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'pgmoat_service' AND datname = current_database()";
    eventually("its connections are gone", || {
        Stack::get().cluster().psql(&proxied.database, backends).unwrap().trim() == "0"
    });
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let mut proxied = Stack::get().proxy().unwrap();
    let locked = Locked::notes(&proxied.database);
    let mut busy = Raw::connect(&proxied.login("acme_app")).unwrap();
    busy.send(&[q(READ)]).unwrap();
    locked.until_waiting(1);
    proxied.proxy.terminate().unwrap();
    eventually("it has heard the first", || {
        TcpStream::connect((Ipv4Addr::LOCALHOST, proxied.proxy.port())).is_err()
    });
    assert_eq!(
        proxied.proxy.wait(std::time::Duration::from_millis(300)),
        None,
        "a busy client is waited for"
    );
    proxied.proxy.terminate().unwrap();
    // Well before the deadline of 30 seconds, and with the lock still held.
    let status = proxied.proxy.wait(std::time::Duration::from_secs(15));
    assert!(status.is_some(), "{}", proxied.proxy.log());
    assert_whole(&proxied.proxy.audit_path());
}

#[test]
fn after_the_deadline_what_still_runs_is_cancelled() {
    let deadline =
        |config: &mut pgmoat_lab::ProxyConfig| config.extra = "limits: { drain_timeout_ms: 500 }\n".into();
    let mut proxied = Stack::get().proxy_with(deadline).unwrap();
    let locked = Locked::notes(&proxied.database);
    let mut busy = Raw::connect(&proxied.login("acme_app")).unwrap();
    busy.send(&[q(READ)]).unwrap();
    locked.until_waiting(1);
    proxied.proxy.terminate().unwrap();
    let heard = busy.read(2).unwrap();
    assert!(heard.closed && heard.rows().is_empty(), "{heard}");
    assert!(heard.codes().last().is_some_and(|code| code == "57P01"), "{heard}");
    let status = proxied.proxy.wait(PATIENCE).expect("it ends after the deadline");
    assert!(status.success(), "{status}: {}", proxied.proxy.log());
    assert_whole(&proxied.proxy.audit_path());
    eventually("the statement is cancelled upstream too", || locked.waiting() == 0);
}

fn assert_nobody_listens(proxied: &Proxied) {
    eventually("nobody new is let in", || {
        TcpStream::connect((Ipv4Addr::LOCALHOST, proxied.proxy.port())).is_err()
    });
}

const ONE: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
