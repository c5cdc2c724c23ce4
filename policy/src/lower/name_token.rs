//! Where the names of prepared statements and cursors stand.
//!
//! The parser gives these names without a place. They stand at fixed places of their statements,
//! so their tokens are found by counting tokens; each is then compared with the name that the
//! parser read, and a token that says something else is none.

use std::ops::Range;

use pg_query::protobuf::node::Node as N;

use super::name;
use crate::ir::NameToken;
use crate::shape::token::{Token, TokenKind, words};

/// The tokens of one statement.
#[derive(Debug)]
pub(super) struct NameTokens<'t> {
    text: &'t str,
    statement: Range<usize>,
    /// How many names behind CURRENT OF were found so far.
    currents: usize,
}

impl<'t> NameTokens<'t> {
    pub(super) fn new(text: &'t str, statement: Range<usize>) -> NameTokens<'t> {
        NameTokens { text, statement, currents: 0 }
    }

    /// The name behind the statement's own keyword: PREPARE, EXECUTE, DECLARE. The keyword is
    /// not always the first word (EXPLAIN EXECUTE).
    pub(super) fn after(&self, keyword: &str, expected: &str) -> NameToken {
        let mut depth = 0_usize;
        let mut tokens = self.tokens().skip_while(|token| {
            if token.kind == TokenKind::Punctuation(b'(') {
                depth += 1;
            } else if token.kind == TokenKind::Punctuation(b')') {
                depth = depth.saturating_sub(1);
            }
            depth > 0 || !token.is_word(self.text, keyword)
        });
        tokens.next();
        self.found(&tokens.collect::<Vec<_>>(), expected)
    }

    /// The last name of the statement: DEALLOCATE, FETCH, MOVE, CLOSE.
    pub(super) fn last(&self, expected: &str) -> NameToken {
        let tokens: Vec<Token> = self.tokens().collect();
        let name = match tokens.as_slice() {
            [.., name, uescape, _] if self.is_uescape(name, uescape) => {
                tokens.len() - [name, uescape, name].len()
            }
            _ => tokens.len().saturating_sub(1),
        };
        self.found(tokens.get(name..).unwrap_or_default(), expected)
    }

    /// The next name behind CURRENT OF: they are lowered in the order of the text.
    pub(super) fn current_of(&mut self, expected: &str) -> NameToken {
        let tokens: Vec<Token> = self.tokens().collect();
        let places = tokens.windows(2).enumerate().filter(|(_, pair)| match pair {
            [current, of] => current.is_word(self.text, "current") && of.is_word(self.text, "of"),
            _ => false,
        });
        let place = places.map(|(place, _)| place).nth(self.currents);
        self.currents += 1;
        let rest = place.and_then(|place| tokens.get(place + 2..)).unwrap_or_default();
        self.found(rest, expected)
    }

    fn tokens(&self) -> impl Iterator<Item = Token> {
        let start = self.statement.start;
        let slice = self.text.get(self.statement.clone()).unwrap_or_default();
        words(slice).map(move |token| Token { start: token.start + start, end: token.end + start, ..token })
    }

    /// The name at the front of these tokens, if it is the expected one.
    fn found(&self, tokens: &[Token], expected: &str) -> NameToken {
        let span = match tokens {
            [name, uescape, escape, ..] if self.is_uescape(name, uescape) => Some(name.start..escape.end),
            [name, ..] => Some(name.start..name.end),
            [] => None,
        };
        let span =
            span.filter(|span| self.text.get(span.clone()).is_some_and(|token| reads_as(token, expected)));
        NameToken { name: name(expected), span }
    }

    fn is_uescape(&self, name: &Token, uescape: &Token) -> bool {
        name.kind == TokenKind::UnicodeName && uescape.is_word(self.text, "uescape")
    }
}

/// Whether PostgreSQL reads this token as that name. What is not plain is left to its own
/// scanner, which folds, unquotes, decodes and cuts.
fn reads_as(token: &str, expected: &str) -> bool {
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
    if token.len() <= MAX_PLAIN_NAME_BYTES && token.bytes().all(plain) {
        return token == expected;
    }
    let Ok(tree) = pg_query::parse(&format!("CLOSE {token}"), 0) else { return false };
    match tree.protobuf.stmts.as_slice() {
        [statement] => match statement.stmt.as_deref().map(|node| &node.node) {
            Some(Some(N::ClosePortalStmt(close))) => close.portalname == expected,
            _ => false,
        },
        _ => false,
    }
}

/// NAMEDATALEN less the NUL: the scanner cuts longer names.
const MAX_PLAIN_NAME_BYTES: usize = 63;
