//! Messages that are framed well and wrong inside, and those that end a session.

use pgmoat_tests::front::{framed, with_length};
use pgmoat_tests::{Front, Rng};

pub(super) fn message(rng: &mut Rng) -> Front {
    let (tag, body): (u8, &[u8]) = *rng.pick(&BODIES);
    framed(tag, body)
}

/// After it there is no session: a length that cannot be, a kind that is none, a good-bye.
pub(super) fn last_message(rng: &mut Rng) -> Front {
    match rng.below(3) {
        0 => with_length(b'Q', 3, b""),
        1 => framed(b'y', b""),
        _ => Front::Terminate,
    }
}

const BODIES: [(u8, &[u8]); 22] = [
    (b'Q', b"SELECT 1"),
    (b'Q', b"SELECT '\xe9'\0"),
    (b'S', b"more"),
    (b'S', b"more"),
    // A text that is not UTF-8, or has more behind it.
    (b'P', b"a\0SELECT '\xe9'\0\0\0"),
    (b'P', b"\0SELECT 1\0\0\0more"),
    // Counts that lie.
    (b'P', b"a\0SELECT 1\0\0\x02\0\0\0\x17"),
    (b'P', b"a\0SELECT 1"),
    (b'P', b"a"),
    (b'B', b"\0a\0\0\0\0\x01\0\0"),
    (b'B', b"\0\0\0\x02\0\0\0\0\0\0\0\0"),
    (b'B', b"\0\0\0\0\0\0\0\x02\0\0\0\0"),
    (b'B', b"\0a\0\0\0\0\x01\0\0\0\x09x\0\0"),
    (b'B', b"a"),
    // A format that there is not.
    (b'B', b"\0\0\0\0\0\0\0\x01\0\x02"),
    (b'D', b"Xa\0"),
    (b'D', b"S"),
    (b'C', b"Xa\0"),
    (b'C', b"P"),
    (b'E', b"\0"),
    (b'E', b"\0\0\0\0\0more"),
    (b'H', b"more"),
];
