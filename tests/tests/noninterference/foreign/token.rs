//! SQLsmith's output in tokens that can be changed one by one: it writes neither comments nor escapes.

use std::borrow::Cow;

/// A token, and the blanks before it.
#[derive(Debug, Clone)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    blank: &'t str,
    pub(crate) text: Cow<'t, str>,
    /// What is written before and behind it: a part of no clause that is looked for.
    before: String,
    behind: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Number,
    /// `'…'` and `"…"`.
    Quoted,
    /// One of `( ) , .`, or any run of other characters.
    Sign,
}

impl Token<'_> {
    /// Whether it is this keyword or sign, written in lower case here.
    pub(crate) fn is(&self, word: &str) -> bool {
        self.kind != Kind::Quoted && self.text.eq_ignore_ascii_case(word)
    }

    pub(crate) fn clear(&mut self) {
        self.text = Cow::Borrowed("");
        self.before.clear();
        self.behind.clear();
    }

    pub(crate) fn replace(&mut self, text: impl Into<String>) {
        self.text = Cow::Owned(text.into());
    }

    pub(crate) fn put_before(&mut self, text: &str) {
        self.before.insert_str(0, text);
    }

    pub(crate) fn put_behind(&mut self, text: &str) {
        self.behind.push_str(text);
    }
}

pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        let blank = &rest[..rest.len() - rest.trim_start().len()];
        rest = &rest[blank.len()..];
        let Some(first) = rest.chars().next() else { return tokens };
        let (kind, length) = match first {
            'a'..='z' | 'A'..='Z' | '_' => (Kind::Word, span(rest, |c| c.is_alphanumeric() || c == '_')),
            '0'..='9' => (Kind::Number, span(rest, |c| c.is_ascii_digit() || c == '.')),
            '\'' | '"' => (Kind::Quoted, rest[1..].find(first).map_or(rest.len(), |end| end + 2)),
            '(' | ')' | ',' | '.' | ';' => (Kind::Sign, 1),
            _ => (Kind::Sign, span(rest, is_operator).max(first.len_utf8())),
        };
        let (token, after) = rest.split_at(length);
        let (before, behind) = (String::new(), String::new());
        tokens.push(Token { kind, blank, text: Cow::Borrowed(token), before, behind });
        rest = after;
    }
}

/// The text again.
pub(crate) fn written<'a>(tokens: &'a [Token<'_>]) -> String {
    let parts = |token: &'a Token<'_>| [token.blank, &token.before, &token.text, &token.behind];
    tokens.iter().flat_map(parts).collect()
}

/// Where the clause that begins at `from` ends: at one of these words at its own depth, at the
/// parenthesis around it, or with the statement.
pub(crate) fn clause_end(tokens: &[Token<'_>], from: usize, stops: &[&str]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token.text.as_ref() {
            "(" | "case" => depth += 1,
            ")" if depth == 0 => return at,
            ")" | "end" => depth -= 1,
            _ if depth == 0 && stops.iter().any(|stop| token.is(stop)) => return at,
            _ => {}
        }
    }
    tokens.len()
}

fn span(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

fn is_operator(c: char) -> bool {
    "+-*/<>=~!@#%^&|`?:[]{}$\\".contains(c)
}
