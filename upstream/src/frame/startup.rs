//! The first packet of a connection: no tag, a length, a code (protocol "Message Formats",
//! StartupMessage, SSLRequest, GSSENCRequest, CancelRequest).
//!
//! Only the frame is here. What a start-up packet says is decoded by the one who serves clients.

use std::error::Error;
use std::fmt;

use bytes::{Bytes, BytesMut};

/// SSLRequest's code.
pub const SSL_REQUEST: u32 = 80_877_103;
/// GSSENCRequest's code.
pub const GSSENC_REQUEST: u32 = 80_877_104;
/// CancelRequest's code.
pub const CANCEL_REQUEST: u32 = 80_877_102;
/// Protocol 3.0.
pub const PROTOCOL_3_0: u32 = 3 << 16;
/// Protocol 3.2.
pub const PROTOCOL_3_2: u32 = 3 << 16 | 2;

/// Removes the packet at the start of `buf` and returns its exact bytes, length included; `None`
/// while it is not whole.
pub fn take(buf: &mut BytesMut) -> Result<Option<Bytes>, StartupFrameError> {
    let Some(length) = buf.first_chunk() else { return Ok(None) };
    let len = i32::from_be_bytes(*length);
    match usize::try_from(len) {
        Ok(total) if (MIN_BYTES..=MAX_BYTES).contains(&total) => {
            Ok((buf.len() >= total).then(|| buf.split_to(total).freeze()))
        }
        _ => Err(StartupFrameError { len }),
    }
}

/// The packet's code: a protocol version or one of the requests. Zero for a slice that is shorter
/// than [`take`] ever returns.
pub fn code(packet: &[u8]) -> u32 {
    packet.get(4..).and_then(|rest| rest.first_chunk()).map_or(0, |code| u32::from_be_bytes(*code))
}

/// A length outside 8 to 10,004 bytes. PostgreSQL closes the connection without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartupFrameError {
    /// The length that was announced.
    pub len: i32,
}

impl fmt::Display for StartupFrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid length of startup packet: {}", self.len)
    }
}

impl Error for StartupFrameError {}

/// Length and code.
const MIN_BYTES: usize = 8;
/// PostgreSQL's MAX_STARTUP_PACKET_LENGTH, and the length itself.
pub(super) const MAX_BYTES: usize = 10_004;

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    fn packet(len: i32, have: usize) -> BytesMut {
        let mut buf = BytesMut::from(&len.to_be_bytes()[..]);
        buf.resize(have, 7);
        buf
    }

    #[test]
    fn lengths_are_those_of_postgresql() {
        for len in [i32::MIN, -1, 0, 4, 7, 10_005, i32::MAX] {
            assert_eq!(take(&mut packet(len, 4)), Err(StartupFrameError { len }), "{len}");
        }
        for len in [8, 10_004] {
            let total = usize::try_from(len).unwrap();
            assert_eq!(take(&mut packet(len, total - 1)), Ok(None));
            let mut buf = packet(len, total + 3);
            assert_eq!(take(&mut buf).unwrap().unwrap().len(), total);
            assert_eq!(buf.len(), 3, "what follows stays");
        }
        assert_eq!(take(&mut packet(0, 3)), Ok(None), "no length yet");
    }

    #[test]
    fn the_code_is_what_follows_the_length() {
        assert_eq!(code(b"\0\0\0\x08\x04\xd2\x16\x2f"), SSL_REQUEST);
        assert_eq!(code(b"\0\0\0\x08\x04\xd2\x16\x2e"), CANCEL_REQUEST);
        assert_eq!(code(b"\0\0\0\x08\x04\xd2\x16\x30"), GSSENC_REQUEST);
        assert_eq!(code(b"\0\0\0\x09\0\x03\0\x02\0"), PROTOCOL_3_2);
        assert_eq!(code(b""), 0);
    }
}
