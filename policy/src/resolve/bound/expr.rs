//! Bound expressions.

use super::{Col, LevelId, Query, Rel};
use crate::catalog::TypeId;
use crate::ir::{self, At, Name};

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

    /// Its type, where that is certain: literals have none yet, but what is made of literals has one.
    pub(crate) fn untyped_or_known(&self) -> TypeId {
        let bare = matches!(self.node, ExprNode::Const(_) | ExprNode::Param(_) | ExprNode::Default);
        if self.ty == TypeId::UNKNOWN && !bare { TypeId::NONE } else { self.ty }
    }

    /// The occurrence that it is a column of, or the whole row.
    pub(crate) fn row(&self) -> Option<(LevelId, Rel)> {
        match &self.node {
            ExprNode::Column(col) => Some((col.level, col.rel)),
            ExprNode::WholeRow { level, rel } | ExprNode::System { level, rel, .. } => Some((*level, *rel)),
            ExprNode::Const(_)
            | ExprNode::Param(_)
            | ExprNode::Merged(_)
            | ExprNode::Op(_)
            | ExprNode::Bool { .. }
            | ExprNode::Not(_)
            | ExprNode::Is { .. }
            | ExprNode::Cast { .. }
            | ExprNode::Collate { .. }
            | ExprNode::Sublink(_)
            | ExprNode::Row(_)
            | ExprNode::Array(_)
            | ExprNode::Call(_)
            | ExprNode::Default
            | ExprNode::Other(_)
            | ExprNode::Refused => None,
        }
    }

    /// The constant that it is.
    pub(crate) fn as_const(&self) -> Option<&ir::Const> {
        if let ExprNode::Const(constant) = &self.node { Some(constant) } else { None }
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
