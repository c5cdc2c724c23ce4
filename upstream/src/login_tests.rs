#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::address::{Address, Endpoint};
use crate::connect::connect;
use crate::tls::TlsPolicy;

/// A server that says one thing after the other, whatever it hears, and closes.
async fn server_that_says(script: &[&[u8]]) -> u16 {
    let script: Vec<Vec<u8>> = script.iter().map(|words| words.to_vec()).collect();
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.unwrap();
        for words in script {
            hear(&mut client).await;
            client.write_all(&words).await.unwrap();
        }
        // Closing with unread bytes would reset the connection before the client has read.
        hear(&mut client).await;
    });
    port
}

async fn hear(client: &mut TcpStream) {
    let _ = client.read(&mut [0; 4096]).await;
}

fn target(port: u16) -> Target {
    Target {
        endpoint: Endpoint {
            address: Address::Tcp { host: "127.0.0.1".to_owned(), port },
            tls: TlsPolicy::disable(),
            connect_timeout: Duration::from_secs(20),
            keepalive: None,
        },
        fallbacks: Vec::new(),
        attributes: crate::SessionAttributes::Any,
        database: "db".to_owned(),
        user: "user".to_owned(),
        password: Some(Secret::new("hunter2".to_owned())),
        settings: PinnedSettings::new(&["app".to_owned()], BTreeMap::new()).unwrap(),
        weak_passwords: WeakPasswords::Refuse,
    }
}

async fn refusal(script: &[&[u8]]) -> ConnectError {
    let error = connect(&target(server_that_says(script).await)).await.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"));
    error
}

const SASL: &[u8] = b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0";
const OK: &[u8] = b"R\0\0\0\x08\0\0\0\0";
const READY: &[u8] = b"Z\0\0\0\x05I";
const SETTINGS: &[u8] = b"S\0\0\0\x18server_version\x0016.2\0\
    S\0\0\0\x19server_encoding\0UTF8\0\
    S\0\0\0\x19client_encoding\0UTF8\0\
    S\0\0\0\x23standard_conforming_strings\0on\0\
    K\0\0\0\x0c\0\0\0\x07\0\0\0\x09";

#[tokio::test]
async fn a_server_that_trusts_us_needs_no_password() {
    let port = server_that_says(&[&[OK, SETTINGS, READY].concat()]).await;
    let connection = connect(&target(port)).await.unwrap();
    assert_eq!(connection.server_version_num(), 160_002);
    assert_eq!(connection.backend_pid(), 7);
    assert_eq!(connection.parameters().get("server_encoding").map(String::as_str), Some("UTF8"));
    assert!(!format!("{connection:?}").contains("UTF8"));
}

#[tokio::test]
async fn ok_in_the_middle_of_scram_is_not_believed() {
    let error = refusal(&[SASL, OK]).await;
    assert!(matches!(error, ConnectError::Unexpected { tag: b'R', after: "SASLInitialResponse" }), "{error}");
}

#[tokio::test]
async fn a_nonce_that_is_not_ours_is_refused() {
    let error = refusal(&[SASL, b"R\0\0\0\x1f\0\0\0\x0br=other,s=QUFBQQ==,i=4096"]).await;
    assert!(matches!(error, ConnectError::Scram { .. } | ConnectError::Frame(_)), "{error}");
}

#[tokio::test]
async fn long_nonces_and_other_long_requests_are_cut_off_at_the_header() {
    let error = refusal(&[SASL, b"R\0\0\x80\0\0\0\0\x0br="]).await;
    assert!(matches!(error, ConnectError::Frame(_)), "{error}");
}

#[tokio::test]
async fn weak_passwords_are_not_sent() {
    for script in [&[&b"R\0\0\0\x08\0\0\0\x03"[..]], &[&b"R\0\0\0\x0c\0\0\0\x05salt"[..]]] {
        let error = refusal(script).await;
        assert!(matches!(error, ConnectError::AuthenticationRefused { .. }), "{error}");
    }
    let error = refusal(&[b"R\0\0\0\x08\0\0\0\x07"]).await;
    assert!(error.to_string().contains("authentication method 7"), "{error}");
}

#[tokio::test]
async fn unknown_mechanisms_are_named() {
    let error = refusal(&[b"R\0\0\0\x13\0\0\0\x0aSCRAM-\x1b-1\0\0"]).await;
    assert_eq!(
        error.to_string(),
        "the server asks for one of SCRAM- -1, which is not sent; let it use scram-sha-256"
    );
}

#[tokio::test]
async fn an_error_without_sqlstate_is_an_error() {
    let error = refusal(&[b"E\0\0\0\x0eMgo\naway\0\0"]).await;
    let ConnectError::Server(fields) = &error else { panic!("{error}") };
    assert_eq!(fields.sqlstate(), None);
    assert_eq!(error.to_string(), "the server refused: ERROR: go away");
}

#[tokio::test]
async fn garbage_is_not_the_protocol() {
    for script in [
        &[&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..]],
        &[&b"R\xff\xff\xff\xff"[..]],
        &[&b"R\0\0\0\x03"[..]],
        &[&b"R\0\0\0\x04"[..]],
        &[&b"R\0\0\0\x09\0\0\0\0x"[..]],
        &[&b"E\0\0\0\x08Mno "[..]],
        &[&b"D\0\0\0\x04"[..]],
        &[&b"Z\0\0\0\x05I"[..]],
    ] {
        let error = refusal(script).await;
        assert!(
            matches!(
                error,
                ConnectError::Frame(_) | ConnectError::Decode(_) | ConnectError::Unexpected { .. }
            ),
            "{script:?}: {error}"
        );
    }
}

#[tokio::test]
async fn silence_and_a_closed_door_are_told_apart() {
    let error = refusal(&[]).await;
    assert!(matches!(error, ConnectError::Io { stage: Stage::Login, .. }), "{error}");

    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let mut target = target(listener.local_addr().unwrap().port());
    target.endpoint.connect_timeout = Duration::from_millis(50);
    let error = connect(&target).await.unwrap_err();
    assert!(matches!(error, ConnectError::Timeout { stage: Stage::Login, .. }), "{error}");
}

#[tokio::test]
async fn tls_is_not_given_up_because_the_server_says_no() {
    for answer in [&[&b"N"[..]], &[&b"E\0\0\0\x0cMfake\0\0\0"[..]]] {
        let mut target = target(server_that_says(answer).await);
        target.endpoint.tls = TlsPolicy::require().unwrap();
        let error = connect(&target).await.unwrap_err();
        assert!(matches!(error, ConnectError::TlsRefused), "{error}");
    }
}

#[tokio::test]
async fn bytes_injected_before_the_handshake_are_not_read_as_the_servers() {
    let mut target = target(server_that_says(&[b"SR\0\0\0\x08\0\0\0\0Z\0\0\0\x05I"]).await);
    target.endpoint.tls = TlsPolicy::require().unwrap();
    let error = connect(&target).await.unwrap_err();
    assert!(matches!(error, ConnectError::Io { stage: Stage::Tls, .. }), "{error}");
}

#[tokio::test]
async fn a_login_has_an_end() {
    let notice: &[u8] = b"N\0\0\0\x0aMhey\0\0";
    let error = connect(&target(server_that_says(&[&notice.repeat(2_000)]).await)).await.unwrap_err();
    assert!(matches!(error, ConnectError::TooMuch), "{error}");
}

fn introduced(parameters: &[(&str, &str)]) -> Result<u32, ConnectError> {
    let pins = PinnedSettings::new(&["app".to_owned()], BTreeMap::new()).unwrap();
    let mut known = BTreeMap::from(
        [
            ("server_version", "15.4 (Debian 15.4-1)"),
            ("server_encoding", "UTF8"),
            ("client_encoding", "UTF8"),
            ("standard_conforming_strings", "on"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    for (name, value) in parameters {
        match *value {
            "" => drop(known.remove(*name)),
            value => drop(known.insert((*name).to_owned(), value.to_owned())),
        }
    }
    Introduction { parameters: known, cancel_key: None }.check(&pins)
}

#[test]
fn versions_15_to_18_and_utf8_only() {
    for (version, number) in
        [("15.4 (Debian 15.4-1)", 150_004), ("18.0", 180_000), ("18beta1", 180_000), ("17devel", 170_000)]
    {
        assert_eq!(introduced(&[("server_version", version)]).unwrap(), number);
    }
    for version in ["14.9", "19.0", "9.6.24", "", "x", "99999999999", "15."] {
        assert!(introduced(&[("server_version", version)]).is_err(), "{version}");
    }
    assert!(matches!(introduced(&[("server_encoding", "SQL_ASCII")]), Err(ConnectError::Encoding { .. })));
}

#[test]
fn pins_must_be_reported_and_hold() {
    for name in ["client_encoding", "standard_conforming_strings"] {
        assert!(matches!(introduced(&[(name, "")]), Err(ConnectError::NotReported { .. })));
        assert!(matches!(introduced(&[(name, "LATIN1")]), Err(ConnectError::PinMoved(_))));
    }
    assert!(matches!(introduced(&[("search_path", "public")]), Err(ConnectError::PinMoved(_))));
    assert!(introduced(&[("search_path", "app")]).is_ok());
}
