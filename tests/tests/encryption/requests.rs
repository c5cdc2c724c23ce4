//! SSLRequest and GSSENCRequest: in the order and as often as PostgreSQL takes them.

use std::io::Write as _;

use pgmoat_tests::front::{gss_request, q, ssl_request, startup};
use pgmoat_tests::{Front, Proxied, Raw, Stack};

use crate::secured::{ONE, Secured, VERSION_3};

/// While the answer is N, the two may take turns for ever; the same one twice in a row is no request any more.
#[test]
fn declined_requests_take_turns_as_with_postgresql() {
    let proxied = Stack::get().proxy().unwrap();
    let direct = Stack::get().cluster().port();
    for first_is_ssl in [true, false] {
        let mut raw = Raw::open(proxied.proxy.port()).unwrap();
        for turn in 0..6 {
            let ssl = (turn % 2 == 0) == first_is_ssl;
            raw.send(&[if ssl { ssl_request() } else { gss_request() }]).unwrap();
            assert_eq!(raw.next_byte().unwrap(), Some(b'N'), "turn {turn}");
        }
        raw.log_in(&proxied.login("acme_app")).unwrap();
    }
    // A server may be built with GSSAPI, so directly only the other one is asked for.
    for (port, requests) in
        [(direct, &[ssl_request()][..]), (proxied.proxy.port(), &[ssl_request(), gss_request()])]
    {
        for request in requests {
            let mut raw = Raw::open(port).unwrap();
            raw.send(std::slice::from_ref(request)).unwrap();
            assert_eq!(raw.next_byte().unwrap(), Some(b'N'));
            raw.send(std::slice::from_ref(request)).unwrap();
            let heard = raw.read(1).unwrap();
            assert_eq!(heard.codes(), ["0A000"], "port {port}: {heard}");
            assert!(heard.closed);
        }
    }
}

#[test]
fn after_a_handshake_neither_is_a_request_any_more() {
    let secured = Secured::with_mode("allow");
    for request in [ssl_request(), gss_request()] {
        let mut raw = Raw::open_tls(secured.port(), &secured.client()).unwrap();
        raw.send(&[request]).unwrap();
        let heard = raw.read(1).unwrap();
        assert_eq!(heard.codes(), ["0A000"], "{heard}");
    }
    let mut raw = Raw::open(secured.port()).unwrap();
    raw.send(&[gss_request()]).unwrap();
    assert_eq!(raw.next_byte().unwrap(), Some(b'N'));
    raw.send(&[ssl_request()]).unwrap();
    assert_eq!(raw.next_byte().unwrap(), Some(b'S'));
    let mut raw = raw.encrypt(&secured.client()).unwrap();
    raw.log_in(&secured.login("acme_app")).unwrap();
    raw.query(ONE).unwrap();
}

/// Known faults F7, CVE-2021-23214: what was sent in the clear behind the request is not taken for what the client
/// said under encryption. Once the whole packet, once a single byte, once half a handshake.
#[test]
fn bytes_behind_a_request_end_the_connection_before_a_handshake() {
    let secured = Secured::with_mode("allow");
    let login = startup(VERSION_3, &[("user", "acme_app"), ("database", "lab")]);
    for behind in [login, Front::Bytes(vec![0]), Front::Bytes(vec![0x16, 3, 1]), q("SELECT 1")] {
        for request in [ssl_request(), gss_request()] {
            let mut raw = Raw::open(secured.port()).unwrap();
            raw.send(&[request, behind.clone()]).unwrap();
            let heard = raw.read(1).unwrap();
            assert!(heard.closed, "{heard}");
            assert_eq!(heard.codes(), ["08P01"], "{heard}");
        }
    }
}

/// The same bytes, late: they come when the server already waits for the handshake.
#[test]
fn bytes_in_the_clear_instead_of_a_handshake_end_the_connection() {
    let secured = Secured::with_mode("allow");
    let mut raw = Raw::open(secured.port()).unwrap();
    raw.send(&[ssl_request()]).unwrap();
    assert_eq!(raw.next_byte().unwrap(), Some(b'S'));
    raw.send(&[startup(VERSION_3, &[("user", "acme_app"), ("database", "lab")])]).unwrap();
    let mut socket = raw.tcp().unwrap().try_clone().unwrap();
    let mut heard = Vec::new();
    let _ = std::io::Read::read_to_end(&mut socket, &mut heard);
    // A TLS alert may come; no message of the protocol does.
    assert!(heard.is_empty() || heard[0] == 0x15, "{heard:?}");
    let _ = socket.write_all(b"x");
    assert_serves(&secured.proxied);
}

/// Known faults I4: everything of a login in writes of one byte, the handshake too.
#[test]
fn a_login_byte_by_byte_works() {
    let secured = Secured::with_mode("require");
    let mut raw = Raw::open(secured.port()).unwrap();
    raw.write_byte_by_byte();
    raw.send(&[ssl_request()]).unwrap();
    assert_eq!(raw.next_byte().unwrap(), Some(b'S'));
    let mut raw = raw.encrypt(&secured.client()).unwrap();
    raw.write_byte_by_byte();
    raw.log_in(&secured.login("acme_app")).unwrap();
    raw.send(&[q(ONE)]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
}

fn assert_serves(proxied: &Proxied) {
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.send(&[q(ONE)]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
}
