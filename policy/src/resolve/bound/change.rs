//! Bound statements that change rows.

use super::{Expr, From, LevelId, Query, Source, SourceColumn, With};
use crate::ir::{self, At, Name};

/// INSERT.
#[derive(Debug)]
pub(crate) struct Insert<'c> {
    pub(crate) with: With,
    /// The target is source 0, EXCLUDED source 1.
    pub(crate) level: LevelId,
    pub(crate) target: Source<'c>,
    pub(crate) excluded: Source<'c>,
    /// RETURNING's, as far as they have a name there: the sources from 2 on.
    pub(crate) old_and_new: Vec<Source<'c>>,
    /// The columns written, in order; with `listed` false the table's first ones.
    pub(crate) columns: Vec<Written<'c>>,
    pub(crate) source: InsertSource<'c>,
    pub(crate) conflict: Option<Conflict<'c>>,
    pub(crate) returning: Vec<Expr<'c>>,
    pub(crate) outputs: Vec<SourceColumn>,
    /// Not all names of RETURNING, or not their number, are known.
    pub(crate) open: bool,
    pub(crate) at: At,
}

/// A column that is written.
#[derive(Debug)]
pub(crate) struct Written<'c> {
    /// Its place; none where it is refused already.
    pub(crate) column: Option<u32>,
    pub(crate) partial: bool,
    pub(crate) subscripts: Vec<Expr<'c>>,
    pub(crate) at: At,
}

#[derive(Debug)]
pub(crate) enum InsertSource<'c> {
    DefaultValues,
    Values(Vec<Vec<Expr<'c>>>),
    Query(Box<Query<'c>>),
}

#[derive(Debug)]
pub(crate) struct Conflict<'c> {
    pub(crate) arbiter: Arbiter<'c>,
    pub(crate) update: Option<Vec<Assignment<'c>>>,
    pub(crate) filter: Option<Expr<'c>>,
    pub(crate) at: At,
}

#[derive(Debug)]
pub(crate) enum Arbiter<'c> {
    Any,
    /// Plain columns by place (with whether their collation is theirs or bytewise); expressions
    /// and the partial index's predicate.
    Columns {
        columns: Vec<(u32, bool)>,
        rest: Vec<Expr<'c>>,
    },
    Constraint(Name),
}

#[derive(Debug)]
pub(crate) struct Update<'c> {
    pub(crate) with: With,
    pub(crate) level: LevelId,
    /// Source 0 is the target.
    pub(crate) from: From<'c>,
    pub(crate) set: Vec<Assignment<'c>>,
    pub(crate) filter: DmlFilter<'c>,
    pub(crate) returning: Vec<Expr<'c>>,
    pub(crate) outputs: Vec<SourceColumn>,
    /// Not all names of RETURNING, or not their number, are known.
    pub(crate) open: bool,
}

#[derive(Debug)]
pub(crate) struct Delete<'c> {
    pub(crate) with: With,
    pub(crate) level: LevelId,
    /// Source 0 is the target.
    pub(crate) from: From<'c>,
    pub(crate) filter: DmlFilter<'c>,
    pub(crate) returning: Vec<Expr<'c>>,
    pub(crate) outputs: Vec<SourceColumn>,
    /// Not all names of RETURNING, or not their number, are known.
    pub(crate) open: bool,
}

#[derive(Debug)]
pub(crate) enum DmlFilter<'c> {
    Nothing,
    Condition(Expr<'c>),
    CurrentOf(At),
}

#[derive(Debug)]
pub(crate) enum Assignment<'c> {
    One { column: Written<'c>, value: Expr<'c> },
    Many { columns: Vec<Written<'c>>, value: Expr<'c> },
}

#[derive(Debug)]
pub(crate) struct Merge<'c> {
    pub(crate) with: With,
    pub(crate) level: LevelId,
    /// Source 0 is the target; the rest is USING's.
    pub(crate) from: From<'c>,
    pub(crate) on: Expr<'c>,
    pub(crate) actions: Vec<MergeAction<'c>>,
    pub(crate) returning: Vec<Expr<'c>>,
    pub(crate) outputs: Vec<SourceColumn>,
    /// Not all names of RETURNING, or not their number, are known.
    pub(crate) open: bool,
}

#[derive(Debug)]
pub(crate) struct MergeAction<'c> {
    pub(crate) when: ir::MergeWhen,
    pub(crate) condition: Option<Expr<'c>>,
    pub(crate) then: MergeThen<'c>,
}

#[derive(Debug)]
pub(crate) enum MergeThen<'c> {
    Nothing,
    Delete,
    Update(Vec<Assignment<'c>>),
    Insert { columns: Vec<Written<'c>>, values: Option<Vec<Expr<'c>>> },
}
