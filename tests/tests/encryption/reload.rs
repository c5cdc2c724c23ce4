//! Certificates are replaced while the proxy runs: for connections that come, and for no other.

use std::fs;
use std::time::{Duration, Instant};

use pgmoat_tests::front::q;
use pgmoat_tests::{Authority, Raw, TlsClient};

use crate::secured::{ONE, Secured};

#[test]
fn a_new_certificate_is_for_new_connections_and_a_bad_one_for_nobody() {
    let mut secured = Secured::with_mode("require");
    let mut old = secured.connect("acme_app").unwrap();
    let first = fs::read(&secured.server.cert).unwrap();

    let renewed = Authority::new().unwrap();
    let identity = renewed.server("server", &["localhost"]).unwrap();
    fs::copy(&identity.key, &secured.server.key).unwrap();
    fs::copy(&identity.cert, &secured.server.cert).unwrap();
    secured.proxied.proxy.hang_up().unwrap();
    let trusting = TlsClient::new(&renewed.certificate(), None, &[]).unwrap();
    eventually("the new certificate is shown", || Raw::open_tls(secured.port(), &trusting).is_ok());
    assert!(Raw::open_tls(secured.port(), &secured.client()).is_err(), "the old one is not");
    // SCRAM binds to the certificate that this connection has seen.
    let mut new = Raw::open_tls(secured.port(), &trusting).unwrap();
    new.log_in(&secured.login("acme_app")).unwrap();
    for raw in [&mut old, &mut new] {
        raw.send(&[q(ONE)]).unwrap();
        raw.expect("T D C Z(I)").unwrap();
    }

    for (name, cert) in [("no certificate", b"nothing\n".to_vec()), ("another key's", first)] {
        let told = |secured: &Secured| secured.proxied.proxy.log().matches("server.crt").count();
        let before = told(&secured);
        fs::write(&secured.server.cert, cert).unwrap();
        secured.proxied.proxy.hang_up().unwrap();
        eventually(name, || told(&secured) > before);
        Raw::open_tls(secured.port(), &trusting).unwrap();
        old.send(&[q(ONE)]).unwrap();
        old.expect("T D C Z(I)").unwrap();
    }
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
