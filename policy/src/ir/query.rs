//! Queries: SELECT, VALUES, set operations, FROM.

use super::{At, Delete, Expr, Insert, Merge, Name, Path, TypeRef, Update};

/// A query with everything that may surround its core.
#[derive(Debug, Clone)]
pub struct Query {
    /// WITH.
    pub with: Option<With>,
    /// The core.
    pub body: QueryBody,
    /// ORDER BY of the whole.
    pub order_by: Vec<SortKey>,
    /// LIMIT or FETCH FIRST; `LIMIT ALL` and `LIMIT NULL` are kept as the NULL constant.
    pub limit: Option<Expr>,
    /// OFFSET.
    pub offset: Option<Expr>,
    /// FETCH FIRST … WITH TIES.
    pub with_ties: bool,
    /// FOR UPDATE, FOR SHARE and kin.
    pub locking: Vec<Locking>,
    /// Where it starts, as far as the parser says.
    pub at: At,
}

/// The core of a query.
#[derive(Debug, Clone)]
pub enum QueryBody {
    /// SELECT … FROM …
    Select(Box<Select>),
    /// VALUES: rows of equal length.
    Values(Vec<Vec<Expr>>),
    /// UNION, INTERSECT, EXCEPT.
    Set {
        /// Which.
        op: SetOp,
        /// ALL was written.
        all: bool,
        /// The left branch.
        left: Box<Query>,
        /// The right branch.
        right: Box<Query>,
    },
}

/// A set operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum SetOp {
    Union,
    Intersect,
    Except,
}

/// One query level.
#[derive(Debug, Clone)]
pub struct Select {
    /// DISTINCT, DISTINCT ON.
    pub distinct: Distinct,
    /// The target list.
    pub targets: Vec<Target>,
    /// SELECT … INTO: creates a table (kind `ddl`).
    pub into: Option<RelationRef>,
    /// FROM, its comma-separated items.
    pub from: Vec<From>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// GROUP BY.
    pub group_by: Vec<Grouping>,
    /// GROUP BY DISTINCT.
    pub group_distinct: bool,
    /// HAVING.
    pub having: Option<Expr>,
    /// WINDOW.
    pub windows: Vec<WindowDef>,
}

/// DISTINCT.
#[derive(Debug, Clone)]
pub enum Distinct {
    /// Not written, or ALL.
    No,
    /// DISTINCT.
    Yes,
    /// DISTINCT ON (…).
    On(Vec<Expr>),
}

/// An item of a target list or RETURNING. `*` and `t.*` are `Expr::Column` with `star`.
#[derive(Debug, Clone)]
pub struct Target {
    /// The expression.
    pub expr: Expr,
    /// AS name.
    pub alias: Option<Name>,
    /// Where.
    pub at: At,
}

/// An item of FROM.
#[derive(Debug, Clone)]
pub enum From {
    /// A name: a table, view, … or a CTE.
    Relation(RelationRef),
    /// A sub-select.
    Subquery {
        /// LATERAL was written.
        lateral: bool,
        /// The sub-select.
        query: Box<Query>,
        /// Its alias (none is legal from PostgreSQL 16 on).
        alias: Option<Alias>,
        /// Where.
        at: At,
    },
    /// One function, or ROWS FROM (…) of several.
    Function(FunctionFrom),
    /// A join.
    Join(Box<Join>),
    /// What FROM cannot express; also in `Statement::unsupported`.
    Unsupported(At),
}

/// Functions in FROM.
#[derive(Debug, Clone)]
pub struct FunctionFrom {
    /// LATERAL was written.
    pub lateral: bool,
    /// ROWS FROM was written.
    pub rows_from: bool,
    /// Each function with its own column definitions, if any.
    pub functions: Vec<(Expr, Vec<ColumnDefinition>)>,
    /// WITH ORDINALITY.
    pub ordinality: bool,
    /// The alias.
    pub alias: Option<Alias>,
    /// AS r(a int, b text).
    pub columns: Vec<ColumnDefinition>,
    /// Where.
    pub at: At,
}

/// A column of a column definition list.
#[derive(Debug, Clone)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: TypeRef,
    /// COLLATE.
    pub collation: Option<Path>,
    /// Where.
    pub at: At,
}

/// A reference to a relation by name.
#[derive(Debug, Clone)]
pub struct RelationRef {
    /// The name: one to three parts.
    pub path: Path,
    /// ONLY was written (`inh` false).
    pub only: bool,
    /// AS alias (a, b).
    pub alias: Option<Alias>,
    /// TABLESAMPLE.
    pub sample: Option<Box<Sample>>,
}

/// TABLESAMPLE method (arguments) REPEATABLE (seed).
#[derive(Debug, Clone)]
pub struct Sample {
    /// The method.
    pub method: Path,
    /// Its arguments, and the seed behind them.
    pub args: Vec<Expr>,
}

/// AS name (columns).
#[derive(Debug, Clone)]
pub struct Alias {
    /// The name.
    pub name: Name,
    /// New names of the first columns.
    pub columns: Vec<Name>,
}

/// A join.
#[derive(Debug, Clone)]
pub struct Join {
    /// Which.
    pub kind: JoinKind,
    /// The left side.
    pub left: From,
    /// The right side.
    pub right: From,
    /// What pairs the sides.
    pub on: JoinOn,
    /// (… JOIN …) AS alias.
    pub alias: Option<Alias>,
    /// Where, as far as known.
    pub at: At,
}

/// A kind of join; comma and CROSS are `Inner` with `JoinOn::Nothing`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum JoinKind {
    Inner,
    Left,
    Right,
    Full,
}

/// What pairs the two sides of a join.
#[derive(Debug, Clone)]
pub enum JoinOn {
    /// CROSS JOIN.
    Nothing,
    /// ON condition.
    Condition(Expr),
    /// USING (columns) [AS alias].
    Using {
        /// The columns.
        columns: Vec<Name>,
        /// AS alias: names the merged columns only.
        alias: Option<Name>,
    },
    /// NATURAL: USING over all common names.
    Natural,
}

/// WITH.
#[derive(Debug, Clone)]
pub struct With {
    /// RECURSIVE was written.
    pub recursive: bool,
    /// The CTEs in order.
    pub ctes: Vec<Cte>,
}

/// One common table expression.
#[derive(Debug, Clone)]
pub struct Cte {
    /// Its name.
    pub name: Name,
    /// New names of its first columns.
    pub columns: Vec<Name>,
    /// MATERIALIZED, NOT MATERIALIZED or neither.
    pub materialized: Option<bool>,
    /// What it runs.
    pub body: CteBody,
    /// SEARCH: (columns, the sequence column it adds).
    pub search: Option<(Vec<Name>, Name)>,
    /// CYCLE: what it adds and compares.
    pub cycle: Option<Cycle>,
    /// Where.
    pub at: At,
}

/// CYCLE columns SET mark TO value DEFAULT default USING path.
#[derive(Debug, Clone)]
pub struct Cycle {
    /// The compared columns.
    pub columns: Vec<Name>,
    /// The mark column that it adds.
    pub mark: Name,
    /// TO.
    pub value: Expr,
    /// DEFAULT.
    pub default: Expr,
    /// The path column that it adds.
    pub path: Name,
}

/// What a CTE runs.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum CteBody {
    Query(Box<Query>),
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
    Merge(Box<Merge>),
}

/// An item of GROUP BY.
#[derive(Debug, Clone)]
pub enum Grouping {
    /// An expression, an output name or a position.
    Expr(Expr),
    /// The empty grouping set ().
    Empty,
    /// ROLLUP, CUBE, GROUPING SETS: the items inside (a parenthesised set is a `Row` expression).
    Sets(Vec<Grouping>),
}

/// A sort key of ORDER BY; USING names an operator.
#[derive(Debug, Clone)]
pub struct SortKey {
    /// What is sorted by.
    pub expr: Expr,
    /// ORDER BY … USING operator.
    pub using: Option<Path>,
}

/// WINDOW name AS (…), OVER (…).
#[derive(Debug, Clone)]
pub struct WindowDef {
    /// Its own name, in the WINDOW clause.
    pub name: Option<Name>,
    /// The window it starts from (`OVER w` or `OVER (w …)`).
    pub base: Option<Name>,
    /// PARTITION BY.
    pub partition_by: Vec<Expr>,
    /// ORDER BY.
    pub order_by: Vec<SortKey>,
    /// The offsets of the frame's start and end.
    pub offsets: Vec<Expr>,
    /// Where.
    pub at: At,
}

/// FOR UPDATE OF a, b …
#[derive(Debug, Clone)]
pub struct Locking {
    /// The aliases named by OF; empty means every relation of the level.
    pub of: Vec<RelationRef>,
    /// Where.
    pub at: At,
}
