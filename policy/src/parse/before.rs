//! Limits before the parse (policy 4.1): bytes, NUL, UTF-8.

use crate::{Code, Denial, LimitName, Rule, SqlState};

/// The text of a statement's bytes.
///
/// # Errors
/// More than `max_bytes`; a NUL, which PostgreSQL's own strings end at; bytes that are no UTF-8,
/// which a server with another decoder would read as another text.
pub fn before(bytes: &[u8], max_bytes: usize) -> Result<&str, Denial> {
    bounded(bytes.len(), max_bytes)?;
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let place = error.valid_up_to();
        let rest = bytes.get(place..).unwrap_or_default();
        let announced = rest.first().map_or(1, |&first| sequence_length(first));
        not_text(place, rest.get(..announced).unwrap_or(rest))
    })?;
    without_nul(text)?;
    Ok(text)
}

/// The same of what is known to be UTF-8.
pub(super) fn before_text(text: &str, max_bytes: usize) -> Result<(), Denial> {
    bounded(text.len(), max_bytes)?;
    without_nul(text)
}

fn bounded(length: usize, max_bytes: usize) -> Result<(), Denial> {
    if length <= max_bytes {
        return Ok(());
    }
    let code = Code::Limit(LimitName::StatementBytes);
    let message = format!("statement of {length} bytes is over the limit of {max_bytes} bytes");
    Err(Denial::new(Rule::LimitsBeforeParse, code, None, message)
        .hint("send it in parts, or raise limits.statement_bytes"))
}

fn without_nul(text: &str) -> Result<(), Denial> {
    match text.find('\0') {
        Some(place) => Err(not_text(place, &[0])),
        None => Ok(()),
    }
}

/// PostgreSQL's words for bytes that are no text.
fn not_text(place: usize, bytes: &[u8]) -> Denial {
    let shown: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
    let message = format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" "));
    let at = u32::try_from(place).ok();
    Denial::new(Rule::LimitsBeforeParse, Code::SyntaxError, at, message).sqlstate(CHARACTER_NOT_IN_REPERTOIRE)
}

/// How many bytes the first one announces; PostgreSQL shows as many.
const fn sequence_length(first: u8) -> usize {
    match first {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => 1,
    }
}

const CHARACTER_NOT_IN_REPERTOIRE: SqlState = SqlState("22021");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_over_the_limit_are_refused_before_anything_reads_them() {
        let denial = before(&[0xff; 11], 10).err();
        assert_eq!(denial.map(|denial| denial.code.to_string()).as_deref(), Some("limit_statement_bytes"));
        assert_eq!(before(b"SELECT 1;;", 10), Ok("SELECT 1;;"));
    }

    #[test]
    fn nul_and_broken_utf8_are_refused_in_postgresql_s_words() {
        for (bytes, message, at) in [
            (&b"SELECT 'a\0b'"[..], "invalid byte sequence for encoding \"UTF8\": 0x00", 9),
            (b"SELECT '\xc3('", "invalid byte sequence for encoding \"UTF8\": 0xc3 0x28", 8),
            (b"\xf0\x9f\x92", "invalid byte sequence for encoding \"UTF8\": 0xf0 0x9f 0x92", 0),
            (b"'\xed\xa0\x80'", "invalid byte sequence for encoding \"UTF8\": 0xed 0xa0 0x80", 1),
        ] {
            let denial = before(bytes, 100).err();
            let shown = denial.map(|denial| (denial.message, denial.at, denial.sqlstate.0));
            assert_eq!(shown, Some((message.to_owned(), Some(at), "22021")));
        }
    }
}
