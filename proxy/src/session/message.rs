//! What a client sends, decoded strictly from the exact slice that is forwarded (wire 3).
//!
//! Text is UTF-8, a string's NUL is there, counts are checked against what remains, nothing is left over. What is
//! not so is no message: it is refused, or ends the session.

use pgmoat_policy::policy::Format;
use pgmoat_upstream::frame::frontend::Object;
use pgmoat_upstream::frame::{Cursor, DecodeError, Frame};

/// One message of a client's, its strings and values still in the frame.
#[derive(Debug)]
pub(super) enum Message<'f> {
    /// Simple query.
    Query {
        /// The text.
        text: &'f str,
    },
    /// Parse.
    Parse(Parse<'f>),
    /// Bind.
    Bind(Bind<'f>),
    /// Describe.
    Describe(Object, &'f str),
    /// Execute.
    Execute {
        /// The portal's name.
        portal: &'f str,
        /// At most so many rows; 0 for all.
        max_rows: i32,
    },
    /// Close.
    Close(Object, &'f str),
    /// Flush.
    Flush,
    /// Sync.
    Sync,
    /// FunctionCall, which is refused whatever it says.
    FunctionCall,
    /// CopyDone.
    CopyDone,
    /// CopyFail.
    CopyFail,
    /// CopyData in one piece. (The link hands long ones through without collecting them.)
    CopyData,
    /// Terminate.
    Terminate,
}

/// Parse.
#[derive(Debug)]
pub struct Parse<'f> {
    /// The statement's name.
    pub name: &'f str,
    /// Its text.
    pub text: &'f str,
    /// The declared parameter types.
    pub declared: Vec<u32>,
    /// What follows the name's NUL.
    pub rest: &'f [u8],
    /// What follows the text's NUL.
    pub types: &'f [u8],
}

/// Bind.
#[derive(Debug)]
pub struct Bind<'f> {
    /// The portal's name.
    pub portal: &'f str,
    /// The statement's name.
    pub statement: &'f str,
    /// What follows the statement name's NUL.
    pub rest: &'f [u8],
    formats: Formats<'f>,
    count: usize,
    values: &'f [u8],
}

/// The format codes of a Bind's values: none (all text), one (for all) or one each.
#[derive(Clone, Copy, Debug)]
struct Formats<'f>(&'f [u8]);

impl<'f> Message<'f> {
    /// Decodes one frame.
    ///
    /// # Errors
    /// It is not what its message's format says.
    pub(super) fn decode(frame: Frame<'f>) -> Result<Message<'f>, DecodeError> {
        let mut cursor = Cursor::new(frame.body());
        let message = match frame.tag {
            b'Q' => Message::Query { text: cursor.text("query text")? },
            b'P' => return Parse::decode(cursor).map(Message::Parse),
            b'B' => return Bind::decode(cursor).map(Message::Bind),
            b'D' => Message::Describe(object(&mut cursor)?, cursor.text("name")?),
            b'C' => Message::Close(object(&mut cursor)?, cursor.text("name")?),
            b'E' => {
                Message::Execute { portal: cursor.text("portal name")?, max_rows: cursor.i32("row limit")? }
            }
            b'H' => Message::Flush,
            b'S' => Message::Sync,
            b'X' => Message::Terminate,
            b'F' => return Ok(Message::FunctionCall),
            b'c' => Message::CopyDone,
            b'd' => return Ok(Message::CopyData),
            b'f' => {
                cursor.cstr("reason")?;
                Message::CopyFail
            }
            _ => return Err(DecodeError::BadValue { what: "message type" }),
        };
        cursor.finish("message")?;
        Ok(message)
    }

    /// Whether the server takes it while it copies in.
    pub(super) fn is_of_copy(&self) -> bool {
        match self {
            Message::CopyData
            | Message::CopyDone
            | Message::CopyFail
            | Message::Flush
            | Message::Sync
            | Message::Terminate => true,
            Message::Query { .. }
            | Message::Parse(_)
            | Message::Bind(_)
            | Message::Describe(..)
            | Message::Execute { .. }
            | Message::Close(..)
            | Message::FunctionCall => false,
        }
    }
}

impl<'f> Parse<'f> {
    fn decode(mut cursor: Cursor<'f>) -> Result<Self, DecodeError> {
        let name = cursor.text("statement name")?;
        let rest = cursor.rest();
        let text = cursor.text("query text")?;
        let types = cursor.rest();
        let count = usize::from(cursor.u16("parameter type count")?);
        if cursor.rest().len() != count * OID_BYTES {
            return Err(DecodeError::BadValue { what: "parameter type count" });
        }
        let declared = (0..count).map(|_| cursor.u32("parameter type")).collect::<Result<_, _>>()?;
        cursor.finish("Parse")?;
        Ok(Parse { name, text, declared, rest, types })
    }
}

impl<'f> Bind<'f> {
    fn decode(mut cursor: Cursor<'f>) -> Result<Self, DecodeError> {
        let (portal, statement) = (cursor.text("portal name")?, cursor.text("statement name")?);
        let rest = cursor.rest();
        let formats = Formats::decode(&mut cursor)?;
        let count = usize::from(cursor.u16("parameter count")?);
        if !matches!(formats.len(), 0 | 1) && formats.len() != count {
            return Err(DecodeError::BadValue { what: "parameter format count" });
        }
        let values = cursor.rest();
        for _ in 0..count {
            value(&mut cursor)?;
        }
        // Which formats the results have is the server's to judge: it does so when they are there.
        let results = usize::from(cursor.u16("result format count")?);
        cursor.bytes(results * CODE_BYTES, "result format codes")?;
        cursor.finish("Bind")?;
        Ok(Bind { portal, statement, rest, formats, count, values })
    }

    /// The statement that a Bind names, of one that is malformed behind its names.
    pub(super) fn statement_of(body: &'f [u8]) -> Option<&'f str> {
        let mut cursor = Cursor::new(body);
        cursor.text("portal name").ok()?;
        cursor.text("statement name").ok()
    }

    /// Every value in its order, none for NULL, with its own format.
    pub fn values(&self) -> impl Iterator<Item = (Option<&'f [u8]>, Format)> {
        let mut cursor = Cursor::new(self.values);
        let formats = self.formats;
        // It was decoded once already: the reads cannot fail.
        (0..self.count).map_while(move |at| Some((value(&mut cursor).ok()?, formats.of(at)?)))
    }
}

impl<'f> Formats<'f> {
    fn decode(cursor: &mut Cursor<'f>) -> Result<Self, DecodeError> {
        let count = usize::from(cursor.u16("format count")?);
        let codes = cursor.bytes(count * CODE_BYTES, "format codes")?;
        match codes.chunks_exact(CODE_BYTES).all(|code| matches!(code, [0, 0 | 1])) {
            true => Ok(Formats(codes)),
            false => Err(DecodeError::BadValue { what: UNKNOWN_FORMAT }),
        }
    }

    fn len(self) -> usize {
        self.0.len() / CODE_BYTES
    }

    fn of(self, at: usize) -> Option<Format> {
        let at = match self.len() {
            0 => return Some(Format::Text),
            1 => 0,
            _ => at,
        };
        match self.0.chunks_exact(CODE_BYTES).nth(at)? {
            [0, 0] => Some(Format::Text),
            _ => Some(Format::Binary),
        }
    }
}

fn object(cursor: &mut Cursor<'_>) -> Result<Object, DecodeError> {
    match cursor.u8("object kind")? {
        b'S' => Ok(Object::Statement),
        b'P' => Ok(Object::Portal),
        _ => Err(DecodeError::BadValue { what: "object kind" }),
    }
}

fn value<'f>(cursor: &mut Cursor<'f>) -> Result<Option<&'f [u8]>, DecodeError> {
    match cursor.i32("value length")? {
        NULL => Ok(None),
        length => {
            let length =
                usize::try_from(length).map_err(|_| DecodeError::BadValue { what: "value length" })?;
            cursor.bytes(length, "value").map(Some)
        }
    }
}

/// What is wrong with a format code that is neither text nor binary.
pub(super) const UNKNOWN_FORMAT: &str = "format code";
const OID_BYTES: usize = 4;
const CODE_BYTES: usize = 2;
/// The length that stands for NULL.
const NULL: i32 = -1;

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    fn decode(tag: u8, body: &[u8]) -> Result<String, DecodeError> {
        let bytes = [&[tag, 0, 0, 0, 0], body].concat();
        Message::decode(Frame { tag, bytes: &bytes }).map(|message| format!("{message:?}"))
    }

    #[test]
    fn a_query_is_one_string_to_the_last_byte() {
        assert_eq!(decode(b'Q', b"select 1\0").unwrap(), "Query { text: \"select 1\" }");
        for body in [&b""[..], b"select 1", b"select 1\0x", b"sel\0ect\0", b"\xff\0"] {
            assert!(decode(b'Q', body).is_err(), "{body:?}");
        }
    }

    #[test]
    fn counts_must_fit_what_remains() {
        assert!(decode(b'P', b"n\0select $1\0\0\x01\0\0\0\x17").is_ok());
        for types in [&b""[..], b"\0", b"\0\x01", b"\0\x01\0\0\0", b"\0\0\0", b"\xff\xff\0\0\0\x17"] {
            assert!(decode(b'P', &[b"n\0select $1\0", types].concat()).is_err(), "{types:?}");
        }
    }

    /// Values with their formats.
    type Values = Vec<(Option<Vec<u8>>, Format)>;

    fn bind(tail: &[u8]) -> Result<Values, DecodeError> {
        let bytes = [b"p\0s\0", tail].concat();
        let bind = Bind::decode(Cursor::new(&bytes))?;
        Ok(bind.values().map(|(value, format)| (value.map(<[u8]>::to_vec), format)).collect())
    }

    #[test]
    fn values_carry_their_own_formats() {
        let value = |text: &[u8]| Some(text.to_vec());
        let two = b"\0\x02\0\0\0\x01a\0\0\0\x01b\0\0";
        let said = bind(&[b"\0\0", &two[..]].concat()).unwrap();
        assert_eq!(said, [(value(b"a"), Format::Text), (value(b"b"), Format::Text)]);
        let said = bind(&[b"\0\x01\0\x01", &two[..]].concat()).unwrap();
        assert_eq!(said, [(value(b"a"), Format::Binary), (value(b"b"), Format::Binary)]);
        let said = bind(&[b"\0\x02\0\0\0\x01", &two[..]].concat()).unwrap();
        assert_eq!(said, [(value(b"a"), Format::Text), (value(b"b"), Format::Binary)]);
        assert_eq!(bind(b"\0\0\0\x01\xff\xff\xff\xff\0\0").unwrap(), [(None, Format::Text)]);
    }

    #[test]
    fn a_bind_that_lies_about_its_lengths_is_no_bind() {
        let lies: [&[u8]; 8] = [
            b"",
            b"\0\0\0\x01\0\0\0\x05a\0\0",
            b"\0\0\0\x01\xff\xff\xff\xfe\0\0",
            b"\0\0\0\x02\0\0\0\x01a\0\0",
            b"\0\x03\0\0\0\0\0\0\0\x01\0\0\0\x01a\0\0",
            b"\0\x01\0\x02\0\0\0\0",
            b"\0\0\0\0\0\0x",
            b"\0\0\0\0\0\x01",
        ];
        for tail in lies {
            assert!(bind(tail).is_err(), "{tail:?}");
        }
        assert!(bind(b"\0\0\0\0\0\0").is_ok());
    }

    #[test]
    fn small_messages_have_nothing_behind_them() {
        for tag in *b"HSXc" {
            assert!(decode(tag, b"").is_ok());
            assert!(decode(tag, b"x").is_err());
        }
        assert!(decode(b'D', b"Sname\0").is_ok());
        assert!(decode(b'D', b"Xname\0").is_err());
        assert!(decode(b'E', b"p\0\0\0\0\x01").is_ok());
        assert!(decode(b'E', b"p\0\0\0\0").is_err());
    }
}
