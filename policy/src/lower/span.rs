//! A statement's bytes in the text.

use std::ops::Range;

use crate::shape::token::{TokenKind, is_space, words};

/// From the statement's first token to the end of its last; the parser's own borders count white
/// space and comments in, and a length of 0 means "to the end".
pub(super) fn of(text: &str, location: i32, length: i32) -> Range<usize> {
    let start = usize::try_from(location).unwrap_or(0).min(text.len());
    let end = match usize::try_from(length) {
        Ok(length) if length > 0 => (start + length).min(text.len()),
        Ok(_) | Err(_) => text.len(),
    };
    let Some(slice) = text.get(start..end) else { return start..end };
    if !COMMENTS.iter().any(|begin| slice.contains(begin)) {
        // What is left between white space and semicolons is tokens: no token begins or ends with one.
        let rest = slice.trim_end_matches(is_between);
        let tokens = rest.trim_start_matches(is_between);
        let first = start + rest.len() - tokens.len();
        return first..first + tokens.len();
    }
    let mut tokens = words(slice).filter(|token| token.kind != SEMICOLON);
    let Some(first) = tokens.next() else { return start..start };
    let last = tokens.last().unwrap_or(first);
    start + first.start..start + last.end
}

fn is_between(character: char) -> bool {
    u8::try_from(character).is_ok_and(|byte| byte == b';' || is_space(byte))
}

/// A text without these bytes has no comment.
const COMMENTS: [&str; 2] = ["--", "/*"];
const SEMICOLON: TokenKind = TokenKind::Punctuation(b';');
