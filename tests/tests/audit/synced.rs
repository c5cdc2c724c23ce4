//! `fsync`: nothing is forwarded before its entry is on the disk, and one sync serves all that wait for it.

use std::thread;

use pgmoat_lab::ProxyConfig;
use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Raw, length};

use crate::faults::Faults;
use crate::log_file::of_kind;
use crate::patience::eventually;
use crate::proxy::{READ, bodies, end, insert, notes, told};

/// While no sync returns nothing reaches PostgreSQL, but no thread is held either: refusals are answered, other
/// sessions' statements are judged, and all go on when it does.
#[test]
fn nothing_is_forwarded_before_its_entry_is_on_the_disk_and_nobody_else_is_held_up() {
    let faults = Faults::none();
    let mut proxied = faults.proxy(fsync);
    let mut sessions: Vec<Raw> = (0..16).map(|_| Raw::connect(&proxied.login("acme_app")).unwrap()).collect();
    for raw in &mut sessions {
        raw.send(&[q(READ)]).unwrap();
        raw.expect("T D C Z(I)").unwrap();
    }
    faults.are("fdatasync block");
    for (at, raw) in sessions.iter_mut().enumerate() {
        let insert = insert(&format!("held {at}"));
        match at % 2 {
            0 => raw.send(&[q(&insert)]).unwrap(),
            _ => raw.send(&[p("", &insert), b("", "", &[]), e("", 0), s()]).unwrap(),
        }
    }
    let log = proxied.proxy.audit_path();
    eventually("all are entered", || {
        let entered = of_kind(&log, "decision");
        entered
            .iter()
            .filter(|line| line["statement"].as_str().is_some_and(|text| text.contains("held")))
            .count()
            >= 16
    });
    // More sessions than the proxy has threads are waiting, and others log in and are refused all the same.
    for _ in 0..8 {
        let mut other = Raw::connect(&proxied.login("globex_app")).unwrap();
        other.send(&[q("SELECT id FROM app.orders")]).unwrap();
        other.expect("E(42501) Z(I)").unwrap();
    }
    assert_eq!(notes(&proxied, "held %"), 0, "forwarded before it was synced");

    faults.are_over();
    for (at, raw) in sessions.iter_mut().enumerate() {
        raw.expect(if at % 2 == 0 { "C Z(I)" } else { "1 2 C Z(I)" }).unwrap();
    }
    assert_eq!(notes(&proxied, "held %"), 16);
    faults.are("fdatasync sleep_ms 1001");
    sessions[0].send(&[q(READ)]).unwrap();
    sessions[0].expect("T D C Z(I)").unwrap();
    faults.are_over();
    eventually("the slow sync is told", || told(&proxied, "syncing the audit log takes long") >= 1);
    end(&mut proxied);
}

/// Group commit, by counting: while a sync takes its time, the entries of all others gather for the next.
#[test]
fn the_statements_of_many_sessions_share_one_sync() {
    let faults = Faults::none();
    let mut proxied = faults.proxy(fsync);
    let mut sessions: Vec<Raw> =
        (0..SESSIONS).map(|_| Raw::connect(&proxied.login("acme_app")).unwrap()).collect();
    faults.are("fdatasync sleep_ms 20");
    let before = faults.syncs();
    let each = length(20, 100);
    thread::scope(|scope| {
        for raw in &mut sessions {
            scope.spawn(move || {
                for _ in 0..each {
                    raw.send(&[q(READ)]).unwrap();
                    raw.expect("T D C Z(I)").unwrap();
                }
            });
        }
    });
    let syncs = faults.syncs() - before;
    let statements = u64::try_from(SESSIONS).unwrap() * each;
    println!("{statements} statements of {SESSIONS} sessions: {syncs} syncs");
    assert!(syncs * 4 <= statements, "{statements} statements took {syncs} syncs");
    faults.are_over();
    end(&mut proxied);
}

/// A pipelined batch waits once, and a client that never pauses is not held back for ever.
#[test]
fn a_long_pipeline_goes_on_sync_by_sync() {
    let faults = Faults::none();
    let mut proxied = faults.proxy(fsync);
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    faults.are("fdatasync sleep_ms 5");
    let count = 3_000;
    for _ in 0..count / 100 {
        raw.send(&(0..100).map(|_| q(READ)).collect::<Vec<_>>()).unwrap();
    }
    for _ in 0..count {
        raw.expect("T D C Z(I)").unwrap();
    }
    faults.are_over();
    end(&mut proxied);
}

/// What fdatasync says once is never asked again: nothing more is let through until the log is opened anew.
#[test]
fn a_failed_sync_ends_what_waits_for_it_and_refuses_everything_until_a_restart() {
    let faults = Faults::none();
    let mut proxied = faults.proxy(fsync);
    let mut waiting = Raw::connect(&proxied.login("acme_app")).unwrap();
    let mut later = Raw::connect(&proxied.login("acme_app")).unwrap();
    for raw in [&mut waiting, &mut later] {
        raw.send(&[q(READ)]).unwrap();
        raw.expect("T D C Z(I)").unwrap();
    }
    faults.are("fdatasync errno 5");
    waiting.send(&[q(&insert("unsynced"))]).unwrap();
    waiting.expect("E(58030,FATAL) closed").unwrap();
    faults.are_over();
    for _ in 0..3 {
        later.send(&[q(&insert("unsynced"))]).unwrap();
        later.expect("E(58030) Z(I)").unwrap();
    }
    let refused = Raw::connect(&proxied.login("acme_app")).unwrap_err().to_string();
    assert!(refused.contains("58030") || refused.contains("audit"), "{refused}");
    assert_eq!(bodies(&proxied, "unsynced"), Vec::<String>::new());
    assert_eq!(told(&proxied, "every statement and login is refused"), 1, "{}", proxied.proxy.log());
    proxied.proxy.kill9();
    proxied.proxy.start_again().unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q(&insert("synced"))]).unwrap();
    raw.expect("C Z(I)").unwrap();
    end(&mut proxied);
}

fn fsync(config: &mut ProxyConfig) {
    config.audit = "path: audit.jsonl, durability: fsync".to_owned();
}

const SESSIONS: usize = 32;
