//! Fewer connections than clients: who waits, in which order, for how long, and who leaves the queue.

use pgmoat_tests::front::{cancel_request, q};
use pgmoat_tests::{Front, Proxied, Raw, Stack};

use crate::log_file::of_kind;
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

/// Known fault H10.
#[test]
fn first_come_first_served() {
    let proxied = proxied("size: 1, wait_timeout_ms: 20000");
    let mut holder = Raw::connect(&proxied.login("acme_app")).unwrap();
    holder.send(&[q(ONE)]).unwrap();
    holder.expect("T D C Z(I)").unwrap();
    let before = waits(&proxied);
    let mut queue: Vec<Raw> = (1..5)
        .map(|number| {
            let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
            raw.send(&[q(ONE)]).unwrap();
            until_waiting(&proxied, before + number);
            raw
        })
        .collect();
    leave(holder);
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
    let before = waits(&proxied);
    gone.send(&[q(NOTE)]).unwrap();
    until_waiting(&proxied, before + 1);
    let mut waiter = Raw::connect(&proxied.login("acme_app")).unwrap();
    waiter.send(&[q(ONE)]).unwrap();
    until_waiting(&proxied, before + 2);
    drop(gone);
    eventually("it is seen to have left", || !of_kind(&proxied.proxy.audit_path(), "logout").is_empty());
    leave(holder);
    waiter.expect("T D C Z(I)").unwrap();
    let notes = "SELECT count(*) FROM app.notes WHERE body = 'queued'";
    let count = Stack::get().cluster().psql(&proxied.database, notes).unwrap();
    assert_eq!(count.trim(), "0", "nobody was there to ask for it any more");
}

/// Known fault E3: what is queued can be cancelled.
#[test]
fn who_waits_can_cancel() {
    let proxied = proxied("size: 1, wait_timeout_ms: 20000");
    let mut holder = Raw::connect(&proxied.login("acme_app")).unwrap();
    holder.send(&[q(ONE)]).unwrap();
    holder.expect("T D C Z(I)").unwrap();
    let mut waiter = Raw::connect(&proxied.login("acme_app")).unwrap();
    let before = waits(&proxied);
    waiter.send(&[q(NOTE)]).unwrap();
    until_waiting(&proxied, before + 1);
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
    Stack::get()
        .proxy_with(|config| {
            config.databases[0].pool = pool;
            // It says then who waits.
            config.env.push(("PGMOAT_LOG".into(), "info,pgmoat=debug".into()));
        })
        .unwrap()
}

/// How many have had to wait for a connection, a new one included.
fn waits(proxied: &Proxied) -> usize {
    proxied.proxy.log().matches("waits for an upstream connection").count()
}

/// Returns once so many have had to wait.
fn until_waiting(proxied: &Proxied, count: usize) {
    eventually("it waits", || waits(proxied) >= count);
}

/// Ends a session in good order, so that its connection can be used again.
pub(crate) fn leave(mut raw: Raw) {
    raw.send(&[Front::Terminate]).unwrap();
    raw.expect("closed").unwrap();
}

const ONE: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
const NOTE: &str = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'queued')";
