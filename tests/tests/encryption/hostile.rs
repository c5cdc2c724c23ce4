//! Clients that are none (known faults I1, I2, I3): whatever they say before they are known, it ends, nobody gets in, and
//! the proxy serves others as before.

use pgmoat_tests::front::{cancel_request, gss_request, q, ssl_request, startup};
use pgmoat_tests::{Front, Proxied, Raw, Rng, Stack, length};
use postgres_protocol::authentication::sasl::{ChannelBinding, ScramSha256};

use crate::secured::{ONE, Secured, VERSION_3, audited, resident_bytes};

#[test]
fn spoiled_logins_in_the_clear_let_nobody_in() {
    let proxied = Stack::get().proxy().unwrap();
    let mut witness = Raw::connect(&proxied.login("globex_app")).unwrap();
    let before = resident_bytes(&proxied);
    for number in 0..length(300, 20_000) {
        let mut rng = Rng::new(0x5eed_0008, number);
        play(Raw::open(proxied.proxy.port()).unwrap(), &mut rng);
        if number % 50 == 0 {
            witness.send(&[q(GLOBEX)]).unwrap();
            witness.expect("T D C Z(I)").unwrap();
        }
    }
    assert_nobody_came(&proxied, before);
}

#[test]
fn spoiled_logins_under_tls_let_nobody_in() {
    let secured = Secured::with_mode("allow");
    let mut witness = secured.connect("globex_app").unwrap();
    let before = resident_bytes(&secured.proxied);
    let client = secured.client();
    for number in 0..length(60, 5_000) {
        let mut rng = Rng::new(0x5eed_0009, number);
        play(Raw::open_tls(secured.port(), &client).unwrap(), &mut rng);
    }
    witness.send(&[q(GLOBEX)]).unwrap();
    witness.expect("T D C Z(I)").unwrap();
    assert_nobody_came(&secured.proxied, before);
}

/// The handshake itself, spoiled byte by byte and cut anywhere.
#[test]
fn spoiled_handshakes_end_without_a_word() {
    let secured = Secured::with_mode("require");
    let hello = client_hello(&secured);
    let before = resident_bytes(&secured.proxied);
    for number in 0..length(100, 10_000) {
        let mut rng = Rng::new(0x5eed_000a, number);
        let mut bytes = hello.clone();
        spoil(&mut bytes, &mut rng);
        let mut raw = Raw::open(secured.port()).unwrap();
        if rng.chance(50) {
            raw.send(&[ssl_request()]).unwrap();
            assert_eq!(raw.next_byte().unwrap(), Some(b'S'));
        }
        let _ = raw.send_bytes(&bytes);
        let _ = raw.end_of_input();
        let mut heard = Vec::new();
        let _ = std::io::Read::read_to_end(&mut raw.tcp().unwrap(), &mut heard);
        // TLS records, or the words for what is a first packet by chance; never a login.
        assert!(!heard.first().is_some_and(|tag| matches!(tag, b'R' | b'Z' | b'S')), "{number}: {heard:?}");
    }
    secured.connect("acme_app").unwrap().query(ONE).unwrap();
    assert!(resident_bytes(&secured.proxied) < before + BOUND_BYTES);
}

/// One login with the right password of which some message is spoiled, or none of which is right.
fn play(mut raw: Raw, rng: &mut Rng) {
    let spoiled = rng.below(3);
    let openings = [
        startup(VERSION_3, &[("user", "acme_app"), ("database", "lab")]),
        startup(VERSION_3 + 2, &[("user", "acme_app"), ("database", "lab"), ("options", "-c geqo=off")]),
        startup(VERSION_3 + 9999, &[("user", "acme_app"), ("_pq_.x", "1")]),
    ];
    let others = [ssl_request(), gss_request(), cancel_request(&[0, 0, 0, 7, 1, 2, 3, 4])];
    let opening = if rng.chance(20) { rng.pick(&others) } else { rng.pick(&openings) }.clone();
    let mut scram = ScramSha256::new(b"acme_app-secret", ChannelBinding::unsupported());
    let length = u32::try_from(scram.message().len()).unwrap().to_be_bytes();
    let first = frame(&[&b"SCRAM-SHA-256\0"[..], &length, scram.message()].concat());
    if say(&mut raw, &opening, spoiled == 0, rng).is_none()
        || say(&mut raw, &first, spoiled == 1, rng).is_none()
    {
        return;
    }
    // What the server has said so far: the mechanisms, and perhaps a challenge.
    let challenge = loop {
        match raw.next_message() {
            Ok(Some(message)) if message.tag == b'R' && message.body.starts_with(&[0, 0, 0, 11]) => {
                break message;
            }
            Ok(Some(message)) if message.tag == b'R' || message.tag == b'v' => {}
            Ok(Some(message)) => {
                assert_eq!(message.tag, b'E', "{message}");
                return;
            }
            Ok(None) | Err(_) => return,
        }
    };
    if scram.update(&challenge.body[4..]).is_err() {
        return;
    }
    let mut last = scram.message().to_vec();
    spoil(&mut last, rng);
    if last == scram.message() {
        return;
    }
    let _ = say(&mut raw, &frame(&last), false, rng);
    // Under TLS a closed connection may be an error; what the audit says counts then.
    let Ok(heard) = raw.read(1) else { return };
    assert!(heard.closed && heard.ready() == 0, "{heard} after {}", String::from_utf8_lossy(&last));
}

fn say(raw: &mut Raw, message: &Front, spoiled: bool, rng: &mut Rng) -> Option<()> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes).unwrap();
    if spoiled {
        spoil(&mut bytes, rng);
    }
    raw.write_at_most(1 + rng.below(40));
    raw.send_bytes(&bytes).ok()?;
    if spoiled {
        // What was cut short would wait for the rest until the login's time is over.
        raw.end_of_input().ok()?;
    }
    Some(())
}

fn frame(body: &[u8]) -> Front {
    pgmoat_tests::front::framed(b'p', body)
}

fn spoil(bytes: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..=rng.below(3) {
        let at = rng.below(bytes.len().max(1));
        let byte =
            *rng.pick(&[0, 1, 3, 4, 0x16, 0x7f, 0x80, 0xff, b',', b'=', b'n', b'p', b'y', b'r', b'Q', b'X']);
        match rng.below(5) {
            0 if at < bytes.len() => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 => bytes.truncate(at),
            _ => bytes.extend_from_within(at..),
        }
    }
}

/// The first record of a real client.
fn client_hello(secured: &Secured) -> Vec<u8> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let client = secured.client();
    let handshake = std::thread::spawn(move || drop(Raw::open_direct_tls(port, &client)));
    let (mut socket, _) = listener.accept().unwrap();
    let mut bytes = vec![0; 4096];
    let count = std::io::Read::read(&mut socket, &mut bytes).unwrap();
    drop(socket);
    handshake.join().unwrap();
    bytes.truncate(count);
    bytes
}

fn assert_nobody_came(proxied: &Proxied, before: u64) {
    let logins = audited(proxied, "login");
    assert_eq!(logins.len(), 1, "the witness alone: {logins:?}");
    let after = resident_bytes(proxied);
    assert!(after < before + BOUND_BYTES, "{before} bytes before, {after} after");
    Raw::connect(&proxied.login("acme_app")).unwrap().query(ONE).unwrap();
}

const GLOBEX: &str = "SELECT id FROM app.orders WHERE tenant_id = 'globex' AND id = 1";
const BOUND_BYTES: u64 = 64 << 20;
