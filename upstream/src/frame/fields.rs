//! ErrorResponse and NoticeResponse: a list of fields, kept in its order, unknown ones too.
//!
//! Values are bytes: before the login is done a server may speak in another encoding.

use std::fmt;

use bytes::{BufMut, Bytes, BytesMut};

use super::cursor::{Cursor, DecodeError};
use super::frontend::{EncodeError, message};

/// The fields of one error or notice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    list: Vec<Field>,
}

/// One field: its code (protocol "Error and Notice Message Fields") and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// `S`, `V`, `C`, `M`, `D`, `H`, `P`, …
    pub code: u8,
    /// The value, without its NUL.
    pub value: Bytes,
}

impl Fields {
    /// No fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes the body of an ErrorResponse or NoticeResponse.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let (mut cursor, mut list) = (Cursor::new(body), Vec::new());
        loop {
            match cursor.u8("field code")? {
                0 => break,
                code => list.push(Field { code, value: Bytes::copy_from_slice(cursor.cstr("field value")?) }),
            }
        }
        cursor.finish("error or notice")?;
        Ok(Fields { list })
    }

    /// All fields, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Field> {
        self.list.iter()
    }

    /// The first field with this code.
    pub fn get(&self, code: u8) -> Option<&[u8]> {
        self.list.iter().find(|field| field.code == code).map(|field| &*field.value)
    }

    /// The same as text; `None` also if it is not UTF-8.
    pub fn text(&self, code: u8) -> Option<&str> {
        self.get(code).and_then(|value| std::str::from_utf8(value).ok())
    }

    /// The five characters of `C`; `None` if a server left them out or sent something else.
    pub fn sqlstate(&self) -> Option<&str> {
        self.text(b'C').filter(|code| code.len() == 5 && code.bytes().all(|b| b.is_ascii_alphanumeric()))
    }

    /// The severity that is never translated (`V`), else the one that may be (`S`).
    pub fn severity(&self) -> Option<&str> {
        self.text(b'V').or_else(|| self.text(b'S'))
    }

    /// The primary message.
    pub fn message(&self) -> Option<&str> {
        self.text(b'M')
    }

    /// Gives the first field with this code another value, in its place; adds it at the end if there
    /// is none.
    pub fn set(&mut self, code: u8, value: impl Into<Bytes>) {
        let value = value.into();
        match self.list.iter_mut().find(|field| field.code == code) {
            Some(field) => field.value = value,
            None => self.list.push(Field { code, value }),
        }
    }

    /// Removes every field with this code.
    pub fn remove(&mut self, code: u8) {
        self.list.retain(|field| field.code != code);
    }

    /// Keeps the fields for which `keep` says so.
    pub fn retain(&mut self, keep: impl FnMut(&Field) -> bool) {
        self.list.retain(keep);
    }

    /// Appends them to `out` as an ErrorResponse.
    ///
    /// # Errors
    ///
    /// A value holds a NUL, or the message would be too long; `out` is unchanged then.
    pub fn encode_error(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        self.encode(b'E', out)
    }

    /// Appends them to `out` as a NoticeResponse. Errors as [`Fields::encode_error`].
    pub fn encode_notice(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        self.encode(b'N', out)
    }

    fn encode(&self, tag: u8, out: &mut BytesMut) -> Result<(), EncodeError> {
        if self.list.iter().any(|field| field.code == 0 || field.value.contains(&0)) {
            return Err(EncodeError::Nul { what: "field value" });
        }
        message(tag, out, |out| {
            for field in &self.list {
                out.put_u8(field.code);
                out.put_slice(&field.value);
                out.put_u8(0);
            }
            out.put_u8(0);
        })
    }
}

/// For people: severity, message and SQLSTATE on one line, control characters made harmless.
impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lossy = |code| self.get(code).map(String::from_utf8_lossy);
        let message = lossy(b'M').unwrap_or_else(|| "(no message)".into());
        let message: String = message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        write!(f, "{}: {message}", self.severity().unwrap_or("ERROR"))?;
        match self.sqlstate() {
            Some(code) => write!(f, " (SQLSTATE {code})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

    use super::*;

    const BODY: &[u8] = b"SERROR\0VERROR\0C42P01\0Mno table\0?unknown\0P15\0\0";

    #[test]
    fn order_and_unknown_fields_survive() {
        let fields = Fields::decode(BODY).unwrap();
        assert_eq!(fields.sqlstate(), Some("42P01"));
        assert_eq!(fields.get(b'?'), Some(&b"unknown"[..]));
        let mut out = BytesMut::new();
        fields.encode_error(&mut out).unwrap();
        assert_eq!(&out[5..], BODY);
        assert_eq!(&out[..5], b"E\0\0\0\x31");
    }

    #[test]
    fn a_swapped_field_stays_in_its_place() {
        let mut fields = Fields::decode(BODY).unwrap();
        fields.set(b'M', "refused");
        fields.set(b'D', "added");
        fields.remove(b'P');
        let codes: Vec<u8> = fields.iter().map(|field| field.code).collect();
        assert_eq!(codes, b"SVCM?D");
        assert_eq!(fields.message(), Some("refused"));
    }

    #[test]
    fn a_body_is_decoded_whole_or_not_at_all() {
        for end in 0..BODY.len() {
            assert!(Fields::decode(&BODY[..end]).is_err(), "cut at {end}");
        }
        assert!(Fields::decode(&[BODY, b"x"].concat()).is_err());
        assert_eq!(Fields::decode(b"\0").unwrap(), Fields::new());
    }

    #[test]
    fn a_missing_or_odd_sqlstate_is_none() {
        assert_eq!(Fields::decode(b"Mx\0\0").unwrap().sqlstate(), None);
        assert_eq!(Fields::decode(b"C42\0\0").unwrap().sqlstate(), None);
        assert_eq!(Fields::decode(b"C42\xff01\0\0").unwrap().sqlstate(), None);
        assert_eq!(Fields::decode(b"Ma\x1b[0m\0\0").unwrap().to_string(), "ERROR: a [0m");
    }

    #[test]
    fn a_nul_cannot_be_smuggled_in() {
        let mut fields = Fields::new();
        fields.set(b'M', "a\0Cfake");
        let mut out = BytesMut::new();
        assert!(fields.encode_notice(&mut out).is_err());
        assert_eq!(out.len(), 0);
    }
}
