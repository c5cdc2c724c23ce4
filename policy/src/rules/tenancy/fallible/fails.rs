//! Which expressions can fail on a row that nobody has looked at yet.

use super::Walk;
use crate::Code;
use crate::Family;
use crate::catalog::{TypeId, TypeKind};
use crate::ir::{ConstValue, OpForm};
use crate::resolve::{Expr, ExprNode, Operand};

impl<'c> Walk<'_, '_, 'c> {
    /// What an expression is, if it can fail by a tenant's column.
    pub(super) fn fails(&self, expr: &Expr<'c>) -> Option<(Code, &'static str)> {
        match &expr.node {
            ExprNode::Cast { arg, .. } => {
                let catalog = self.prover.cx.catalog();
                let domain =
                    catalog.type_of(expr.ty).is_some_and(|ty| matches!(ty.kind, TypeKind::Domain { .. }));
                let text = |ty: TypeId| ty == TypeId::NONE || *catalog.family_of(ty) == Family::Text;
                let from_text = text(arg.ty) && (expr.ty == TypeId::NONE || !text(expr.ty));
                ((domain || from_text) && self.of_tenants(arg)).then_some((Code::TypeNotAllowed, "a cast"))
            }
            ExprNode::Op(op) => {
                let right = match &op.right {
                    Operand::One(right) => Some(right),
                    Operand::List(_) => None,
                };
                let several = matches!(op.form, OpForm::Any | OpForm::All);
                let what = match (op.form, &*op.name) {
                    (OpForm::Like | OpForm::ILike | OpForm::Similar, _)
                    | (OpForm::Any | OpForm::All, "~~" | "!~~" | "~~*" | "!~~*")
                    | (OpForm::Plain, "~~" | "!~~" | "~~*" | "!~~*" | "~" | "!~" | "~*" | "!~*")
                        if !right.is_some_and(|right| self.is_whole_pattern(right, several)) =>
                    {
                        "a pattern that is not a whole constant"
                    }
                    (OpForm::Plain, "/" | "%") if !right.is_some_and(|right| self.is_positive(right)) => {
                        "a division"
                    }
                    (
                        OpForm::Plain
                        | OpForm::Any
                        | OpForm::All
                        | OpForm::Distinct
                        | OpForm::NotDistinct
                        | OpForm::NullIf
                        | OpForm::In
                        | OpForm::Like
                        | OpForm::ILike
                        | OpForm::Similar
                        | OpForm::Between
                        | OpForm::NotBetween
                        | OpForm::BetweenSymmetric
                        | OpForm::NotBetweenSymmetric,
                        _,
                    ) => return None,
                };
                let over = op.left.as_ref().is_some_and(|left| self.of_tenants(left))
                    || right.is_some_and(|right| self.of_tenants(right));
                over.then_some((Code::OperatorNotAllowed, what))
            }
            ExprNode::Const(_)
            | ExprNode::Param(_)
            | ExprNode::Column(_)
            | ExprNode::Merged(_)
            | ExprNode::System { .. }
            | ExprNode::WholeRow { .. }
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
            | ExprNode::Refused => None,
        }
    }

    /// A constant pattern that does not end within an escape; of several, in an array, all of them.
    fn is_whole_pattern(&self, pattern: &Expr<'c>, several: bool) -> bool {
        match &pattern.node {
            ExprNode::Const(constant) => self.prover.cx.constants.text(constant).is_some_and(|text| {
                let escapes = text.bytes().rev().take_while(|byte| *byte == b'\\').count();
                // Inside an array's text a backslash may stand at any element's end.
                if several { !text.contains('\\') } else { escapes % 2 == 0 }
            }),
            ExprNode::Array(items) => several && items.iter().all(|item| self.is_whole_pattern(item, false)),
            ExprNode::Param(_)
            | ExprNode::Column(_)
            | ExprNode::Merged(_)
            | ExprNode::System { .. }
            | ExprNode::WholeRow { .. }
            | ExprNode::Op(_)
            | ExprNode::Bool { .. }
            | ExprNode::Not(_)
            | ExprNode::Is { .. }
            | ExprNode::Cast { .. }
            | ExprNode::Collate { .. }
            | ExprNode::Sublink(_)
            | ExprNode::Row(_)
            | ExprNode::Call(_)
            | ExprNode::Default
            | ExprNode::Other(_)
            | ExprNode::Refused => false,
        }
    }

    /// A constant by which every number can be divided.
    fn is_positive(&self, divisor: &Expr<'c>) -> bool {
        match &divisor.node {
            ExprNode::Const(constant) => match constant.value {
                ConstValue::Integer(value) => value > 0,
                ConstValue::Null
                | ConstValue::Bool(_)
                | ConstValue::Number(_)
                | ConstValue::String(_)
                | ConstValue::Bits(_) => false,
            },
            ExprNode::Cast { arg, .. } => self.is_positive(arg),
            ExprNode::Param(_)
            | ExprNode::Column(_)
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
