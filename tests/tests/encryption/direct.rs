//! Direct TLS: the first byte is the handshake's, and the protocol is named (ALPN `postgresql`).

use std::io::{Read as _, Write as _};

use pgmoat_tests::front::{gss_request, q, ssl_request};
use pgmoat_tests::{Raw, Stack, TlsClient};

use crate::secured::{ONE, Secured};

#[test]
fn direct_tls_with_the_protocols_name_serves() {
    let secured = Secured::with_mode("require");
    let mut raw = Raw::open_direct_tls(secured.port(), &secured.client()).unwrap();
    // PostgreSQL declines requests for encryption here, and goes on.
    for request in [ssl_request(), gss_request()] {
        raw.send(&[request]).unwrap();
        assert_eq!(raw.next_byte().unwrap(), Some(b'N'));
    }
    raw.log_in(&secured.login("acme_app")).unwrap();
    raw.send(&[q(ONE)]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
}

#[test]
fn direct_tls_without_the_name_or_with_another_is_refused() {
    let secured = Secured::with_mode("require");
    let nameless = TlsClient::new(&secured.authority.certificate(), None, &[]).unwrap();
    // The handshake itself succeeds; nothing is said afterwards.
    if let Ok(mut raw) = Raw::open_direct_tls(secured.port(), &nameless) {
        assert!(raw.log_in(&secured.login("acme_app")).is_err());
    }
    let other = TlsClient::new(&secured.authority.certificate(), None, &[b"http/1.1"]).unwrap();
    let refused = Raw::open_direct_tls(secured.port(), &other).unwrap_err().to_string();
    assert!(refused.contains("NoApplicationProtocol"), "{refused}");
    // By request it need not be named, as clients before PostgreSQL 17 do not; but not another.
    let mut raw = Raw::open_tls(secured.port(), &nameless).unwrap();
    raw.log_in(&secured.login("acme_app")).unwrap();
    assert!(Raw::open_tls(secured.port(), &other).is_err());
}

#[test]
fn direct_tls_where_none_is_offered_is_closed() {
    let secured = Secured::with_mode("allow");
    let proxied = Stack::get().proxy().unwrap();
    assert!(Raw::open_direct_tls(proxied.proxy.port(), &secured.client()).is_err());
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    raw.query(ONE).unwrap();
}

/// A handshake that does not end is ended by the login's time, like everything before the login.
#[test]
fn a_handshake_that_does_not_end_is_ended() {
    let secured = Secured::with_mode("allow");
    let extra = crate::secured::tls_section(&secured.server, "allow", None);
    let hurried = Stack::get()
        .proxy_with(|config| config.extra = format!("{extra}limits: {{ login_timeout_ms: 1000 }}\n"))
        .unwrap();
    let raw = Raw::open(hurried.proxy.port()).unwrap();
    let mut socket = raw.tcp().unwrap();
    // A record of 512 bytes is announced; its first come.
    socket.write_all(&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc]).unwrap();
    let mut heard = Vec::new();
    let _ = socket.read_to_end(&mut heard);
    assert!(heard.is_empty(), "{heard:?}");
}
