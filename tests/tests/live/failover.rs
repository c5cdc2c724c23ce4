//! The primary stops under load and its standby is promoted: clients are told, go on by themselves, and write to the new
//! primary.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use pgmoat_lab::{Cluster, Options, Proxy, ProxyConfig, User};
use pgmoat_tests::front::q;
use pgmoat_tests::{Login, Raw, pgmoat_binary};

use crate::patience::eventually;

#[test]
fn clients_go_on_with_the_promoted_standby_in_session_mode() {
    fail_over("session", CLIENTS + 1);
}

#[test]
fn clients_go_on_with_the_promoted_standby_in_transaction_mode() {
    fail_over("transaction", CLIENTS / 2);
}

/// What clients have met so far.
#[derive(Default)]
struct Seen {
    stop: AtomicBool,
    written: AtomicUsize,
    codes: Mutex<BTreeMap<String, usize>>,
}

fn fail_over(mode: &str, size: usize) {
    let mut primary = Cluster::start(Options::default()).unwrap();
    let database = primary.fresh_lab_database().unwrap();
    let standby = primary.standby().unwrap();
    let mut config = ProxyConfig::lab(&primary, &database);
    config.databases[0].fallbacks = vec![standby.port()];
    config.databases[0].upstream.push_str(", target_session_attrs: read-write");
    config.databases[0].pool = format!("mode: {mode}, size: {size}, minimum: 2, wait_timeout_ms: 20000");
    let proxy = Proxy::start(&pgmoat_binary().unwrap(), &config).unwrap();

    // Logged in before, and nothing asked yet: it will not notice.
    let mut patient = Raw::connect(&login(proxy.port())).unwrap();
    let seen = Arc::new(Seen::default());
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (seen, port) = (Arc::clone(&seen), proxy.port());
            thread::spawn(move || {
                while !seen.stop.load(Ordering::Relaxed) {
                    write(port, &seen);
                }
            })
        })
        .collect();
    let written = || seen.written.load(Ordering::Relaxed);
    eventually("all write", || written() > 10 * CLIENTS);

    primary.stop();
    eventually("clients are told", || !seen.codes.lock().unwrap().is_empty());
    assert_eq!(standby.psql("postgres", "SELECT pg_promote(true, 60)").unwrap().trim(), "t");
    let before = written();
    eventually("all write again", || written() > before + 10 * CLIENTS);
    patient.send(&[q("SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2")]).unwrap();
    patient.expect("T D C Z(I)").unwrap();
    seen.stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().unwrap();
    }
    let codes = seen.codes.lock().unwrap();
    let explained = |code: &str| matches!(code, "57P01" | "57P02" | "57P03" | "08006");
    assert!(
        codes.keys().all(|code| explained(code)),
        "what a lost server explains, and nothing else: {codes:?}"
    );
    let count = "SELECT count(*) FROM app.notes WHERE body = 'failover'";
    let there: usize = standby.psql(&database, count).unwrap().trim().parse().unwrap();
    assert!(
        there >= written() - before,
        "{there} rows on the new primary, {} written there",
        written() - before
    );
    assert!(!proxy.log().contains("panicked"), "{}", proxy.log());
}

/// One session: writes until it ends, and notes why it did.
fn write(port: u16, seen: &Seen) {
    let mut raw = match Raw::connect(&login(port)) {
        Ok(raw) => raw,
        // The login says so in words: no rules, no server.
        Err(error) => panic!("logins need no server: {error}"),
    };
    while !seen.stop.load(Ordering::Relaxed) {
        let Ok(heard) = raw.query(NOTE) else { return };
        let codes = heard.codes();
        if codes.is_empty() && !heard.closed {
            seen.written.fetch_add(1, Ordering::Relaxed);
        }
        let mut counted = seen.codes.lock().unwrap();
        for code in codes {
            *counted.entry(code).or_default() += 1;
        }
        drop(counted);
        if heard.closed {
            return;
        }
    }
}

fn login(port: u16) -> Login<'static> {
    let password = User::named("acme_app").map(User::password).unwrap_or_default();
    Login { port, user: "acme_app", password, database: "lab", more: &[] }
}

const CLIENTS: usize = 8;
const NOTE: &str = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'failover')";
