//! By Parse, Bind, Describe, Execute and Sync: the messages are the same.

use pgmoat_lab::SERVICE_USER;
use pgmoat_tests::front::{b, d_portal, e, p, s};
use pgmoat_tests::{Front, Login, Message, Raw, Stack, Transcript};

use crate::statements::{doors, everywhere, statements};

#[test]
fn the_extended_protocol_says_the_same() {
    everywhere(says_the_same);
}

fn says_the_same(stack: &Stack) {
    let (twin, proxied) = doors(stack);
    let pinned = [("search_path", "app, public")];
    let mut direct = Raw::connect(&Login { more: &pinned, ..stack.direct(SERVICE_USER, &twin) }).unwrap();
    let mut through = Raw::connect(&proxied.login("ops")).unwrap();
    let mut differ = Vec::new();
    for (sql, data) in statements() {
        let (direct, through) =
            (ask(&mut direct, &sql, data.as_deref()), ask(&mut through, &sql, data.as_deref()));
        if told(&direct) != told(&through) {
            differ.push(format!(
                "{sql}\n  direct:  {direct} {:?}\n  through: {through} {:?}",
                told(&direct),
                told(&through)
            ));
        }
    }
    assert!(differ.is_empty(), "{} statements:\n{}", differ.len(), differ.join("\n"));
}

fn ask(raw: &mut Raw, sql: &str, data: Option<&str>) -> Transcript {
    let mut messages = vec![p("", sql), b("", "", &[]), d_portal(""), e("", 0)];
    if let Some(data) = data {
        messages.extend([Front::CopyData(data.as_bytes().to_vec()), Front::CopyDone]);
    }
    messages.push(s());
    raw.send(&messages).unwrap();
    raw.read(1).unwrap()
}

/// What is compared: all but process ids, object ids of what each database has made itself, and places in the server's
/// source.
fn told(heard: &Transcript) -> Vec<(char, String)> {
    let told = heard.messages.iter().map(|message| {
        let text = match message.tag {
            b'E' | b'N' => fields(message),
            b'A' => format!("{:?}", &message.body[4..]),
            b'T' => format!("{:?}", without_own_oids(&message.body)),
            _ => format!("{:?}", String::from_utf8_lossy(&message.body)),
        };
        (char::from(message.tag), text)
    });
    told.collect()
}

fn fields(message: &Message) -> String {
    b"SVCMDHPpqWstcdn".iter().filter_map(|code| message.field(*code)).collect::<Vec<_>>().join("|")
}

/// A RowDescription with the ids of objects that initdb has not made left out.
fn without_own_oids(body: &[u8]) -> Vec<u8> {
    const FIRST_OWN_OID: u32 = 16_384;
    let mut cleaned = body[..2].to_vec();
    let mut rest = &body[2..];
    while let Some(end) = rest.iter().position(|byte| *byte == 0) {
        cleaned.extend(&rest[..=end]);
        rest = &rest[end + 1..];
        let (fixed, more) = rest.split_at(18);
        for range in [0..4, 6..10] {
            let oid = u32::from_be_bytes(fixed[range].try_into().unwrap());
            cleaned.extend(if oid < FIRST_OWN_OID { oid } else { 0 }.to_be_bytes());
        }
        cleaned.extend(&fixed[4..6]);
        cleaned.extend(&fixed[10..]);
        rest = more;
    }
    cleaned
}
