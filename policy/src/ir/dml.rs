//! Statements that change rows.

use super::{At, Expr, From, Name, NameToken, Path, Query, RelationRef, Target, With};

/// INSERT.
#[derive(Debug, Clone)]
pub struct Insert {
    /// WITH before INSERT.
    pub with: Option<With>,
    /// The target.
    pub target: RelationRef,
    /// The column list; none: all columns in the table's order.
    pub columns: Option<Vec<TargetColumn>>,
    /// The rows.
    pub source: InsertSource,
    /// ON CONFLICT.
    pub on_conflict: Option<OnConflict>,
    /// RETURNING.
    pub returning: Option<Returning>,
    /// Where.
    pub at: At,
}

/// A column that is written, possibly a part of it (`a.b`, `a[1]`).
#[derive(Debug, Clone)]
pub struct TargetColumn {
    /// The column.
    pub name: Name,
    /// A field or an element of the column is written, not the whole.
    pub partial: bool,
    /// The subscripts that were written.
    pub subscripts: Vec<Expr>,
    /// Where.
    pub at: At,
}

/// Where the rows come from.
#[derive(Debug, Clone)]
pub enum InsertSource {
    /// DEFAULT VALUES.
    DefaultValues,
    /// VALUES without anything around it: DEFAULT may stand in its rows.
    Values(Vec<Vec<Expr>>),
    /// Any other query.
    Query(Box<Query>),
}

/// ON CONFLICT.
#[derive(Debug, Clone)]
pub struct OnConflict {
    /// What is taken for a conflict.
    pub arbiter: Arbiter,
    /// DO UPDATE's assignments; none: DO NOTHING.
    pub update: Option<Vec<Assignment>>,
    /// DO UPDATE … WHERE.
    pub filter: Option<Expr>,
    /// Where.
    pub at: At,
}

/// ON CONFLICT's target.
#[derive(Debug, Clone)]
pub enum Arbiter {
    /// Not written.
    Any,
    /// (a, b) [WHERE …].
    Columns {
        /// What is indexed.
        elements: Vec<ArbiterElement>,
        /// The partial index's predicate.
        filter: Option<Expr>,
    },
    /// ON CONSTRAINT name.
    Constraint(Name),
}

/// An element of the arbiter.
#[derive(Debug, Clone)]
pub struct ArbiterElement {
    /// The column or expression (`Expr::Column` for a plain column).
    pub expr: Expr,
    /// COLLATE.
    pub collation: Option<Path>,
    /// An operator class.
    pub opclass: Option<Path>,
}

/// UPDATE.
#[derive(Debug, Clone)]
pub struct Update {
    /// WITH before UPDATE.
    pub with: Option<With>,
    /// The target.
    pub target: RelationRef,
    /// SET.
    pub set: Vec<Assignment>,
    /// FROM.
    pub from: Vec<From>,
    /// WHERE.
    pub filter: DmlFilter,
    /// RETURNING.
    pub returning: Option<Returning>,
    /// Where.
    pub at: At,
}

/// DELETE.
#[derive(Debug, Clone)]
pub struct Delete {
    /// WITH before DELETE.
    pub with: Option<With>,
    /// The target.
    pub target: RelationRef,
    /// USING.
    pub using: Vec<From>,
    /// WHERE.
    pub filter: DmlFilter,
    /// RETURNING.
    pub returning: Option<Returning>,
    /// Where.
    pub at: At,
}

/// WHERE of UPDATE and DELETE.
#[derive(Debug, Clone)]
pub enum DmlFilter {
    /// Not written: every row.
    Nothing,
    /// A condition.
    Condition(Expr),
    /// WHERE CURRENT OF cursor.
    CurrentOf {
        /// The cursor's name and where its token stands.
        cursor: NameToken,
    },
}

/// One assignment of SET.
#[derive(Debug, Clone)]
pub enum Assignment {
    /// a = expr (DEFAULT is `Expr::Default`).
    One {
        /// The column.
        column: TargetColumn,
        /// The value.
        value: Expr,
    },
    /// (a, b) = (…), (a, b) = (SELECT …), (a, b) = ROW(…).
    Many {
        /// The columns.
        columns: Vec<TargetColumn>,
        /// The row or sub-select.
        value: Expr,
    },
}

/// RETURNING [WITH (OLD AS o, NEW AS n)] …
#[derive(Debug, Clone)]
pub struct Returning {
    /// The items.
    pub targets: Vec<Target>,
    /// The name for OLD, where given.
    pub old: Option<Name>,
    /// The name for NEW, where given.
    pub new: Option<Name>,
}

/// MERGE.
#[derive(Debug, Clone)]
pub struct Merge {
    /// WITH before MERGE.
    pub with: Option<With>,
    /// INTO.
    pub target: RelationRef,
    /// USING.
    pub source: From,
    /// ON.
    pub on: Expr,
    /// WHEN …
    pub actions: Vec<MergeAction>,
    /// RETURNING.
    pub returning: Option<Returning>,
    /// Where.
    pub at: At,
}

/// WHEN [NOT] MATCHED [BY …] [AND …] THEN …
#[derive(Debug, Clone)]
pub struct MergeAction {
    /// When.
    pub when: MergeWhen,
    /// AND condition.
    pub condition: Option<Expr>,
    /// THEN.
    pub then: MergeThen,
}

/// The case of a MERGE action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum MergeWhen {
    Matched,
    NotMatchedBySource,
    NotMatchedByTarget,
}

/// What a MERGE action does.
#[derive(Debug, Clone)]
pub enum MergeThen {
    /// DO NOTHING.
    Nothing,
    /// DELETE.
    Delete,
    /// UPDATE SET …
    Update(Vec<Assignment>),
    /// INSERT (columns) VALUES (row); a row of none is DEFAULT VALUES.
    Insert {
        /// The column list.
        columns: Option<Vec<TargetColumn>>,
        /// The row; none: DEFAULT VALUES.
        values: Option<Vec<Expr>>,
    },
}
