//! Strict reading of a message's body: field by field, from the exact slice, to its very end.

use std::error::Error;
use std::fmt;

/// What is left of a body. Each read names the field, so that an error can.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// Stands at the start of `body`.
    pub fn new(body: &'a [u8]) -> Self {
        Cursor { rest: body }
    }

    /// One byte.
    pub fn u8(&mut self, what: &'static str) -> Result<u8, DecodeError> {
        self.array(what).map(|[byte]| byte)
    }

    /// A signed 16-bit integer.
    pub fn i16(&mut self, what: &'static str) -> Result<i16, DecodeError> {
        self.array(what).map(i16::from_be_bytes)
    }

    /// An unsigned 16-bit integer.
    pub fn u16(&mut self, what: &'static str) -> Result<u16, DecodeError> {
        self.array(what).map(u16::from_be_bytes)
    }

    /// A signed 32-bit integer.
    pub fn i32(&mut self, what: &'static str) -> Result<i32, DecodeError> {
        self.array(what).map(i32::from_be_bytes)
    }

    /// An unsigned 32-bit integer, an OID for example.
    pub fn u32(&mut self, what: &'static str) -> Result<u32, DecodeError> {
        self.array(what).map(u32::from_be_bytes)
    }

    /// The next `count` bytes.
    pub fn bytes(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(DecodeError::Truncated { what })?;
        self.rest = rest;
        Ok(taken)
    }

    /// A string up to its NUL, which is taken and not returned.
    pub fn cstr(&mut self, what: &'static str) -> Result<&'a [u8], DecodeError> {
        let end = self.rest.iter().position(|byte| *byte == 0).ok_or(DecodeError::NoNul { what })?;
        let text = self.bytes(end, what)?;
        self.u8(what)?;
        Ok(text)
    }

    /// A string up to its NUL, which must be UTF-8.
    pub fn text(&mut self, what: &'static str) -> Result<&'a str, DecodeError> {
        std::str::from_utf8(self.cstr(what)?).map_err(|_| DecodeError::NotUtf8 { what })
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Nothing may be left.
    pub fn finish(self, what: &'static str) -> Result<(), DecodeError> {
        match self.rest.len() {
            0 => Ok(()),
            bytes => Err(DecodeError::LeftOver { what, bytes }),
        }
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], DecodeError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(DecodeError::Truncated { what })?;
        self.rest = rest;
        Ok(*taken)
    }
}

/// A body that is not what its message's format says. `what` names the field or message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The body ends before the field does.
    Truncated {
        /// The field.
        what: &'static str,
    },
    /// A string without its NUL.
    NoNul {
        /// The field.
        what: &'static str,
    },
    /// Text that is not UTF-8.
    NotUtf8 {
        /// The field.
        what: &'static str,
    },
    /// Bytes behind the last field.
    LeftOver {
        /// The message.
        what: &'static str,
        /// How many.
        bytes: usize,
    },
    /// A value that the field cannot have.
    BadValue {
        /// The field.
        what: &'static str,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Truncated { what } => write!(f, "insufficient data left in message: {what}"),
            DecodeError::NoNul { what } => write!(f, "invalid string in message: {what} has no terminator"),
            DecodeError::NotUtf8 { what } => {
                write!(f, "invalid byte sequence for encoding \"UTF8\" in {what}")
            }
            DecodeError::LeftOver { what, bytes } => {
                write!(f, "invalid message format: {bytes} bytes behind the end of {what}")
            }
            DecodeError::BadValue { what } => write!(f, "invalid message format: {what}"),
        }
    }
}

impl Error for DecodeError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_to_the_end_and_no_further() {
        let mut cursor = Cursor::new(b"\x01\0\x02\0\0\0\x03ab\0xyz");
        assert_eq!(cursor.u8("a"), Ok(1));
        assert_eq!(cursor.i16("b"), Ok(2));
        assert_eq!(cursor.u32("c"), Ok(3));
        assert_eq!(cursor.text("d"), Ok("ab"));
        assert_eq!(cursor.finish("m"), Err(DecodeError::LeftOver { what: "m", bytes: 3 }));
        assert_eq!(cursor.bytes(4, "e"), Err(DecodeError::Truncated { what: "e" }));
        assert_eq!(cursor.bytes(3, "e"), Ok(&b"xyz"[..]));
        assert_eq!(cursor.finish("m"), Ok(()));
    }

    #[test]
    fn strings_end_in_nul_and_are_utf8() {
        assert_eq!(Cursor::new(b"abc").cstr("s"), Err(DecodeError::NoNul { what: "s" }));
        assert_eq!(Cursor::new(b"\xff\0").text("s"), Err(DecodeError::NotUtf8 { what: "s" }));
        assert_eq!(Cursor::new(b"\xff\0").cstr("s"), Ok(&b"\xff"[..]));
        assert_eq!(Cursor::new(b"\0").text("s"), Ok(""));
    }
}
