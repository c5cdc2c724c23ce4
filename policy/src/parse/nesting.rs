//! How deep and how large a text's tree can become, from its tokens alone, before the parser runs.
//!
//! *Depth.* The parser's tree is decoded and dropped recursively, and an overflow of the stack
//! ends the process. What deepens a tree is a bracket, a word, or an operator; so inside a bracket
//! a tree cannot be deeper than the tokens since the last comma, AND or OR, plus the deepest
//! bracket among them, plus what reaches over those: the bracket itself, a query, joins and set
//! operations. A name or a constant between two operators deepens nothing.
//!
//! *Size.* For `SET (a, b, c) = (source)` the grammar makes one assignment a column, and the tree
//! is written out with the source once for each: nested, a text of a kilobyte becomes gigabytes.
//! So the tokens behind such a list are counted once a column.
//!
//! Both are upper bounds, far above what people write; what a role may nest is `limits.depth`.

use crate::shape::token::{Token, TokenKind, is_space, words};
use crate::{Code, Denial, LimitName, Rule};

/// Refuses a text whose tree could overflow the stack or fill the memory.
///
/// # Errors
/// `limit_depth`; `limit_statement_bytes` for a text that grows in the parser; PostgreSQL's words
/// for `""`, which the parser's scanner lets pass.
pub(super) fn check(text: &str) -> Result<(), Denial> {
    if is_small(text) {
        return Ok(());
    }
    let measure = Measure::of(text)?;
    if measure.depth > MAX_DEPTH_LEVELS {
        let message = format!("statement is nested too deeply to be parsed: over {MAX_DEPTH_LEVELS} levels");
        let code = Code::Limit(LimitName::Depth);
        return Err(Denial::new(Rule::LimitsAfterParse, code, None, message)
            .hint("build long expressions from AND, OR or lists, which do not nest"));
    }
    if measure.copies > MAX_COPIED_TOKENS {
        let code = Code::Limit(LimitName::StatementBytes);
        let message = "row assigned by SET (…) = … is too large: it counts once for each column";
        return Err(
            Denial::new(Rule::LimitsBeforeParse, code, None, message).hint("assign the columns one by one")
        );
    }
    Ok(())
}

/// Whether a text measures nothing that is refused, whatever its tokens are: to walk over them costs more than to lower
/// it.
///
/// A level takes a byte at least, a bracket's two the bracket; a query's two, and those of CASE, their words. Copies take a
/// list in brackets with an equals sign behind it. (One of CASE, with commas in it, is no SQL.)
pub(super) fn is_small(text: &str) -> bool {
    let (mut brackets, mut before) = (0, b' ');
    for byte in text.bytes().filter(|byte| !is_space(*byte)) {
        match (before, byte) {
            // A name of no characters; a comment, which may stand between what is looked for here.
            (b'"', b'"') | (b'-', b'-') | (b'/', b'*') => return false,
            (b')' | b']', b'=') => return false,
            (_, b'(' | b'[') => brackets += 1,
            (_, _) => {}
        }
        before = byte;
    }
    text.len() + brackets <= MAX_DEPTH_LEVELS
}

/// What a text's tree can measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Measure {
    /// An upper bound for the tree's depth, in levels.
    pub(super) depth: usize,
    /// How many tokens the tree holds beyond those of the text.
    pub(super) copies: usize,
}

impl Measure {
    /// Measures a text.
    ///
    /// # Errors
    /// A name of no characters.
    pub(super) fn of(text: &str) -> Result<Measure, Denial> {
        let mut walk = Walk { text, open: Vec::new(), level: Level::default(), before: None };
        let mut measure = Measure { depth: 0, copies: 0 };
        let mut tokens = 0_usize;
        for token in words(text) {
            if token.kind == TokenKind::QuotedName && token.end - token.start == 2 {
                return Err(empty_name(token.start));
            }
            tokens += 1;
            if token.kind == TokenKind::Punctuation(b';') && walk.open.is_empty() {
                measure.add(std::mem::take(&mut walk.level));
            } else {
                walk.step(token);
            }
        }
        while walk.close() {}
        measure.add(walk.level);
        measure.copies = measure.copies.saturating_sub(tokens);
        Ok(measure)
    }

    fn add(&mut self, statement: Level) {
        let (depth, weight) = statement.total();
        self.depth = self.depth.max(depth);
        self.copies = self.copies.saturating_add(weight);
    }
}

/// The tokens between two brackets, so far.
#[derive(Debug, Default)]
struct Level {
    /// CASE opened it.
    case: bool,
    /// It stands where SET's list of columns does.
    columns: bool,
    /// A query stands in it.
    query: bool,
    /// The bracket itself, joins and set operations: they reach over all that is in it.
    spine: usize,
    /// BETWEENs whose AND is still to come.
    betweens: usize,
    /// Tokens that deepen, since the last stretch ended.
    run: usize,
    /// The deepest bracket since then.
    inner: usize,
    /// The deepest stretch before that.
    deepest: usize,
    /// Commas.
    commas: usize,
    /// Tokens before the last comma, each as often as it stands in the tree.
    weight: usize,
    /// Tokens since the last comma.
    stretch: usize,
    /// How often those stand in the tree, less one.
    copies: usize,
    /// The same, if an equals sign comes next.
    copies_if_assigned: usize,
}

impl Level {
    /// What stands before this token is not below what follows, nor the other way round.
    fn next_stretch(&mut self) {
        self.deepest = self.deepest.max(self.run.saturating_add(self.inner));
        self.run = 0;
        self.inner = 0;
        self.betweens = 0;
    }

    /// A comma: nor is anything copied further.
    fn next_item(&mut self) {
        self.next_stretch();
        let copied = self.stretch.saturating_mul(self.copies.saturating_add(1));
        self.weight = self.weight.saturating_add(copied);
        self.stretch = 0;
        self.copies = 0;
    }

    /// Depth and weight of all of it.
    fn total(mut self) -> (usize, usize) {
        self.next_item();
        let query = if self.query { QUERY_LEVELS } else { 0 };
        (self.spine.saturating_add(self.deepest).saturating_add(query), self.weight)
    }
}

/// The walk over a text's tokens.
struct Walk<'t> {
    text: &'t str,
    open: Vec<Level>,
    level: Level,
    before: Option<Token>,
}

impl Walk<'_> {
    fn step(&mut self, token: Token) {
        self.level.stretch = self.level.stretch.saturating_add(1);
        let assigned = std::mem::take(&mut self.level.copies_if_assigned);
        match token.kind {
            TokenKind::Punctuation(b'(' | b'[') => self.open(false),
            TokenKind::Punctuation(b')' | b']') => {
                while self.level.case && self.close() {}
                self.close();
            }
            TokenKind::Punctuation(b',') => {
                self.level.next_item();
                self.level.commas += 1;
            }
            TokenKind::Punctuation(b';') => self.level.next_item(),
            TokenKind::Punctuation(_) => {}
            TokenKind::Word => self.word(&token),
            TokenKind::Operator => {
                self.level.run += 1;
                if token.bytes(self.text) == b"=" {
                    self.level.copies = self.level.copies.max(assigned);
                }
            }
            TokenKind::QuotedName
            | TokenKind::UnicodeName
            | TokenKind::String
            | TokenKind::OtherString
            | TokenKind::Integer
            | TokenKind::Decimal
            | TokenKind::OddNumber
            | TokenKind::Param => self.level.run += usize::from(self.follows_operand()),
            TokenKind::LongOperator | TokenKind::Comment | TokenKind::Unterminated | TokenKind::Stray => {}
        }
        self.before = Some(token);
    }

    fn word(&mut self, token: &Token) {
        if self.before.is_some_and(|before| before.kind == TokenKind::Punctuation(b'.')) {
            return;
        }
        let is = |words: &[&str]| words.iter().any(|word| token.is_word(self.text, word));
        if is(&["and"]) && self.level.betweens > 0 {
            self.level.betweens -= 1;
        } else if is(&["and", "or", "when", "then", "else"]) {
            self.level.next_stretch();
        } else if is(&["join", "union", "intersect", "except"]) {
            self.level.next_stretch();
            self.level.spine += 1;
        } else if is(&["between"]) {
            self.level.betweens += 1;
            self.level.run += 1;
        } else if is(&["case"]) {
            self.open(true);
        } else if is(&["end"]) && self.level.case {
            self.close();
        } else if is(&["select", "values", "with", "table"]) {
            self.level.query = true;
        } else if is(&["not"]) || self.follows_operand() {
            self.level.run += 1;
        }
    }

    fn open(&mut self, case: bool) {
        let columns = self.before.is_some_and(|before| {
            before.is_word(self.text, "set") || before.kind == TokenKind::Punctuation(b',')
        });
        let level = Level { case, columns, spine: BRACKET_LEVELS, ..Level::default() };
        self.open.push(std::mem::replace(&mut self.level, level));
    }

    /// Ends the innermost bracket; false where none is open.
    fn close(&mut self) -> bool {
        let Some(outer) = self.open.pop() else { return false };
        let closed = std::mem::replace(&mut self.level, outer);
        self.level.copies_if_assigned = if closed.columns { closed.commas } else { 0 };
        let (depth, weight) = closed.total();
        self.level.inner = self.level.inner.max(depth);
        self.level.stretch = self.level.stretch.saturating_add(weight);
        true
    }

    /// Whether an operand may have ended before this token, so that it is none itself.
    fn follows_operand(&self) -> bool {
        self.before.is_some_and(|before| match before.kind {
            TokenKind::Punctuation(byte) => matches!(byte, b')' | b']'),
            TokenKind::Operator | TokenKind::LongOperator => false,
            TokenKind::Word
            | TokenKind::QuotedName
            | TokenKind::UnicodeName
            | TokenKind::String
            | TokenKind::OtherString
            | TokenKind::Integer
            | TokenKind::Decimal
            | TokenKind::OddNumber
            | TokenKind::Param
            | TokenKind::Comment
            | TokenKind::Unterminated
            | TokenKind::Stray => true,
        })
    }
}

fn empty_name(place: usize) -> Denial {
    let message = "zero-length delimited identifier at or near \"\"\"\"";
    Denial::new(Rule::Syntax, Code::SyntaxError, u32::try_from(place).ok(), message)
        .sqlstate(crate::SqlState::SYNTAX_ERROR)
}

/// Nodes that a bracket may stand for: `x[…]` is two, so is an element of `JSON_ARRAY(…)`.
const BRACKET_LEVELS: usize = 2;

/// Nodes that a query may stand for, beside its bracket: the query and an item of its lists.
const QUERY_LEVELS: usize = 2;

/// Levels of the tree, by this measure, that half a stack of [`crate::STACK_BYTES`] carries: a decoder
/// that is not optimised takes up to 30 KiB for one. A chain of 2,000 operators fits.
pub(super) const MAX_DEPTH_LEVELS: usize = 2_200;

/// Tokens that the parser may add to a text by copying.
pub(super) const MAX_COPIED_TOKENS: usize = 100_000;
