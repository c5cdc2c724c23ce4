//! A client that goes away: what it left running ends, what it left open is rolled back, and nobody else notices.

use pgmoat_tests::front::{Front, b, e, framed, p, q, s};
use pgmoat_tests::{Proxied, Raw, Stack};

use crate::locked::{Locked, READ};
use crate::patience::eventually;

/// Known fault H9.
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

/// A client whose next message is not taken yet is still listened to.
#[test]
fn a_client_that_goes_while_its_next_message_waits_is_seen() {
    let proxied = Stack::get().proxy().unwrap();
    let locked = Locked::notes(&proxied.database);
    // Whether the second Parse may have the name depends on the first one's reply.
    let name_waits = [q(READ), p("a", "SELECT 1"), s(), p("a", "SELECT 2"), s()];
    let many_owed: Vec<Front> = std::iter::once(q(READ)).chain((0..5_000).map(|_| s())).collect();
    let mut clients = Vec::new();
    for messages in [&name_waits[..], &many_owed] {
        let mut raw = attached(&proxied);
        raw.send(messages).unwrap();
        clients.push(raw);
    }
    locked.until_waiting(2);
    drop(clients);
    eventually("the statements of those that are gone end", || locked.waiting() == 0);
}

/// Known fault H11.
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
fn a_batch_without_its_sync_holds_nothing_up() {
    // Who waits for longer than this, which is less than a good-bye's own limit, is told 53300.
    let pool = "mode: session, size: 1, wait_timeout_ms: 20000";
    let one = |config: &mut pgmoat_lab::ProxyConfig| config.databases[0].pool = pool.into();
    let proxied = Stack::get().proxy_with(one).unwrap();
    for says_good_bye in [true, false] {
        let mut gone = attached(&proxied);
        gone.send(&batch(&["BEGIN", UPDATE])).unwrap();
        if says_good_bye {
            gone.send(&[good_bye()]).unwrap();
        }
        drop(gone);
        // The same row, by way of the only connection.
        let mut next = Raw::connect(&proxied.login("acme_app")).unwrap();
        next.send(&[q(UPDATE)]).unwrap();
        next.expect("C Z(I)").unwrap();
    }
}

#[test]
fn what_comes_before_a_good_bye_is_done() {
    let proxied = Stack::get().proxy().unwrap();
    let written = |body: &str| {
        let sql = format!("SELECT count(*) FROM app.notes WHERE body = '{body}'");
        Stack::get().cluster().psql(&proxied.database, &sql).unwrap().trim() == "1"
    };
    // As PostgreSQL does with what it has read, a COMMIT before the Sync included.
    let mut gone = attached(&proxied);
    let mut messages = batch(&["BEGIN", &insert("committed"), "COMMIT", &insert("left open")]);
    messages.push(good_bye());
    gone.send(&messages).unwrap();
    drop(gone);
    eventually("what was committed is there", || written("committed"));

    let locked = Locked::notes(&proxied.database);
    let mut gone = attached(&proxied);
    let mut messages = vec![q(&insert("synced"))];
    messages.extend(batch(&[&insert("not synced")]));
    messages.push(good_bye());
    gone.send(&messages).unwrap();
    let mut waits = attached(&proxied);
    let messages = [q(&insert("waited for")), p("a", "SELECT 1"), s(), p("a", "SELECT 2"), s(), good_bye()];
    waits.send(&messages).unwrap();
    locked.until_waiting(2);
    drop((gone, waits));
    locked.release();
    eventually("what was synced is there", || written("synced") && written("waited for"));
    assert!(!written("left open") && !written("not synced"));
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

/// A client that has its upstream connection: one that only waits for it may go as it came.
fn attached(proxied: &Proxied) -> Raw {
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q("SELECT 1")]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
    raw
}

/// Without a Sync.
fn batch(all: &[&str]) -> Vec<Front> {
    all.iter().flat_map(|sql| [p("", sql), b("", "", &[]), e("", 0)]).collect()
}

fn good_bye() -> Front {
    framed(b'X', b"")
}

fn insert(body: &str) -> String {
    format!("INSERT INTO app.notes (tenant_id, body) VALUES ('acme', '{body}')")
}

const UPDATE: &str = "UPDATE app.notes SET body = 'open' WHERE tenant_id = 'acme' AND id = 3";
