//! The server restarts while clients work: each answer is its own, and work goes on afterwards. Known fault H5.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pgmoat_lab::{Cluster, Options, Proxy, ProxyConfig, User};
use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Login, Mode, Raw, length, pgmoat_binary};

use crate::afterwards::eventually;

#[test]
fn a_restart_under_load_swaps_no_answers() {
    under_load("mode: session, size: 6, wait_timeout_ms: 2000");
}

/// Eight clients on three connections.
#[test]
fn a_restart_under_the_load_of_many_on_few_connections_swaps_no_answers() {
    under_load(&Mode::Transaction.pool(3));
}

fn under_load(pool: &str) {
    let mut cluster = Cluster::start(Options::default()).unwrap();
    let database = cluster.fresh_lab_database().unwrap();
    let mut config = ProxyConfig::lab(&cluster, &database);
    config.databases[0].pool = pool.into();
    let proxy = Proxy::start(&pgmoat_binary().unwrap(), &config).unwrap();
    let (stop, right) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let clients: Vec<_> = (0..8)
        .map(|client| {
            let (stop, right, port) = (Arc::clone(&stop), Arc::clone(&right), proxy.port());
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    // Refused while the server is away.
                    if let Ok(raw) = Raw::connect(&login(port)) {
                        work(raw, client, &stop, &right);
                    }
                }
            })
        })
        .collect();
    for _ in 0..length(2, 8) {
        let so_far = right.load(Ordering::Relaxed);
        eventually("work is done", || right.load(Ordering::Relaxed) > so_far + 200, || proxy.log());
        cluster.restart().unwrap();
    }
    let so_far = right.load(Ordering::Relaxed);
    eventually("work is done again", || right.load(Ordering::Relaxed) > so_far + 200, || proxy.log());
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().unwrap();
    }
    assert!(!proxy.log().contains("panicked"), "{}", proxy.log());
}

/// Asks until the session ends; counts the right answers, and fails on a wrong one.
fn work(mut raw: Raw, client: usize, stop: &AtomicBool, right: &AtomicUsize) {
    raw.wait_at_most(Duration::from_secs(15)).unwrap();
    let mut number = 0;
    let mut closed = false;
    while !closed && !stop.load(Ordering::Relaxed) {
        let mine = format!("{client}-{number}");
        let sql = format!("SELECT '{mine}'");
        let batch = [p("", &sql), b("", "", &[]), e("", 0), s()];
        let asked = if number % 2 == 0 { raw.send(&[q(&sql)]) } else { raw.send(&batch) };
        if asked.is_err() {
            return;
        }
        let heard = raw.read(1).unwrap();
        if let Some(row) = heard.rows().first() {
            assert_eq!(row[0].as_deref(), Some(mine.as_str()), "another's answer");
            right.fetch_add(1, Ordering::Relaxed);
        }
        closed = heard.closed;
        number += 1;
    }
}

fn login(port: u16) -> Login<'static> {
    let password = User::named("acme_app").map(User::password).unwrap_or_default();
    Login { port, user: "acme_app", password, database: "lab", more: &[] }
}
