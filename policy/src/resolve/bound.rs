//! The bound algebra: a statement whose names have catalog identities.
//!
//! Every column is a place ([`Col`]: level, source, number), never a name, so that a derived table,
//! a CTE or an alias that bears a table's name can prove nothing for the table (policy 3.3).

use crate::catalog::{Relation, TypeId};
use crate::ir::{self, At, Name};

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
    pub(super) renames: Vec<Name>,
    pub(crate) open: bool,
    /// Columns that its body yields, without those that SEARCH and CYCLE add.
    pub(crate) width: usize,
    /// It refers to itself.
    pub(crate) recursive: bool,
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

/// A query with what surrounds its core.
#[derive(Debug)]
pub(crate) struct Query<'c> {
    pub(crate) with: With,
    pub(crate) body: Body<'c>,
    pub(crate) order_by: Vec<Key<'c>>,
    pub(crate) limit: Option<Expr<'c>>,
    pub(crate) with_ties: bool,
    pub(crate) offset: Option<Expr<'c>>,
    /// FOR UPDATE, FOR SHARE and kin: the sources that each names; empty: every one.
    pub(crate) locking: Vec<Vec<Rel>>,
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

/// A relation occurrence.
#[derive(Debug)]
pub(crate) struct Source<'c> {
    /// How the statement refers to it: its alias, or its name.
    pub(crate) name: Option<Name>,
    pub(crate) kind: SourceKind<'c>,
    pub(crate) at: At,
    /// The renamed or made columns; empty for a relation without renames, whose columns are the
    /// catalog's.
    columns: Vec<SourceColumn>,
    /// Its columns are not known: any name may be one of it, and none proves anything.
    pub(crate) open: bool,
}

impl<'c> Source<'c> {
    pub(super) fn new(
        name: Option<Name>,
        kind: SourceKind<'c>,
        at: At,
        columns: Vec<SourceColumn>,
    ) -> Source<'c> {
        let open = matches!(kind, SourceKind::Missing);
        Source { name, kind, at, columns, open }
    }

    /// The same with columns that nobody knows.
    pub(super) fn opened(mut self) -> Source<'c> {
        self.open = true;
        self.columns.clear();
        self
    }

    /// The relation, where it is one itself (not a view, which is its query).
    pub(crate) fn relation(&self) -> Option<&'c Relation> {
        match &self.kind {
            SourceKind::Relation { relation, .. } => Some(relation),
            SourceKind::View { .. }
            | SourceKind::Derived(_)
            | SourceKind::Cte(_)
            | SourceKind::Functions(_)
            | SourceKind::Excluded(_)
            | SourceKind::Missing => None,
        }
    }

    /// Type and collation of a column.
    pub(crate) fn column(&self, column: u32) -> Option<ColumnType> {
        let at = column as usize;
        match &self.kind {
            SourceKind::Relation { relation, .. } | SourceKind::Excluded(relation) => {
                relation.columns.get(at).map(ColumnType::of)
            }
            SourceKind::View { .. }
            | SourceKind::Derived(_)
            | SourceKind::Cte(_)
            | SourceKind::Functions(_)
            | SourceKind::Missing => self.columns.get(at).map(|column| column.ty),
        }
    }

    /// How many columns it has.
    pub(crate) fn width(&self) -> usize {
        match &self.kind {
            SourceKind::Relation { relation, .. } | SourceKind::Excluded(relation) => relation.columns.len(),
            SourceKind::View { .. }
            | SourceKind::Derived(_)
            | SourceKind::Cte(_)
            | SourceKind::Functions(_)
            | SourceKind::Missing => self.columns.len(),
        }
    }

    /// The name of a column.
    pub(crate) fn column_name(&self, column: u32) -> Option<&str> {
        let at = column as usize;
        match (self.columns.get(at), &self.kind) {
            (Some(column), _) => Some(&column.name),
            (None, SourceKind::Relation { relation, .. } | SourceKind::Excluded(relation)) => {
                relation.columns.get(at).map(|column| &*column.name)
            }
            (
                None,
                SourceKind::View { .. }
                | SourceKind::Derived(_)
                | SourceKind::Cte(_)
                | SourceKind::Functions(_)
                | SourceKind::Missing,
            ) => None,
        }
    }

    /// The places of the columns of that name: none, one, or (of a derived table) several.
    pub(super) fn places(&self, name: &str) -> Vec<u32> {
        let relation = match &self.kind {
            SourceKind::Relation { relation, .. } | SourceKind::Excluded(relation) => Some(relation),
            SourceKind::View { .. }
            | SourceKind::Derived(_)
            | SourceKind::Cte(_)
            | SourceKind::Functions(_)
            | SourceKind::Missing => None,
        };
        match relation {
            Some(relation) if self.columns.is_empty() => {
                relation.columns.position(name).and_then(|at| u32::try_from(at).ok()).into_iter().collect()
            }
            Some(_) | None => (0..)
                .zip(&self.columns)
                .filter(|(_, column)| *column.name == *name)
                .map(|(at, _)| at)
                .collect(),
        }
    }
}

#[derive(Debug)]
pub(crate) enum SourceKind<'c> {
    /// A table or anything else that has rows of its own.
    Relation { relation: &'c Relation, only: bool },
    /// A plain view: its definition, bound in its own scope.
    View { relation: &'c Relation, query: Box<Query<'c>> },
    /// A sub-select.
    Derived(Box<Query<'c>>),
    /// A CTE.
    Cte(CteId),
    /// Functions in FROM.
    Functions(Vec<Expr<'c>>),
    /// EXCLUDED of an upsert, and OLD and NEW of RETURNING: rows of this relation's shape that
    /// are not read from it.
    Excluded(&'c Relation),
    /// Something that is refused already: any name may be a column of it.
    Missing,
}

/// A column that a source or a query yields.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SourceColumn {
    pub(crate) name: Name,
    pub(crate) ty: ColumnType,
}

/// What the proofs need to know of a column's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ColumnType {
    pub(crate) ty: TypeId,
    /// Equal values have equal bytes, as far as the collation goes.
    pub(crate) deterministic: bool,
}

impl ColumnType {
    pub(crate) const UNKNOWN: ColumnType = ColumnType { ty: TypeId::NONE, deterministic: false };

    pub(super) fn of(column: &crate::catalog::Column) -> ColumnType {
        ColumnType { ty: column.ty, deterministic: column.collation_deterministic != Some(false) }
    }
}

/// An expression with its type.
#[derive(Debug)]
pub(crate) struct Expr<'c> {
    pub(crate) node: ExprNode<'c>,
    /// [`TypeId::UNKNOWN`] is an untyped literal or parameter, [`TypeId::NONE`] a type that is not
    /// known here.
    pub(crate) ty: TypeId,
    pub(crate) at: At,
}

#[derive(Debug)]
pub(crate) enum ExprNode<'c> {
    Const(ir::Const),
    Param(u32),
    Column(Col),
    /// A merged column of a FULL join: COALESCE of these.
    Merged(Vec<Expr<'c>>),
    /// A system column.
    System {
        level: LevelId,
        rel: Rel,
        name: &'static str,
    },
    /// A source's whole row.
    WholeRow {
        level: LevelId,
        rel: Rel,
    },
    Op(Box<Operation<'c>>),
    Bool {
        op: ir::BoolOp,
        args: Vec<Expr<'c>>,
    },
    Not(Box<Expr<'c>>),
    Is {
        test: ir::IsTest,
        positive: bool,
        arg: Box<Expr<'c>>,
    },
    Cast {
        arg: Box<Expr<'c>>,
        typmods: bool,
    },
    Collate {
        arg: Box<Expr<'c>>,
        collation: Collation,
    },
    Sublink(Box<Sublink<'c>>),
    Row(Vec<Expr<'c>>),
    Array(Vec<Expr<'c>>),
    Call(Box<Call<'c>>),
    /// DEFAULT.
    Default,
    /// Anything that computes: it proves nothing; its operands are judged.
    Other(Vec<Expr<'c>>),
    /// Refused already.
    Refused,
}

impl<'c> Expr<'c> {
    /// The bare column that it is.
    pub(crate) fn as_column(&self) -> Option<Col> {
        if let ExprNode::Column(col) = &self.node { Some(*col) } else { None }
    }

    /// The fields of the row that it is.
    pub(crate) fn as_row(&self) -> Option<&[Expr<'c>]> {
        if let ExprNode::Row(fields) = &self.node { Some(fields) } else { None }
    }

    /// The fields of a row, or itself.
    pub(crate) fn fields(&self) -> &[Expr<'c>] {
        self.as_row().unwrap_or(std::slice::from_ref(self))
    }

    /// A constant or a parameter, possibly cast: its value does not depend on a row.
    pub(crate) fn is_value(&self) -> bool {
        match &self.node {
            ExprNode::Const(_) | ExprNode::Param(_) => true,
            ExprNode::Cast { arg, .. } => arg.is_value(),
            ExprNode::Column(_)
            | ExprNode::Merged(_)
            | ExprNode::System { .. }
            | ExprNode::WholeRow { .. }
            | ExprNode::Op(_)
            | ExprNode::Bool { .. }
            | ExprNode::Not(_)
            | ExprNode::Is { .. }
            | ExprNode::Collate { .. }
            | ExprNode::Sublink(_)
            | ExprNode::Row(_)
            | ExprNode::Array(_)
            | ExprNode::Call(_)
            | ExprNode::Default
            | ExprNode::Other(_)
            | ExprNode::Refused => false,
        }
    }
}

/// A collation in an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Collation {
    /// "C", "POSIX" or the default: equal means equal bytes.
    Bytewise,
    /// Any other: it may be the column's own; nobody here knows.
    Other,
}

#[derive(Debug)]
pub(crate) struct Operation<'c> {
    pub(crate) form: ir::OpForm,
    /// The operator's own name.
    pub(crate) name: Name,
    /// It can be no other than pg_catalog's own.
    pub(crate) builtin: bool,
    pub(crate) left: Option<Expr<'c>>,
    pub(crate) right: Operand<'c>,
}

#[derive(Debug)]
pub(crate) enum Operand<'c> {
    One(Expr<'c>),
    List(Vec<Expr<'c>>),
}

#[derive(Debug)]
pub(crate) struct Sublink<'c> {
    pub(crate) kind: ir::SublinkKind,
    pub(crate) test: Option<Expr<'c>>,
    /// The operator is `=` and can be no other than pg_catalog's own.
    pub(crate) equality: bool,
    pub(crate) query: Query<'c>,
}

#[derive(Debug)]
pub(crate) struct Call<'c> {
    pub(crate) name: Name,
    /// Every candidate is pg_catalog's own.
    pub(crate) builtin: bool,
    pub(crate) args: Vec<Expr<'c>>,
    /// ORDER BY, FILTER and the window's expressions.
    pub(crate) rest: Vec<Expr<'c>>,
}

/// INSERT.
#[derive(Debug)]
pub(crate) struct Insert<'c> {
    pub(crate) with: With,
    /// The target is source 0, EXCLUDED source 1.
    pub(crate) level: LevelId,
    pub(crate) target: Source<'c>,
    pub(crate) excluded: Source<'c>,
    /// The columns written, in order; with `listed` false the table's first ones.
    pub(crate) columns: Vec<Written<'c>>,
    pub(crate) source: InsertSource<'c>,
    pub(crate) conflict: Option<Conflict<'c>>,
    pub(crate) returning: Vec<Expr<'c>>,
    pub(crate) outputs: Vec<SourceColumn>,
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
