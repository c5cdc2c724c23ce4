//! A cancel reaches the client's own statement or none: however late it is, whoever waits, however many there are.

use std::thread;

use pgmoat_tests::front::{cancel_request, q};
use pgmoat_tests::{Front, Proxied, Raw, Stack};

use crate::held_cancels::HeldCancels;
use crate::locked::{Locked, READ};
use crate::log_file::of_kind;
use crate::patience::eventually;
use crate::pool_queue::leave;

/// Known faults E1, E4: a cancel for A that comes when B has A's connection, and one that uses the connection while A
/// leaves.
#[test]
fn a_late_cancel_does_not_reach_the_next_client() {
    let (proxied, way) = one_connection("");
    let locked = Locked::notes(&proxied.database);
    let mut first = Raw::connect(&proxied.login("acme_app")).unwrap();
    first.send(&[q(READ)]).unwrap();
    locked.until_waiting(1);
    let canceller = cancel_in_background(&proxied, &first);
    way.until_seen(1);
    locked.release();
    first.expect("T D C Z(I)").unwrap();
    leave(first);
    // The only place in the pool, and a statement that the late cancel would hit.
    let locked = Locked::notes(&proxied.database);
    let mut second = Raw::connect(&proxied.login("globex_app")).unwrap();
    second.send(&[q(&READ.replace("acme", "globex"))]).unwrap();
    locked.until_waiting(1);
    way.let_go();
    canceller.join().unwrap();
    // It has been taken by the server: what it was to hit is hit by now.
    sentinel(&proxied);
    assert_eq!(locked.waiting(), 1, "the other client's statement goes on");
    locked.release();
    let heard = second.read(1).unwrap();
    assert!(heard.codes().is_empty(), "{heard}");
}

/// Known fault E1, in one session: what the client sends next is not sent on while a cancel is under way.
#[test]
fn a_late_cancel_does_not_reach_the_clients_next_statement() {
    let (proxied, way) = one_connection("");
    let locked = Locked::notes(&proxied.database);
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q(READ)]).unwrap();
    locked.until_waiting(1);
    let canceller = cancel_in_background(&proxied, &raw);
    way.until_seen(1);
    locked.release();
    raw.expect("T D C Z(I)").unwrap();
    let locked = Locked::notes(&proxied.database);
    raw.send(&[q(READ)]).unwrap();
    way.let_go();
    canceller.join().unwrap();
    locked.until_waiting(1);
    locked.release();
    raw.expect("T D C Z(I)").unwrap();
}

/// Known fault E9: settings that the proxy gives upstream by itself are not cancelled, since they would end the
/// session.
#[test]
fn a_late_cancel_does_not_reach_the_proxys_own_statement() {
    let (proxied, way) = one_connection("");
    let locked = Locked::notes(&proxied.database);
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    // What follows the reading makes the proxy say the start-up settings again.
    raw.send(&[q(READ), q("RESET ALL"), q("SELECT 1")]).unwrap();
    locked.until_waiting(1);
    let canceller = cancel_in_background(&proxied, &raw);
    way.until_seen(1);
    locked.release();
    raw.expect("T D C Z(I)").unwrap();
    way.let_go();
    canceller.join().unwrap();
    let heard = raw.read(2).unwrap();
    // Both were sent before the cancel came, so it may hit one of them.
    assert!(!heard.closed && heard.ready() == 2, "{heard}");
    assert!(heard.codes().iter().all(|code| code == "57014"), "{heard}");
    raw.send(&[q("SHOW application_name")]).unwrap();
    let shown = raw.expect("T D C Z(I)").unwrap();
    assert_eq!(shown.rows()[0][0].as_deref(), Some("pgmoat/acme_app"), "the settings are given");
}

/// Known fault E5, the storm: one connection to the server at a time for each session, whatever comes.
#[test]
fn a_storm_of_cancels_is_one() {
    let (proxied, way) = one_connection("");
    let locked = Locked::notes(&proxied.database);
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q(READ)]).unwrap();
    locked.until_waiting(1);
    let first = cancel_in_background(&proxied, &raw);
    way.until_seen(1);
    for _ in 0..20 {
        cancel(&proxied, &raw.cancel_key());
    }
    assert_eq!(way.seen(), 1);
    way.let_go();
    first.join().unwrap();
    raw.expect("E(57014) Z(I)").unwrap();
    assert_eq!(locked.waiting(), 0);
}

/// Known faults E5, the limits, and E12: guesses at a key are as few.
#[test]
fn more_cancels_than_may_be_are_dropped_without_a_line() {
    let (proxied, way) = one_connection("limits: { cancels_per_second_per_address: 3 }\n");
    way.let_go();
    let locked = Locked::notes(&proxied.database);
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q(READ)]).unwrap();
    locked.until_waiting(1);
    let key = raw.cancel_key();
    let wrong: Vec<u8> = key.iter().map(|byte| byte ^ 0x55).collect();
    eventually("some are dropped", || {
        (0..30).for_each(|_| cancel(&proxied, &wrong));
        proxied.proxy.log().contains("requests to cancel were dropped")
    });
    assert_eq!(locked.waiting(), 1);
    let lines = of_kind(&proxied.proxy.audit_path(), "cancel");
    assert!(lines.iter().all(|line| line["outcome"] == "unknown_key"), "{lines:?}");
    // A right one is as good as any once there is room.
    eventually("the statement is cancelled", || {
        cancel(&proxied, &key);
        locked.waiting() == 0
    });
    raw.expect("E(57014) Z(I)").unwrap();
}

/// Known faults E8, E10: a cancel of a client that does nothing, or only has a transaction open, is nothing; the role's
/// own timeout comes to the same statement, and it ends once.
#[test]
fn a_cancel_of_nothing_does_nothing() {
    let (proxied, way) = one_connection("limits: { statement_timeout_ms: 600 }\n");
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    cancel(&proxied, &raw.cancel_key());
    raw.send(&[q("BEGIN")]).unwrap();
    raw.expect("C Z(T)").unwrap();
    cancel(&proxied, &raw.cancel_key());
    raw.send(&[q("SELECT 1"), q("COMMIT")]).unwrap();
    raw.expect("T D C Z(T) C Z(I)").unwrap();
    assert_eq!(way.seen(), 0, "nothing was asked of the server");
    way.let_go();
    let locked = Locked::notes(&proxied.database);
    raw.send(&[q(READ)]).unwrap();
    locked.until_waiting(1);
    cancel(&proxied, &raw.cancel_key());
    raw.expect("E(57014) Z(I)").unwrap();
    locked.release();
    for _ in 0..20 {
        raw.send(&[q(READ)]).unwrap();
        raw.expect("T D C Z(I)").unwrap();
    }
}

/// A proxy with one connection, by a way that holds cancels.
fn one_connection(extra: &str) -> (Proxied, HeldCancels) {
    let way = HeldCancels::to(Stack::get().cluster().port());
    let proxied = Stack::get()
        .proxy_with(|config| {
            config.databases[0].port = way.port();
            config.databases[0].pool = "mode: session, size: 1, wait_timeout_ms: 20000".into();
            config.extra = extra.into();
        })
        .unwrap();
    (proxied, way)
}

/// Returns when the proxy has done what it does about it.
fn cancel(proxied: &Proxied, key: &[u8]) {
    let mut raw = Raw::open(proxied.proxy.port()).unwrap();
    raw.send(&[cancel_request(key)]).unwrap();
    raw.expect("closed").unwrap();
}

fn cancel_in_background(proxied: &Proxied, raw: &Raw) -> thread::JoinHandle<()> {
    let mut asking = Raw::open(proxied.proxy.port()).unwrap();
    let key: Front = cancel_request(&raw.cancel_key());
    asking.send(&[key]).unwrap();
    thread::spawn(move || drop(asking.expect("closed")))
}

/// A whole exchange with the server, after which what was sent to it before has been dealt with.
fn sentinel(proxied: &Proxied) {
    for _ in 0..3 {
        Stack::get().cluster().psql(&proxied.database, "SELECT 1").unwrap();
    }
}
