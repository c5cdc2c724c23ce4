//! The messages between a client's first packet and its first ReadyForQuery, as bytes.

use bytes::{BufMut as _, BytesMut};

use super::startup::Startup;

/// AuthenticationSASL with the mechanisms that are offered, the best first.
pub(crate) fn sasl(out: &mut BytesMut, mechanisms: &[&str]) {
    message(out, b'R', |body| {
        body.put_i32(10);
        for mechanism in mechanisms {
            cstr(body, mechanism);
        }
        body.put_u8(0);
    });
}

/// AuthenticationSASLContinue.
pub(crate) fn sasl_continue(out: &mut BytesMut, data: &str) {
    message(out, b'R', |body| {
        body.put_i32(11);
        body.put_slice(data.as_bytes());
    });
}

/// AuthenticationSASLFinal, then AuthenticationOk.
pub(crate) fn authenticated(out: &mut BytesMut, data: &str) {
    message(out, b'R', |body| {
        body.put_i32(12);
        body.put_slice(data.as_bytes());
    });
    message(out, b'R', |body| body.put_i32(0));
}

/// NegotiateProtocolVersion: the version that is spoken (PostgreSQL sends the whole number, and libpq
/// 18 takes none above its own), and the extensions that are not.
pub(crate) fn negotiate(out: &mut BytesMut, startup: &Startup) {
    message(out, b'v', |body| {
        body.put_u32(startup.version);
        body.put_i32(i32::try_from(startup.extensions.len()).unwrap_or(i32::MAX));
        for name in &startup.extensions {
            cstr(body, name);
        }
    });
}

/// ParameterStatus.
pub(crate) fn parameter_status(out: &mut BytesMut, name: &str, value: &str) {
    message(out, b'S', |body| {
        cstr(body, name);
        cstr(body, value);
    });
}

/// BackendKeyData, then ReadyForQuery outside a transaction.
pub(crate) fn ready(out: &mut BytesMut, pid: i32, key: &[u8]) {
    message(out, b'K', |body| {
        body.put_i32(pid);
        body.put_slice(key);
    });
    message(out, b'Z', |body| body.put_u8(b'I'));
}

fn message(out: &mut BytesMut, tag: u8, fill: impl FnOnce(&mut BytesMut)) {
    out.put_u8(tag);
    let mut body = BytesMut::new();
    fill(&mut body);
    out.put_i32(i32::try_from(body.len() + 4).unwrap_or(i32::MAX));
    out.put_slice(&body);
}

/// A text and its NUL. INVARIANT (no inner NUL): every text here was a C string when it came in.
fn cstr(out: &mut BytesMut, text: &str) {
    out.put_slice(text.as_bytes());
    out.put_u8(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_their_length_and_their_terminators() {
        let mut out = BytesMut::new();
        sasl(&mut out, &["SCRAM-SHA-256"]);
        assert_eq!(&out[..], b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0");
        out.clear();
        ready(&mut out, 7, b"abcd");
        assert_eq!(&out[..], b"K\0\0\0\x0c\0\0\0\x07abcdZ\0\0\0\x05I");
        out.clear();
        let startup =
            Startup { version: 3 << 16 | 2, extensions: vec!["_pq_.x".to_owned()], ..Startup::default() };
        negotiate(&mut out, &startup);
        assert_eq!(&out[..], b"v\0\0\0\x13\0\x03\0\x02\0\0\0\x01_pq_.x\0");
    }
}
