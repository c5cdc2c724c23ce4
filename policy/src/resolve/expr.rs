//! Expressions: names to columns, calls to candidates.

use super::Resolver;
use super::bound::*;
use super::names::Qualified;
use super::uses::*;
use crate::catalog::{Allowance, PG_CATALOG, TypeId};
use crate::ir::{self, At, ConstClass};
use crate::mutants::mutant;
use crate::{Code, Denial, Rule, SqlState};

impl<'c> Resolver<'c> {
    /// Binds an expression.
    pub(super) fn expr(&mut self, expr: &ir::Expr) -> Expr<'c> {
        let whole = std::mem::replace(&mut self.place.whole, false);
        match expr {
            ir::Expr::Const(constant) => self.constant(constant),
            ir::Expr::Param { number, at } => self.param(*number, *at, None),
            ir::Expr::Column(column) => self.column(column),
            ir::Expr::Call(call) => {
                self.place.whole = whole;
                self.call(call)
            }
            ir::Expr::Op(op) => self.op(op),
            ir::Expr::Bool { op, args, at } => {
                let args = self.exprs(args);
                self.made(ExprNode::Bool { op: *op, args }, TypeId::BOOL, *at)
            }
            ir::Expr::Not(arg, at) => {
                let arg = Box::new(self.expr(arg));
                self.made(ExprNode::Not(arg), TypeId::BOOL, *at)
            }
            ir::Expr::Is { test, positive, arg, at } => {
                let arg = Box::new(self.expr(arg));
                let node = ExprNode::Is { test: *test, positive: *positive, arg };
                self.made(node, TypeId::BOOL, *at)
            }
            ir::Expr::Cast { arg, ty, at } => self.cast(arg, ty, *at),
            ir::Expr::Collate { arg, collation, at } => self.collate(arg, collation, *at),
            ir::Expr::Sublink(sublink) => self.sublink(sublink),
            ir::Expr::Case { operand, whens, otherwise, at } => {
                let mut args: Vec<Expr<'c>> = Vec::new();
                args.extend(operand.as_deref().map(|operand| self.expr(operand)));
                for (when, then) in whens {
                    args.push(self.expr(when));
                    args.push(self.expr(then));
                }
                args.extend(otherwise.as_deref().map(|otherwise| self.expr(otherwise)));
                if operand.is_some() {
                    // The simple form compares by `=`, wherever that is found.
                    self.case_equality(&args, *at);
                }
                self.made(ExprNode::Other(args), TypeId::NONE, *at)
            }
            ir::Expr::Special { form, args, at } => self.special(*form, args, *at),
            ir::Expr::Row(args, at) => {
                let args = self.list(args);
                self.made(ExprNode::Row(args), TypeId::RECORD, *at)
            }
            ir::Expr::Array(args, at) => {
                let args = self.exprs(args);
                self.made(ExprNode::Array(args), TypeId::NONE, *at)
            }
            ir::Expr::Field { arg, field, at } => self.field(arg, field, *at),
            ir::Expr::FieldStar(arg, at) => {
                self.expr(arg);
                self.unsupported(*at, "(row).* here");
                self.refused(*at)
            }
            ir::Expr::Subscript { arg, indices, at } => {
                let mut args = vec![self.expr(arg)];
                args.extend(self.exprs(indices).into_iter().map(subscript));
                self.made(ExprNode::Other(args), TypeId::NONE, *at)
            }
            ir::Expr::Default(at) => self.made(ExprNode::Default, TypeId::UNKNOWN, *at),
            ir::Expr::Unsupported(at) => self.made(ExprNode::Refused, TypeId::NONE, *at),
        }
    }

    pub(super) fn exprs(&mut self, exprs: &[ir::Expr]) -> Vec<Expr<'c>> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    pub(super) fn maybe(&mut self, expr: Option<&ir::Expr>) -> Option<Expr<'c>> {
        expr.map(|expr| self.expr(expr))
    }

    pub(super) fn made(&self, node: ExprNode<'c>, ty: TypeId, at: At) -> Expr<'c> {
        Expr { node, ty, at: self.at(at) }
    }

    pub(super) fn refused(&self, at: At) -> Expr<'c> {
        self.made(ExprNode::Refused, TypeId::NONE, at)
    }

    pub(super) fn constant(&self, constant: &ir::Const) -> Expr<'c> {
        let ty = match constant.class() {
            ConstClass::Null | ConstClass::String => TypeId::UNKNOWN,
            ConstClass::Bool => TypeId::BOOL,
            ConstClass::Integer => TypeId::INT4,
            ConstClass::Number => TypeId::NONE,
            ConstClass::Bits => TypeId::BIT,
        };
        self.made(ExprNode::Const(constant.clone()), ty, constant.at)
    }

    pub(super) fn param(&mut self, number: u32, at: At, cast: Option<TypeId>) -> Expr<'c> {
        if !self.declared.allowed {
            let place = self.at(at);
            self.deny(
                Denial::new(
                    Rule::Columns,
                    Code::ParameterUnbound,
                    place,
                    format!("there is no parameter ${number}"),
                )
                .sqlstate(SqlState::UNDEFINED_PARAMETER),
            );
        }
        let place = self.at(at);
        self.uses.params.push(ParamUse { number, at: place, cast, meets: None });
        let ty = self.declared.get(number).unwrap_or(TypeId::UNKNOWN);
        self.made(ExprNode::Param(number), ty, at)
    }

    pub(super) fn cast(&mut self, arg: &ir::Expr, ty: &ir::TypeRef, at: At) -> Expr<'c> {
        if let ir::Expr::Param { number, at: param_at } = arg {
            let target = self.type_named(ty, Some(ArgValue::Param(*number)));
            self.cast_from(TypeId::UNKNOWN);
            let direct = (!ty.typmods && target != TypeId::NONE).then_some(target);
            let arg = Box::new(self.param(*number, *param_at, direct));
            return self.made(ExprNode::Cast { arg, typmods: ty.typmods }, target, at);
        }
        let arg = Box::new(self.expr(arg));
        // What a name's identity prints is not what was written.
        let value = if self.is_reg(arg.ty) && matches!(arg.node, ExprNode::Cast { .. }) {
            match self.arg_value(&arg) {
                ArgValue::Const(_) => ArgValue::Other,
                value @ (ArgValue::Param(_)
                | ArgValue::CatalogColumn
                | ArgValue::Tableoid
                | ArgValue::Other) => value,
            }
        } else {
            self.arg_value(&arg)
        };
        let target = self.type_named(ty, Some(value));
        self.cast_from(arg.untyped_or_known());
        self.made(ExprNode::Cast { arg, typmods: ty.typmods }, target, at)
    }

    /// The type that the last type was cast from.
    pub(super) fn cast_from(&mut self, from: TypeId) {
        if let Some(used) = self.uses.types.last_mut() {
            used.from = from;
        }
    }

    pub(super) fn collate(&mut self, arg: &ir::Expr, collation: &ir::Path, at: At) -> Expr<'c> {
        let arg = Box::new(self.expr(arg));
        let builtin = match self.qualified(collation) {
            Qualified::Bare(name) => Some(name),
            Qualified::In { schema, name } if schema == PG_CATALOG => Some(name),
            Qualified::In { .. } | Qualified::Elsewhere => None,
        };
        let collation = match builtin {
            Some("C" | "POSIX" | "default") => Collation::Bytewise,
            Some(_) | None => Collation::Other,
        };
        let ty = arg.ty;
        self.made(ExprNode::Collate { arg, collation }, ty, at)
    }

    /// The elements of a row or of VALUES: `t.*` and `(t).*` among them stand for the columns.
    pub(super) fn list(&mut self, exprs: &[ir::Expr]) -> Vec<Expr<'c>> {
        let mut elements = Vec::with_capacity(exprs.len());
        for expr in exprs {
            if self.too_many_columns(elements.len()) {
                break;
            }
            let before = self.denials.len();
            match self.spread(expr) {
                Some(columns) if mutant!(RowIsOneElement) && matches!(expr, ir::Expr::FieldStar(..)) => {
                    elements.extend(columns.into_iter().take(1).map(|(_, column)| column));
                }
                Some(columns) => {
                    let unknown = columns.iter().find(|(_, column)| matches!(column.node, ExprNode::Refused));
                    if let (Some((_, column)), true) = (unknown, before == self.denials.len()) {
                        self.unsupported(column.at, "* of columns that are not known");
                    }
                    elements.extend(columns.into_iter().map(|(_, column)| column));
                }
                None => elements.push(self.expr(expr)),
            }
        }
        self.too_many_columns(elements.len());
        elements
    }

    pub(super) fn sublink(&mut self, sublink: &ir::Sublink) -> Expr<'c> {
        let test = sublink.test.as_ref().map(|test| self.expr(test));
        let query = self.query(&sublink.query);
        let output = query.outputs.first().map_or(TypeId::NONE, |column| column.ty.ty);
        let outputs = query.outputs.iter().map(|column| column.ty.ty);
        // A row is compared field by field, each by the operator of its own types.
        let compared: Vec<(TypeId, TypeId)> = match test.as_ref().map(|test| (&test.node, test.ty)) {
            None => Vec::new(),
            Some((ExprNode::Row(fields), _)) => fields.iter().map(|field| field.ty).zip(outputs).collect(),
            Some((_, left)) => vec![(left, output)],
        };
        let mut equality = !compared.is_empty();
        for (at, (left, right)) in compared.into_iter().enumerate() {
            if mutant!(FirstFieldsOperator) && at > 0 {
                continue;
            }
            equality &= match &sublink.op {
                None => self.implied_operator("=", left, right, sublink.at),
                Some(path) => {
                    let candidates = self.operators_named(path, false);
                    let own = self.operator_use(path, &candidates, Some(left), Some(right), sublink.at);
                    own && path.parts.last().is_some_and(|name| **name == *"=")
                }
            };
        }
        let ty = match sublink.kind {
            ir::SublinkKind::Exists | ir::SublinkKind::Any | ir::SublinkKind::All => TypeId::BOOL,
            ir::SublinkKind::Scalar => output,
            ir::SublinkKind::Row => TypeId::RECORD,
            ir::SublinkKind::Array => TypeId::NONE,
        };
        let bound = Sublink { kind: sublink.kind, test, equality, query };
        self.made(ExprNode::Sublink(Box::new(bound)), ty, sublink.at)
    }

    // ---- names ----

    // ---- calls ----

    /// What an argument or a cast's operand is, as far as rules about calls look at it.
    pub(super) fn arg_value(&self, arg: &Expr<'c>) -> ArgValue {
        match &arg.node {
            ExprNode::Const(constant) => ArgValue::Const(constant.clone()),
            ExprNode::Cast { arg: inner, typmods } => match self.arg_value(inner) {
                // Another type, or a length, makes another text of it.
                ArgValue::Const(_) | ArgValue::Param(_)
                    if *typmods || !self.keeps_text(arg.ty) || self.is_reg(inner.ty) =>
                {
                    ArgValue::Other
                }
                value @ (ArgValue::Const(_)
                | ArgValue::Param(_)
                | ArgValue::CatalogColumn
                | ArgValue::Tableoid
                | ArgValue::Other) => value,
            },
            ExprNode::Param(number) => ArgValue::Param(*number),
            ExprNode::System { name: "tableoid", .. } => ArgValue::Tableoid,
            ExprNode::Column(col) => {
                let scope = self.scopes.iter().find(|scope| scope.level == col.level);
                let relation = scope.and_then(|scope| scope.source(col.rel)).and_then(Source::relation);
                match relation {
                    Some(relation) if crate::catalog::is_builtin_schema(&relation.name.schema) => {
                        ArgValue::CatalogColumn
                    }
                    Some(_) | None => ArgValue::Other,
                }
            }
            ExprNode::System { .. }
            | ExprNode::Merged(_)
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
            | ExprNode::Refused => ArgValue::Other,
        }
    }

    /// A bare parameter gets the type of what it meets.
    pub(super) fn meets(&mut self, expr: &Expr<'c>, ty: TypeId) {
        let ExprNode::Param(number) = expr.node else { return };
        let used = self.uses.params.iter_mut().rev();
        if let Some(used) =
            used.take(MAX_PARAMS_BACK).find(|used| used.number == number && used.at == expr.at)
        {
            used.meets = Some(ty);
        }
    }

    /// A constant that is cast to this type still says what it said.
    fn keeps_text(&self, ty: TypeId) -> bool {
        matches!(ty, TypeId::TEXT | TypeId::VARCHAR | TypeId::BOOL) || self.is_reg(ty)
    }

    fn is_reg(&self, ty: TypeId) -> bool {
        self.world.catalog.type_of(ty).is_some_and(|ty| ty.allowance == Allowance::Reg)
    }

    // ---- refusals ----
}

/// A subscript, cast to integer unasked as the server casts it.
fn subscript(index: Expr<'_>) -> Expr<'_> {
    let Expr { ty, at, .. } = index;
    match ty {
        TypeId::INT8 | TypeId::NUMERIC | TypeId::FLOAT4 | TypeId::FLOAT8 => {
            Expr { node: ExprNode::Cast { arg: Box::new(index), typmods: false }, ty: TypeId::INT4, at }
        }
        _ => index,
    }
}

/// How many parameters ago the operand of a comparison can have been bound: in longer lists the
/// first ones' types are not noted.
const MAX_PARAMS_BACK: usize = 64;

/// The type on which all agree.
pub(super) fn one_type(mut types: impl Iterator<Item = TypeId>) -> TypeId {
    let Some(first) = types.next() else { return TypeId::NONE };
    if types.all(|ty| ty == first) { first } else { TypeId::NONE }
}
