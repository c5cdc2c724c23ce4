//! The parser's errors, as PostgreSQL says them: message, SQLSTATE, position.
//!
//! The parser gives the message alone. Messages that end in `at or near "X"` carry the text from
//! the error's place to the end of the token that was being read; so the place is one of those
//! where X stands, and it is the first at which the text, cut behind X, gives the same message:
//! whatever is cut off comes later and cannot matter. The few messages of the grammar's own actions
//! carry no text; they come without a position.

use crate::shape::token::words;
use crate::{Code, Denial, LimitName, Rule, SqlState};

/// The denial for a text that the parser does not take.
pub(super) fn denial(text: &str, error: &pg_query::Error) -> Denial {
    match error {
        pg_query::Error::Parse(message) => refused(text, message),
        pg_query::Error::Conversion(_)
        | pg_query::Error::Decode(_)
        | pg_query::Error::Scan(_)
        | pg_query::Error::InvalidJson(_)
        | pg_query::Error::InvalidPointer
        | pg_query::Error::IsUtility(_)
        | pg_query::Error::Split(_) => {
            let message = "the parser's answer cannot be read";
            Denial::new(Rule::Syntax, Code::Unsupported, None, message)
        }
    }
}

fn refused(text: &str, message: &str) -> Denial {
    if TOO_DEEP.iter().any(|deep| message.starts_with(deep)) {
        let code = Code::Limit(LimitName::Depth);
        let message = "statement is nested too deeply to be parsed";
        return Denial::new(Rule::LimitsAfterParse, code, None, message);
    }
    let at = position(text, message).and_then(|place| u32::try_from(place).ok());
    let denial = Denial::new(Rule::Syntax, Code::SyntaxError, at, message);
    denial.sqlstate(sqlstate(message))
}

/// The byte at which PostgreSQL reports the error, where it can be told.
fn position(text: &str, message: &str) -> Option<usize> {
    if message.ends_with(AT_END) {
        return Some(text.len());
    }
    if let Some((_, keyword)) = AT_KEYWORD.iter().find(|(said, _)| message == *said) {
        let mut places = words(text).filter(|token| token.is_word(text, keyword));
        return match (places.next(), places.next()) {
            (Some(only), None) => Some(only.start),
            (Some(_) | None, _) => None,
        };
    }
    let near = message.split_once(AT_OR_NEAR)?.1.strip_suffix('"')?;
    if message.starts_with("unterminated") {
        return text.len().checked_sub(near.len());
    }
    let places: Vec<usize> = if message.starts_with(SYNTAX_ERROR) {
        let tokens = words(text).filter(|token| token.bytes(text) == near.as_bytes());
        tokens.map(|token| token.start).collect()
    } else {
        text.match_indices(near).map(|(place, _)| place).collect()
    };
    first_failing(text, message, near, &places)
}

/// The first of these places at which the text, cut behind the token there, gives this message.
/// Once it does, it does at every later place: so the places are bisected.
fn first_failing(text: &str, message: &str, near: &str, places: &[usize]) -> Option<usize> {
    let (mut low, mut high) = (0, places.len().checked_sub(1)?);
    let halvings = usize::BITS - high.leading_zeros();
    if text.len().saturating_mul(usize::try_from(halvings).ok()?) > MAX_REPARSED_BYTES {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        let cut = places.get(middle)? + near.len();
        if text.get(..cut).is_some_and(|prefix| gives(prefix, message)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    places.get(low).copied()
}

fn gives(prefix: &str, message: &str) -> bool {
    matches!(pg_query::parse(prefix, 0), Err(pg_query::Error::Parse(said)) if said == message)
}

/// PostgreSQL's code for a message: 42601 but for a few.
fn sqlstate(message: &str) -> SqlState {
    SQLSTATES
        .iter()
        .find(|(start, _)| message.starts_with(start))
        .map_or(SqlState::SYNTAX_ERROR, |&(_, code)| SqlState(code))
}

const SYNTAX_ERROR: &str = "syntax error";
const AT_OR_NEAR: &str = " at or near \"";
const AT_END: &str = " at end of input";

/// What finding a position may parse again; over it, the error has none.
const MAX_REPARSED_BYTES: usize = 1 << 20;

/// Messages of `gram.y` that carry no text and are reported at a keyword.
const AT_KEYWORD: [(&str, &str); 1] = [("LIMIT #,# syntax is not supported", "limit")];

/// What the parser says when its own bounds are reached.
const TOO_DEEP: [&str; 4] =
    ["stack depth limit exceeded", "parse tree is nested too deeply", "memory exhausted", "out of memory"];

/// The beginnings of messages of `scan.l`, `parser.c` and `gram.y` whose code is not 42601.
const SQLSTATES: [(&str, &str); 11] = [
    ("invalid Unicode escape value", "42601"),
    ("invalid Unicode escape", "22025"),
    ("frame start cannot", "42P20"),
    ("frame end cannot", "42P20"),
    ("frame starting from", "42P20"),
    ("invalid byte sequence", "22021"),
    ("unsafe use of", "22P06"),
    ("MATCH PARTIAL not yet implemented", "0A000"),
    ("CREATE ASSERTION is not yet implemented", "0A000"),
    ("precision for type float must be", "22023"),
    ("current database cannot be changed", "0A000"),
];
