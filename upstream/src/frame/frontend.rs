//! Encoders for what a client sends, appended to a buffer.
//!
//! Names and texts are bytes, so that what was judged is sent as it is. A NUL inside one would end it
//! early for the server, so it is refused; `out` is unchanged after an error.

use std::error::Error;
use std::fmt;

use bytes::{BufMut, BytesMut};

use super::startup;

/// What Describe and Close are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// A prepared statement, `S`.
    Statement,
    /// A portal, `P`.
    Portal,
}

impl Object {
    /// The byte on the wire.
    pub fn byte(self) -> u8 {
        match self {
            Object::Statement => b'S',
            Object::Portal => b'P',
        }
    }
}

/// Query.
pub fn query(sql: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
    no_nul(sql, "query text")?;
    message(b'Q', out, |out| put_cstr(sql, out))
}

/// Parse, with the OIDs of declared parameter types.
pub fn parse(name: &[u8], sql: &[u8], types: &[u32], out: &mut BytesMut) -> Result<(), EncodeError> {
    no_nul(name, "statement name")?;
    no_nul(sql, "query text")?;
    let count = count(types.len(), "parameter types")?;
    message(b'P', out, |out| {
        put_cstr(name, out);
        put_cstr(sql, out);
        out.put_u16(count);
        types.iter().for_each(|oid| out.put_u32(*oid));
    })
}

/// Parse under another name: `rest` is what followed the name's NUL in the message that was judged.
pub fn parse_raw(name: &[u8], rest: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
    no_nul(name, "statement name")?;
    message(b'P', out, |out| {
        put_cstr(name, out);
        out.put_slice(rest);
    })
}

/// Bind. `formats` are the values' (none: all text; one: for all; or one each), `result_formats` the
/// columns'.
pub fn bind(
    portal: &[u8],
    statement: &[u8],
    formats: &[i16],
    values: &[Option<&[u8]>],
    result_formats: &[i16],
    out: &mut BytesMut,
) -> Result<(), EncodeError> {
    no_nul(portal, "portal name")?;
    no_nul(statement, "statement name")?;
    let format_count = count(formats.len(), "parameter formats")?;
    let value_count = count(values.len(), "parameters")?;
    let result_count = count(result_formats.len(), "result formats")?;
    message(b'B', out, |out| {
        put_cstr(portal, out);
        put_cstr(statement, out);
        out.put_u16(format_count);
        formats.iter().for_each(|format| out.put_i16(*format));
        out.put_u16(value_count);
        for value in values {
            match value {
                // A length over i32::MAX makes the whole message too long, which is refused.
                Some(value) => {
                    out.put_i32(i32::try_from(value.len()).unwrap_or(i32::MAX));
                    out.put_slice(value);
                }
                None => out.put_i32(-1),
            }
        }
        out.put_u16(result_count);
        result_formats.iter().for_each(|format| out.put_i16(*format));
    })
}

/// Bind under other names: `rest` is what followed the second NUL in the message that was judged.
pub fn bind_raw(portal: &[u8], statement: &[u8], rest: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
    no_nul(portal, "portal name")?;
    no_nul(statement, "statement name")?;
    message(b'B', out, |out| {
        put_cstr(portal, out);
        put_cstr(statement, out);
        out.put_slice(rest);
    })
}

/// Describe.
pub fn describe(object: Object, name: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
    named(b'D', object, name, out)
}

/// Close.
pub fn close(object: Object, name: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
    named(b'C', object, name, out)
}

/// Execute; `max_rows` 0 means all of them.
pub fn execute(portal: &[u8], max_rows: i32, out: &mut BytesMut) -> Result<(), EncodeError> {
    no_nul(portal, "portal name")?;
    message(b'E', out, |out| {
        put_cstr(portal, out);
        out.put_i32(max_rows);
    })
}

/// CopyFail, with the reason that the server's error will give.
pub fn copy_fail(reason: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
    no_nul(reason, "reason")?;
    message(b'f', out, |out| put_cstr(reason, out))
}

/// CopyDone.
pub fn copy_done(out: &mut BytesMut) {
    out.put_slice(b"c\0\0\0\x04");
}

/// Flush.
pub fn flush(out: &mut BytesMut) {
    out.put_slice(b"H\0\0\0\x04");
}

/// Sync.
pub fn sync(out: &mut BytesMut) {
    out.put_slice(b"S\0\0\0\x04");
}

/// A Query without the NUL behind its text, which fails before the server touches anything.
pub fn malformed_query(text: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
    no_nul(text, "query text")?;
    message(b'Q', out, |out| out.put_slice(text))
}

/// A Sync with something in it: the server says ERROR, then ReadyForQuery.
pub fn malformed_sync(out: &mut BytesMut) {
    out.put_slice(b"S\0\0\0\x05?");
}

/// Terminate.
pub fn terminate(out: &mut BytesMut) {
    out.put_slice(TERMINATE);
}

/// SSLRequest.
pub fn ssl_request(out: &mut BytesMut) {
    out.put_i32(8);
    out.put_u32(startup::SSL_REQUEST);
}

/// CancelRequest for a backend, with the key that it gave.
pub fn cancel_request(pid: i32, key: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
    untagged(out, |out| {
        out.put_u32(startup::CANCEL_REQUEST);
        out.put_i32(pid);
        out.put_slice(key);
    })
}

/// StartupMessage of a protocol version. A server takes at most 10,004 bytes.
pub fn startup<'a>(
    version: u32,
    parameters: impl IntoIterator<Item = (&'a str, &'a str)> + Clone,
    out: &mut BytesMut,
) -> Result<(), EncodeError> {
    for (name, value) in parameters.clone() {
        no_nul(name.as_bytes(), "start-up parameter")?;
        no_nul(value.as_bytes(), "start-up parameter")?;
    }
    let start = out.len();
    untagged(out, |out| {
        out.put_u32(version);
        for (name, value) in parameters {
            put_cstr(name.as_bytes(), out);
            put_cstr(value.as_bytes(), out);
        }
        out.put_u8(0);
    })?;
    if out.len() - start > startup::MAX_BYTES {
        out.truncate(start);
        return Err(EncodeError::TooLong);
    }
    Ok(())
}

/// PasswordMessage: clear text, or what MD5 made of it.
pub(crate) fn password(password: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
    no_nul(password, "password")?;
    message(b'p', out, |out| put_cstr(password, out))
}

/// SASLInitialResponse.
pub(crate) fn sasl_initial(mechanism: &str, data: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
    let length = i32::try_from(data.len()).map_err(|_| EncodeError::TooLong)?;
    message(b'p', out, |out| {
        put_cstr(mechanism.as_bytes(), out);
        out.put_i32(length);
        out.put_slice(data);
    })
}

/// SASLResponse.
pub(crate) fn sasl_response(data: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
    message(b'p', out, |out| out.put_slice(data))
}

/// Terminate's bytes.
pub(crate) const TERMINATE: &[u8] = b"X\0\0\0\x04";

/// Appends a message: the tag, a length that is filled in afterwards, and what `body` puts.
pub(super) fn message(
    tag: u8,
    out: &mut BytesMut,
    body: impl FnOnce(&mut BytesMut),
) -> Result<(), EncodeError> {
    let start = out.len();
    out.put_u8(tag);
    let written = untagged(out, body);
    if written.is_err() {
        out.truncate(start);
    }
    written
}

fn untagged(out: &mut BytesMut, body: impl FnOnce(&mut BytesMut)) -> Result<(), EncodeError> {
    let start = out.len();
    out.put_i32(0);
    body(out);
    let length = i32::try_from(out.len() - start).ok();
    match (length, out.get_mut(start..start + 4)) {
        (Some(length), Some(place)) => {
            place.copy_from_slice(&length.to_be_bytes());
            Ok(())
        }
        _ => {
            out.truncate(start);
            Err(EncodeError::TooLong)
        }
    }
}

fn named(tag: u8, object: Object, name: &[u8], out: &mut BytesMut) -> Result<(), EncodeError> {
    no_nul(name, "name")?;
    message(tag, out, |out| {
        out.put_u8(object.byte());
        put_cstr(name, out);
    })
}

fn put_cstr(text: &[u8], out: &mut BytesMut) {
    out.put_slice(text);
    out.put_u8(0);
}

fn no_nul(text: &[u8], what: &'static str) -> Result<(), EncodeError> {
    if text.contains(&0) { Err(EncodeError::Nul { what }) } else { Ok(()) }
}

fn count(items: usize, what: &'static str) -> Result<u16, EncodeError> {
    u16::try_from(items).map_err(|_| EncodeError::TooMany { what })
}

/// A message that the wire cannot carry. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// A NUL inside a string.
    Nul {
        /// Which string.
        what: &'static str,
    },
    /// More than 65,535 of something.
    TooMany {
        /// Of what.
        what: &'static str,
    },
    /// More than 2 GB, or a start-up packet of more than 10,004 bytes.
    TooLong,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodeError::Nul { what } => write!(f, "{what} must not hold a NUL"),
            EncodeError::TooMany { what } => write!(f, "more than 65535 {what}"),
            EncodeError::TooLong => f.write_str("message is too long for the protocol"),
        }
    }
}

impl Error for EncodeError {}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

    use super::*;

    fn encoded(encode: impl FnOnce(&mut BytesMut) -> Result<(), EncodeError>) -> Vec<u8> {
        let mut out = BytesMut::from(&b"before"[..]);
        encode(&mut out).unwrap();
        out[6..].to_vec()
    }

    #[test]
    fn messages_are_byte_for_byte_those_of_the_protocol() {
        assert_eq!(encoded(|out| query(b"SELECT 1", out)), b"Q\0\0\0\x0dSELECT 1\0");
        assert_eq!(encoded(|out| parse(b"s", b"$1", &[25], out)), b"P\0\0\0\x0fs\0$1\0\0\x01\0\0\0\x19");
        assert_eq!(encoded(|out| parse_raw(b"x", b"$1\0\0\0", out)), b"P\0\0\0\x0bx\0$1\0\0\0");
        assert_eq!(
            encoded(|out| bind(b"", b"s", &[1], &[Some(b"v"), None], &[0], out)),
            b"B\0\0\0\x1a\0s\0\0\x01\0\x01\0\x02\0\0\0\x01v\xff\xff\xff\xff\0\x01\0\0"
        );
        assert_eq!(encoded(|out| bind_raw(b"p", b"s", b"rest", out)), b"B\0\0\0\x0cp\0s\0rest");
        assert_eq!(encoded(|out| describe(Object::Portal, b"", out)), b"D\0\0\0\x06P\0");
        assert_eq!(encoded(|out| close(Object::Statement, b"s", out)), b"C\0\0\0\x07Ss\0");
        assert_eq!(encoded(|out| execute(b"", 1, out)), b"E\0\0\0\x09\0\0\0\0\x01");
        assert_eq!(encoded(|out| copy_fail(b"no", out)), b"f\0\0\0\x07no\0");
        assert_eq!(
            encoded(|out| cancel_request(1, b"\0\0\0\x02", out)),
            b"\0\0\0\x10\x04\xd2\x16\x2e\0\0\0\x01\0\0\0\x02"
        );
        assert_eq!(
            encoded(|out| startup(3 << 16 | 2, [("user", "a")], out)),
            b"\0\0\0\x10\0\x03\0\x02user\0a\0\0"
        );
    }

    #[test]
    fn a_nul_is_refused_and_leaves_nothing_behind() {
        let mut out = BytesMut::new();
        assert!(query(b"a\0b", &mut out).is_err());
        assert!(parse(b"n\0", b"", &[], &mut out).is_err());
        assert!(bind_raw(b"", b"\0", b"", &mut out).is_err());
        assert!(close(Object::Portal, b"\0", &mut out).is_err());
        assert!(startup(3 << 16, [("user", "a\0replication\0true")], &mut out).is_err());
        let long = "x".repeat(10_000);
        assert_eq!(startup(3 << 16, [("search_path", long.as_str())], &mut out), Err(EncodeError::TooLong));
        let many = vec![0; 65_536];
        assert_eq!(parse(b"", b"", &many, &mut out), Err(EncodeError::TooMany { what: "parameter types" }));
        assert!(out.is_empty());
    }
}
