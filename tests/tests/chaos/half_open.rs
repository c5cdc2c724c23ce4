//! Clients that are there and do nothing: that do not read, that read slowly, that stop within a message. Known
//! faults F6, F8, F11, H8.

use std::time::Duration;

use pgmoat_lab::ProxyConfig;
use pgmoat_tests::front::{Front, q};
use pgmoat_tests::{Mode, Proxied, Raw, Stack, length};

use crate::afterwards::{House, rest, unrestricted};

/// Clients come and go in the middle of transactions, one after the other and many at a time.
#[test]
fn those_that_leave_within_a_transaction_cost_nothing() {
    for mode in Mode::PROXIED {
        let house = House::with_pool(Stack::get(), *mode);
        for _ in 0..length(30, 1_000) {
            let mut raw = house.client();
            raw.send(&[q("BEGIN"), q("SELECT 1")]).unwrap();
            raw.read(2).unwrap();
        }
        house.is_whole();
    }
}

/// While some clients do not read what they have asked for, the others are served as ever, and each gets its own.
#[test]
fn a_client_that_does_not_read_holds_nobody_up() {
    for mode in Mode::PROXIED {
        // Each that is stalled keeps a connection.
        holds_nobody_up(&proxied(*mode, 5));
    }
}

fn holds_nobody_up(proxied: &Proxied) {
    let ten_megabytes = "SELECT repeat('x', 10485760) FROM generate_series(1, 6)";
    let mut stalled: Vec<Raw> = (0..4).map(|_| Raw::connect(&proxied.login("ops")).unwrap()).collect();
    for raw in &mut stalled {
        raw.send(&[q(ten_megabytes), q("SELECT 'its own'")]).unwrap();
    }
    let mut other = Raw::connect(&proxied.login("acme_app")).unwrap();
    for number in 0..length(100, 3_000) {
        let heard = other.query(&format!("SELECT {number}")).unwrap();
        assert_eq!(heard.rows()[0][0].as_deref(), Some(number.to_string().as_str()));
    }
    let resident = resident_bytes(proxied.proxy.pid().unwrap());
    assert!(resident < RESIDENT_BYTES_MAX, "{resident} bytes");
    for mut raw in stalled {
        let heard = raw.read(2).unwrap();
        let rows: Vec<usize> = heard.rows().iter().map(|row| row[0].as_deref().unwrap().len()).collect();
        assert_eq!(rows, [10_485_760; 6].into_iter().chain(["its own".len()]).collect::<Vec<_>>());
    }
}

/// One that reads a little at a time gets all of it, in order.
#[test]
fn a_slow_reader_gets_everything_in_order() {
    for mode in Mode::PROXIED {
        slowly_and_in_order(&proxied(*mode, 1));
    }
}

fn slowly_and_in_order(proxied: &Proxied) {
    let mut raw = Raw::connect(&proxied.login("ops")).unwrap();
    let statements: Vec<Front> =
        (0..200).map(|number| q(&format!("SELECT repeat('{}', 20000)", number % 10))).collect();
    raw.send(&statements).unwrap();
    for number in 0..200 {
        if number % 10 == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let heard = raw.read(1).unwrap();
        assert_eq!(heard.rows()[0][0], Some((number % 10).to_string().repeat(20_000)));
    }
}

/// A pipeline that its client does not read while it writes: PostgreSQL itself would stop reading at some point.
#[test]
fn a_client_that_writes_a_long_pipeline_without_reading_is_answered_in_order() {
    for mode in Mode::PROXIED {
        answered_in_order(&proxied(*mode, 1));
    }
}

fn answered_in_order(proxied: &Proxied) {
    let count = length(4_000, 50_000);
    let mut raw = Raw::connect(&proxied.login("ops")).unwrap();
    let socket = raw.tcp().unwrap().try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        for number in 0..count {
            q(&format!("SELECT {number}")).encode(&mut bytes).unwrap();
        }
        std::io::Write::write_all(&mut (&socket), &bytes)
    });
    std::thread::sleep(Duration::from_millis(300));
    for number in 0..count {
        let heard = raw.read(1).unwrap();
        assert_eq!(heard.rows()[0][0].as_deref(), Some(number.to_string().as_str()));
    }
    writer.join().unwrap().unwrap();
}

/// Stopped within a message: nothing is done, and the connection is another's when the client goes.
#[test]
fn a_message_that_never_ends_does_nothing() {
    let house = House::with_pool(Stack::get(), Mode::Transaction);
    for part in [1, 3, 5, 9] {
        let mut raw = house.client();
        let mut bytes = Vec::new();
        q("SET work_mem = '77MB'").encode(&mut bytes).unwrap();
        raw.send_bytes(&bytes[..part]).unwrap();
        assert_eq!(rest(&mut raw, Duration::from_millis(20)).messages.len(), 0);
    }
    house.is_whole();
}

fn proxied(mode: Mode, size: usize) -> Proxied {
    let change = |config: &mut ProxyConfig| {
        config.policy = unrestricted();
        config.databases[0].pool = mode.pool(size);
        // On a busy machine it is long until a client reads.
        config.extra = "limits: { client_write_timeout_ms: 900000 }\n".into();
    };
    Stack::get().proxy_with(change).unwrap()
}

pub(crate) fn resident_bytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() * 1024
}

/// Rows of 10 MB for four clients, of which none is kept.
const RESIDENT_BYTES_MAX: u64 = 160 << 20;
