//! A line taken apart: the keys that every kind has. Pure and strict: a line that is not byte for byte what
//! the chain would have written around its body is no line.

use crate::chain::{AFTER_HASH, BEFORE_HASH, BEFORE_KIND, BEFORE_PREV, BEFORE_SEQ, BEFORE_TIME};
use crate::hash::HEX_BYTES;
use crate::micros::RENDERED_BYTES;
use crate::{Hash, Kind};

/// What every line has.
pub(crate) struct Envelope<'a> {
    pub(crate) seq: u64,
    pub(crate) prev: Hash,
    /// As it stands there.
    pub(crate) time: &'a [u8],
    pub(crate) kind: Kind,
    /// What the hash covers.
    pub(crate) hashed: &'a [u8],
    /// The hash that the line claims.
    pub(crate) hash: Hash,
}

/// Takes a line, without its newline, apart. The error says what is not as it must be.
pub(crate) fn parse(line: &[u8]) -> Result<Envelope<'_>, &'static str> {
    let (hashed, seal) = line
        .len()
        .checked_sub(SEAL_BYTES)
        .and_then(|at| line.split_at_checked(at))
        .ok_or("it is too short")?;
    let hash = seal
        .strip_prefix(BEFORE_HASH)
        .and_then(|rest| rest.strip_suffix(AFTER_HASH))
        .and_then(Hash::from_hex)
        .ok_or("it does not end in \"hash\" with 64 lower-case hex digits")?;
    let rest = hashed.strip_prefix(BEFORE_SEQ).ok_or("it does not begin with \"v\":1 and \"seq\"")?;
    let (seq, rest) = number(rest).ok_or("\"seq\" is no number")?;
    let rest = rest.strip_prefix(BEFORE_PREV).ok_or("\"prev\" does not follow \"seq\"")?;
    let (prev, rest) = rest.split_at_checked(HEX_BYTES).ok_or("\"prev\" is cut")?;
    let prev = Hash::from_hex(prev).ok_or("\"prev\" is not 64 lower-case hex digits")?;
    let rest = rest.strip_prefix(BEFORE_TIME).ok_or("\"time\" does not follow \"prev\"")?;
    let (time, rest) = rest.split_at_checked(RENDERED_BYTES).ok_or("\"time\" is cut")?;
    if !is_time(time) {
        return Err("\"time\" is not UTC with microseconds");
    }
    let rest = rest.strip_prefix(BEFORE_KIND).ok_or("\"kind\" does not follow \"time\"")?;
    let end = rest.iter().position(|&byte| byte == b'"').ok_or("\"kind\" is cut")?;
    let kind = rest.get(..end).and_then(Kind::from_name).ok_or("\"kind\" is none that is known")?;
    Ok(Envelope { seq, prev, time, kind, hashed, hash })
}

/// Decimal digits without leading zeros, and what follows them.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit())?;
    let (digits, rest) = text.split_at_checked(end)?;
    if digits.first() == Some(&b'0') && digits.len() > 1 {
        return None;
    }
    Some((str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

fn is_time(text: &[u8]) -> bool {
    text.len() == TIME_FORM.len()
        && text.iter().zip(TIME_FORM).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            _ => byte == form,
        })
}

const SEAL_BYTES: usize = BEFORE_HASH.len() + HEX_BYTES + AFTER_HASH.len();

/// A zero stands for a digit.
const TIME_FORM: &[u8; RENDERED_BYTES] = b"0000-00-00T00:00:00.000000Z";
