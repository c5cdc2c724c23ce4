//! Protocol 3.2 and what is newer.

use std::time::{Duration, Instant};

use pgmoat_tests::Raw;
use pgmoat_tests::front::{cancel_request, q, startup};
use pgmoat_tests::{Proxied, Stack};

use crate::secured::{ONE, VERSION_3, audited};

/// Known faults E12: a key of 32 bits can be guessed. 3.0 has room for 4 bytes; from 3.2 on the secret has 32, as PostgreSQL 18 makes it.
#[test]
fn cancel_keys_are_as_long_as_the_protocol_allows() {
    let proxied = Stack::get().proxy().unwrap();
    for (minor, key_bytes) in [(0, 4), (1, 4), (2, 32), (9999, 32)] {
        let mut raw = Raw::open(proxied.proxy.port()).unwrap();
        raw.log_in_by(VERSION_3 + minor, &proxied.login("acme_app")).unwrap();
        let key = raw.cancel_key();
        assert_eq!(key.len(), 4 + key_bytes, "3.{minor}");
        raw.send(&[q(ONE)]).unwrap();
        raw.expect("T D C Z(I)").unwrap();
        // The beginning of a key that 3.0 has room for is not the key.
        if key_bytes > 4 {
            assert_eq!(cancel(&proxied, &key[..8]), "unknown_key", "3.{minor}");
        }
        assert_eq!(cancel(&proxied, &[&key[..], &[0]].concat()), "unknown_key", "3.{minor}");
        assert_eq!(cancel(&proxied, &key), "idle", "3.{minor}");
    }
}

/// Known faults I6: NegotiateProtocolVersion comes once, before authentication, if and only if something was asked for
/// that is not spoken; its version is never above the client's own (libpq 18 takes that for an attack).
#[test]
fn the_version_is_negotiated_once_and_never_upwards() {
    let proxied = Stack::get().proxy().unwrap();
    for (minor, options, said) in [
        (0, &[][..], None),
        (2, &[], None),
        (3, &[], Some((2, "\0\0\0\0"))),
        (9999, &["_pq_.test_protocol_negotiation"], Some((2, "\0\0\0\x01_pq_.test_protocol_negotiation\0"))),
        (0, &["_pq_.x", "_pq_.y"], Some((0, "\0\0\0\x02_pq_.x\0_pq_.y\0"))),
        (2, &["_pq_.x"], Some((2, "\0\0\0\x01_pq_.x\0"))),
    ] {
        let mut parameters = vec![("user", "acme_app"), ("database", "lab")];
        parameters.extend(options.iter().map(|option| (*option, "on")));
        let mut raw = Raw::open(proxied.proxy.port()).unwrap();
        raw.send(&[startup(VERSION_3 + minor, &parameters)]).unwrap();
        let mut first = raw.next_message().unwrap().unwrap();
        if let Some((spoken, rest)) = said {
            assert_eq!(first.tag, b'v', "3.{minor} {options:?}");
            let version: u32 = VERSION_3 + spoken;
            assert_eq!(first.body, [&version.to_be_bytes()[..], rest.as_bytes()].concat(), "3.{minor}");
            first = raw.next_message().unwrap().unwrap();
        }
        assert_eq!(first.tag, b'R', "3.{minor} {options:?}");
    }
}

#[test]
fn the_key_works_on_what_runs() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::open(proxied.proxy.port()).unwrap();
    raw.log_in_by(VERSION_3 + 2, &proxied.login("ops")).unwrap();
    let key = raw.cancel_key();
    let port = proxied.proxy.port();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(500));
        let mut raw = Raw::open(port).unwrap();
        raw.send(&[cancel_request(&key)]).unwrap();
        raw.expect("closed").unwrap();
    });
    let sql = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 1000000) b";
    let heard = raw.query(sql).unwrap();
    canceller.join().unwrap();
    assert_eq!(heard.codes(), ["57014"], "{heard}");
}

/// What the audit says came of a cancel.
fn cancel(proxied: &Proxied, key: &[u8]) -> String {
    let before = audited(proxied, "cancel").len();
    let mut raw = Raw::open(proxied.proxy.port()).unwrap();
    raw.send(&[cancel_request(key)]).unwrap();
    raw.expect("closed").unwrap();
    // A cancel waits for no audit.
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(line) = audited(proxied, "cancel").get(before) {
            return line["outcome"].as_str().unwrap().to_owned();
        }
        assert!(Instant::now() < deadline, "no line");
        std::thread::sleep(Duration::from_millis(5));
    }
}
