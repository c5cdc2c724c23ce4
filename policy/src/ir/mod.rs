//! The statement algebra: what a text says, before anybody asks what its names mean.
//!
//! `lower` is the only maker of these values and the only place that knows the parser's own node
//! types; `resolve` gives the names catalog identities; the rules read the result. About thirty
//! shapes instead of the parser's 270, so that a rule is short enough to be argued about, and so
//! that another parser can be put behind `lower`.
//!
//! What the algebra cannot express is [`Unsupported`], and that is a denial. Nothing is dropped
//! on the way: an expression that stands anywhere in the text stands somewhere here.
//!
//! Places are byte offsets into the client's text ([`At`]); names are as PostgreSQL's scanner
//! leaves them (folded, unquoted, cut at 63 bytes).

mod dml;
mod expr;
mod query;
mod utility;

pub use crate::constant::{Const, ConstClass, ConstValue};
pub use dml::*;
pub use expr::*;
pub use query::*;
pub use utility::*;

use std::ops::Range;

/// A byte offset into the client's text, where the parser gave one.
pub type At = Option<u32>;

/// An identifier as PostgreSQL's scanner leaves it.
pub type Name = Box<str>;

/// A possibly qualified name (`a`, `s.a`, `db.s.a`), outermost part first; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// The parts, outermost first.
    pub parts: Vec<Name>,
    /// Where the first part stands.
    pub at: At,
}

/// Something that the algebra cannot express: a denial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// What stands there, in SQL's words ("TABLESAMPLE", "XMLTABLE").
    pub what: &'static str,
    /// Where.
    pub at: At,
}

/// One statement of a text.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The statement's bytes in the client's text, without the semicolon.
    pub span: Range<usize>,
    /// What it says.
    pub body: Body,
    /// Everything that `lower` met in it and could not express, in the order of the text. A
    /// statement with an entry here is denied, whatever else it says.
    pub unsupported: Vec<Unsupported>,
    /// Sizes that the limits are about, counted while lowering.
    pub size: Size,
    /// Which of the text's plain constants stand in it as constants.
    pub slots: Vec<u32>,
}

/// What the limits after parsing compare (policy 4.2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    /// Deepest nesting; a chain of one binary operator counts once.
    pub depth: usize,
    /// Relation references as written.
    pub relations: usize,
    /// Elements of the longest IN list, ARRAY[...] or VALUES outside INSERT.
    pub in_list: usize,
    /// Rows of the longest VALUES of an INSERT.
    pub insert_rows: usize,
    /// UNION, INTERSECT and EXCEPT nodes.
    pub set_operations: usize,
    /// Terms of AND and OR, of all together.
    pub conditions: usize,
    /// The highest `$n`.
    pub parameters: usize,
}

/// What a statement says.
#[derive(Debug, Clone)]
pub enum Body {
    /// SELECT, VALUES, TABLE, also with data-modifying CTEs.
    Query(Box<Query>),
    /// INSERT.
    Insert(Box<Insert>),
    /// UPDATE.
    Update(Box<Update>),
    /// DELETE.
    Delete(Box<Delete>),
    /// MERGE.
    Merge(Box<Merge>),
    /// Everything else.
    Utility(Utility),
}
