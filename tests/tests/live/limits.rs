//! Bounds on what one session may hold, each reached: what is over it waits, or goes, and nothing is lost.

use std::thread;

use pgmoat_lab::ProxyConfig;
use pgmoat_tests::front::{b, e, framed, p, q, s};
use pgmoat_tests::{Front, Raw, Stack, is_long};

use crate::held_cancels::HeldCancels;
use crate::locked::{Locked, READ};
use crate::log_file::of_kind;
use crate::memory::{assert_bounded, resident_bytes};
use crate::patience::{PATIENCE, eventually};
use crate::pool_queue::leave;

/// `OWED_MAX`: behind a statement that runs, so many messages are taken and no more. (Where errors are budgeted, fewer.)
#[test]
fn a_long_pipeline_waits_at_the_clients_side() {
    const ALL: usize = 12_000;
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("ops")).unwrap();
    raw.send(&[p("n", "SELECT 1"), s()]).unwrap();
    raw.expect("1 Z(I)").unwrap();
    let locked = Locked::notes(&proxied.database);
    raw.send(&[q(READ)]).unwrap();
    locked.until_waiting(1);
    let binds = || {
        of_kind(&proxied.proxy.audit_path(), "decision").iter().filter(|line| line["phase"] == "bind").count()
    };
    let batch: Vec<Front> = (0..ALL).flat_map(|_| [b("", "n", &[]), s()]).collect();
    let sender = thread::spawn(move || {
        raw.send(&batch).unwrap();
        raw
    });
    eventually("the queue is full", || binds() >= 2_000);
    assert_eq!(locked.waiting(), 1);
    assert!(binds() <= 4_096, "{}", binds());
    locked.release();
    let mut raw = sender.join().unwrap();
    raw.expect("T D C Z(I)").unwrap();
    for _ in 0..ALL {
        raw.expect("2 Z(I)").unwrap();
    }
    assert_eq!(binds(), ALL);
}

/// `TO_SERVER_BYTES_MAX`: what the server does not read is not collected here.
#[test]
fn what_the_server_does_not_read_stays_with_the_client() {
    const ALL: usize = 600;
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[p("n", "SELECT length($1::text)"), s()]).unwrap();
    raw.expect("1 Z(I)").unwrap();
    let locked = Locked::notes(&proxied.database);
    raw.send(&[q(READ)]).unwrap();
    locked.until_waiting(1);
    let before = resident_bytes(&proxied);
    let value = "x".repeat(100_000);
    let batch: Vec<Front> = (0..ALL).flat_map(|_| [b("", "n", &[&value]), e("", 0), s()]).collect();
    let sender = thread::spawn(move || {
        raw.send(&batch).unwrap();
        raw
    });
    let binds = || {
        of_kind(&proxied.proxy.audit_path(), "decision").iter().filter(|line| line["phase"] == "bind").count()
    };
    eventually("some has been sent on", || binds() > 3);
    assert!(binds() < ALL, "the server reads none of it while it waits for the lock");
    assert_bounded(&proxied, before, 24 << 20);
    locked.release();
    let mut raw = sender.join().unwrap();
    raw.expect("T D C Z(I)").unwrap();
    for _ in 0..ALL {
        raw.expect("2 D C Z(I)").unwrap();
    }
}

/// `TO_CLIENT_BYTES_MAX`, `SPILL_BYTES_MAX`: who does not read is not answered for ever more.
#[test]
fn what_the_client_does_not_read_stays_with_the_server() {
    const ALL: usize = 400;
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let sql = "SELECT repeat('x', 200000)";
    raw.send(&[q("SELECT 1")]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
    let before = resident_bytes(&proxied);
    raw.send(&vec![q(sql); ALL]).unwrap();
    let judged = || of_kind(&proxied.proxy.audit_path(), "decision").len();
    eventually("some were taken", || judged() > 10);
    assert!(judged() < ALL, "not all of them were taken");
    assert_bounded(&proxied, before, 24 << 20);
    for _ in 0..ALL {
        raw.expect("T D C Z(I)").unwrap();
    }
    assert_bounded(&proxied, before, 24 << 20);
}

/// `WAITING_BYTES_MAX`: who waits for a connection is read a little, to see that it leaves.
#[test]
fn who_waits_for_a_connection_is_not_collected() {
    const ALL: usize = 200;
    let proxied = Stack::get().proxy_with(|config| pool_of_one(config, 20_000)).unwrap();
    let mut holder = Raw::connect(&proxied.login("acme_app")).unwrap();
    holder.send(&[q("SELECT 1")]).unwrap();
    holder.expect("T D C Z(I)").unwrap();
    let before = resident_bytes(&proxied);
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    let value = "x".repeat(100_000);
    let mut batch = vec![p("n", "SELECT length($1::text)"), s()];
    batch.extend((0..ALL).flat_map(|_| [b("", "n", &[&value]), e("", 0), s()]));
    let sender = thread::spawn(move || {
        raw.send(&batch).unwrap();
        raw
    });
    eventually("it waits", || of_kind(&proxied.proxy.audit_path(), "login").len() == 2);
    assert_bounded(&proxied, before, 8 << 20);
    leave(holder);
    let mut raw = sender.join().unwrap();
    raw.expect("1 Z(I)").unwrap();
    for _ in 0..ALL {
        raw.expect("2 D C Z(I)").unwrap();
    }
}

/// `DRAIN_LIMIT`: a statement that no cancel reaches does not keep the place of a client that is gone.
#[test]
fn what_cannot_be_cancelled_is_not_waited_for() {
    let way = HeldCancels::to(Stack::get().cluster().port());
    let by_way = |config: &mut ProxyConfig| {
        pool_of_one(config, 20_000);
        config.databases[0].port = way.port();
    };
    let proxied = Stack::get().proxy_with(by_way).unwrap();
    let locked = Locked::notes(&proxied.database);
    let mut gone = Raw::connect(&proxied.login("acme_app")).unwrap();
    gone.send(&[q(READ)]).unwrap();
    locked.until_waiting(1);
    drop(gone);
    let mut next = Raw::connect(&proxied.login("acme_app")).unwrap();
    next.send(&[q("SELECT 1")]).unwrap();
    next.expect("T D C Z(I)").unwrap();
    assert_eq!(way.seen(), 1, "a cancel was tried");
    way.let_go();
}

/// `FINISH_LIMIT`: a good-bye behind a statement does not hold its place for ever.
#[test]
fn a_good_bye_is_not_waited_for_for_ever() {
    if !is_long() {
        return;
    }
    let proxied = Stack::get().proxy_with(|config| pool_of_one(config, 120_000)).unwrap();
    let locked = Locked::notes(&proxied.database);
    let mut gone = Raw::connect(&proxied.login("acme_app")).unwrap();
    gone.send(&[q(READ), framed(b'X', b"")]).unwrap();
    locked.until_waiting(1);
    eventually("its place is free", || locked.waiting() == 0);
}

/// `FAREWELL_LIMIT`: a client that does not read its last words does not keep the process.
#[test]
fn last_words_that_nobody_reads_are_not_waited_for() {
    let deadline = |config: &mut ProxyConfig| config.extra = "limits: { drain_timeout_ms: 300 }\n".into();
    let mut proxied = Stack::get().proxy_with(deadline).unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q("SELECT repeat('x', 100000) FROM generate_series(1, 1000)")]).unwrap();
    eventually("it runs", || !of_kind(&proxied.proxy.audit_path(), "decision").is_empty());
    proxied.proxy.terminate().unwrap();
    assert!(proxied.proxy.wait(PATIENCE).is_some(), "{}", proxied.proxy.log());
}

fn pool_of_one(config: &mut ProxyConfig, wait_timeout_ms: u32) {
    config.databases[0].pool = format!("mode: session, size: 1, wait_timeout_ms: {wait_timeout_ms}");
}
