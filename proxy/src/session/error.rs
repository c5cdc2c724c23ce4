//! Errors of the proxy's own that end a connection.

use bytes::BytesMut;
use pgmoat_upstream::frame::Fields;

use super::refusal::without_nul;

/// An ErrorResponse of severity FATAL.
#[derive(Debug, Clone)]
pub struct ErrorFields(Fields);

impl ErrorFields {
    /// Severity FATAL, an SQLSTATE and a message.
    pub fn fatal(sqlstate: &str, message: &str) -> Self {
        let mut fields = Fields::new();
        fields.set(b'S', "FATAL");
        fields.set(b'V', "FATAL");
        fields.set(b'C', sqlstate.to_owned());
        fields.set(b'M', without_nul(message));
        ErrorFields(fields)
    }

    /// Appends it to what a client gets.
    pub fn encode(&self, out: &mut BytesMut) {
        write_error(&self.0, out);
    }
}

/// Writes an ErrorResponse. One that cannot be written (longer than the protocol allows) becomes a short one.
pub fn write_error(fields: &Fields, out: &mut BytesMut) {
    if fields.encode_error(out).is_err() {
        // INVARIANT (told): an error is never lost; this one is constant and short.
        out.extend_from_slice(UNREPORTABLE);
    }
}

const UNREPORTABLE: &[u8] = b"E\0\0\0\x36SFATAL\0VFATAL\0CXX000\0Man error is not reportable\0\0";

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn the_last_resort_is_a_message() {
        let length = u32::from_be_bytes(UNREPORTABLE[1..5].try_into().unwrap());
        assert_eq!(length as usize, UNREPORTABLE.len() - 1);
        assert_eq!(Fields::decode(&UNREPORTABLE[5..]).unwrap().sqlstate(), Some("XX000"));
    }
}
