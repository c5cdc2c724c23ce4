//! A client that goes away: what it left running ends, what it left open is rolled back, and nobody else notices.

use pgmoat_tests::front::{p, q, s};
use pgmoat_tests::{Raw, Stack};

use crate::locked::{Locked, READ};
use crate::patience::eventually;

#[test]
fn what_a_client_left_running_is_cancelled() {
    let proxied = Stack::get().proxy().unwrap();
    let locked = Locked::notes(&proxied.database);
    let mut gone = Raw::connect(&proxied.login("acme_app")).unwrap();
    gone.send(&[q(READ)]).unwrap();
    let mut half = Raw::connect(&proxied.login("acme_app")).unwrap();
    half.send(&[q(READ)]).unwrap();
    half.send_bytes(b"Q\0\0").unwrap();
    let mut stays = Raw::connect(&proxied.login("acme_app")).unwrap();
    stays.send(&[q(READ)]).unwrap();
    locked.until_waiting(3);
    drop(gone);
    drop(half);
    eventually("the statements of those that are gone end", || locked.waiting() == 1);
    locked.release();
    stays.expect("T D C Z(I)").unwrap();
}

#[test]
fn what_a_client_left_open_is_rolled_back() {
    let proxied = Stack::get().proxy().unwrap();
    let mut gone = Raw::connect(&proxied.login("acme_app")).unwrap();
    gone.send(&[q("BEGIN"), q(UPDATE)]).unwrap();
    gone.expect("C Z(T) C Z(T)").unwrap();
    drop(gone);
    // The same row: it waits for the other transaction's end.
    let mut next = Raw::connect(&proxied.login("acme_app")).unwrap();
    next.send(&[q(UPDATE)]).unwrap();
    next.expect("C Z(I)").unwrap();
}

#[test]
fn the_next_client_finds_nothing_of_the_last_one() {
    let one =
        |config: &mut pgmoat_lab::ProxyConfig| config.databases[0].pool = "mode: session, size: 1".into();
    let proxied = Stack::get().proxy_with(one).unwrap();
    for number in 0..5 {
        let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
        raw.send(&[q("SHOW TimeZone")]).unwrap();
        let heard = raw.expect("T D C Z(I)").unwrap();
        assert_ne!(heard.rows()[0][0].as_deref(), Some("Asia/Tokyo"), "the setting of the client before");
        // The same name for another text each time.
        let sql = format!("SELECT id AS n{number} FROM app.orders WHERE tenant_id = 'acme' AND id = 2");
        raw.send(&[q("SET TimeZone = 'Asia/Tokyo'"), p("n", &sql), s()]).unwrap();
        raw.expect("C S Z(I) 1 Z(I)").unwrap();
        if number % 2 == 0 {
            raw.send(&[q("BEGIN")]).unwrap();
            raw.expect("C Z(T)").unwrap();
        }
    }
}

const UPDATE: &str = "UPDATE app.notes SET body = 'open' WHERE tenant_id = 'acme' AND id = 3";
