//! The proxy is killed under load, again and again: what PostgreSQL ran was decided and entered before.
//!
//! The server logs each statement with the process that ran it; the audit log has each decision with that process's
//! number. Nothing may be in the first that is not in the second.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, sleep};
use std::time::Duration;

use pgmoat_lab::{Cluster, Options, Proxy, ProxyConfig, User};
use pgmoat_tests::front::{b, e, p, q, s};
use pgmoat_tests::{Login, Raw, length, pgmoat_binary};

use crate::log_file::{assert_whole, lines, of_kind};
use crate::patience::PATIENCE;

const CLIENTS: u64 = 8;

#[test]
fn each_statement_that_postgresql_ran_was_decided_before_a_kill() {
    let cluster = logging_cluster();
    let database = cluster.fresh_lab_database().unwrap();
    let config = ProxyConfig::lab(&cluster, &database);
    let mut proxy = Proxy::start(&pgmoat_binary().unwrap(), &config).unwrap();
    let marker = AtomicU64::new(0);
    for round in 0..length(4, 20) {
        thread::scope(|scope| {
            for _ in 0..CLIENTS {
                let (port, marker) = (proxy.port(), &marker);
                scope.spawn(move || load(port, marker));
            }
            sleep(Duration::from_millis(400 + 37 * (round % 7)));
            proxy.kill9();
        });
        proxy.start_again().unwrap();
        assert_whole(&proxy.audit_path());
    }
    proxy.terminate().unwrap();
    assert!(proxy.wait(PATIENCE).expect("SIGTERM ends it").success(), "{}", proxy.log());
    assert_whole(&proxy.audit_path());
    let opened = of_kind(&proxy.audit_path(), "open").len();
    assert!(opened > 1, "{opened} starts");

    let ran = ran(&cluster);
    let decided = decided(&proxy.audit_path());
    assert!(ran.values().sum::<u64>() > 100, "there was a load: {} texts", ran.len());
    let undecided: Vec<_> = ran
        .iter()
        .filter(|(statement, times)| decided.get(*statement).copied().unwrap_or(0) < **times)
        .take(10)
        .collect();
    println!("{} statements ran, {} were decided", ran.values().sum::<u64>(), decided.values().sum::<u64>());
    assert!(undecided.is_empty(), "ran without a decision, or more often than decided: {undecided:?}");
    let refused: Vec<_> = ran.keys().filter(|(_, text)| text.contains("refused")).collect();
    assert!(refused.is_empty(), "{refused:?}");
    let notes = cluster.psql(&database, "SELECT body FROM app.notes WHERE body LIKE 'kill %'").unwrap();
    let entered: String =
        lines(&proxy.audit_path()).iter().filter_map(|line| line["statement"].as_str()).collect();
    let strange: Vec<&str> = notes.lines().filter(|note| !entered.contains(&format!("'{note}'"))).collect();
    assert!(strange.is_empty(), "rows that no decision let in: {strange:?}");
}

/// A server that logs each statement, and which of its processes ran it.
fn logging_cluster() -> Cluster {
    let settings = [("log_statement", "all"), ("log_line_prefix", "<%p> ")];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    Cluster::start(Options { settings, ..Options::default() }).unwrap()
}

/// Statements with a number each, simple, prepared and refused ones, until the proxy is gone.
fn load(port: u16, marker: &AtomicU64) {
    let user = User::named("acme_app").unwrap();
    let login = Login { port, user: user.name, password: user.password(), database: "lab", more: &[] };
    let Ok(mut raw) = Raw::connect(&login) else { return };
    let mut prepared = 0;
    loop {
        let number = marker.fetch_add(1, Ordering::Relaxed);
        let insert = format!("INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'kill {number}')");
        let read = format!("SELECT id AS kill_{number} FROM app.orders WHERE tenant_id = $1 AND id = 2");
        let refused = format!("SELECT id AS kill_refused_{number} FROM app.orders");
        let name = format!("s{number}");
        prepared += 1;
        let messages = [
            vec![q(&insert)],
            vec![p(&name, &read), b("", &name, &["acme"]), e("", 0), b("", &name, &["acme"]), e("", 0), s()],
            vec![q(&refused)],
            vec![p("", &insert.replace("kill", "kill x")), b("", "", &[]), e("", 0), s()],
        ];
        for batch in &messages {
            match raw.ask(batch) {
                Ok(heard) if !heard.closed => {}
                _ => return,
            }
        }
        if prepared % 100 == 0 && raw.query("DEALLOCATE ALL").is_err() {
            return;
        }
    }
}

/// A server process, and a text with a number.
type Statement = (i64, String);

/// How often PostgreSQL ran each.
fn ran(cluster: &Cluster) -> HashMap<Statement, u64> {
    let mut ran = HashMap::new();
    for line in cluster.log().lines() {
        let Some((process, said)) = line.strip_prefix('<').and_then(|rest| rest.split_once("> LOG:  "))
        else {
            continue;
        };
        let text = match said.split_once(": ") {
            Some((word, text)) if word == "statement" || word.starts_with("execute") => text,
            _ => continue,
        };
        if text.contains("kill") && !text.contains("LIKE 'kill %'") {
            *ran.entry((process.parse().unwrap(), text.to_owned())).or_default() += 1;
        }
    }
    ran
}

/// How often each was let through, as a Query or at Bind.
fn decided(log: &Path) -> HashMap<Statement, u64> {
    let mut decided = HashMap::new();
    for line in of_kind(log, "decision") {
        let runs = line["phase"] == "query" || line["phase"] == "bind";
        let (Some(process), Some(text)) = (line["backend"].as_i64(), line["statement"].as_str()) else {
            continue;
        };
        if runs && line["verdict"] == "allow" && text.contains("kill") {
            *decided.entry((process, text.to_owned())).or_default() += 1;
        }
    }
    decided
}
