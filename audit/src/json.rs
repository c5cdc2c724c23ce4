//! JSON, written by hand into a buffer that is used again: no allocation once the buffer has grown.
//!
//! RFC 8259 section 7 with one form for each string: `"` and `\` behind a backslash, control characters as
//! `\u00xx` in lower case, everything else as it is. One form, because the hash is over these bytes.

/// The fields of an object, each written as `,"name":value`: a line always has keys before them. Names are given as
/// [`key!`] makes them.
pub(crate) struct Fields<'a>(pub(crate) &'a mut Vec<u8>);

/// A field's name as it is written, `,"name":`; [`key!`] makes it.
#[derive(Clone, Copy)]
pub(crate) struct Name(pub(crate) &'static str);

/// A [`Name`], put together when this is compiled.
macro_rules! key {
    ($name:literal) => {
        $crate::json::Name(concat!(",\"", $name, "\":"))
    };
}
pub(crate) use key;

impl Fields<'_> {
    pub(crate) fn text(&mut self, key: Name, value: &str) -> &mut Self {
        self.key(key);
        string(self.0, value);
        self
    }

    pub(crate) fn text_or_null(&mut self, key: Name, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.text(key, value),
            None => self.null(key),
        }
    }

    pub(crate) fn number(&mut self, key: Name, value: u64) -> &mut Self {
        self.key(key);
        number(self.0, value);
        self
    }

    pub(crate) fn number_or_null(&mut self, key: Name, value: Option<u64>) -> &mut Self {
        match value {
            Some(value) => self.number(key, value),
            None => self.null(key),
        }
    }

    pub(crate) fn signed_or_null(&mut self, key: Name, value: Option<i32>) -> &mut Self {
        let Some(value) = value else {
            return self.null(key);
        };
        self.key(key);
        if value < 0 {
            self.0.push(b'-');
        }
        number(self.0, u64::from(value.unsigned_abs()));
        self
    }

    pub(crate) fn boolean(&mut self, key: Name, value: bool) -> &mut Self {
        self.key(key);
        self.0.extend_from_slice(if value { b"true" } else { b"false" });
        self
    }

    /// 16 hex digits in quotes: a number that readers must not take for one.
    pub(crate) fn hex_or_null(&mut self, key: Name, value: Option<u64>) -> &mut Self {
        let Some(value) = value else {
            return self.null(key);
        };
        self.key(key);
        self.0.push(b'"');
        hex(self.0, &value.to_be_bytes());
        self.0.push(b'"');
        self
    }

    pub(crate) fn null(&mut self, key: Name) -> &mut Self {
        self.key(key);
        self.0.extend_from_slice(b"null");
        self
    }

    /// The name alone; the caller writes the value.
    pub(crate) fn key(&mut self, key: Name) {
        self.0.extend_from_slice(key.0.as_bytes());
    }
}

pub(crate) fn string(out: &mut Vec<u8>, value: &str) {
    let bytes = value.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    if are_plain(bytes) {
        out.extend_from_slice(bytes);
    } else {
        let (chunks, rest) = bytes.as_chunks::<CHUNK_BYTES>();
        for chunk in chunks {
            if are_plain(chunk) {
                out.extend_from_slice(chunk);
            } else {
                escape(out, chunk);
            }
        }
        escape(out, rest);
    }
    out.push(b'"');
}

pub(crate) fn number(out: &mut Vec<u8>, value: u64) {
    let mut digits = [b'0'; NUMBER_BYTES_MAX];
    let (mut first, mut left) = (NUMBER_BYTES_MAX, value);
    for slot in digits.iter_mut().rev() {
        *slot = digit(left);
        first -= 1;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(first..).unwrap_or_default());
}

/// The last `WIDTH` decimal digits of a number, with leading zeros.
pub(crate) fn digits<const WIDTH: usize>(out: &mut Vec<u8>, value: u64) {
    let mut buffer = [b'0'; WIDTH];
    fill(&mut buffer, value);
    out.extend_from_slice(&buffer);
}

pub(crate) fn hex(out: &mut Vec<u8>, bytes: &[u8]) {
    let start = out.len();
    out.resize(start + 2 * bytes.len(), 0);
    hex_into(out.get_mut(start..).unwrap_or_default(), bytes);
}

/// Fills `text` with the digits of as many bytes as have room there.
pub(crate) fn hex_into(text: &mut [u8], bytes: &[u8]) {
    let (pairs, _) = text.as_chunks_mut::<2>();
    for (pair, byte) in pairs.iter_mut().zip(bytes) {
        *pair = [hex_digit(byte >> 4), hex_digit(byte & 0x0f)];
    }
}

/// Copies runs of plain bytes, and writes what must not stand as it is.
fn escape(out: &mut Vec<u8>, bytes: &[u8]) {
    for run in bytes.split_inclusive(|&byte| !is_plain(byte)) {
        match run.split_last() {
            Some((&last, plain)) if !is_plain(last) => {
                out.extend_from_slice(plain);
                if last < 0x20 {
                    out.extend_from_slice(&[
                        b'\\',
                        b'u',
                        b'0',
                        b'0',
                        hex_digit(last >> 4),
                        hex_digit(last & 0x0f),
                    ]);
                } else {
                    out.extend_from_slice(&[b'\\', last]);
                }
            }
            Some(_) | None => out.extend_from_slice(run),
        }
    }
}

/// The fold has no early exit so that it compiles to vector instructions; nearly all texts are plain.
fn are_plain(bytes: &[u8]) -> bool {
    bytes.iter().fold(true, |plain, &byte| plain & is_plain(byte))
}

fn is_plain(byte: u8) -> bool {
    (byte >= 0x20) & (byte != b'"') & (byte != b'\\')
}

fn fill(slots: &mut [u8], value: u64) {
    let mut left = value;
    for slot in slots.iter_mut().rev() {
        *slot = digit(left);
        left /= 10;
    }
}

/// The last decimal digit.
fn digit(number: u64) -> u8 {
    b'0' + u8::try_from(number % 10).unwrap_or_default()
}

/// Without a branch, so that a whole hash compiles to vector instructions.
const fn hex_digit(nibble: u8) -> u8 {
    const GAP: u8 = b'a' - b'9' - 1;
    b'0' + nibble + if nibble > 9 { GAP } else { 0 }
}

/// One vector register's worth on the machines that matter.
const CHUNK_BYTES: usize = 32;
/// What the largest number takes.
const NUMBER_BYTES_MAX: usize = 20;

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    fn rendered(value: &str) -> String {
        let mut out = Vec::new();
        string(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_character_below_128_and_some_above_read_back() {
        let all: String = (0..128_u8).map(char::from).chain("é\u{7f}\u{2028}😀".chars()).collect();
        for start in all.char_indices().map(|(at, _)| at) {
            let text = all.get(start..).unwrap();
            assert_eq!(serde_json::from_str::<String>(&rendered(text)).unwrap(), text);
        }
    }

    #[test]
    fn there_is_one_form_of_each_escape() {
        assert_eq!(rendered("a\"b\\c\n\t\u{1f}\u{7f}/é"), "\"a\\\"b\\\\c\\u000a\\u0009\\u001f\u{7f}/é\"");
        // The same beyond the first chunk, and across its border.
        let long = "x".repeat(CHUNK_BYTES - 1) + "\n\"" + &"y".repeat(CHUNK_BYTES);
        assert_eq!(
            rendered(&long),
            format!("\"{}\\u000a\\\"{}\"", "x".repeat(CHUNK_BYTES - 1), "y".repeat(CHUNK_BYTES))
        );
    }

    #[test]
    fn numbers_have_no_leading_zeros_and_keep_all_digits() {
        for value in [0, 7, 10, 99, 100, 12_345, u64::MAX - 1, u64::MAX] {
            let mut out = Vec::new();
            number(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
        }
        let mut out = Vec::new();
        Fields(&mut out)
            .signed_or_null(key!("a"), Some(i32::MIN))
            .signed_or_null(key!("b"), Some(3))
            .signed_or_null(key!("c"), None);
        assert_eq!(out, b",\"a\":-2147483648,\"b\":3,\"c\":null");
    }
}
