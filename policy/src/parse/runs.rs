//! Runs of operator characters that the parser's scanner walks again and again.
//!
//! Two of its rules take a whole run and give most of it back: an operator that ends in signs
//! loses them one token at a time, and a comment's begin takes every operator character that
//! follows (`scan.l`, `{operator}` and `{xcstart}`). A text of 200 KB then keeps a thread busy for
//! minutes; in the server that is the client's own backend, here it would be everybody's.

use crate::shape::token::{MAX_OPERATOR_BYTES, TokenKind, is_operator, tokens};
use crate::{Code, Denial, LimitName, Rule};

/// Refuses a text with a run that costs the scanner more than its length accounts for.
///
/// # Errors
/// `limit_depth`, at the run.
pub(super) fn check(text: &str) -> Result<(), Denial> {
    // Nearly no text has one, and a walk over tokens costs more than it takes to see that.
    if !has_a_long_run(text.as_bytes()) {
        return Ok(());
    }
    let mut run = Run::default();
    for token in tokens(text) {
        match token.kind {
            TokenKind::LongOperator => {
                let message = format!("over {MAX_OPERATOR_BYTES} operator characters in a row");
                return Err(denial(token.start, message));
            }
            TokenKind::Comment | TokenKind::Operator | TokenKind::Unterminated => {
                if token.start != run.end {
                    run = Run::default();
                }
                token.bytes(text).iter().for_each(|&byte| run.step(byte));
                run.end = token.end;
            }
            TokenKind::Word
            | TokenKind::QuotedName
            | TokenKind::UnicodeName
            | TokenKind::String
            | TokenKind::OtherString
            | TokenKind::Integer
            | TokenKind::Decimal
            | TokenKind::OddNumber
            | TokenKind::Param
            | TokenKind::Punctuation(_)
            | TokenKind::Stray => run = Run::default(),
        }
        if run.most_comments > MAX_COMMENTS_IN_A_RUN {
            let message = format!("over {MAX_COMMENTS_IN_A_RUN} comments begin without a space between them");
            return Err(denial(token.start, message));
        }
    }
    Ok(())
}

/// Whether so many operator characters stand in a row that there may be something to refuse, whatever their tokens are:
/// every long run has one of the bytes that are looked at.
fn has_a_long_run(bytes: &[u8]) -> bool {
    let operator = |byte: &&u8| is_operator(**byte);
    bytes.iter().enumerate().step_by(LONG_RUN_BYTES).filter(|(_, byte)| is_operator(**byte)).any(|(at, _)| {
        let (before, from) = bytes.split_at(at);
        let length =
            before.iter().rev().take_while(operator).count() + from.iter().take_while(operator).count();
        length >= LONG_RUN_BYTES
    })
}

/// Operator characters in a row, over tokens that touch each other.
#[derive(Debug, Default)]
struct Run {
    /// Where the last token ended.
    end: usize,
    /// The last byte, if it belongs to the run.
    last: Option<u8>,
    /// Comments that began in the run.
    comments: usize,
    /// The most of them in any run of these tokens.
    most_comments: usize,
}

impl Run {
    fn step(&mut self, byte: u8) {
        if !is_operator(byte) {
            (self.last, self.comments) = (None, 0);
            return;
        }
        if self.last == Some(b'/') && byte == b'*' {
            self.comments += 1;
            self.most_comments = self.most_comments.max(self.comments);
        }
        self.last = Some(byte);
    }
}

fn denial(place: usize, message: String) -> Denial {
    let code = Code::Limit(LimitName::Depth);
    Denial::new(Rule::LimitsBeforeParse, code, u32::try_from(place).ok(), message)
        .hint("put spaces between operators and between comments")
}

/// Comments that may begin in one run of operator characters, nested or one behind the other.
const MAX_COMMENTS_IN_A_RUN: usize = 32;

/// Nothing shorter is refused: more comments begin in more than twice as many bytes, and an operator is longer.
const LONG_RUN_BYTES: usize = 2 * MAX_COMMENTS_IN_A_RUN;
const _: () = assert!(LONG_RUN_BYTES <= MAX_OPERATOR_BYTES);

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> bool {
        check(text).is_err()
    }

    #[test]
    fn runs_that_the_scanner_walks_again_and_again_are_refused() {
        for text in [
            format!("SELECT 1 {} 1", "+".repeat(50_000)),
            format!("SELECT 1 {} 1", "+-".repeat(50_000)),
            format!("SELECT 1 {} 1", "+/*".repeat(50_000)),
            format!("{} SELECT 1", "/**/".repeat(50_000)),
            format!("{} SELECT 1 {}", "/*".repeat(50_000), "*/".repeat(50_000)),
            "/*".repeat(50_000),
            format!("SELECT {}'{}", "/**/".repeat(50_000), "x".repeat(10)),
        ] {
            assert!(refused(&text), "{}", text.get(..40).unwrap_or_default());
        }
    }

    #[test]
    fn what_people_write_is_not() {
        for text in [
            format!("SELECT '{0}' -- {0}\n /* {1} */", "+-*/=".repeat(5_000), "+-*=".repeat(5_000)),
            format!("/*{}*/ SELECT 1", "*".repeat(5_000)),
            format!("SELECT \"{}\", $a$ {} $a$", "/*".repeat(30), "/**/".repeat(5_000)),
            format!("SELECT {}1", "- ".repeat(200)),
            "/* a */ /* b /* c */ */ SELECT 1 /**/ + /**/ 2 <@ 3 ->> 4".to_owned(),
            "/* a */\n".repeat(5_000),
        ] {
            assert!(!refused(&text), "{}", text.get(..40).unwrap_or_default());
        }
    }

    /// Wherever it begins, and whatever is before it.
    #[test]
    fn no_run_is_passed_over() {
        let most = MAX_COMMENTS_IN_A_RUN;
        for offset in 0..2 * LONG_RUN_BYTES {
            let before = " ".repeat(offset);
            let comments = |count: usize| format!("{before}{} SELECT 1", "/**/".repeat(count));
            assert!(!refused(&comments(most)) && refused(&comments(most + 1)), "{offset}");
            let nested = |count: usize| format!("{before}{} {} 1", "/*".repeat(count), "*/".repeat(count));
            assert!(!refused(&nested(most)) && refused(&nested(most + 1)), "{offset}");
            let signs = |count: usize| format!("{before}1 {} 1", "+".repeat(count));
            assert!(
                !refused(&signs(MAX_OPERATOR_BYTES)) && refused(&signs(MAX_OPERATOR_BYTES + 1)),
                "{offset}"
            );
        }
    }
}
