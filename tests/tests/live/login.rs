//! Who may log in, what a refused login says, and what it does not say.

use std::io;
use std::time::Duration;

use pgmoat_lab::SUPERUSER;
use pgmoat_tests::front::{framed, gss_request, q, ssl_request, startup};
use pgmoat_tests::{Front, Login, Proxied, Raw, Stack};

use crate::log_file::of_kind;
use crate::patience::eventually;

#[test]
fn a_wrong_password_and_an_unknown_user_are_told_alike() {
    let proxied = Stack::get().proxy().unwrap();
    let known = refusal(&proxied, "acme_app", "wrong", "lab");
    let unknown = refusal(&proxied, "nobody_here", "wrong", "lab");
    assert_eq!(known.replace("acme_app", "USER"), unknown.replace("nobody_here", "USER"));
    assert_eq!(known, "R R E(28P01,FATAL)\n  password authentication failed for user \"acme_app\"");
    // PostgreSQL's own words.
    let direct = Login { password: "wrong".into(), ..Stack::get().direct(SUPERUSER, "postgres") };
    let direct = Raw::connect(&direct).unwrap_err().to_string();
    assert_eq!(direct.replace(SUPERUSER, "acme_app"), known);
    let failed = of_kind(&proxied.proxy.audit_path(), "login_failed");
    let users: Vec<_> = failed.iter().map(|line| line["user"].as_str().unwrap().to_owned()).collect();
    assert_eq!(users, ["acme_app", "nobody_here"]);
}

/// The exchange tells nothing either: an unknown user has a salt and an iteration count, the same ones each time.
#[test]
fn the_challenge_does_not_tell_who_exists() {
    let proxied = Stack::get().proxy().unwrap();
    let known = challenge(&proxied, "acme_app");
    let unknown = challenge(&proxied, "nobody_here");
    assert_eq!(known.iterations, unknown.iterations);
    assert_eq!(known.salt.len(), unknown.salt.len());
    assert_eq!(known.nonce.len(), unknown.nonce.len());
    assert_eq!(unknown.salt, challenge(&proxied, "nobody_here").salt, "a salt that changes tells");
    assert_ne!(unknown.salt, challenge(&proxied, "somebody_else").salt, "a salt that everybody has tells");
    assert_ne!(known.nonce, challenge(&proxied, "acme_app").nonce);
}

#[test]
fn an_unknown_database_is_told_after_the_password() {
    let proxied = Stack::get().proxy().unwrap();
    let refused = refusal(&proxied, "acme_app", "acme_app-secret", "nothing_here");
    assert_eq!(refused, "R R R R E(3D000,FATAL)\n  database \"nothing_here\" does not exist");
    assert!(refusal(&proxied, "acme_app", "wrong", "nothing_here").contains("28P01"));
}

#[test]
fn encryption_is_declined_and_the_login_goes_on() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::open(proxied.proxy.port()).unwrap();
    raw.send(&[gss_request()]).unwrap();
    assert_eq!(raw.next_byte().unwrap(), Some(b'N'));
    raw.send(&[ssl_request()]).unwrap();
    assert_eq!(raw.next_byte().unwrap(), Some(b'N'));
    raw.log_in(&proxied.login("acme_app")).unwrap();
    raw.send(&[q(ONE)]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
}

/// What stands behind the request was sent in the clear before anybody said that it is not encrypted (CVE-2021-23214).
#[test]
fn bytes_behind_a_request_for_encryption_end_the_connection() {
    let proxied = Stack::get().proxy().unwrap();
    for request in [ssl_request(), gss_request()] {
        let mut raw = Raw::open(proxied.proxy.port()).unwrap();
        raw.send(&[request, startup(VERSION_3, &[("user", "acme_app"), ("database", "lab")])]).unwrap();
        let heard = raw.read(1).unwrap();
        assert!(heard.closed && !heard.messages.iter().any(|message| message.tag == b'R'), "{heard}");
    }
}

#[test]
fn a_login_that_does_not_end_is_ended() {
    let limit =
        |config: &mut pgmoat_lab::ProxyConfig| config.extra = "limits: { login_timeout_ms: 1500 }\n".into();
    let proxied = Stack::get().proxy_with(limit).unwrap();
    let mut silent = Raw::open(proxied.proxy.port()).unwrap();
    let mut half = Raw::open(proxied.proxy.port()).unwrap();
    half.send_bytes(&[0, 0, 0, 50, 0, 3, 0, 0, b'u']).unwrap();
    let mut asked = Raw::open(proxied.proxy.port()).unwrap();
    asked.send(&[startup(VERSION_3, &[("user", "acme_app"), ("database", "lab")])]).unwrap();
    let mut dripping = Raw::open(proxied.proxy.port()).unwrap();
    for byte in [0, 0, 0, 50, 0, 3, 0, 0] {
        let _ = dripping.send_bytes(&[byte]);
        std::thread::sleep(Duration::from_millis(300));
    }
    for raw in [&mut silent, &mut half, &mut asked, &mut dripping] {
        assert!(raw.read(1).unwrap().closed);
    }
    eventually("others log in meanwhile", || Raw::connect(&proxied.login("acme_app")).is_ok());
}

#[test]
fn more_clients_than_there_is_room_for_are_told_so() {
    let limit = |config: &mut pgmoat_lab::ProxyConfig| config.extra = "limits: { max_clients: 2 }\n".into();
    let proxied = Stack::get().proxy_with(limit).unwrap();
    let first = Raw::connect(&proxied.login("acme_app")).unwrap();
    let _second = Raw::connect(&proxied.login("acme_app")).unwrap();
    let third = Raw::connect(&proxied.login("acme_app")).unwrap_err().to_string();
    assert!(third.starts_with("E(53300,FATAL)"), "{third}");
    drop(first);
    eventually("the place is free again", || Raw::connect(&proxied.login("acme_app")).is_ok());
}

#[test]
fn the_greeting_is_what_a_server_says() {
    let proxied = Stack::get().proxy().unwrap();
    // A name, which PostgreSQL cuts where names end.
    let long = "greeted".repeat(700);
    let login = Login { more: &[("application_name", &long)], ..proxied.login("acme_app") };
    let raw = Raw::connect(&login).unwrap();
    let reported = |name: &str| {
        let prefix = format!("{name}\0").into_bytes();
        let status = raw.greeting().messages.iter().find(|m| m.tag == b'S' && m.body.starts_with(&prefix));
        status.map(|m| String::from_utf8_lossy(&m.body[prefix.len()..m.body.len() - 1]).into_owned())
    };
    let major = Stack::get().cluster().postgres().major();
    assert!(reported("server_version").unwrap().starts_with(&major.to_string()));
    for (name, value) in [
        ("client_encoding", "UTF8"),
        ("server_encoding", "UTF8"),
        ("standard_conforming_strings", "on"),
        ("integer_datetimes", "on"),
        ("application_name", &long[..63]),
    ] {
        assert_eq!(reported(name).as_deref(), Some(value), "{name}");
    }
    assert_ne!(reported("is_superuser").as_deref(), Some("on"));
}

/// What is said to a login that is refused.
fn refusal(proxied: &Proxied, user: &str, password: &str, database: &str) -> String {
    let login = Login { port: proxied.proxy.port(), user, password: password.into(), database, more: &[] };
    Raw::connect(&login).unwrap_err().to_string()
}

struct Challenge {
    nonce: String,
    salt: String,
    iterations: String,
}

/// The server's first SCRAM message (RFC 5802: `r=…,s=…,i=…`).
fn challenge(proxied: &Proxied, user: &str) -> Challenge {
    let mut raw = Raw::open(proxied.proxy.port()).unwrap();
    raw.send(&[startup(VERSION_3, &[("user", user), ("database", "lab")])]).unwrap();
    assert_eq!(raw.next_message().unwrap().unwrap().to_string(), "R");
    raw.send(&[first_message().unwrap()]).unwrap();
    let message = raw.next_message().unwrap().unwrap();
    assert_eq!(message.to_string(), "R");
    let text = String::from_utf8(message.body[4..].to_vec()).unwrap();
    let mut parts = text.split(',').map(|part| part[2..].to_owned());
    let mut part = || parts.next().unwrap();
    Challenge { nonce: part(), salt: part(), iterations: part() }
}

fn first_message() -> io::Result<Front> {
    let first = b"n,,n=,r=fyko+d2lbbFgONRv9qkxdawL";
    let length = u32::try_from(first.len()).map_err(io::Error::other)?;
    Ok(framed(b'p', &[b"SCRAM-SHA-256\0", length.to_be_bytes().as_slice(), first].concat()))
}

const VERSION_3: u32 = 0x0003_0000;
const ONE: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
