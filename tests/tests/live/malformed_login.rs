//! Messages that are wrong before anybody is known: 08P01 or the end, and nobody else notices.

use pgmoat_tests::front::{framed, q, startup, with_length};
use pgmoat_tests::{Front, Raw, Stack, Transcript};

use crate::memory::{assert_bounded, resident_bytes};

#[test]
fn wrong_messages_instead_of_a_password_end_the_login() {
    let proxied = Stack::get().proxy().unwrap();
    let mut witness = Raw::connect(&proxied.login("globex_app")).unwrap();
    let before = resident_bytes(&proxied);
    for (name, message) in [
        ("length 0", with_length(b'p', 0, b"")),
        ("length 3", with_length(b'p', 3, b"")),
        ("length -1", with_length(b'p', u32::MAX, b"")),
        ("2 GB", with_length(b'p', 0x7fff_ffff, b"SCRAM-SHA-256\0")),
        ("1 GB of a Query", with_length(b'Q', 1 << 30, b"SELECT")),
        ("a Query", q("SELECT id FROM app.orders WHERE tenant_id = 'acme'")),
        ("an unknown tag", framed(b'!', b"")),
        ("nothing", framed(b'p', b"")),
        ("a mechanism without an end", framed(b'p', b"SCRAM-SHA-256")),
        ("another mechanism", framed(b'p', b"PLAIN\0\0\0\0\x01x")),
        ("channel binding that was not offered", framed(b'p', b"SCRAM-SHA-256-PLUS\0\0\0\0\x01p")),
        ("a length over the message's", framed(b'p', b"SCRAM-SHA-256\0\x7f\xff\xff\xffn,,n=,r=abc")),
        ("no first message", framed(b'p', b"SCRAM-SHA-256\0\xff\xff\xff\xff")),
        ("rubbish", framed(b'p', b"SCRAM-SHA-256\0\0\0\0\x04\xff\xfe\xfd\xfc")),
    ] {
        let mut raw = Raw::open(proxied.proxy.port()).unwrap();
        raw.send(&[startup(VERSION_3, &[("user", "acme_app"), ("database", "lab")])]).unwrap();
        assert_eq!(raw.next_message().unwrap().unwrap().to_string(), "R", "{name}");
        let _ = raw.send(&[message]);
        assert_ended(name, &raw.read(1).unwrap());
        witness.send(&[q(GLOBEX)]).unwrap();
        witness.expect("T D C Z(I)").unwrap();
    }
    assert_bounded(&proxied, before, BOUND_BYTES);
}

#[test]
fn wrong_start_up_packets_end_the_connection() {
    let proxied = Stack::get().proxy().unwrap();
    let version = VERSION_3.to_be_bytes();
    let packet = |body: &[u8]| {
        let length = u32::try_from(body.len() + 8).unwrap();
        Front::Bytes([length.to_be_bytes().as_slice(), &version, body].concat())
    };
    for (name, message) in [
        ("no last byte", packet(b"user\0acme_app\0")),
        ("a key without a value", packet(b"user\0acme_app\0database\0")),
        ("bytes behind the end", packet(b"user\0acme_app\0\0more\0")),
        ("no UTF-8", packet(b"user\0acme_\xff\0\0")),
        ("no user", packet(b"database\0lab\0\0")),
        ("an empty user", packet(b"user\0\0\0")),
        ("protocol 2", startup(0x0002_0000, &[("user", "acme_app")])),
        ("protocol 4", startup(0x0004_0000, &[("user", "acme_app")])),
        ("an HTTP request", Front::Bytes(b"GET / HTTP/1.1\r\nHost: pgmoat\r\n\r\n".to_vec())),
    ] {
        let mut raw = Raw::open(proxied.proxy.port()).unwrap();
        raw.send(&[message]).unwrap();
        let heard = raw.read(1).unwrap();
        assert!(heard.closed, "{name}: {heard}");
        assert!(!heard.to_string().contains('R'), "{name}: nobody is asked for a password: {heard}");
    }
    Raw::connect(&proxied.login("acme_app")).unwrap();
}

/// Half a packet, and the end of input: nothing is left waiting.
#[test]
fn the_end_of_input_within_a_login_is_its_end() {
    let proxied = Stack::get().proxy().unwrap();
    let mut whole = Vec::new();
    startup(VERSION_3, &[("user", "acme_app"), ("database", "lab")]).encode(&mut whole).unwrap();
    for cut in 0..whole.len() {
        let mut raw = Raw::open(proxied.proxy.port()).unwrap();
        raw.send_bytes(&whole[..cut]).unwrap();
        raw.end_of_input().unwrap();
        let heard = raw.read(1).unwrap();
        assert_eq!(heard.to_string(), "closed", "cut at {cut}");
    }
}

fn assert_ended(name: &str, heard: &Transcript) {
    assert!(heard.closed, "{name}: {heard}");
    let codes = heard.codes();
    assert!(
        codes.iter().all(|code| code == "08P01" || code == "28P01" || code == "28000"),
        "{name}: {heard}"
    );
}

const VERSION_3: u32 = 0x0003_0000;
const GLOBEX: &str = "SELECT id FROM app.orders WHERE tenant_id = 'globex' AND id = 1";
const BOUND_BYTES: u64 = 64 << 20;
