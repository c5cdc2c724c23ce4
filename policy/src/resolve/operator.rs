//! Operators in expressions: every candidate of a name, and whether only pg_catalog's can be meant.

use std::rc::Rc;

use super::Resolver;
use super::bound::*;
use super::expr::one_type;
use super::uses::*;
use crate::catalog::{Catalog, Listing, Operator, TypeId, TypeKind, is_builtin_schema};
use crate::ir::{self, At, OpForm, OpRight};
use crate::mutants::mutant;

impl<'c> Resolver<'c> {
    pub(super) fn op(&mut self, op: &ir::Op) -> Expr<'c> {
        let left = op.left.as_ref().map(|left| self.expr(left));
        let right = match &op.right {
            OpRight::One(right) => Operand::One(self.expr(right)),
            OpRight::List(list) => Operand::List(self.exprs(list)),
        };
        if let Some(left) = &left {
            self.meeting(left, &right);
        }
        let candidates = self.operators_named(&op.name, left.is_none());
        let operands = match &right {
            Operand::One(right) => vec![self.operand_type(right, op.form)],
            Operand::List(list) => {
                vec![one_known(list.iter().map(|expr| self.operand_type(expr, op.form)))]
            }
        };
        let builtin = match op.form {
            // The grammar writes the operators of BETWEEN itself; they are looked up all the same.
            OpForm::Between | OpForm::NotBetween | OpForm::BetweenSymmetric | OpForm::NotBetweenSymmetric => {
                self.between(left.as_ref(), &operands, op)
            }
            OpForm::Plain
            | OpForm::Any
            | OpForm::All
            | OpForm::Distinct
            | OpForm::NotDistinct
            | OpForm::NullIf
            | OpForm::In
            | OpForm::Like
            | OpForm::ILike
            | OpForm::Similar => {
                let left_ty = left.as_ref().map(|left| left.ty);
                self.operator_use(&op.name, &candidates, left_ty, operands.first().copied(), op.at)
            }
        };
        let ty = match op.form {
            OpForm::Plain => one_type(candidates.iter().map(|candidate| candidate.result)),
            // The left operand as the operator takes it: of its own type where the other one cannot change that.
            OpForm::NullIf => match (left.as_ref().map(|left| left.ty), operands.first().copied()) {
                (Some(left), Some(right)) if right == left || right == TypeId::UNKNOWN => own_equality(left),
                (Some(left), Some(_)) if mutant!(NullIfTakesLeft) => left,
                (Some(_) | None, _) => TypeId::NONE,
            },
            OpForm::Any
            | OpForm::All
            | OpForm::Distinct
            | OpForm::NotDistinct
            | OpForm::In
            | OpForm::Like
            | OpForm::ILike
            | OpForm::Similar
            | OpForm::Between
            | OpForm::NotBetween
            | OpForm::BetweenSymmetric
            | OpForm::NotBetweenSymmetric => TypeId::BOOL,
        };
        let name = op.name.parts.last().cloned().unwrap_or_default();
        let operation = Operation { form: op.form, name, builtin, left, right };
        self.made(ExprNode::Op(Box::new(operation)), ty, op.at)
    }

    /// Notes the types that bare parameters get from the other operand.
    fn meeting(&mut self, left: &Expr<'c>, right: &Operand<'c>) {
        match right {
            Operand::One(right) => {
                self.meets(right, left.ty);
                self.meets(left, right.ty);
            }
            Operand::List(list) => {
                // They have a common type: the left's own only where no other is among them.
                if one_known(list.iter().map(|item| item.ty).chain([left.ty])) == left.ty {
                    list.iter().for_each(|item| self.meets(item, left.ty));
                }
            }
        }
    }

    /// The type with which an operand meets the operator: of rows that is not one type, of an
    /// array after ANY it is the element's.
    pub(super) fn operand_type(&self, expr: &Expr<'c>, form: OpForm) -> TypeId {
        match (&expr.node, form) {
            (ExprNode::Row(_) | ExprNode::WholeRow { .. }, _) => TypeId::NONE,
            (ExprNode::Array(items), OpForm::Any | OpForm::All) => {
                one_known(items.iter().map(|item| item.ty))
            }
            (_, OpForm::Any | OpForm::All) => match self.world.catalog.type_of(expr.ty).map(|ty| &ty.kind) {
                Some(TypeKind::Array { element }) => *element,
                _ if expr.ty == TypeId::UNKNOWN => TypeId::UNKNOWN,
                _ => TypeId::NONE,
            },
            (_, _) => expr.ty,
        }
    }

    /// The comparisons that BETWEEN stands for.
    pub(super) fn between(&mut self, left: Option<&Expr<'c>>, operands: &[TypeId], op: &ir::Op) -> bool {
        let mut builtin = true;
        for name in [">=", "<=", "<", ">"] {
            let path = ir::Path { parts: vec![name.into()], at: op.at };
            let candidates = self.operators_named(&path, false);
            let left = left.map(|left| left.ty);
            builtin &= self.operator_use(&path, &candidates, left, operands.first().copied(), op.at);
        }
        builtin
    }

    /// Enters an operator into the uses; whether it can only be pg_catalog's own.
    pub(super) fn operator_use(
        &mut self,
        path: &ir::Path,
        candidates: &Rc<[&'c Operator]>,
        left: Option<TypeId>,
        right: Option<TypeId>,
        at: At,
    ) -> bool {
        let at = self.at(at);
        let right = right.unwrap_or(TypeId::NONE);
        // A user's candidate counts where the operands could reach it (policy 4.6).
        let foreign = candidates.iter().any(|candidate| {
            candidate.listing == Listing::User && operator_counts(self.world.catalog, candidate, left, right)
        });
        let own = !foreign && candidates.iter().any(|c| c.listing != Listing::User);
        self.uses.operators.push(OperatorUse {
            path: path.clone(),
            candidates: Rc::clone(candidates),
            left,
            right,
            at,
        });
        own
    }

    /// An `=` or another comparison that the grammar implies.
    pub(super) fn implied_operator(&mut self, name: &str, left: TypeId, right: TypeId, at: At) -> bool {
        let path = ir::Path { parts: vec![name.into()], at };
        let candidates = self.operators_named(&path, false);
        self.operator_use(&path, &candidates, Some(left), Some(right), at)
    }

    pub(super) fn case_equality(&mut self, args: &[Expr<'c>], at: At) {
        let left = args.first().map_or(TypeId::NONE, |arg| arg.ty);
        self.implied_operator("=", left, TypeId::NONE, at);
    }

    pub(super) fn sort_operator(&mut self, key: &ir::SortKey, at: At) {
        if let Some(path) = &key.using {
            let candidates = self.operators_named(path, false);
            self.operator_use(path, &candidates, Some(TypeId::NONE), None, at);
        }
    }
}

/// Whether an operator outside pg_catalog could be meant: always where its own types are all
/// pg_catalog's, else only where an operand has its type or one that is not known.
pub(crate) fn operator_counts(
    catalog: &Catalog,
    operator: &Operator,
    left: Option<TypeId>,
    right: TypeId,
) -> bool {
    let own = |ty: TypeId| match catalog.type_of(ty) {
        Some(ty) => !is_builtin_schema(&ty.name.schema),
        None => true,
    };
    let declared = [operator.left, Some(operator.right)];
    let foreign: Vec<TypeId> = declared.into_iter().flatten().filter(|ty| own(*ty)).collect();
    let operands = [left, Some(right)];
    foreign.is_empty()
        || operands
            .into_iter()
            .flatten()
            .any(|operand| operand == TypeId::NONE || foreign.contains(&operand) || own(operand))
}

/// The type as `=` takes it: of many, another one's.
fn own_equality(ty: TypeId) -> TypeId {
    match ty {
        TypeId::VARCHAR | TypeId::UNKNOWN => TypeId::TEXT,
        TypeId::TEXT
        | TypeId::BPCHAR
        | TypeId::NAME
        | TypeId::BOOL
        | TypeId::INT2
        | TypeId::INT4
        | TypeId::INT8
        | TypeId::NUMERIC
        | TypeId::UUID => ty,
        _ => TypeId::NONE,
    }
}

/// The type on which all agree, untyped literals aside.
fn one_known(types: impl Iterator<Item = TypeId>) -> TypeId {
    let mut common = TypeId::UNKNOWN;
    for ty in types.filter(|ty| *ty != TypeId::UNKNOWN) {
        if common != TypeId::UNKNOWN && common != ty {
            return TypeId::NONE;
        }
        common = ty;
    }
    common
}
