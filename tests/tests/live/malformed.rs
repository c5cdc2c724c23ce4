//! Messages that are wrong, on a session that is logged in: the proxy answers as PostgreSQL does, nobody else notices,
//! and memory stays bounded.

use pgmoat_lab::SERVICE_USER;
use pgmoat_tests::front::{b, d_portal, e, framed, p, q, s, with_length};
use pgmoat_tests::{Front, Login, Raw, Stack, Transcript};

use crate::memory::{assert_bounded, resident_bytes};

#[test]
fn wrong_messages_are_answered_as_postgresql_answers_them() {
    let stack = Stack::get();
    let proxied = stack.proxy().unwrap();
    let mut witness = Raw::connect(&proxied.login("globex_app")).unwrap();
    let before = resident_bytes(&proxied);
    let mut wrong = Vec::new();
    for (name, messages) in wrong_messages() {
        let direct = play(&stack.direct(SERVICE_USER, &proxied.database), &messages);
        let through = play(&proxied.login("acme_app"), &messages);
        if !alike(&direct, &through) {
            wrong.push(format!("{name}: PostgreSQL {direct}, the proxy {through}"));
        }
        witness.send(&[q(GLOBEX)]).unwrap();
        witness.expect("T D C Z(I)").unwrap();
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    assert_bounded(&proxied, before, BOUND_BYTES);
}

/// A message that is too short for its length is waited for, and its end is the connection's.
#[test]
fn the_end_of_input_within_a_message_ends_the_session_alone() {
    let proxied = Stack::get().proxy().unwrap();
    let mut witness = Raw::connect(&proxied.login("globex_app")).unwrap();
    let whole = encoded(&q(ACME));
    for cut in 1..whole.len() {
        let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
        raw.send_bytes(&whole[..cut]).unwrap();
        raw.end_of_input().unwrap();
        let heard = raw.read(1).unwrap();
        assert!(heard.closed && heard.rows().is_empty(), "cut at {cut}: {heard}");
    }
    witness.send(&[q(GLOBEX)]).unwrap();
    witness.expect("T D C Z(I)").unwrap();
}

#[test]
fn a_session_in_writes_of_one_byte_is_a_session() {
    let proxied = Stack::get().proxy().unwrap();
    let mut raw = Raw::open(proxied.proxy.port()).unwrap();
    raw.write_byte_by_byte();
    raw.log_in(&proxied.login("acme_app")).unwrap();
    raw.send(&[q(ACME)]).unwrap();
    raw.expect("T D C Z(I)").unwrap();
    raw.send(&[p("n", BOUND), b("", "n", &["acme"]), d_portal(""), e("", 0), s()]).unwrap();
    raw.expect("1 2 T D C Z(I)").unwrap();
    raw.send(&[q("SELECT id FROM app.orders")]).unwrap();
    raw.expect("E(42501) Z(I)").unwrap();
    raw.send(&[Front::Terminate]).unwrap();
    raw.expect("closed").unwrap();
}

/// Lengths are claims: what was not sent is not kept room for.
#[test]
fn claimed_lengths_take_no_memory() {
    let proxied = Stack::get().proxy().unwrap();
    let mut witness = Raw::connect(&proxied.login("globex_app")).unwrap();
    let before = resident_bytes(&proxied);
    let claims: Vec<Raw> = (0..40)
        .map(|_| {
            let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
            raw.send(&[with_length(b'Q', 60 << 20, b"SELECT")]).unwrap();
            raw
        })
        .collect();
    witness.send(&[q(GLOBEX)]).unwrap();
    witness.expect("T D C Z(I)").unwrap();
    assert_bounded(&proxied, before, BOUND_BYTES);
    drop(claims);
}

#[test]
fn a_message_over_the_bound_is_not_collected() {
    let bound =
        |config: &mut pgmoat_lab::ProxyConfig| config.extra = "limits: { message_bytes: 65536 }\n".into();
    let proxied = Stack::get().proxy_with(bound).unwrap();
    let mut witness = Raw::connect(&proxied.login("globex_app")).unwrap();
    let mut raw = Raw::connect(&proxied.login("acme_app")).unwrap();
    // A text is refused, and what follows it is found.
    let long = format!("{ACME} /* {} */", "x".repeat(66_000));
    for messages in [vec![q(&long)], vec![p("", &long), b("", "", &[]), e("", 0), s()]] {
        raw.send(&messages).unwrap();
        let heard = raw.expect("E(42501) Z(I)").unwrap();
        let detail = heard.error_field(b'D').unwrap_or_default();
        assert!(detail.starts_with("code: limit_statement_bytes,"), "{detail}");
        raw.send(&[q(ACME)]).unwrap();
        raw.expect("T D C Z(I)").unwrap();
    }
    // A Bind that nobody could look into ends the session, and that one alone; it may close before all is written.
    raw.send(&[p("n", BOUND), s()]).unwrap();
    raw.expect("1 Z(I)").unwrap();
    let _ = raw.send(&[b("", "n", &[&"x".repeat(66_000)]), s()]);
    raw.expect("E(08P01,FATAL) closed").unwrap();
    witness.send(&[q(GLOBEX)]).unwrap();
    witness.expect("T D C Z(I)").unwrap();
}

/// What is heard up to the end, or up to a marker behind the wrong message.
fn play(login: &Login<'_>, messages: &[Front]) -> Transcript {
    let mut raw = Raw::connect(login).unwrap();
    // A door that closes at once may do so while we write.
    let _ = raw.send(messages);
    let mut heard = Transcript::default();
    // A marker of its own: how many ReadyForQuery the wrong message is owed is the question.
    let marker = format!("{ACME} /* marker */");
    if raw.send(&[s(), q(&marker)]).is_err() {
        heard.closed = true;
        return heard;
    }
    while !heard.closed && heard.rows().is_empty() {
        match raw.next_message().unwrap() {
            Some(message) => heard.messages.push(message),
            None => heard.closed = true,
        }
    }
    heard
}

/// The same messages; or 08P01 and the end, which is all that a client that cannot frame may count on; or a refusal
/// in the place of PostgreSQL's error.
fn alike(direct: &Transcript, through: &Transcript) -> bool {
    let ended = through.closed && through.codes().iter().all(|code| code == "08P01");
    let refused = || {
        let mut words: Vec<String> = direct.to_string().split(' ').map(str::to_owned).collect();
        if let Some(error) = words.iter_mut().find(|word| word.starts_with("E(")) {
            "E(42501)".clone_into(error);
        }
        words.join(" ")
    };
    ended || direct.to_string() == through.to_string() || refused() == through.to_string()
}

fn wrong_messages() -> Vec<(String, Vec<Front>)> {
    let mut all = Vec::new();
    for tag in *b"QPBDECSHXFdcf" {
        for length in [0, 1, 3, u32::MAX, 0x7fff_ffff, 0x8000_0000] {
            let name = format!("{} of length {length:#x}", char::from(tag));
            all.push((name, vec![with_length(tag, length, b"")]));
        }
    }
    for tag in [0, b'!', b'a', b'Z', b'T', b'1', b'p', b'R', 0xff] {
        all.push((format!("tag {tag:#x}"), vec![framed(tag, b"")]));
        all.push((format!("tag {tag:#x} with a body"), vec![framed(tag, b"body\0")]));
    }
    let bodies: &[(u8, &str, &[u8])] = &[
        (b'Q', "no text", b""),
        (b'Q', "no end", b"SELECT 1"),
        (b'Q', "a byte too many", b"SELECT 1\0x"),
        (b'Q', "a NUL within", b"SELECT\0 1\0"),
        (b'Q', "no UTF-8", b"SELECT '\xff'\0"),
        (b'Q', "half a character", b"SELECT '\xc3'\0"),
        (b'Q', "a surrogate", b"SELECT '\xed\xa0\x80'\0"),
        (b'P', "nothing", b""),
        (b'P', "no text", b"n\0"),
        (b'P', "no types", b"n\0SELECT 1\0"),
        (b'P', "fewer types than counted", b"n\0SELECT 1\0\0\x02\0\0\0\x19"),
        (b'P', "a byte too many", b"n\0SELECT 1\0\0\0x"),
        (b'P', "no UTF-8", b"n\0SELECT '\xff'\0\0\0"),
        (b'P', "a name that is no UTF-8", b"\xff\0SELECT 1\0\0\0"),
        (b'B', "nothing", b""),
        (b'B', "no counts", b"\0n\0"),
        (b'B', "more formats than values", b"\0n\0\0\x02\0\0\0\0\0\0\0\0"),
        (b'B', "more formats than there are bytes", b"\0n\0\x7f\xff\0\0"),
        (b'B', "more values than there are bytes", b"\0n\0\0\0\x7f\xff\0\0"),
        (b'B', "a value longer than the message", b"\0n\0\0\0\0\x01\0\0\0\x7fx\0\0"),
        (b'B', "a value of length -2", b"\0n\0\0\0\0\x01\xff\xff\xff\xfe\0\0"),
        (b'B', "a value of 2 GB", b"\0n\0\0\0\0\x01\x7f\xff\xff\xff\0\0"),
        (b'B', "a byte too many", b"\0n\0\0\0\0\0\0\0x"),
        (b'B', "fewer result formats than counted", b"\0n\0\0\0\0\0\0\x02\0\0"),
        (b'D', "nothing", b""),
        (b'D', "no name", b"S"),
        (b'D', "no end", b"Sn"),
        (b'D', "another kind", b"Xn\0"),
        (b'D', "a byte too many", b"S\0x"),
        (b'C', "nothing", b""),
        (b'C', "another kind", b"Xn\0"),
        (b'C', "a byte too many", b"S\0x"),
        (b'E', "nothing", b""),
        (b'E', "no count", b"\0"),
        (b'E', "half a count", b"\0\0\0"),
        (b'E', "a byte too many", b"\0\0\0\0\0x"),
        (b'S', "a byte too many", b"x"),
        (b'H', "a byte too many", b"x"),
        (b'X', "a byte too many", b"x"),
        (b'F', "nothing", b""),
    ];
    for (tag, what, body) in bodies {
        all.push((format!("{} with {what}", char::from(*tag)), vec![framed(*tag, body)]));
    }
    // Wrong counts for a statement that is there.
    let parse = || p("n", BOUND);
    for (what, body) in [
        ("no value", &b"\0n\0\0\0\0\0\0\0"[..]),
        ("two values", b"\0n\0\0\0\0\x02\0\0\0\x04acme\0\0\0\x04acme\0\0"),
        ("two formats for one value", b"\0n\0\0\x02\0\0\0\0\0\x01\0\0\0\x04acme\0\0"),
        ("format 2", b"\0n\0\0\x01\0\x02\0\x01\0\0\0\x04acme\0\0"),
        ("two result formats for one column", b"\0n\0\0\0\0\x01\0\0\0\x04acme\0\x02\0\0\0\0"),
        ("result format 2", b"\0n\0\0\0\0\x01\0\0\0\x04acme\0\x01\0\x02"),
        ("a value with a NUL", b"\0n\0\0\0\0\x01\0\0\0\x05acme\0\0\0"),
        ("a value that is no UTF-8", b"\0n\0\0\0\0\x01\0\0\0\x04acm\xff\0\0"),
    ] {
        all.push((format!("B with {what}"), vec![parse(), framed(b'B', body)]));
    }
    all
}

fn encoded(message: &Front) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes).unwrap();
    bytes
}

const ACME: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
const GLOBEX: &str = "SELECT id FROM app.orders WHERE tenant_id = 'globex' AND id = 1";
const BOUND: &str = "SELECT id FROM app.orders WHERE tenant_id = $1 AND id = 2";

/// More than a few sessions take, less than any lie about a length claims.
const BOUND_BYTES: u64 = 64 << 20;
