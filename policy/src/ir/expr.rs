//! Expressions.

use super::{At, Const, Name, Path, Query, SortKey, WindowDef};

/// An expression.
#[derive(Debug, Clone)]
pub enum Expr {
    /// A constant.
    Const(Const),
    /// `$n`, from 1.
    Param {
        /// Which.
        number: u32,
        /// Where.
        at: At,
    },
    /// A name: a column, a whole row, a function in attribute notation; `*` and `t.*` too.
    Column(ColumnRef),
    /// A function call; also AT TIME ZONE, EXTRACT, OVERLAY and kin, which PostgreSQL's grammar
    /// turns into calls.
    Call(Box<Call>),
    /// An operator; `left` is none for a prefix operator.
    Op(Box<Op>),
    /// AND, OR over two or more, flat.
    Bool {
        /// Which.
        op: BoolOp,
        /// The operands in order.
        args: Vec<Expr>,
        /// Where.
        at: At,
    },
    /// NOT.
    Not(Box<Expr>, At),
    /// IS [NOT] NULL / TRUE / FALSE / UNKNOWN.
    Is {
        /// What is tested for.
        test: IsTest,
        /// Without NOT: true.
        positive: bool,
        /// What is tested.
        arg: Box<Expr>,
        /// Where.
        at: At,
    },
    /// `CAST(x AS t)`, `x::t`, `t 'x'`.
    Cast {
        /// What is cast.
        arg: Box<Expr>,
        /// To what.
        ty: TypeRef,
        /// Where.
        at: At,
    },
    /// `x COLLATE c`.
    Collate {
        /// What.
        arg: Box<Expr>,
        /// The collation.
        collation: Path,
        /// Where.
        at: At,
    },
    /// A sub-select in an expression.
    Sublink(Box<Sublink>),
    /// CASE [operand] WHEN … THEN … ELSE … END.
    Case {
        /// The operand of the simple form.
        operand: Option<Box<Expr>>,
        /// WHEN, THEN.
        whens: Vec<(Expr, Expr)>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
        /// Where.
        at: At,
    },
    /// COALESCE, GREATEST, LEAST, GROUPING, and the other forms that look like calls and have no
    /// function of that name in `pg_proc`.
    Special {
        /// Which.
        form: SpecialForm,
        /// The arguments in order.
        args: Vec<Expr>,
        /// Where.
        at: At,
    },
    /// `ROW(…)`, `(a, b)`.
    Row(Vec<Expr>, At),
    /// `ARRAY[…]`.
    Array(Vec<Expr>, At),
    /// `(x).field`: reads a field or calls the function of that name.
    Field {
        /// What.
        arg: Box<Expr>,
        /// The name.
        field: Name,
        /// Where.
        at: At,
    },
    /// `(x).*`.
    FieldStar(Box<Expr>, At),
    /// `x[i]`, `x[a:b]`.
    Subscript {
        /// What.
        arg: Box<Expr>,
        /// The bounds that were written.
        indices: Vec<Expr>,
        /// Where.
        at: At,
    },
    /// DEFAULT, in VALUES of INSERT and in SET.
    Default(At),
    /// What an expression cannot express; also in `Statement::unsupported`.
    Unsupported(At),
}

/// A name in an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnRef {
    /// The parts, outermost first; empty for a bare `*`.
    pub parts: Vec<Name>,
    /// Ends in `*`.
    pub star: bool,
    /// Where.
    pub at: At,
}

/// AND or OR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum BoolOp {
    And,
    Or,
}

/// What IS tests for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum IsTest {
    Null,
    True,
    False,
    Unknown,
}

/// A function call.
#[derive(Debug, Clone)]
pub struct Call {
    /// The function's name.
    pub name: Path,
    /// PostgreSQL's grammar wrote this call, not the client (`EXTRACT(…)`, `AT TIME ZONE`,
    /// `OVERLAY`, `SUBSTRING … FROM`, `POSITION`, `TRIM`): it is `pg_catalog`'s.
    pub sql_syntax: bool,
    /// The arguments in order, with the name of a named one.
    pub args: Vec<(Option<Name>, Expr)>,
    /// VARIADIC before the last argument.
    pub variadic: bool,
    /// `f(*)`.
    pub star: bool,
    /// DISTINCT inside the parentheses.
    pub distinct: bool,
    /// ORDER BY inside the parentheses, or WITHIN GROUP.
    pub order_by: Vec<SortKey>,
    /// WITHIN GROUP was written.
    pub within_group: bool,
    /// FILTER (WHERE …).
    pub filter: Option<Expr>,
    /// OVER.
    pub over: Option<WindowDef>,
    /// Where.
    pub at: At,
}

/// An operator applied.
#[derive(Debug, Clone)]
pub struct Op {
    /// Which form it was written in.
    pub form: OpForm,
    /// The operator's name, possibly qualified (`OPERATOR(s.=)`).
    pub name: Path,
    /// The left operand; none for a prefix operator.
    pub left: Option<Expr>,
    /// The right operand. For `In` a `Row`-less list: see [`OpForm::In`].
    pub right: OpRight,
    /// Where.
    pub at: At,
}

/// An operator's right side.
#[derive(Debug, Clone)]
pub enum OpRight {
    /// One expression.
    One(Expr),
    /// A list: IN (a, b), BETWEEN a AND b.
    List(Vec<Expr>),
}

/// How an operator was written. The same name (`=`) stands in several forms that mean different
/// things: never look at the name alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpForm {
    /// `a op b`, `op b`.
    Plain,
    /// `a op ANY (array)`.
    Any,
    /// `a op ALL (array)`.
    All,
    /// `a IS DISTINCT FROM b`.
    Distinct,
    /// `a IS NOT DISTINCT FROM b`.
    NotDistinct,
    /// `NULLIF(a, b)`.
    NullIf,
    /// `a IN (…)` (name `=`) or `a NOT IN (…)` (name `<>`); right is a list.
    In,
    /// LIKE (name `~~` or `!~~`).
    Like,
    /// ILIKE.
    ILike,
    /// SIMILAR TO.
    Similar,
    /// BETWEEN; right is a list of two.
    Between,
    /// NOT BETWEEN.
    NotBetween,
    /// BETWEEN SYMMETRIC.
    BetweenSymmetric,
    /// NOT BETWEEN SYMMETRIC.
    NotBetweenSymmetric,
}

/// A sub-select in an expression.
#[derive(Debug, Clone)]
pub struct Sublink {
    /// Which form.
    pub kind: SublinkKind,
    /// The left side of IN, ANY, ALL.
    pub test: Option<Expr>,
    /// The operator of ANY and ALL; none for plain IN (which is `= ANY`).
    pub op: Option<Path>,
    /// The sub-select.
    pub query: Query,
    /// Where.
    pub at: At,
}

/// The form of a sub-select in an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SublinkKind {
    /// EXISTS (…).
    Exists,
    /// x IN (…), x op ANY (…).
    Any,
    /// x op ALL (…); NOT IN is NOT over `Any`.
    All,
    /// (…) as a value.
    Scalar,
    /// (a, b) = (SELECT …) and SET (a, b) = (SELECT …).
    Row,
    /// ARRAY(SELECT …).
    Array,
}

/// Forms that look like calls and are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecialForm {
    /// COALESCE.
    Coalesce,
    /// GREATEST.
    Greatest,
    /// LEAST.
    Least,
    /// GROUPING(…).
    Grouping,
    /// CURRENT_DATE, CURRENT_TIME, CURRENT_TIMESTAMP, LOCALTIME, LOCALTIMESTAMP.
    Clock(&'static str),
    /// CURRENT_USER, CURRENT_ROLE, SESSION_USER, USER.
    User(&'static str),
    /// CURRENT_CATALOG.
    Database,
    /// CURRENT_SCHEMA.
    Schema,
    /// MERGE_ACTION().
    MergeAction,
    /// SQL/JSON constructors (JSON_OBJECT, JSON_ARRAY, JSON(), JSON_SCALAR, JSON_SERIALIZE); on an
    /// older server some are calls of that name.
    JsonConstructor(&'static str),
    /// JSON_OBJECTAGG and JSON_ARRAYAGG: aggregates as any.
    JsonAggregate(&'static str),
    /// SQL/JSON query functions (JSON_VALUE, JSON_QUERY, JSON_EXISTS).
    JsonQuery(&'static str),
    /// IS JSON.
    IsJson,
    /// XMLELEMENT and kin; only those without a query.
    Xml(&'static str),
}

/// A type as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeRef {
    /// Its name; the grammar qualifies its own spellings (`int` is `pg_catalog.int4`).
    pub path: Path,
    /// Lengths and the like were given (`varchar(3)`, `numeric(4,1)`, `interval day`, and the
    /// grammar's implied one of `char`, which is `char(1)`).
    pub typmods: bool,
    /// `[]`, `[3]`, ARRAY.
    pub array: bool,
    /// SETOF.
    pub setof: bool,
    /// `t.c%TYPE`.
    pub pct_type: bool,
}
