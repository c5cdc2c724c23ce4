//! TLS records: their size to clients, and whatever size clients send.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use pgmoat_tests::Raw;
use pgmoat_tests::front::{b, e, p, q, s, ssl_request};

use crate::secured::{ONE, Secured};

/// Known faults F2: libpq's asynchronous users wait for the socket while the rest of a record that is longer than
/// 8 KiB lies in the TLS library. Counted on the wire, header and tag included.
#[test]
fn no_record_to_a_client_is_longer_than_8_kib() {
    let secured = Secured::with_mode("require");
    let (port, heard) = listening_relay(secured.port());
    let mut raw = Raw::open_tls(port, &secured.client()).unwrap();
    let mut login = secured.login("acme_app");
    login.port = port;
    raw.log_in(&login).unwrap();
    raw.send(&[q(BIG)]).unwrap();
    let answer = raw.read(1).unwrap();
    assert_eq!(answer.rows()[0][0].as_ref().unwrap().len(), BIG_BYTES);
    raw.send(&[q(MANY)]).unwrap();
    assert_eq!(raw.read(1).unwrap().rows().len(), 20_000);
    let records = records(&heard.lock().unwrap());
    assert!(records.iter().sum::<usize>() > BIG_BYTES, "all was seen");
    assert!(records.iter().all(|bytes| *bytes <= 8 << 10), "{}", records.iter().max().unwrap());
    // Nor is a result cut into crumbs.
    assert!(
        records.len() < 2 * (records.iter().sum::<usize>() / (8 << 10)) + 100,
        "{} records",
        records.len()
    );
}

/// Known faults F1: one record of 16 KiB has many messages; the socket says nothing more when they are in the TLS
/// library already.
#[test]
fn many_messages_in_one_record_are_all_answered() {
    let secured = Secured::with_mode("require");
    let mut raw = secured.connect("acme_app").unwrap();
    let batch: Vec<_> = (0..150).map(|_| q(ONE)).collect();
    raw.send(&batch).unwrap();
    let heard = raw.read(batch.len()).unwrap();
    assert_eq!(heard.rows().len(), batch.len());
    raw.expect_silence().unwrap();
}

/// Known faults F1, F4: each byte of a statement is a record of its own.
#[test]
fn a_statement_in_records_of_one_byte_is_one_statement() {
    let secured = Secured::with_mode("require");
    let mut raw = secured.connect("acme_app").unwrap();
    raw.write_byte_by_byte();
    for _ in 0..20 {
        raw.send(&[q(ONE)]).unwrap();
        raw.expect("T D C Z(I)").unwrap();
    }
}

/// Known faults F13, F1: a long statement and a long result, through records both ways, to a client that reads slowly.
#[test]
fn long_messages_pass_both_ways() {
    let secured = Secured::with_mode("require");
    let mut raw = secured.connect("acme_app").unwrap();
    let long = "x".repeat(1 << 20);
    let text = "SELECT id, $1::text FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
    raw.send(&[p("", text), b("", "", &[&long]), e("", 0), s()]).unwrap();
    thread::sleep(std::time::Duration::from_millis(200));
    let heard = raw.read(1).unwrap();
    assert_eq!(heard.rows()[0][1].as_ref().unwrap().len(), 1 << 20);
    for _ in 0..5 {
        raw.send(&[q(BIG)]).unwrap();
        thread::sleep(std::time::Duration::from_millis(50));
        assert_eq!(raw.read(1).unwrap().rows()[0][0].as_ref().unwrap().len(), BIG_BYTES);
    }
}

/// Known faults F3: keys are renewed in the middle of a session, by the client's wish, also while a result is on its
/// way, and with nothing else to say.
#[test]
fn keys_are_renewed_in_the_middle() {
    let secured = Secured::with_mode("require");
    let mut raw = secured.connect("acme_app").unwrap();
    for round in 0..20 {
        raw.tls().unwrap().refresh_traffic_keys().unwrap();
        if round % 2 == 0 {
            raw.send(&[q(BIG)]).unwrap();
            raw.tls().unwrap().refresh_traffic_keys().unwrap();
            assert_eq!(raw.read(1).unwrap().rows()[0][0].as_ref().unwrap().len(), BIG_BYTES, "{round}");
        } else {
            raw.send(&[q(ONE)]).unwrap();
            raw.expect("T D C Z(I)").unwrap();
        }
    }
}

#[test]
fn a_request_and_the_handshake_in_pieces_of_a_few_bytes() {
    let secured = Secured::with_mode("require");
    let (port, _) = listening_relay(secured.port());
    let mut raw = Raw::open(port).unwrap();
    raw.write_at_most(3);
    raw.send(&[ssl_request()]).unwrap();
    assert_eq!(raw.next_byte().unwrap(), Some(b'S'));
    raw.encrypt(&secured.client()).unwrap();
}

/// Relays one connection in pieces of at most 7 bytes from the client; keeps what the proxy sends.
fn listening_relay(to: u16) -> (u16, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heard);
    thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        let proxy = TcpStream::connect(("127.0.0.1", to)).unwrap();
        proxy.set_nodelay(true).unwrap();
        let (mut from_client, mut to_proxy) = (client.try_clone().unwrap(), proxy.try_clone().unwrap());
        thread::spawn(move || {
            let mut few = [0; 7];
            while let Ok(count @ 1..) = from_client.read(&mut few) {
                if to_proxy.write_all(&few[..count]).is_err() {
                    break;
                }
            }
        });
        let (mut from_proxy, mut to_client) = (proxy, client);
        let mut bytes = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from_proxy.read(&mut bytes) {
            kept.lock().unwrap().extend_from_slice(&bytes[..count]);
            if to_client.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
    });
    (port, heard)
}

/// The lengths of the TLS records behind the `S`, their headers included.
fn records(bytes: &[u8]) -> Vec<usize> {
    let mut rest = bytes.strip_prefix(b"S").unwrap();
    let mut lengths = Vec::new();
    while rest.len() >= 5 {
        assert!((0x14..=0x17).contains(&rest[0]), "a record");
        let length = 5 + usize::from(u16::from_be_bytes([rest[3], rest[4]]));
        lengths.push(length);
        rest = rest.get(length..).unwrap_or_default();
    }
    lengths
}

const BIG_BYTES: usize = 300_000;
const BIG: &str = "SELECT repeat('y', 300000) FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
const MANY: &str =
    "SELECT o.id FROM app.orders o, generate_series(1, 20000) WHERE o.tenant_id = 'acme' AND o.id = 2";
