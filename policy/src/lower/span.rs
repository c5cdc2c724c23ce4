//! A statement's bytes in the text.

use std::ops::Range;

use crate::shape::token::{TokenKind, words};

/// From the statement's first token to the end of its last; the parser's own borders count white
/// space and comments in, and a length of 0 means "to the end".
pub(super) fn of(text: &str, location: i32, length: i32) -> Range<usize> {
    let start = usize::try_from(location).unwrap_or(0).min(text.len());
    let end = match usize::try_from(length) {
        Ok(length) if length > 0 => (start + length).min(text.len()),
        Ok(_) | Err(_) => text.len(),
    };
    let Some(slice) = text.get(start..end) else { return start..end };
    let mut tokens = words(slice).filter(|token| token.kind != SEMICOLON);
    let Some(first) = tokens.next() else { return start..start };
    let last = tokens.last().unwrap_or(first);
    start + first.start..start + last.end
}

const SEMICOLON: TokenKind = TokenKind::Punctuation(b';');
