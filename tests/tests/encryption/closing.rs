//! How encrypted connections end.

use std::io::Write as _;
use std::time::{Duration, Instant};

use pgmoat_tests::front::{framed, q};
use pgmoat_tests::{Proxied, Raw};

use crate::secured::{ONE, Secured, audited};

/// Known faults F5: psql's good-bye, an end of the stream with and without TLS's own, a reset. Each is one line of the
/// audit log with its reason; none is an error in the proxy's log.
#[test]
fn each_kind_of_end_has_its_reason_and_none_is_noise() {
    let secured = Secured::with_mode("require");
    for (reason, end) in [
        ("terminate", &(|raw: &mut Raw| raw.send(&[framed(b'X', b"")]).unwrap()) as &dyn Fn(&mut Raw)),
        ("eof", &|raw| raw.end_of_input().unwrap()),
        ("eof", &|raw| {
            raw.tls().unwrap().send_close_notify();
            let _ = raw.send_bytes(b"");
            raw.end_of_input().unwrap();
        }),
        ("eof", &|raw| drop(raw.tcp().unwrap().shutdown(std::net::Shutdown::Both))),
    ] {
        let before = audited(&secured.proxied, "logout").len();
        let mut raw = secured.connect("acme_app").unwrap();
        raw.query(ONE).unwrap();
        end(&mut raw);
        assert_eq!(logout(&secured.proxied, before), reason);
    }
    let log = secured.proxied.proxy.log();
    assert!(!log.contains("ERROR") && !log.contains("close_notify"), "{log}");
}

/// Known faults F6: a fatal alert, and bytes that are no record, in the middle of a session: the session is over, and
/// its upstream connection is not kept busy.
#[test]
fn an_alert_or_rubbish_ends_the_session() {
    let secured = Secured::with_mode("require");
    // A fatal alert in the clear, which a peer under TLS 1.3 cannot mean; and no TLS at all.
    for bytes in [&[0x15, 3, 3, 0, 2, 2, 40][..], b"Q\0\0\0\x0dSELECT 1\0", &[0x17, 3, 3, 0x40, 0x01]] {
        let before = audited(&secured.proxied, "logout").len();
        let mut raw = secured.connect("acme_app").unwrap();
        raw.query(ONE).unwrap();
        raw.tcp().unwrap().write_all(bytes).unwrap();
        if bytes.len() == 5 {
            // The header of a record that is longer than TLS allows needs no body to be wrong; half a record does.
            raw.end_of_input().unwrap();
        }
        assert_eq!(logout(&secured.proxied, before), "eof", "{bytes:?}");
    }
    secured.connect("acme_app").unwrap().query(ONE).unwrap();
}

/// A last word reaches the client through TLS, and the end is said (close_notify), so that it is no truncation.
#[test]
fn last_words_are_whole() {
    let secured = Secured::with_mode("require");
    let login = pgmoat_tests::Login { password: "wrong".into(), ..secured.login("acme_app") };
    let mut raw = Raw::open_tls(secured.port(), &secured.client()).unwrap();
    let refused = raw.log_in(&login).unwrap_err().to_string();
    assert!(refused.contains("28P01"), "{refused}");
    assert!(raw.next_message().unwrap().is_none(), "an end, and no error of the TLS library");
    let mut raw = secured.connect("acme_app").unwrap();
    raw.send(&[q(ONE), framed(b'!', b"")]).unwrap();
    let heard = raw.read(2).unwrap();
    assert!(heard.closed && heard.codes() == ["08P01"], "{heard}");
}

/// The reason of the next line `logout`.
fn logout(proxied: &Proxied, before: usize) -> String {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let lines = audited(proxied, "logout");
        if let Some(line) = lines.get(before) {
            return line["reason"].as_str().unwrap().to_owned();
        }
        assert!(Instant::now() < deadline, "no logout");
        std::thread::sleep(Duration::from_millis(20));
    }
}
