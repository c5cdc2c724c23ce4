//! The table's rows about the start-up packet, at both doors: no session is there yet.

use pgmoat_tests::{Front, Raw, Stack, front};

#[test]
fn postgresql_reads_startup_packets_as_the_table_says() {
    at_the_door(Stack::get().cluster().port(), "pgmoat_service", "postgres");
}

#[test]
fn the_proxy_reads_startup_packets_as_postgresql_does() {
    let proxied = Stack::get().proxy().unwrap();
    at_the_door(proxied.proxy.port(), "acme_app", "lab");
}

fn at_the_door(port: u16, user: &str, database: &str) {
    impossible_lengths_close_the_connection(port);
    the_largest_length_is_read(port, user);
    an_unknown_minor_version_and_options_are_negotiated_once_before_authentication(port, user, database);
}

fn impossible_lengths_close_the_connection(port: u16) {
    for length in [0, 3, 7, 10_005, 0x7fff_ffff, u32::MAX] {
        let mut raw = Raw::open(port).unwrap();
        raw.send_bytes(&length.to_be_bytes()).unwrap();
        let heard = raw.read(1).unwrap();
        assert_eq!(heard.to_string(), "closed", "length {length}");
    }
}

fn the_largest_length_is_read(port: u16, user: &str) {
    // Beside the filler: length and version, the other texts with their NULs, the filler's NUL and the last one.
    let fixed = 4 + 4 + "user".len() + 1 + user.len() + 1 + "application_name".len() + 1 + 1 + 1;
    let filler = "x".repeat(LONGEST - fixed);
    let packet = front::startup(VERSION_3, &[("user", user), ("application_name", &filler)]);
    let Front::Bytes(bytes) = &packet else { panic!("a start-up packet is bytes") };
    assert_eq!(bytes.len(), LONGEST);
    let mut raw = Raw::open(port).unwrap();
    raw.send(&[packet]).unwrap();
    assert_eq!(raw.next_message().unwrap().unwrap().to_string(), "R");
}

fn an_unknown_minor_version_and_options_are_negotiated_once_before_authentication(
    port: u16,
    user: &str,
    database: &str,
) {
    let mut raw = Raw::open(port).unwrap();
    let parameters = [("user", user), ("database", database), ("_pq_.x", "1"), ("_pq_.y", "")];
    raw.send(&[front::startup(VERSION_3 + 9999, &parameters)]).unwrap();
    let negotiation = raw.next_message().unwrap().unwrap();
    assert_eq!(negotiation.to_string(), "v");
    // The protocol's page says "newest minor version"; the servers send the whole number, 3.0 or (from 18) 3.2.
    let newest = negotiation.body.first_chunk::<4>().map(|bytes| u32::from_be_bytes(*bytes)).unwrap();
    assert!([VERSION_3, VERSION_3 + 2].contains(&newest), "{newest:x}");
    assert_eq!(negotiation.body.get(4..).unwrap(), b"\0\0\0\x02_pq_.x\0_pq_.y\0");
    assert_eq!(raw.next_message().unwrap().unwrap().to_string(), "R");
}

const VERSION_3: u32 = 0x0003_0000;

/// The largest length that a start-up packet may state, itself included.
const LONGEST: usize = 10_004;
