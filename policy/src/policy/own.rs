//! T: what the session's tenant is called in a tenant column (policy 3).
//!
//! A value is compared in its column's own type: text and enums byte by byte, integers and uuids
//! by value. What PostgreSQL would read in more ways than these (hexadecimal integers, which only
//! newer servers read) is not T.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::Family;

/// A tenant's value in a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnValue {
    /// In a text or varchar column.
    Text(Arc<str>),
    /// In a column of an integer type.
    Integer(i64),
    /// In a uuid column.
    Uuid([u8; 16]),
    /// A label of an enum.
    Enum(Arc<str>),
}

/// The same, without a copy of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Own<'o> {
    Text(&'o str),
    Integer(i64),
    Uuid([u8; 16]),
    Enum(&'o str),
}

/// What `tenants:` calls a tenant in a column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Called {
    /// An integer, with its spelling in a column of text.
    Integer(i64, Arc<str>),
    Text(Arc<str>),
}

impl<'o> Own<'o> {
    pub(super) fn of_mapping(called: &'o Called, family: &Family) -> Option<Own<'o>> {
        match called {
            Called::Text(text) => match family {
                Family::Integer => integer(text).map(Own::Integer),
                Family::Text => Some(Own::Text(text)),
                Family::Uuid => uuid(text).map(Own::Uuid),
                Family::Enum(..) => Some(Own::Enum(text)),
                Family::Boolean | Family::Other(..) | Family::Unknown => None,
            },
            Called::Integer(value, text) => match family {
                Family::Integer => Some(Own::Integer(*value)),
                Family::Text => Some(Own::Text(text)),
                Family::Enum(..) => Some(Own::Enum(text)),
                Family::Uuid | Family::Boolean | Family::Other(..) | Family::Unknown => None,
            },
        }
    }

    /// A tenant without a mapping is called by its name. Two names must not be one integer
    /// (`42`, `042`), so only an integer's own spelling counts.
    pub(super) fn of_name(name: &'o str, family: &Family) -> Option<Own<'o>> {
        match family {
            Family::Text => Some(Own::Text(name)),
            Family::Enum(..) => Some(Own::Enum(name)),
            Family::Uuid => uuid(name).map(Own::Uuid),
            Family::Integer => integer(name).filter(|value| is_spelling(name, *value)).map(Own::Integer),
            Family::Boolean | Family::Other(..) | Family::Unknown => None,
        }
    }

    /// A string constant, or a value in text format, is this value.
    pub(crate) fn equals_text(self, literal: &str) -> bool {
        match self {
            Own::Text(own) | Own::Enum(own) => *own == *literal,
            Own::Integer(own) => integer(literal) == Some(own),
            Own::Uuid(own) => uuid(literal) == Some(own),
        }
    }

    /// A string constant, as it is written between its quotes, is this value.
    pub(crate) fn equals_written(self, inner: &str) -> bool {
        match self {
            Own::Text(own) | Own::Enum(own) => is_doubled(own, inner),
            // No integer and no uuid has a quote in it.
            Own::Integer(_) | Own::Uuid(_) => self.equals_text(inner),
        }
    }

    /// An integer constant is this value.
    pub(crate) fn equals_int(self, value: i64) -> bool {
        match self {
            Own::Integer(own) => own == value,
            Own::Text(_) | Own::Enum(_) | Own::Uuid(_) => false,
        }
    }

    /// A column's default, as pg_get_expr prints a constant, is this value.
    pub(crate) fn is_printed_as(self, default: &str) -> bool {
        ["", "::text", "::character varying", "::integer", "::bigint", "::smallint", "::uuid"]
            .iter()
            .filter_map(|cast| default.strip_suffix(cast))
            .any(|literal| self.is_literal(literal))
    }

    /// As [`OwnValue::literal`] writes it.
    fn is_literal(self, literal: &str) -> bool {
        let inner = || literal.strip_prefix('\'')?.strip_suffix('\'');
        match self {
            Own::Integer(own) => is_spelling(literal, own),
            Own::Text(own) | Own::Enum(own) => inner().is_some_and(|inner| is_doubled(own, inner)),
            Own::Uuid(own) => inner().is_some_and(|inner| inner == hyphened(own)),
        }
    }

    pub(super) fn to_value(self) -> OwnValue {
        match self {
            Own::Text(own) => OwnValue::Text(own.into()),
            Own::Integer(own) => OwnValue::Integer(own),
            Own::Uuid(own) => OwnValue::Uuid(own),
            Own::Enum(own) => OwnValue::Enum(own.into()),
        }
    }
}

impl OwnValue {
    #[cfg(test)]
    fn of_name(name: &str, family: &Family) -> Option<OwnValue> {
        Own::of_name(name, family).map(Own::to_value)
    }

    pub(crate) fn borrowed(&self) -> Own<'_> {
        match self {
            OwnValue::Text(own) => Own::Text(own),
            OwnValue::Integer(own) => Own::Integer(*own),
            OwnValue::Uuid(own) => Own::Uuid(*own),
            OwnValue::Enum(own) => Own::Enum(own),
        }
    }

    /// A string constant, or a value in text format, is this value.
    pub fn equals_text(&self, literal: &str) -> bool {
        self.borrowed().equals_text(literal)
    }

    /// An integer constant is this value.
    pub fn equals_int(&self, value: i64) -> bool {
        self.borrowed().equals_int(value)
    }

    /// A value in binary format is this value. Integers of 2, 4 and 8 bytes are read: PostgreSQL
    /// itself refuses a length other than the parameter's type has.
    pub fn equals_binary(&self, value: &[u8]) -> bool {
        match self {
            OwnValue::Text(own) | OwnValue::Enum(own) => own.as_bytes() == value,
            OwnValue::Uuid(own) => own == value,
            OwnValue::Integer(own) => {
                let read = if let Ok(bytes) = <[u8; 2]>::try_from(value) {
                    i64::from(i16::from_be_bytes(bytes))
                } else if let Ok(bytes) = <[u8; 4]>::try_from(value) {
                    i64::from(i32::from_be_bytes(bytes))
                } else if let Ok(bytes) = <[u8; 8]>::try_from(value) {
                    i64::from_be_bytes(bytes)
                } else {
                    return false;
                };
                read == *own
            }
        }
    }

    /// The value as SQL writes it.
    pub fn literal(&self) -> String {
        match self {
            OwnValue::Integer(_) => self.text(),
            OwnValue::Text(_) | OwnValue::Uuid(_) | OwnValue::Enum(_) => {
                format!("'{}'", self.text().replace('\'', "''"))
            }
        }
    }

    /// The value as PostgreSQL prints it, for hints.
    pub fn text(&self) -> String {
        match self {
            OwnValue::Text(own) | OwnValue::Enum(own) => own.to_string(),
            OwnValue::Integer(own) => own.to_string(),
            OwnValue::Uuid(own) => hyphened(*own),
        }
    }
}

/// A uuid as PostgreSQL prints it.
fn hyphened(uuid: [u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (number, byte) in uuid.iter().enumerate() {
        if matches!(number, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        // Writing to a String does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Whether a string's content with every quote doubled is this.
fn is_doubled(content: &str, written: &str) -> bool {
    let mut rest = Some(written);
    for (number, piece) in content.split('\'').enumerate() {
        let after = if number == 0 { rest } else { rest.and_then(|rest| rest.strip_prefix("\'\'")) };
        rest = after.and_then(|rest| rest.strip_prefix(piece));
    }
    rest == Some("")
}

/// Whether it is the integer as PostgreSQL prints it.
fn is_spelling(text: &str, value: i64) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && (!digits.starts_with('0') || text == "0");
    plain && text.parse() == Ok(value)
}

/// An integer as every supported server's int2in, int4in and int8in read it: white space, a sign,
/// decimal digits, white space.
fn integer(text: &str) -> Option<i64> {
    let digits = text.trim_matches(is_space);
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// isspace() of the C locale.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}

/// A uuid as PostgreSQL's uuid_in reads it: 32 hexadecimal digits of either case, a hyphen allowed
/// behind every fourth, the whole possibly in braces.
fn uuid(text: &str) -> Option<[u8; 16]> {
    let inner = match text.strip_prefix('{') {
        Some(open) => open.strip_suffix('}')?,
        None => text,
    };
    let mut uuid = [0; 16];
    let mut rest = inner.as_bytes();
    for (number, byte) in uuid.iter_mut().enumerate() {
        let (digits, after) = rest.split_at_checked(2)?;
        *byte = digits.iter().try_fold(0, |high: u8, digit| Some(high << 4 | hex(*digit)?))?;
        rest = match after.split_first() {
            Some((b'-', after)) if number % 2 == 1 && number < 15 => after,
            Some(_) | None => after,
        };
    }
    rest.is_empty().then_some(uuid)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn integers_are_compared_by_value() {
        let own = OwnValue::Integer(42);
        for equal in ["42", " 42\n", "+42", "0042"] {
            assert!(own.equals_text(equal), "{equal:?}");
        }
        for other in [
            "",
            "-42",
            "4 2",
            "42.0",
            "4.2e1",
            "0x2A",
            "4_2",
            "42\u{a0}",
            "+ 42",
            "--42",
            "99999999999999999999",
        ] {
            assert!(!own.equals_text(other), "{other:?}");
        }
        assert!(own.equals_binary(&[0, 42]));
        assert!(own.equals_binary(&[0, 0, 0, 42]));
        assert!(own.equals_binary(&[0, 0, 0, 0, 0, 0, 0, 42]));
        for other in [&[42][..], &[], &[0, 0, 42], &[0, 43], &[0, 0, 0, 0, 42, 0, 0, 42]] {
            assert!(!own.equals_binary(other), "{other:?}");
        }
        assert!(OwnValue::Integer(-1).equals_binary(&[255, 255]));
        assert!(own.equals_int(42) && !own.equals_int(43));
    }

    #[test]
    fn uuids_are_read_in_every_form_of_postgresql() {
        let own = OwnValue::of_name("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", &Family::Uuid).unwrap();
        for equal in [
            "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
            "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
            "a0eebc999c0b4ef8bb6d6bb9bd380a11",
            "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
            "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}",
        ] {
            assert!(own.equals_text(equal), "{equal}");
        }
        for other in [
            "",
            "{}",
            " a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12",
            "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11-",
            "a0-eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "a0eebc99--9c0b-4ef8-bb6d-6bb9bd380a11",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1",
            "ä0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1",
        ] {
            assert!(!own.equals_text(other), "{other}");
        }
        assert_eq!(own.text(), "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
        assert!(!own.equals_binary(&[0; 16]));
        assert!(!own.equals_binary(&[0; 15]));
    }

    #[test]
    fn text_is_compared_byte_by_byte() {
        let own = OwnValue::of_name("acme", &Family::Text).unwrap();
        assert!(own.equals_text("acme") && own.equals_binary(b"acme"));
        for other in ["ACME", " acme", "acme ", "acm", ""] {
            assert!(!own.equals_text(other) && !own.equals_binary(other.as_bytes()), "{other:?}");
        }
        assert!(!own.equals_int(0));
    }

    #[test]
    fn a_name_is_an_integer_in_its_own_spelling_only() {
        assert_eq!(OwnValue::of_name("42", &Family::Integer), Some(OwnValue::Integer(42)));
        for name in ["042", "+42", " 42", "acme"] {
            assert_eq!(OwnValue::of_name(name, &Family::Integer), None, "{name:?}");
        }
        assert_eq!(OwnValue::of_name("true", &Family::Boolean), None);
        assert_eq!(OwnValue::of_name("acme", &Family::Unknown), None);
    }
}
