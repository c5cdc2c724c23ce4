//! Fewer connections than clients: who waits, in which order, for how long, and who leaves the queue.

use std::time::Duration;

use pgmoat_tests::front::{cancel_request, q};
use pgmoat_tests::{Front, Proxied, Raw, Stack};

use crate::patience::eventually;

#[test]
fn who_waits_too_long_is_told_so_and_the_others_go_on() {
    let proxied = proxied("size: 1, wait_timeout_ms: 300");
    let mut holder = Raw::connect(&proxied.login("acme_app")).unwrap();
    holder.send(&[q("BEGIN"), q(ONE)]).unwrap();
    holder.expect("C Z(T) T D C Z(T)").unwrap();
    let mut waiter = Raw::connect(&proxied.login("acme_app")).unwrap();
    let heard = waiter.query(ONE).unwrap();
    assert_eq!(heard.codes(), ["53300"], "{heard}");
    // A refusal needs no connection.
    let mut refused = Raw::connect(&proxied.login("acme_app")).unwrap();
    refused.send(&[q("SELECT id FROM app.orders")]).unwrap();
    refused.expect("E(42501) Z(I)").unwrap();
    holder.send(&[q(ONE), q("COMMIT")]).unwrap();
    holder.expect("T D C Z(T) C Z(I)").unwrap();
    leave(holder);
    eventually("a connection is free", || {
        Raw::connect(&proxied.login("acme_app")).is_ok_and(|mut raw| {
            let said = raw.query(ONE).unwrap();
            leave(raw);
            said.codes().is_empty()
        })
    });
}

#[test]
fn first_come_first_served() {
    let proxied = proxied("size: 1, wait_timeout_ms: 20000");
    let mut queue: Vec<Raw> = (0..5)
        .map(|_| {
            let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
            raw.send(&[q(ONE)]).unwrap();
            // Long enough for the proxy to have read it; if it were not, the order would be another and the test fail.
            std::thread::sleep(Duration::from_millis(150));
            raw
        })
        .collect();
    while !queue.is_empty() {
        // Were a later one served first, this one would wait for it, and that one never leaves.
        let mut first = queue.remove(0);
        first.expect("T D C Z(I)").unwrap();
        leave(first);
    }
}

#[test]
fn who_has_left_is_not_waited_for() {
    let proxied = proxied("size: 1, wait_timeout_ms: 20000");
    let mut holder = Raw::connect(&proxied.login("acme_app")).unwrap();
    holder.send(&[q(ONE)]).unwrap();
    holder.expect("T D C Z(I)").unwrap();
    let mut gone = Raw::connect(&proxied.login("acme_app")).unwrap();
    gone.send(&[q(NOTE)]).unwrap();
    std::thread::sleep(Duration::from_millis(150));
    let mut waiter = Raw::connect(&proxied.login("acme_app")).unwrap();
    waiter.send(&[q(ONE)]).unwrap();
    std::thread::sleep(Duration::from_millis(150));
    drop(gone);
    std::thread::sleep(Duration::from_millis(150));
    leave(holder);
    waiter.expect("T D C Z(I)").unwrap();
    let notes = "SELECT count(*) FROM app.notes WHERE body = 'queued'";
    let count = Stack::get().cluster().psql(&proxied.database, notes).unwrap();
    assert_eq!(count.trim(), "0", "nobody was there to ask for it any more");
}

#[test]
fn who_waits_can_cancel() {
    let proxied = proxied("size: 1, wait_timeout_ms: 20000");
    let mut holder = Raw::connect(&proxied.login("acme_app")).unwrap();
    holder.send(&[q(ONE)]).unwrap();
    holder.expect("T D C Z(I)").unwrap();
    let mut waiter = Raw::connect(&proxied.login("acme_app")).unwrap();
    waiter.send(&[q(NOTE)]).unwrap();
    std::thread::sleep(Duration::from_millis(150));
    let mut cancel = Raw::open(proxied.proxy.port()).unwrap();
    cancel.send(&[cancel_request(&waiter.cancel_key())]).unwrap();
    cancel.expect("closed").unwrap();
    waiter.expect("E(57014) Z(I)").unwrap();
    leave(holder);
    waiter.send(&[q(ONE)]).unwrap();
    waiter.expect("T D C Z(I)").unwrap();
}

fn proxied(pool: &str) -> Proxied {
    let pool = format!("mode: session, {pool}");
    Stack::get().proxy_with(|config| config.databases[0].pool = pool).unwrap()
}

/// Ends a session in good order, so that its connection can be used again.
pub(crate) fn leave(mut raw: Raw) {
    raw.send(&[Front::Terminate]).unwrap();
    raw.expect("closed").unwrap();
}

const ONE: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
const NOTE: &str = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'queued')";
