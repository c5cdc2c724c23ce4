//! Servers that are none (known faults I3): whatever they say in a login, it ends, and nobody is believed who does not
//! know the password.

use std::time::Duration;

use bytes::BufMut as _;
use pgmoat_tests::{Rng, length};
use pgmoat_upstream::{ConnectError, connect};
use pgwire::api::auth::sasl::scram::{ScramSecret, ScramServerAuth, ScramServerAuthWaitingForClientFinal};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// The lines of a right login, of which one is spoiled: the impostor (who has another password's keys) is never
/// believed, the real one is or is not, and neither takes longer than it talks.
#[tokio::test]
async fn spoiled_logins_end_and_no_impostor_is_believed() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let mut target = hostile_target(listener.local_addr().unwrap().port());
    target.endpoint.connect_timeout = PATIENCE;
    let (mut believed, mut refused) = (0, 0);
    for number in 0..length(400, 20_000) {
        let mut rng = Rng::new(SEED, number);
        let impostor = rng.chance(50);
        let server = async {
            let (client, _) = listener.accept().await.unwrap();
            Server { client, rng, password: if impostor { "guessed" } else { PASSWORD } }.run().await;
        };
        // Dropped at once: the server waits for the end.
        let (connected, ()) = tokio::join!(async { connect(&target).await.map(drop) }, server);
        match connected {
            Ok(_) if impostor => panic!("number {number}: an impostor is believed"),
            Ok(_) => believed += 1,
            Err(ConnectError::Timeout { .. }) => {
                panic!("number {number}: it waits for a server that has gone")
            }
            Err(error) => {
                assert!(!format!("{error} {error:?}").contains(PASSWORD), "{error}");
                refused += 1;
            }
        }
    }
    assert!(believed > 0 && refused > believed, "{believed} believed, {refused} refused");
}

/// The mechanism that binds to a channel which there is none of; and AuthenticationOk at each step before the proof.
#[tokio::test]
async fn no_step_is_left_out() {
    for script in [
        &[&b"R\0\0\0\x1c\0\0\0\x0aSCRAM-SHA-256-PLUS\0\0"[..]][..],
        &[SASL, OK],
        &[SASL, b"R\0\0\0\x0c\0\0\0\x0cv=AA"],
        &[SASL, SASL],
        &[b"R\0\0\0\x0c\0\0\0\x0br=x,"],
        &[b"v\0\0\0\x0c\0\x03\0\x03\0\0\0\0"],
        &[b"v\0\0\0\x0c\0\x03\0\0\0\0\0\0v\0\0\0\x0c\0\x03\0\0\0\0\0\0"],
        &[b"v\0\0\0\x14\0\x03\0\0\0\0\0\x01_pq_.x\0\0"],
    ] {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let target = hostile_target(listener.local_addr().unwrap().port());
        let server = async {
            let (mut client, _) = listener.accept().await.unwrap();
            for words in script {
                let _ = client.read(&mut [0; 4096]).await;
                let _ = client.write_all(words).await;
            }
            let _ = client.read(&mut [0; 4096]).await;
        };
        let (connected, ()) = tokio::join!(connect(&target), server);
        let error = connected.unwrap_err();
        assert!(
            !matches!(error, ConnectError::Timeout { .. } | ConnectError::Server(_)),
            "{script:?}: {error}"
        );
    }
}

/// The work that a server may ask for is bounded: 2^32 rounds of a hash would hold a thread for half an hour.
#[tokio::test]
async fn no_server_asks_for_endless_work() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let target = hostile_target(listener.local_addr().unwrap().port());
    let server = async {
        let (mut client, _) = listener.accept().await.unwrap();
        let _ = client.read(&mut [0; 4096]).await;
        let _ = client.write_all(SASL).await;
        let mut initial = vec![0; 4096];
        let count = client.read(&mut initial).await.unwrap();
        let nonce = std::str::from_utf8(&initial[..count]).unwrap().rsplit("r=").next().unwrap();
        let challenge = format!("r={nonce}more,s=c2l4dGVlbiBieXRlcyBvZg==,i=4294967295");
        let _ = client.write_all(&request(11, challenge.as_bytes())).await;
        let _ = client.read(&mut [0; 4096]).await;
    };
    let (connected, ()) = tokio::join!(connect(&target), server);
    let error = connected.unwrap_err();
    assert!(error.to_string().contains("4294967295 iterations"), "{error}");
}

/// A server of 3.2 has keys of any length up to 256 bytes, one of 3.0 says so first.
#[tokio::test]
async fn cancel_keys_of_any_length_are_kept() {
    for (key_bytes, good) in [(4, true), (32, true), (256, true), (257, false), (0, false), (3, false)] {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let target = hostile_target(listener.local_addr().unwrap().port());
        let server = async {
            let (mut client, _) = listener.accept().await.unwrap();
            let _ = client.read(&mut [0; 4096]).await;
            let mut words = OK.to_vec();
            words.extend_from_slice(&introduction(key_bytes));
            let _ = client.write_all(&words).await;
            let _ = client.read(&mut [0; 4096]).await;
        };
        let (connected, ()) = tokio::join!(connect(&target), async {
            let _ = tokio::time::timeout(Duration::from_secs(2), server).await;
        });
        assert_eq!(connected.is_ok(), good, "{key_bytes} bytes");
    }
}

struct Server {
    client: TcpStream,
    rng: Rng,
    password: &'static str,
}

impl Server {
    async fn run(mut self) {
        let spoiled = self.rng.below(4);
        let _ = self.talk(spoiled).await;
        // Closing with unread bytes would reset the connection before the client has read.
        let _ = self.client.shutdown().await;
        let _ = self.client.read(&mut [0; 4096]).await;
    }

    async fn talk(&mut self, spoiled: usize) -> Option<()> {
        self.hear().await?;
        self.say(SASL.to_vec(), spoiled == 0).await?;
        let initial = self.hear().await?;
        let first = initial.get(5 + "SCRAM-SHA-256\0".len() + 4..)?;
        let (challenge, waiting) = self.challenge(first)?;
        self.say(request(11, challenge.as_bytes()), spoiled == 1).await?;
        let response = self.hear().await?;
        // An impostor cannot prove anything; it says what it likes.
        let last = waiting.on_client_final_message(response.get(5..)?);
        let last = last.unwrap_or_else(|_| format!("v={}=", "A".repeat(43)));
        let mut rest = request(12, last.as_bytes());
        rest.extend_from_slice(OK);
        if spoiled == 2 {
            self.spoil(&mut rest);
        }
        self.say([rest, introduction(4)].concat(), spoiled == 3).await
    }

    fn challenge(&self, first: &[u8]) -> Option<(String, ScramServerAuthWaitingForClientFinal)> {
        let salted = pgwire::api::auth::sasl::scram::gen_salted_password(self.password, SALT, 1);
        let secret = ScramSecret::verifier_from_salted_password(SALT.to_vec(), salted, 1);
        ScramServerAuth::new().on_client_first_message_with_secret(first, secret).ok()
    }

    async fn hear(&mut self) -> Option<Vec<u8>> {
        let mut bytes = vec![0; 4096];
        // A client that waits for the rest of what was cut short says nothing.
        let read = tokio::time::timeout(Duration::from_millis(100), self.client.read(&mut bytes)).await;
        match read {
            Ok(Ok(count @ 1..)) => {
                bytes.truncate(count);
                Some(bytes)
            }
            _ => None,
        }
    }

    async fn say(&mut self, mut words: Vec<u8>, spoiled: bool) -> Option<()> {
        if spoiled {
            self.spoil(&mut words);
        }
        self.client.write_all(&words).await.ok()
    }

    fn spoil(&mut self, words: &mut Vec<u8>) {
        for _ in 0..=self.rng.below(3) {
            let at = self.rng.below(words.len().max(1));
            let byte = *self.rng.pick(&[0, 1, 4, 0x7f, 0xff, b',', b'=', b'R', b'E', b'N', b'S', b'Z', b'v']);
            match self.rng.below(5) {
                0 if at < words.len() => words[at] = byte,
                1 => words.insert(at, byte),
                2 if at < words.len() => drop(words.remove(at)),
                3 => words.truncate(at),
                _ => words.extend_from_within(at..),
            }
        }
    }
}

fn request(code: u32, data: &[u8]) -> Vec<u8> {
    let mut message = vec![b'R'];
    message.put_u32(u32::try_from(data.len() + 8).unwrap());
    message.put_u32(code);
    message.extend_from_slice(data);
    message
}

/// What a server says of itself, and ReadyForQuery.
fn introduction(key_bytes: usize) -> Vec<u8> {
    let mut words = Vec::new();
    for pair in [
        &b"server_version\x0016.2\0"[..],
        b"server_encoding\0UTF8\0",
        b"client_encoding\0UTF8\0",
        b"standard_conforming_strings\0on\0",
    ] {
        words.push(b'S');
        words.put_u32(u32::try_from(pair.len() + 4).unwrap());
        words.extend_from_slice(pair);
    }
    words.push(b'K');
    words.put_u32(u32::try_from(8 + key_bytes).unwrap());
    words.put_u32(7);
    words.extend(std::iter::repeat_n(9, key_bytes));
    words.extend_from_slice(b"Z\0\0\0\x05I");
    words
}

fn hostile_target(port: u16) -> Target {
    Target {
        endpoint: Endpoint {
            address: Address::new("127.0.0.1", port),
            tls: TlsPolicy::disable(),
            connect_timeout: PATIENCE,
            ..target("postgres").endpoint
        },
        fallbacks: Vec::new(),
        attributes: SessionAttributes::Any,
        database: "db".to_owned(),
        user: "user".to_owned(),
        password: Some(Secret::new(PASSWORD.to_owned())),
        settings: settings(&[]),
        weak_passwords: WeakPasswords::Refuse,
    }
}

const SEED: u64 = 0x5eed_0007;
const PASSWORD: &str = "hunter2";
const SALT: &[u8] = b"sixteen bytes of";
const SASL: &[u8] = b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0";
const OK: &[u8] = b"R\0\0\0\x08\0\0\0\0";
