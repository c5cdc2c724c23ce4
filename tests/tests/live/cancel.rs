//! CancelRequest: the right key ends the client's own statement, any other key nothing. Known faults E8, E12.

use pgmoat_tests::front::{cancel_request, q};
use pgmoat_tests::{Proxied, Raw, Stack};

use crate::locked::{Locked, READ};
use crate::log_file::of_kind;

#[test]
fn the_right_key_ends_the_statement_and_a_wrong_one_nothing() {
    let proxied = Stack::get().proxy().unwrap();
    let locked = Locked::notes(&proxied.database);
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let mut neighbour = Raw::connect(&proxied.login("acme_app")).unwrap();
    let right = raw.cancel_key();
    assert_eq!(right.len(), 8, "a process number and a key of protocol 3.0");
    raw.send(&[q(READ)]).unwrap();
    neighbour.send(&[q(READ)]).unwrap();
    locked.until_waiting(2);

    let mut wrong_key = right.clone();
    wrong_key[7] ^= 1;
    let mut wrong_number = right.clone();
    wrong_number[3] ^= 1;
    for wrong in
        [&wrong_key[..], &wrong_number, &[0; 8], &right[..7], &right[..4], &[&right[..], &[0]].concat()]
    {
        cancel(&proxied, wrong);
    }
    assert_eq!(locked.waiting(), 2, "both still run");

    cancel(&proxied, &right);
    raw.expect("E(57014) Z(I)").unwrap();
    assert_eq!(locked.waiting(), 1, "the neighbour's still runs");
    raw.send(&[q(OTHER)]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
    // Too late: nothing runs, and the next statement is not the one that was meant.
    cancel(&proxied, &right);
    raw.send(&[q(OTHER)]).unwrap();
    raw.expect("T D C Z(I)").unwrap();

    locked.release();
    neighbour.expect("T D C Z(I)").unwrap();
    let outcomes: Vec<_> = of_kind(&proxied.proxy.audit_path(), "cancel");
    let count = |word: &str| outcomes.iter().filter(|line| line["outcome"] == word).count();
    assert_eq!(count("forwarded"), 1, "{outcomes:?}");
    assert_eq!(count("idle"), 1, "{outcomes:?}");
}

#[test]
fn keys_are_the_proxys_own_and_no_two_are_the_same() {
    let proxied = Stack::get().proxy().unwrap();
    let sessions: Vec<Raw> = (0..10).map(|_| Raw::connect(&proxied.login("acme_app")).unwrap()).collect();
    let mut secrets: Vec<Vec<u8>> = sessions.iter().map(|raw| raw.cancel_key()[4..].to_vec()).collect();
    secrets.sort();
    secrets.dedup();
    assert_eq!(secrets.len(), sessions.len());
}

/// Sends a CancelRequest and waits for the end: nothing is ever answered.
fn cancel(proxied: &Proxied, key: &[u8]) {
    let mut raw = Raw::open(proxied.proxy.port()).unwrap();
    raw.send(&[cancel_request(key)]).unwrap();
    raw.expect("closed").unwrap();
}

const OTHER: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
