//! The bound algebra: a statement whose names have catalog identities.
//!
//! Every column is a place ([`Col`]: level, source, number), never a name, so that a derived table,
//! a CTE or an alias that bears a table's name can prove nothing for the table (policy 3.3).

mod change;
mod expr;
mod source;

pub(crate) use change::*;
pub(crate) use expr::*;
pub(crate) use source::*;

use crate::ir::{self, Name};

/// A query level: one SELECT, UPDATE, DELETE, MERGE or INSERT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LevelId(pub(crate) u32);

/// A relation occurrence within its level, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Rel(pub(crate) u32);

/// A column of a relation occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Col {
    pub(crate) level: LevelId,
    pub(crate) rel: Rel,
    pub(crate) column: u32,
}

/// A common table expression within its statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CteId(pub(crate) usize);

/// What stands at the root of a statement.
#[derive(Debug)]
pub(crate) enum Root<'c> {
    Query(Box<Query<'c>>),
    Insert(Box<Insert<'c>>),
    Update(Box<Update<'c>>),
    Delete(Box<Delete<'c>>),
    Merge(Box<Merge<'c>>),
    /// A statement without rows (transaction control, settings, …).
    Nothing,
}

/// WITH and the names that it brings: the CTEs themselves stand in the statement's arena.
pub(crate) type With = Vec<CteId>;

/// A common table expression.
#[derive(Debug)]
pub(crate) struct Cte<'c> {
    pub(crate) body: CteBody<'c>,
    pub(crate) columns: Vec<SourceColumn>,
    /// The names that the statement gives to its first columns.
    pub(in crate::resolve) renames: Vec<Name>,
    pub(crate) open: bool,
    /// Columns that its body yields, without those that SEARCH and CYCLE add.
    pub(crate) width: usize,
    /// It refers to itself.
    pub(crate) recursive: bool,
    /// MATERIALIZED: nothing outside is evaluated within.
    pub(crate) materialized: bool,
    /// The columns that SEARCH and CYCLE look at: what they yield holds their values.
    pub(crate) keys: Vec<usize>,
}

#[derive(Debug)]
pub(crate) enum CteBody<'c> {
    /// While its own body is bound.
    Pending,
    Query(Box<Query<'c>>),
    Insert(Box<Insert<'c>>),
    Update(Box<Update<'c>>),
    Delete(Box<Delete<'c>>),
    Merge(Box<Merge<'c>>),
}

/// The most columns of a target list, a row or a VALUES list: PostgreSQL's MaxTupleAttributeNumber.
pub(in crate::resolve) const MAX_COLUMNS: usize = 1664;

/// A query with what surrounds its core.
#[derive(Debug)]
pub(crate) struct Query<'c> {
    pub(crate) with: With,
    pub(crate) body: Body<'c>,
    pub(crate) order_by: Vec<Key<'c>>,
    pub(crate) limit: Option<Expr<'c>>,
    pub(crate) with_ties: bool,
    pub(crate) offset: Option<Expr<'c>>,
    /// FOR UPDATE, FOR SHARE and kin, here or of a level around that reaches into this one.
    pub(crate) locks: bool,
    pub(crate) outputs: Vec<SourceColumn>,
    /// How many outputs there are is not known (a `*` over something unknown).
    pub(crate) open: bool,
}

#[derive(Debug)]
pub(crate) enum Body<'c> {
    Select(Box<Select<'c>>),
    Values(Vec<Vec<Expr<'c>>>),
    Set { op: ir::SetOp, all: bool, left: Box<Query<'c>>, right: Box<Query<'c>> },
}

/// One query level.
#[derive(Debug)]
pub(crate) struct Select<'c> {
    pub(crate) level: LevelId,
    pub(crate) from: From<'c>,
    pub(crate) filter: Option<Expr<'c>>,
    pub(crate) targets: Vec<Expr<'c>>,
    pub(crate) group_by: Vec<Grouping<'c>>,
    pub(crate) having: Option<Expr<'c>>,
    pub(crate) distinct: Distinct<'c>,
    /// PARTITION BY of every window function and named window of the level.
    pub(crate) windows: Vec<Window<'c>>,
    pub(crate) nature: Nature,
}

/// What a level's expressions do, apart from the sub-selects in them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Nature {
    pub(crate) aggregates: bool,
    pub(crate) windows: bool,
    pub(crate) set_returning: bool,
    pub(crate) volatile: bool,
}

#[derive(Debug)]
pub(crate) enum Distinct<'c> {
    No,
    Yes,
    On(Vec<Key<'c>>),
}

/// What is sorted or grouped by: an output column by its place, or an expression.
#[derive(Debug)]
pub(crate) enum Key<'c> {
    Output(usize),
    Expr(Expr<'c>),
}

#[derive(Debug)]
pub(crate) enum Grouping<'c> {
    Key(Key<'c>),
    /// ROLLUP, CUBE, GROUPING SETS, (): what is in them.
    Sets(Vec<Key<'c>>),
}

/// A window: its partitions; a named one that another builds upon is copied into it.
#[derive(Debug)]
pub(crate) struct Window<'c> {
    pub(crate) name: Option<Name>,
    pub(crate) base: Option<Name>,
    pub(crate) partition_by: Vec<Expr<'c>>,
    /// ORDER BY and frame offsets.
    pub(crate) rest: Vec<Expr<'c>>,
}

/// FROM: the sources in the order of the text, and how they are joined.
#[derive(Debug, Default)]
pub(crate) struct From<'c> {
    pub(crate) sources: Vec<Source<'c>>,
    /// The comma-separated items.
    pub(crate) items: Vec<Node<'c>>,
}

#[derive(Debug)]
pub(crate) enum Node<'c> {
    Leaf(Rel),
    Join(Box<Join<'c>>),
}

#[derive(Debug)]
pub(crate) struct Join<'c> {
    pub(crate) kind: ir::JoinKind,
    pub(crate) left: Node<'c>,
    pub(crate) right: Node<'c>,
    pub(crate) on: Option<Expr<'c>>,
    /// The pairs of USING and NATURAL.
    pub(crate) using: Vec<Pair<'c>>,
}

/// Two columns that USING or NATURAL compares.
#[derive(Debug)]
pub(crate) struct Pair<'c> {
    pub(crate) left: Expr<'c>,
    pub(crate) right: Expr<'c>,
    /// By an `=` that can be no other than pg_catalog's own.
    pub(crate) builtin: bool,
}
