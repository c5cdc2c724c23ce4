//! SCRAM-SHA-256-PLUS (`tls-server-end-point`): offered where the certificate has a binding, and not to be talked away.

use pgmoat_tests::front::{framed, startup};
use pgmoat_tests::{Authority, Front, Raw};
use postgres_protocol::authentication::sasl::{ChannelBinding, ScramSha256};

use crate::secured::{Secured, VERSION_3, audited};

#[test]
fn each_kind_of_certificate_binds_or_is_not_offered() {
    let (rsa, pss) = (rsa_key(), rsa_key());
    for (name, authority, plus) in [
        ("P-256", Authority::with(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap(), true),
        ("P-384", Authority::with(&rcgen::PKCS_ECDSA_P384_SHA384).unwrap(), true),
        ("RSA", Authority::with_key(&rsa, &rcgen::PKCS_RSA_SHA256).unwrap(), true),
        ("RSA with SHA-512", Authority::with_key(&pss, &rcgen::PKCS_RSA_SHA512).unwrap(), true),
        ("Ed25519", Authority::with(&rcgen::PKCS_ED25519).unwrap(), false),
    ] {
        let secured = Secured::by(authority, "require");
        assert_eq!(offered(&secured).contains(&"SCRAM-SHA-256-PLUS".to_owned()), plus, "{name}");
        secured.connect("acme_app").unwrap();
        let method = if plus { "scram-sha-256-plus" } else { "scram-sha-256" };
        assert_eq!(audited(&secured.proxied, "login")[0]["method"], method, "{name}");
        let warned = secured.proxied.proxy.log().contains("SCRAM-SHA-256-PLUS is not offered");
        assert_eq!(warned, !plus, "{name}: {}", secured.proxied.proxy.log());
    }
}

/// RFC 8702's RSA-PSS names no one hash in its identifier: no binding (RFC 5929 4.1), and a warning.
#[test]
fn rsa_pss_has_no_binding() {
    let authority = Authority::new().unwrap();
    let folder = authority.folder().to_owned();
    openssl(
        &folder,
        "req -x509 -newkey rsa:2048 -nodes -keyout pss.key -out pss.crt -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:-1 -sha256",
    );
    let server = pgmoat_tests::Identity { cert: folder.join("pss.crt"), key: folder.join("pss.key") };
    let tls = crate::secured::tls_section(&server, "require", None);
    let proxied = pgmoat_tests::Stack::get().proxy_with(|config| config.extra = tls).unwrap();
    let client = pgmoat_tests::TlsClient::new(&server.cert, None, &[]).unwrap();
    let mut raw = Raw::open_tls(proxied.proxy.port(), &client).unwrap();
    raw.log_in(&proxied.login("acme_app")).unwrap();
    assert_eq!(audited(&proxied, "login")[0]["method"], "scram-sha-256");
    assert!(proxied.proxy.log().contains("SCRAM-SHA-256-PLUS is not offered"));
}

#[test]
fn without_tls_there_is_no_plus() {
    let secured = Secured::with_mode("allow");
    let mut raw = Raw::open(secured.port()).unwrap();
    assert_eq!(mechanisms(&mut raw), ["SCRAM-SHA-256"]);
    let mut raw = Raw::open_tls(secured.port(), &secured.client()).unwrap();
    assert_eq!(mechanisms(&mut raw), ["SCRAM-SHA-256-PLUS", "SCRAM-SHA-256"], "the better one first");
}

/// RFC 5802 6: the mechanism's name and the flag say the same, and `y` where PLUS was offered means that somebody took
/// the offer away.
#[test]
fn name_and_flag_say_the_same() {
    let secured = Secured::with_mode("allow");
    for (name, tls, mechanism, gs2, code) in [
        ("PLUS with n", true, "SCRAM-SHA-256-PLUS", "n,,", "08P01"),
        ("PLUS with y", true, "SCRAM-SHA-256-PLUS", "y,,", "08P01"),
        ("PLUS that was not offered", false, "SCRAM-SHA-256-PLUS", "p=tls-server-end-point,,", "08P01"),
        ("plain with p=", true, "SCRAM-SHA-256", "p=tls-server-end-point,,", "08P01"),
        ("plain with p= in the clear", false, "SCRAM-SHA-256", "p=tls-server-end-point,,", "08P01"),
        ("y where PLUS was offered", true, "SCRAM-SHA-256", "y,,", "28000"),
        ("another binding", true, "SCRAM-SHA-256-PLUS", "p=tls-unique,,", "08P01"),
        ("an authorization identity", true, "SCRAM-SHA-256-PLUS", "p=tls-server-end-point,a=ops,", "08P01"),
    ] {
        let mut raw = open(&secured, tls);
        raw.send(&[initial(mechanism, &format!("{gs2}n=,r=rOprNGfwEbeRWgbNEkqO"))]).unwrap();
        let heard = raw.read(1).unwrap();
        assert_eq!(heard.codes(), [code], "{name}: {heard}");
        assert!(heard.closed, "{name}");
    }
    // What is no downgrade: a client that cannot, and one that could where nobody offered.
    for (tls, gs2) in [(true, "n,,"), (false, "n,,"), (false, "y,,")] {
        let mut raw = open(&secured, tls);
        raw.send(&[initial("SCRAM-SHA-256", &format!("{gs2}n=,r=rOprNGfwEbeRWgbNEkqO"))]).unwrap();
        assert_eq!(raw.next_message().unwrap().unwrap().to_string(), "R");
    }
}

/// Somebody in between has a certificate of his own: the client's proof is bound to that one.
#[test]
fn a_proof_for_another_certificate_is_refused() {
    let secured = Secured::with_mode("allow");
    let mut raw = open(&secured, true);
    let elsewhere = ChannelBinding::tls_server_end_point(vec![7; 32]);
    let mut scram = ScramSha256::new(b"acme_app-secret", elsewhere);
    raw.send(&[initial("SCRAM-SHA-256-PLUS", std::str::from_utf8(scram.message()).unwrap())]).unwrap();
    let challenge = raw.next_message().unwrap().unwrap();
    scram.update(&challenge.body[4..]).unwrap();
    raw.send(&[framed(b'p', scram.message())]).unwrap();
    let heard = raw.read(1).unwrap();
    assert_eq!(heard.codes(), ["28000"], "{heard}");
    assert_eq!(heard.error_field(b'M').as_deref(), Some("SCRAM channel binding check failed"));
}

fn offered(secured: &Secured) -> Vec<String> {
    mechanisms(&mut Raw::open_tls(secured.port(), &secured.client()).unwrap())
}

fn mechanisms(raw: &mut Raw) -> Vec<String> {
    raw.send(&[startup(VERSION_3, &[("user", "acme_app"), ("database", "lab")])]).unwrap();
    let message = raw.next_message().unwrap().unwrap();
    let names = message.body[4..].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8(name.to_vec()).unwrap()).collect()
}

/// A connection that was asked for a mechanism.
fn open(secured: &Secured, tls: bool) -> Raw {
    let mut raw = match tls {
        true => Raw::open_tls(secured.port(), &secured.client()).unwrap(),
        false => Raw::open(secured.port()).unwrap(),
    };
    mechanisms(&mut raw);
    raw
}

fn initial(mechanism: &str, message: &str) -> Front {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    framed(b'p', &[mechanism.as_bytes(), b"\0", &length, message.as_bytes()].concat())
}

/// PostgreSQL's own package brings the program; the library that makes the other certificates makes no RSA keys.
fn rsa_key() -> String {
    let folder = tempfile::tempdir().unwrap();
    openssl(folder.path(), "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.key");
    std::fs::read_to_string(folder.path().join("rsa.key")).unwrap()
}

fn openssl(folder: &std::path::Path, arguments: &str) {
    let output = std::process::Command::new("openssl")
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap_or_else(|error| panic!("openssl is needed here: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
