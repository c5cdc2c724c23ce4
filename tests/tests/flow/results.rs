//! Results: streamed, not collected, also where the client reads late.

use std::fs;

use pgmoat_tests::front::{framed, q};
use pgmoat_tests::{Proxied, Raw, Stack};

use crate::patience::eventually;

/// What a session's buffers may come to, and the allocator's slack.
const BOUND_BYTES: u64 = 24 << 20;

#[test]
fn a_big_row_takes_no_memory() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::connect(&proxied.login("ops")).unwrap();
    raw.send(&[q("SELECT 1")]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
    let before = resident_bytes(&proxied);
    raw.send(&[q("SELECT repeat('x', 48000000)")]).unwrap();
    until_server_waits(&proxied);
    assert!(resident_bytes(&proxied) < before + BOUND_BYTES);
    let heard = raw.expect("T D C Z(I)").unwrap();
    assert_eq!(heard.rows()[0][0].as_ref().unwrap().len(), 48_000_000);
    assert!(peak_bytes(&proxied) < before + BOUND_BYTES);
}

#[test]
fn a_client_that_reads_late_gets_everything_and_costs_nothing_meanwhile() {
    const ROWS: usize = 30_000;
    let proxied = Stack::get().proxy().unwrap();
    let mut late = Raw::connect(&proxied.login("ops")).unwrap();
    let mut other = Raw::connect(&proxied.login("ops")).unwrap();
    let before = resident_bytes(&proxied);
    late.send(&[q(&format!("SELECT n, repeat('x', 2000) FROM generate_series(1, {ROWS}) n"))]).unwrap();
    until_server_waits(&proxied);
    other.send(&[q("SELECT 1")]).unwrap();
    other.expect("T D C Z(I)").unwrap();
    assert!(resident_bytes(&proxied) < before + BOUND_BYTES);
    let heard = late.read(1).unwrap();
    assert_eq!(heard.rows().len(), ROWS);
    assert_eq!(heard.commands(), [format!("SELECT {ROWS}")]);
    assert!(peak_bytes(&proxied) < before + BOUND_BYTES);
}

#[test]
fn a_good_bye_behind_a_big_result_changes_nothing() {
    const ROWS: usize = 30_000;
    let proxied = Stack::get().proxy().unwrap();
    let mut late = Raw::connect(&proxied.login("ops")).unwrap();
    late.send(&[q("SELECT 1")]).unwrap();
    late.expect("T D C Z(I)").unwrap();
    let before = resident_bytes(&proxied);
    let sql = format!("SELECT n, repeat('x', 2000) FROM generate_series(1, {ROWS}) n");
    late.send(&[q(&sql), framed(b'X', b"")]).unwrap();
    until_server_waits(&proxied);
    let heard = late.read(1).unwrap();
    assert_eq!(heard.rows().len(), ROWS);
    late.expect("closed").unwrap();
    assert!(peak_bytes(&proxied) < before + BOUND_BYTES);
}

/// The server cannot write more: the proxy has read what it takes while the client does not read.
fn until_server_waits(proxied: &Proxied) {
    let sql = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = '{}' AND wait_event = 'ClientWrite'",
        proxied.database
    );
    eventually("the server waits to be read", || {
        Stack::get().cluster().psql("postgres", &sql).unwrap().trim() == "1"
    });
}

fn resident_bytes(proxied: &Proxied) -> u64 {
    status(proxied, "VmRSS:")
}

fn peak_bytes(proxied: &Proxied) -> u64 {
    status(proxied, "VmHWM:")
}

fn status(proxied: &Proxied, field: &str) -> u64 {
    let pid = proxied.proxy.pid().unwrap();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    let kibibytes: u64 = line.trim().strip_suffix("kB").unwrap().trim().parse().unwrap();
    kibibytes * 1024
}
