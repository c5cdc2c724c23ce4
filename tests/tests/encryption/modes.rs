//! `tls.mode`: what clients must do, and what they are told otherwise.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use pgmoat_lab::SERVICE_PASSWORD;
use pgmoat_tests::front::{cancel_request, q, ssl_request};
use pgmoat_tests::{Authority, Identity, Raw, Stack, pgmoat_binary};

use crate::secured::{ONE, Secured, audited, tls_section};

#[test]
fn allow_serves_with_and_without() {
    let secured = Secured::with_mode("allow");
    let mut encrypted = secured.connect("acme_app").unwrap();
    let mut plain = Raw::connect(&secured.login("acme_app")).unwrap();
    for raw in [&mut encrypted, &mut plain] {
        raw.send(&[q(ONE)]).unwrap();
        raw.expect("T D C Z(I)").unwrap();
    }
    let logins = audited(&secured.proxied, "login");
    let seen: Vec<_> = logins.iter().map(|line| (line["tls"].as_str(), line["method"].as_str())).collect();
    let expected = [(Some("TLSv1.3"), Some("scram-sha-256-plus")), (None, Some("scram-sha-256"))];
    assert_eq!(seen, expected);
}

#[test]
fn require_refuses_who_does_without_before_anything_secret_is_said() {
    for mode in ["require", "verify"] {
        let secured = Secured::with_mode(mode);
        let refused = Raw::connect(&secured.login("acme_app")).unwrap_err().to_string();
        assert!(refused.starts_with("E(28000,FATAL)\n  pgmoat requires TLS"), "{refused}");
        let failed = audited(&secured.proxied, "login_failed");
        assert_eq!(failed[0]["reason"], "no TLS");
    }
    let secured = Secured::with_mode("require");
    secured.connect("acme_app").unwrap().query(ONE).unwrap();
}

#[test]
fn disable_declines_and_so_does_a_proxy_without_the_section() {
    for extra in [Secured::with_mode("disable").proxied, Stack::get().proxy().unwrap()] {
        let mut raw = Raw::open(extra.proxy.port()).unwrap();
        raw.send(&[ssl_request()]).unwrap();
        assert_eq!(raw.next_byte().unwrap(), Some(b'N'));
        raw.log_in(&extra.login("acme_app")).unwrap();
    }
}

/// What `check` and the start say of files that are no certificate, no key, or not each other's.
#[test]
fn bad_files_are_told_with_their_place() {
    let authority = Authority::new().unwrap();
    let server = authority.server("server", &["localhost"]).unwrap();
    let other = authority.server("other", &["localhost"]).unwrap();
    let missing = authority.folder().join("missing.pem");
    for (identity, words) in [
        (Identity { cert: missing.clone(), key: server.key.clone() }, "tls.cert: cannot read"),
        (Identity { cert: server.key.clone(), key: server.key.clone() }, "it holds no certificate"),
        (Identity { cert: server.cert.clone(), key: missing.clone() }, "tls.key: cannot read"),
        (Identity { cert: server.cert.clone(), key: server.cert.clone() }, "tls.key: cannot read"),
        (Identity { cert: server.cert.clone(), key: other.key.clone() }, "the key is not the certificate's"),
    ] {
        let tls = tls_section(&identity, "require", None);
        let refused = Stack::get().proxy_with(|config| config.extra = tls).unwrap_err().to_string();
        assert!(refused.contains("pgmoat.yaml:") && refused.contains(words), "{words}: {refused}");
    }
    let ca = tls_section(&server, "verify", Some(&server.key));
    let refused = Stack::get().proxy_with(|config| config.extra = ca).unwrap_err().to_string();
    assert!(refused.contains("tls.client_ca: cannot read"), "{refused}");

    let proxied =
        Stack::get().proxy_with(|config| config.extra = tls_section(&server, "require", None)).unwrap();
    std::fs::set_permissions(&server.key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let check = std::process::Command::new(pgmoat_binary().unwrap())
        .args(["check", "-c"])
        .arg(proxied.proxy.config_path())
        .env("PGMOAT_UPSTREAM_PASSWORD", SERVICE_PASSWORD)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&check.stderr);
    assert!(check.status.success() && said.contains("can be read by others than its owner"), "{said}");
}

/// libpq before 17 sends cancel requests in the clear whatever the connection is; later ones encrypt them.
#[test]
fn a_cancel_request_is_taken_in_the_clear_and_encrypted() {
    let secured = Secured::with_mode("require");
    let raw = secured.connect("acme_app").unwrap();
    let mut plain = Raw::open(secured.port()).unwrap();
    plain.send(&[cancel_request(&raw.cancel_key())]).unwrap();
    plain.expect("closed").unwrap();
    let mut encrypted = Raw::open_tls(secured.port(), &secured.client()).unwrap();
    encrypted.send(&[cancel_request(&raw.cancel_key())]).unwrap();
    encrypted.expect("closed").unwrap();
    let idle = || audited(&secured.proxied, "cancel").iter().filter(|line| line["outcome"] == "idle").count();
    // A cancel waits for no audit.
    let deadline = Instant::now() + Duration::from_secs(20);
    while idle() < 2 {
        assert!(Instant::now() < deadline, "{} lines", idle());
        std::thread::sleep(Duration::from_millis(5));
    }
}
