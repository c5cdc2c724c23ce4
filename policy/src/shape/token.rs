//! PostgreSQL's lexical rules, on bytes: where tokens begin and end, nothing else.
//!
//! The parser's own scanner costs a foreign call and an allocation a token; this one costs a walk
//! over the bytes. What it says is used for the shape of a text, for the nesting that a text may
//! reach before it is parsed, and for finding name tokens; a test holds it against the parser's
//! scanner. Rules are those of `scan.l` with `standard_conforming_strings` on.

/// A token, by its bytes in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// What a token is, as far as bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A keyword or an unquoted name; also the N before `N'…'`.
    Word,
    /// `"…"`.
    QuotedName,
    /// `U&"…"`, without its UESCAPE.
    UnicodeName,
    /// `'…'` in one piece.
    String,
    /// `E'…'`, `U&'…'`, `B'…'`, `X'…'`, `$tag$…$tag$`, and `'…'` in several pieces.
    OtherString,
    /// Decimal digits.
    Integer,
    /// Any other plain number.
    Decimal,
    /// `0x2A`, `1_000`, `12abc`: legal or not by the server's version.
    OddNumber,
    /// `$1`.
    Param,
    /// One of `, ( ) [ ] ; .`.
    Punctuation(u8),
    /// An operator, `..`, `::` or `:=`, or a lone `:`.
    Operator,
    /// Over [`MAX_OPERATOR_BYTES`] operator characters in a row, all of them.
    LongOperator,
    /// `-- …` or `/* … */`.
    Comment,
    /// A quote or a comment that does not end.
    Unterminated,
    /// A byte that starts no token.
    Stray,
}

impl Token {
    /// The token's bytes.
    pub(crate) fn bytes<'t>(&self, text: &'t str) -> &'t [u8] {
        text.as_bytes().get(self.start..self.end).unwrap_or_default()
    }

    /// Whether it is this unquoted word, written in lower case here.
    pub(crate) fn is_word(&self, text: &str, word: &str) -> bool {
        self.kind == TokenKind::Word && self.bytes(text).eq_ignore_ascii_case(word.as_bytes())
    }
}

/// The tokens of a text in order, comments among them, white space not.
pub(crate) fn tokens(text: &str) -> Tokens<'_> {
    Tokens { bytes: text.as_bytes(), at: 0 }
}

/// The same without the comments.
pub(crate) fn words(text: &str) -> impl Iterator<Item = Token> + Clone + '_ {
    tokens(text).filter(|token| token.kind != TokenKind::Comment)
}

/// See [`tokens`].
#[derive(Debug, Clone)]
pub(crate) struct Tokens<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.pass(is_space);
        let start = self.at;
        let first = *self.bytes.get(start)?;
        let kind = self.token(first);
        debug_assert!(self.at > start, "a token has at least one byte");
        Some(Token { kind, start, end: self.at })
    }
}

impl Tokens<'_> {
    fn token(&mut self, first: u8) -> TokenKind {
        let second = self.peek(1);
        match first {
            b'\'' => self.string(0, QUOTE, TokenKind::String),
            b'"' => self.name(0, TokenKind::QuotedName),
            b'-' if second == Some(b'-') => self.line_comment(),
            b'/' if second == Some(b'*') => self.block_comment(),
            b'$' => self.dollar(),
            b'.' if second == Some(b'.') => self.take(2, TokenKind::Operator),
            b'.' if second.is_some_and(|byte| byte.is_ascii_digit()) => self.number(),
            b':' if matches!(second, Some(b':' | b'=')) => self.take(2, TokenKind::Operator),
            b':' => self.take(1, TokenKind::Operator),
            b',' | b'(' | b')' | b'[' | b']' | b';' | b'.' => self.take(1, TokenKind::Punctuation(first)),
            b'0'..=b'9' => self.number(),
            b'e' | b'E' if second == Some(b'\'') => {
                self.string(1, QUOTE_AND_BACKSLASH, TokenKind::OtherString)
            }
            b'b' | b'B' | b'x' | b'X' if second == Some(b'\'') => self.string(1, "", TokenKind::OtherString),
            b'u' | b'U' if second == Some(b'&') => match self.peek(2) {
                Some(b'\'') => self.string(2, QUOTE, TokenKind::OtherString),
                Some(b'"') => self.name(2, TokenKind::UnicodeName),
                _ => self.word(),
            },
            _ if starts_name(first) => self.word(),
            _ if is_operator(first) => self.operator(),
            _ => self.take(1, TokenKind::Stray),
        }
    }

    fn word(&mut self) -> TokenKind {
        self.pass(continues_name);
        TokenKind::Word
    }

    /// From `prefix` bytes before the quote to the end of the last piece. The `escapes` hide the
    /// next byte, in every piece; a quote only a quote.
    fn string(&mut self, prefix: usize, escapes: &str, kind: TokenKind) -> TokenKind {
        self.at += prefix + 1;
        let mut kind = kind;
        loop {
            let Some(byte) = self.peek(0) else { return self.unterminated() };
            let escape = escapes.as_bytes().contains(&byte);
            if escape && (byte == b'\\' || self.peek(1) == Some(byte)) {
                self.at += 2;
                continue;
            }
            self.at += 1;
            if byte == b'\'' {
                match self.next_piece() {
                    Some(inside) => {
                        self.at = inside;
                        kind = TokenKind::OtherString;
                    }
                    None => return kind,
                }
            }
        }
    }

    /// Where the next piece of a string begins, behind its quote: pieces are joined over white
    /// space (and `--` comments) that has a new line in it.
    fn next_piece(&self) -> Option<usize> {
        let mut ahead = Tokens { bytes: self.bytes, at: self.at };
        loop {
            ahead.pass(is_space);
            if ahead.bytes.get(ahead.at) == Some(&b'-') && ahead.peek(1) == Some(b'-') {
                ahead.line_comment();
            } else {
                break;
            }
        }
        let between = self.bytes.get(self.at..ahead.at)?;
        let joined = ahead.bytes.get(ahead.at) == Some(&b'\'')
            && between.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
        joined.then_some(ahead.at + 1)
    }

    fn name(&mut self, prefix: usize, kind: TokenKind) -> TokenKind {
        self.at += prefix + 1;
        loop {
            match self.bytes.get(self.at) {
                None => return self.unterminated(),
                Some(b'"') if self.peek(1) == Some(b'"') => self.at += 2,
                Some(b'"') => return self.take(1, kind),
                Some(_) => self.at += 1,
            }
        }
    }

    fn dollar(&mut self) -> TokenKind {
        self.at += 1;
        if self.peek(0).is_some_and(|byte| byte.is_ascii_digit()) {
            self.pass(|byte| byte.is_ascii_digit());
            return TokenKind::Param;
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let tag = rest.iter().take_while(|&&byte| continues_name(byte) && byte != b'$').count();
        if rest.get(tag) != Some(&b'$') {
            return TokenKind::Stray;
        }
        let delimiter = self.bytes.get(self.at - 1..self.at + tag + 1).unwrap_or_default();
        self.at += tag + 1;
        let body = self.bytes.get(self.at..).unwrap_or_default();
        match body.windows(delimiter.len()).position(|window| window == delimiter) {
            Some(length) => self.take(length + delimiter.len(), TokenKind::OtherString),
            None => self.unterminated(),
        }
    }

    fn number(&mut self) -> TokenKind {
        let mut kind = TokenKind::Integer;
        let mut odd = self.digits();
        if self.peek(0) == Some(b'.') && self.peek(1) != Some(b'.') {
            self.at += 1;
            odd |= self.digits();
            kind = TokenKind::Decimal;
        }
        if matches!(self.peek(0), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.peek(1), Some(b'+' | b'-')));
            if self.peek(1 + sign).is_some_and(|byte| byte.is_ascii_digit()) {
                self.at += 1 + sign;
                odd |= self.digits();
                kind = TokenKind::Decimal;
            }
        }
        // `0x2A` and its like, or junk.
        if self.peek(0).is_some_and(starts_name) {
            self.pass(continues_name);
            odd = true;
        }
        if odd { TokenKind::OddNumber } else { kind }
    }

    /// Digits, and whether there are underscores among them.
    fn digits(&mut self) -> bool {
        let mut odd = false;
        loop {
            self.pass(|byte| byte.is_ascii_digit());
            if self.peek(0) == Some(b'_') && self.peek(1).is_some_and(|byte| byte.is_ascii_digit()) {
                odd = true;
                self.at += 1;
            } else {
                return odd;
            }
        }
    }

    /// The longest run of operator characters, cut where a comment begins, and without the `+`
    /// and `-` at its end that PostgreSQL leaves to the operand.
    fn operator(&mut self) -> TokenKind {
        let start = self.at;
        while self.peek(0).is_some_and(is_operator) {
            let comment =
                matches!((self.peek(0), self.peek(1)), (Some(b'-'), Some(b'-')) | (Some(b'/'), Some(b'*')));
            if comment && self.at > start {
                break;
            }
            self.at += 1;
        }
        let run = self.bytes.get(start..self.at).unwrap_or_default();
        if run.len() > MAX_OPERATOR_BYTES {
            return TokenKind::LongOperator;
        }
        if !run.iter().any(|&byte| keeps_trailing_sign(byte)) {
            let kept = run.iter().rposition(|byte| !matches!(byte, b'+' | b'-')).unwrap_or(0);
            self.at = start + kept + 1;
        }
        TokenKind::Operator
    }

    fn line_comment(&mut self) -> TokenKind {
        self.pass(|byte| !matches!(byte, b'\n' | b'\r'));
        TokenKind::Comment
    }

    fn block_comment(&mut self) -> TokenKind {
        self.at += 2;
        let mut depth = 1_usize;
        while depth > 0 {
            match (self.peek(0), self.peek(1)) {
                (Some(b'/'), Some(b'*')) => {
                    depth += 1;
                    self.at += 2;
                }
                (Some(b'*'), Some(b'/')) => {
                    depth -= 1;
                    self.at += 2;
                }
                (Some(_), _) => self.at += 1,
                (None, _) => return self.unterminated(),
            }
        }
        TokenKind::Comment
    }

    fn unterminated(&mut self) -> TokenKind {
        self.at = self.bytes.len();
        TokenKind::Unterminated
    }

    fn take(&mut self, bytes: usize, kind: TokenKind) -> TokenKind {
        self.at += bytes;
        kind
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn pass(&mut self, class: impl Fn(u8) -> bool) {
        while self.bytes.get(self.at).is_some_and(|&byte| class(byte)) {
            self.at += 1;
        }
    }
}

/// The longest run of operator characters that is taken apart. The server's own operators end at
/// 63; what is longer is signs, and taking them off one at a time costs the square of the length.
pub(crate) const MAX_OPERATOR_BYTES: usize = 128;

/// What hides a quote in `'…'`: another quote. In `B'…'` and `X'…'` nothing does.
const QUOTE: &str = "'";
/// What hides a quote in `E'…'`.
const QUOTE_AND_BACKSLASH: &str = "'\\";

pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

const fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

const fn continues_name(byte: u8) -> bool {
    starts_name(byte) || byte.is_ascii_digit() || byte == b'$'
}

pub(crate) const fn is_operator(byte: u8) -> bool {
    keeps_trailing_sign(byte) || matches!(byte, b'+' | b'-' | b'*' | b'/' | b'<' | b'>' | b'=')
}

const fn keeps_trailing_sign(byte: u8) -> bool {
    matches!(byte, b'~' | b'!' | b'@' | b'#' | b'^' | b'&' | b'|' | b'`' | b'?' | b'%')
}
