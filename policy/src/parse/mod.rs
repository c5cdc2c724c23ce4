//! From text to statements: limits, PostgreSQL's own grammar, then `lower`.
//!
//! ```text
//! text ─before─► bytes in order ─runs, nesting─► cheap and shallow enough ─pg_query─► tree ─lower─► statements
//! ```
//!
//! The parser's tree is decoded, walked and dropped recursively. A thread that calls [`parse`]
//! needs a stack of [`crate::STACK_BYTES`]; `nesting` refuses, before the parser runs, every text
//! whose tree could be deeper than that stack carries, or larger than the text accounts for.

#![expect(
    clippy::result_large_err,
    reason = "a denial ends the judgement: one is made, and moved, once a text"
)]

mod before;
mod nesting;
mod runs;
mod syntax;

pub use before::before;

use crate::ir::Statement;
use crate::lower::lower;
use crate::policy::Limits;
use crate::shape::Slot;
use crate::{Denial, LimitName};

/// Parses a text: at least one statement, [`crate::ir::Utility::Empty`] where there is none.
///
/// The sizes that the limits after the parse are about stand in each [`Statement`]; the caller
/// compares them, and the number of statements.
///
/// # Errors
/// A text that is over a limit before the parse, or that is no SQL: then with PostgreSQL's message
/// and position.
pub fn parse(text: &str, limits: &Limits) -> Result<Vec<Statement>, Denial> {
    parse_shaped(text, &[], limits)
}

/// The same, with the text's plain constants, which its statements then tell apart.
pub(crate) fn parse_shaped(text: &str, slots: &[Slot], limits: &Limits) -> Result<Vec<Statement>, Denial> {
    before::before_text(text, limits.get(LimitName::StatementBytes))?;
    runs::check(text)?;
    nesting::check(text)?;
    match pg_query::parse(text, GRAMMAR) {
        Ok(tree) => Ok(lower(text, tree.protobuf, slots)),
        Err(error) => Err(syntax::denial(text, &error)),
    }
}

/// The parser's options: PostgreSQL's top-level grammar, nothing of PL/pgSQL's.
const GRAMMAR: u32 = 0;

#[cfg(test)]
mod tests;
