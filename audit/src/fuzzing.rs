//! Entry points for fuzzers: functions that panic where a promise of [`verify`](crate::verify_reader) does
//! not hold.

use crate::chain::Chain;
use crate::digest::Digest;
use crate::head::Head;
use crate::render::{Close, Line, Open, Recovered};
use crate::{
    Completion, Decision, Durability, Entry, Executed, Expect, Key, Micros, Outcome, Parameters, Phase,
    Protocol, Verdict, verify_reader,
};

/// Verifies any bytes, in each way. A log of nothing but such bytes is never whole unless it is a real one,
/// and the text of every outcome can be made.
///
/// # Panics
/// Never, unless verification does.
pub fn verify(data: &[u8]) {
    let key = Key::new(KEY).ok();
    for expect in [
        Expect::default(),
        Expect { key: key.as_ref(), head: None },
        Expect { key: None, head: Some(Head { seq: 3, hash: crate::Hash::NONE }) },
    ] {
        let outcome = verify_reader(data, &expect);
        assert!(!outcome.to_string().is_empty());
    }
}

/// Edits a real log as `edits` says (see [`tamper`]) and checks that verification names the first line that
/// differs.
///
/// # Panics
/// A changed log counted as whole, or the wrong line was named.
pub fn verify_tampered(edits: &[u8]) {
    let key = Key::new(KEY).ok();
    for key in [None, key.as_ref()] {
        let original = sample(key);
        let tampered = tamper(&original, edits);
        let outcome = verify_reader(tampered.as_slice(), &Expect { key, head: None });
        check(&original, &tampered, &outcome);
    }
}

/// A small whole log with several kinds of lines, ending with a newline.
#[must_use]
pub fn sample(key: Option<&Key>) -> Vec<u8> {
    let digest = Digest::new(key);
    let id = digest.key_id().map(ToOwned::to_owned);
    let mut chain = Chain::after(Head::GENESIS, digest);
    let mut log = Vec::new();
    let mut add = |at: u64, line: &Line<'_>| {
        let mut body = Vec::new();
        line.render(&mut body);
        chain.seal(&mut log, Micros(1_760_000_000_000_000 + at), line.kind(), &body);
        Some(chain.head())
    };
    let open = Open {
        resumed: false,
        after: None,
        key: id.as_deref(),
        durability: Durability::Os,
        version: "0.1.0",
    };
    let mut last = add(0, &Line::Open(open));
    for at in 1..=4 {
        let decision = Entry::Decision(Decision { session: at, ..DECISION });
        last = add(at, &Line::Entry(&decision));
        let completion = Entry::Completion(Completion { of: at, ..COMPLETION });
        last = add(at + 1, &Line::Entry(&completion)).or(last);
    }
    add(10, &Line::Open(Open { resumed: true, after: last, ..open }));
    add(10, &Line::Recovered(Recovered { bytes: 5 }));
    add(11, &Line::Entry(&Entry::Decision(DECISION)));
    add(12, &Line::Close(Close { opened: 10 }));
    log
}

/// Edits a log. Each four bytes are one edit: what, which line (modulo their number), where or which other
/// line, and a byte.
#[must_use]
pub fn tamper(log: &[u8], edits: &[u8]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = log.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let (edits, _) = edits.as_chunks::<4>();
    for &[what, which, other, byte] in edits.iter().take(MAX_EDITS) {
        if lines.is_empty() {
            break;
        }
        let (which, other_line) = (usize::from(which) % lines.len(), usize::from(other) % lines.len());
        match what % 8 {
            0 => drop(lines.remove(which)),
            1 => lines.swap(which, other_line),
            2 => {
                if let Some(copy) = lines.get(which).cloned() {
                    lines.insert(other_line, copy);
                }
            }
            3 => lines.insert(which, vec![byte, b'\n']),
            what => {
                edit_line(lines.get_mut(which), what, usize::from(other) << 2 | usize::from(byte & 3), byte)
            }
        }
    }
    lines.concat()
}

fn edit_line(line: Option<&mut Vec<u8>>, what: u8, at: usize, byte: u8) {
    let Some(line) = line.filter(|line| !line.is_empty()) else {
        return;
    };
    let at = at % line.len();
    match what {
        4 => line.insert(at, byte),
        5 => drop(line.remove(at)),
        6 => line.truncate(at),
        _ => {
            if let Some(old) = line.get_mut(at) {
                *old ^= byte;
            }
        }
    }
}

fn check(original: &[u8], tampered: &[u8], outcome: &Outcome) {
    let lines = |log: &[u8]| -> Vec<Vec<u8>> {
        log.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
    };
    let (ours, theirs) = (lines(original), lines(tampered));
    let same = ours.iter().zip(&theirs).take_while(|(ours, theirs)| ours == theirs).count();
    let rest = theirs.get(same..).unwrap_or_default();
    // What verification cannot find: lines cut off at the end, the last of them perhaps in its middle.
    let only_cut = same > 0 && rest.iter().all(|line| !line.ends_with(b"\n"));
    match outcome {
        Outcome::Whole(whole) => {
            assert!(only_cut, "whole, but line {} was changed", same + 1);
            assert_eq!(usize::try_from(whole.lines), Ok(same));
        }
        Outcome::Broken(broken) => {
            assert!(!only_cut, "broken ({broken}), but only cut");
            assert_eq!(usize::try_from(broken.line), Ok(same + 1), "{broken}");
        }
        // The first line says which key the log has.
        Outcome::Unreadable(why) => assert_eq!(same, 0, "unreadable ({why}), but its first line is right"),
    }
}

const KEY: &[u8] = b"a key that is there for fuzzing only";

const MAX_EDITS: usize = 8;

const DECISION: Decision<'_> = Decision {
    session: 7,
    user: "acme_app",
    role: "app",
    tenant: Some("acme"),
    database: "lab",
    client: "127.0.0.1:50412",
    backend: Some(4711),
    protocol: Protocol::Simple,
    phase: Phase::Query,
    statement: Some("SELECT \"x\"\nFROM t"),
    shape: Some(0x0123_4567_89ab_cdef),
    verdict: Verdict::Allow,
    code: None,
    position: None,
    message: None,
    parameters: Parameters::None,
    policy: 1,
    catalog: Some("00112233445566ff"),
};

const COMPLETION: Completion<'_> = Completion {
    of: 0,
    executed: Executed::Yes,
    tag: Some("SELECT 1"),
    sqlstate: None,
    rows: 1,
    duration_us: 250,
};
