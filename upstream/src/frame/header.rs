//! One message: its header, and the exact slice it occupies.

use std::error::Error;
use std::fmt;

use bytes::{Bytes, BytesMut};

use super::Phase;

/// A message's first five bytes, its length already checked against the phase's cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The message's kind.
    pub tag: u8,
    /// Length in bytes as on the wire: itself and the body, not the tag. At least 4.
    pub len: usize,
}

impl Header {
    /// Bytes that a header occupies.
    pub const BYTES: usize = 5;

    /// Bytes of the whole message, tag included.
    pub fn total(self) -> usize {
        self.len + 1
    }

    pub(super) fn parse(bytes: [u8; Self::BYTES], phase: Phase) -> Result<Self, FrameError> {
        let [tag, a, b, c, d] = bytes;
        let announced = i32::from_be_bytes([a, b, c, d]);
        let cap = phase.cap_bytes(tag).ok_or(FrameError::UnknownTag { tag })?;
        match usize::try_from(announced) {
            Ok(len) if len >= 4 && len <= cap => Ok(Header { tag, len }),
            Ok(len) if len > cap => Err(FrameError::TooLong { tag, len, cap }),
            _ => Err(FrameError::TooShort { tag, len: announced }),
        }
    }
}

/// One whole message inside a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The message's kind.
    pub tag: u8,
    /// All of it, header included: what is forwarded.
    pub bytes: &'a [u8],
}

impl<'a> Frame<'a> {
    /// What follows the header: what is decoded.
    pub fn body(self) -> &'a [u8] {
        self.bytes.get(Header::BYTES..).unwrap_or_default()
    }
}

/// The header at the start of `buf`; `None` while there are fewer than five bytes.
pub fn peek(buf: &[u8], phase: Phase) -> Result<Option<Header>, FrameError> {
    buf.first_chunk().map(|bytes| Header::parse(*bytes, phase)).transpose()
}

/// The message at the start of `buf`; `None` while it is not whole. A bad header is reported as soon
/// as it is there, before any of the body.
pub fn whole(buf: &[u8], phase: Phase) -> Result<Option<Frame<'_>>, FrameError> {
    let Some(header) = peek(buf, phase)? else { return Ok(None) };
    Ok(buf.get(..header.total()).map(|bytes| Frame { tag: header.tag, bytes }))
}

/// Removes the message at the start of `buf` and returns its exact bytes, header included; `None`
/// while it is not whole.
pub fn take(buf: &mut BytesMut, phase: Phase) -> Result<Option<Bytes>, FrameError> {
    let Some(total) = whole(buf, phase)?.map(|frame| frame.bytes.len()) else { return Ok(None) };
    Ok(Some(buf.split_to(total).freeze()))
}

/// A header that no honest peer sends. The connection cannot go on: where the next message begins is
/// unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// There is no such message in this phase.
    UnknownTag {
        /// The tag that came.
        tag: u8,
    },
    /// A length below four, or negative.
    TooShort {
        /// The message's tag.
        tag: u8,
        /// The length that it announced.
        len: i32,
    },
    /// More than the cap for this tag and phase.
    TooLong {
        /// The message's tag.
        tag: u8,
        /// The length that it announced, in bytes.
        len: usize,
        /// What is accepted, in bytes.
        cap: usize,
    },
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameError::UnknownTag { tag } => write!(f, "invalid message type {tag}"),
            FrameError::TooShort { tag, len } => {
                write!(f, "invalid message length {len} (message type {tag})")
            }
            FrameError::TooLong { tag, len, cap } => {
                write!(
                    f,
                    "message of {len} bytes is too long, at most {cap} are accepted (message type {tag})"
                )
            }
        }
    }
}

impl Error for FrameError {}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

    use super::*;

    const CLIENT: Phase = Phase::ClientSession { large_bytes: 1_000 };

    fn header(tag: u8, len: i32) -> Vec<u8> {
        let mut bytes = vec![tag];
        bytes.extend_from_slice(&len.to_be_bytes());
        bytes
    }

    #[test]
    fn bad_lengths_are_refused_from_the_header_alone() {
        for len in [-1, 0, 3, i32::MIN] {
            assert_eq!(peek(&header(b'Q', len), CLIENT), Err(FrameError::TooShort { tag: b'Q', len }));
        }
        for (tag, len, cap) in [(b'Q', 1_001, 1_000), (b'Q', i32::MAX, 1_000), (b'S', 10_001, 10_000)] {
            let too_long = FrameError::TooLong { tag, len: usize::try_from(len).unwrap(), cap };
            assert_eq!(whole(&header(tag, len), CLIENT), Err(too_long));
        }
        assert_eq!(peek(&header(b'p', 8), CLIENT), Err(FrameError::UnknownTag { tag: b'p' }));
        assert_eq!(peek(&header(0, 4), CLIENT), Err(FrameError::UnknownTag { tag: 0 }));
    }

    #[test]
    fn the_caps_are_exact() {
        assert_eq!(peek(&header(b'Q', 1_000), CLIENT), Ok(Some(Header { tag: b'Q', len: 1_000 })));
        assert_eq!(peek(&header(b'S', 4), CLIENT), Ok(Some(Header { tag: b'S', len: 4 })));
    }

    #[test]
    fn a_message_is_taken_at_its_last_byte_and_not_before() {
        let bytes = b"Q\0\0\0\x08ab\0\0S\0\0\0\x04";
        for end in 0..9 {
            let mut buf = BytesMut::from(&bytes[..end]);
            assert_eq!(take(&mut buf, CLIENT), Ok(None));
            assert_eq!(buf.len(), end);
        }
        let mut buf = BytesMut::from(&bytes[..]);
        assert_eq!(take(&mut buf, CLIENT).unwrap().unwrap(), &bytes[..9]);
        assert_eq!(whole(&buf, CLIENT).unwrap().unwrap(), Frame { tag: b'S', bytes: b"S\0\0\0\x04" });
        assert_eq!(whole(&buf, CLIENT).unwrap().unwrap().body(), b"");
    }
}
