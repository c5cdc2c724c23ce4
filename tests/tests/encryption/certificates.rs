//! `tls.mode: verify`: a certificate of the user's besides the password.

use pgmoat_lab::{Proxy, ProxyConfig};
use pgmoat_tests::{Authority, Identity, Raw, Stack, TlsClient, pgmoat_binary};

use crate::secured::{ONE, Secured, audited, tls_section};

#[test]
fn the_users_own_certificate_and_password_log_in() {
    let secured = Secured::with_mode("verify");
    let own = secured.authority.client("own", "acme_app").unwrap();
    let mut raw = Raw::open_tls(secured.port(), &secured.client_as(&own)).unwrap();
    raw.log_in(&secured.login("acme_app")).unwrap();
    raw.query(ONE).unwrap();
}

#[test]
fn what_is_not_the_users_own_does_not() {
    let secured = Secured::with_mode("verify");
    let refused = secured.connect("acme_app").unwrap_err().to_string();
    assert!(
        refused.contains("E(28000,FATAL)\n  connection requires a valid client certificate"),
        "{refused}"
    );
    for common_name in ["globex_app", "ACME_APP", "acme_app ", "acme_app\0x", ""] {
        let other = secured.authority.client("other", common_name).unwrap();
        let mut raw = Raw::open_tls(secured.port(), &secured.client_as(&other)).unwrap();
        let refused = raw.log_in(&secured.login("acme_app")).unwrap_err().to_string();
        let words = "E(28000,FATAL)\n  certificate authentication failed for user \"acme_app\"";
        assert!(refused.contains(words), "{common_name:?}: {refused}");
    }
    assert!(audited(&secured.proxied, "login").is_empty());
}

/// The certificate is looked at after the password: to who has a certificate and no password, all users are alike.
#[test]
fn a_certificate_tells_nothing_without_the_password() {
    let secured = Secured::with_mode("verify");
    let own = secured.authority.client("own", "acme_app").unwrap();
    let mut said = Vec::new();
    for user in ["acme_app", "globex_app", "nobody_here"] {
        let mut raw = Raw::open_tls(secured.port(), &secured.client_as(&own)).unwrap();
        let login = pgmoat_tests::Login { password: "wrong".into(), ..secured.login(user) };
        said.push(raw.log_in(&login).unwrap_err().to_string().replace(user, "USER"));
    }
    assert!(said[0].contains("28P01"), "{}", said[0]);
    assert!(said.iter().all(|words| words == &said[0]), "{said:?}");
}

#[test]
fn a_certificate_of_another_authority_ends_the_handshake() {
    let secured = Secured::with_mode("verify");
    let other = Authority::new().unwrap();
    let stranger = other.client("own", "acme_app").unwrap();
    let client = secured.client_as(&stranger);
    // In TLS 1.3 the server's no comes after the client's own end of the handshake.
    let login =
        Raw::open_tls(secured.port(), &client).and_then(|mut raw| raw.log_in(&secured.login("acme_app")));
    assert!(login.is_err());
    assert!(audited(&secured.proxied, "login").is_empty());
}

#[test]
fn a_server_certificate_is_no_clients() {
    let secured = Secured::with_mode("verify");
    let client = secured.client_as(&secured.server);
    let login =
        Raw::open_tls(secured.port(), &client).and_then(|mut raw| raw.log_in(&secured.login("acme_app")));
    assert!(login.is_err(), "its common name is no user's");
}

#[test]
fn a_user_may_have_a_certificate_of_another_name() {
    let authority = Authority::new().unwrap();
    let server = authority.server("server", &["localhost"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let database = Stack::get().database().unwrap();
    let mut config = ProxyConfig::lab(Stack::get().cluster(), &database);
    config.extra = tls_section(&server, "verify", Some(&authority.certificate()));
    let yaml = config.yaml("policy.yaml");
    let named = yaml.replace("name: acme_app,", "name: acme_app, certificate: billing.example.org,");
    assert_ne!(named, yaml);
    std::fs::write(folder.path().join("pgmoat.yaml"), named).unwrap();
    std::fs::write(folder.path().join("policy.yaml"), &config.policy).unwrap();
    let proxy = Proxy::start_in(&pgmoat_binary().unwrap(), folder.path(), &config.env).unwrap();
    let log_in = |identity: &Identity| {
        let client = TlsClient::new(&authority.certificate(), Some(identity), &[]).unwrap();
        let login = pgmoat_tests::Login {
            port: proxy.port(),
            user: "acme_app",
            password: "acme_app-secret".into(),
            database: "lab",
            more: &[],
        };
        Raw::open_tls(proxy.port(), &client).and_then(|mut raw| raw.log_in(&login))
    };
    log_in(&authority.client("billing", "billing.example.org").unwrap()).unwrap();
    assert!(log_in(&authority.client("own", "acme_app").unwrap()).is_err(), "that name is another's now");
}
