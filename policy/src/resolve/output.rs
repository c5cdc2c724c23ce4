//! Output columns: their names (FigureColname), types and collations.

use super::Resolver;
use super::bound::*;
use crate::catalog::{TypeId, TypeKind};
use crate::ir::{self, Name};
use crate::mutants::mutant;

/// A target list or RETURNING.
pub(super) struct Targets<'c> {
    pub(super) exprs: Vec<Expr<'c>>,
    pub(super) outputs: Vec<SourceColumn>,
    /// Not all of the outputs' names, or not their number, are known.
    pub(super) open: bool,
    /// How many of the outputs stand where they seem to: before the first of unknown width.
    pub(super) places: usize,
}

impl<'c> Resolver<'c> {
    /// The outputs of a target list or RETURNING.
    pub(super) fn targets(&mut self, targets: &[ir::Target], keep_unknown: bool) -> Targets<'c> {
        let mut exprs = Vec::with_capacity(targets.len());
        let mut outputs = Vec::with_capacity(targets.len());
        let mut open = false;
        let mut places = None;
        for target in targets {
            let here = outputs.len();
            if let Some(columns) = self.spread(&target.expr) {
                for (name, expr) in columns {
                    if matches!(expr.node, ExprNode::Refused) {
                        places = places.or(Some(here));
                    }
                    outputs.push(self.output(name, &expr, keep_unknown));
                    exprs.push(expr);
                }
                continue;
            }
            if let ir::Expr::FieldStar(arg, at) = &target.expr {
                let arg = self.expr(arg);
                let expr = self.made(ExprNode::Other(vec![arg]), TypeId::NONE, *at);
                places = places.or(Some(here));
                outputs.push(self.output("?column?".into(), &expr, keep_unknown));
                exprs.push(expr);
                continue;
            }
            self.place.whole = true;
            let expr = self.expr(&target.expr);
            self.place.whole = false;
            let name = match &target.alias {
                Some(alias) => alias.clone(),
                None => match output_name(&target.expr) {
                    Some((name, _)) => name,
                    None => {
                        open |= unnameable(&target.expr);
                        "?column?".into()
                    }
                },
            };
            outputs.push(self.output(name, &expr, keep_unknown));
            exprs.push(expr);
        }
        self.uncertain_places |= places.is_some();
        let open = open || places.is_some();
        let places = places.unwrap_or(outputs.len());
        Targets { exprs, outputs, open, places }
    }

    pub(super) fn output(&self, name: Name, expr: &Expr<'c>, keep_unknown: bool) -> SourceColumn {
        let ty = match expr.ty {
            TypeId::UNKNOWN if !keep_unknown && !matches!(expr.node, ExprNode::Param(_)) => TypeId::TEXT,
            // An untyped parameter takes its type from its first use, which may be elsewhere.
            TypeId::UNKNOWN if !keep_unknown => TypeId::NONE,
            ty => ty,
        };
        SourceColumn { name, ty: ColumnType { ty, deterministic: self.deterministic(expr) } }
    }

    /// Whether equal values of an expression have equal bytes, as far as collations go.
    pub(super) fn deterministic(&self, expr: &Expr<'c>) -> bool {
        // A column's collation is in the catalog, but not those of its fields.
        let known = matches!(expr.node, ExprNode::Column(_)) && !self.has_fields(expr.ty);
        if self.may_bring_collation(expr.ty) && !known {
            return false;
        }
        match &expr.node {
            ExprNode::Column(col) => self
                .scopes
                .iter()
                .find(|scope| scope.level == col.level)
                .and_then(|scope| scope.source(col.rel))
                .and_then(|source| source.column(col.column))
                .is_some_and(|column| column.deterministic),
            ExprNode::Collate { collation, .. } => *collation == Collation::Bytewise,
            ExprNode::Sublink(sublink) => sublink.query.outputs.iter().all(|column| column.ty.deterministic),
            ExprNode::Refused | ExprNode::WholeRow { .. } => false,
            ExprNode::Const(_)
            | ExprNode::Param(_)
            | ExprNode::Merged(_)
            | ExprNode::System { .. }
            | ExprNode::Op(_)
            | ExprNode::Bool { .. }
            | ExprNode::Not(_)
            | ExprNode::Is { .. }
            | ExprNode::Cast { .. }
            | ExprNode::Row(_)
            | ExprNode::Array(_)
            | ExprNode::Call(_)
            | ExprNode::Default
            | ExprNode::Other(_) => {
                let mut all = true;
                super::walk::children(expr, &mut |child| all &= self.deterministic(child));
                all
            }
        }
    }

    /// Whether a value has the type's own collation, which may be any: a domain's stays with it when it
    /// is cast back to what it is over, a field's when it is taken out.
    pub(super) fn may_bring_collation(&self, ty: TypeId) -> bool {
        let kind = |ty: TypeId| self.world.catalog.type_of(ty).map(|ty| &ty.kind);
        let own = |kind: Option<&TypeKind>| {
            matches!(kind, Some(TypeKind::Domain { .. })) && !mutant!(DomainIsBytewise)
                || matches!(kind, Some(TypeKind::Composite { .. })) && !mutant!(FieldIsBytewise)
        };
        match kind(ty) {
            Some(TypeKind::Array { element }) => own(kind(*element)),
            other => own(other),
        }
    }

    fn has_fields(&self, ty: TypeId) -> bool {
        let kind = |ty: TypeId| self.world.catalog.type_of(ty).map(|ty| &ty.kind);
        let fields = |kind: Option<&TypeKind>| {
            matches!(kind, Some(TypeKind::Composite { .. })) && !mutant!(FieldIsBytewise)
        };
        match kind(ty) {
            Some(TypeKind::Array { element }) => fields(kind(*element)),
            other => fields(other),
        }
    }
}

/// The name that PostgreSQL gives to an output without an alias (FigureColname), with its strength.
fn output_name(expr: &ir::Expr) -> Option<(Name, u8)> {
    use ir::{Expr as E, SpecialForm as Form};
    match expr {
        E::Column(column) => column.parts.last().map(|name| (name.clone(), 2)),
        E::Call(call) => call.name.parts.last().map(|name| (name.clone(), 2)),
        E::Field { field, .. } => Some((field.clone(), 2)),
        E::Cast { arg, ty, .. } => match output_name(arg) {
            Some((name, 2)) => Some((name, 2)),
            _ => ty.path.parts.last().map(|name| (name.clone(), 1)),
        },
        E::Collate { arg, .. } => output_name(arg),
        E::Subscript { arg, .. } => output_name(arg),
        E::Case { otherwise, .. } => match otherwise.as_deref().and_then(output_name) {
            Some((name, 2)) => Some((name, 2)),
            _ => Some(("case".into(), 1)),
        },
        E::Sublink(sublink) => match sublink.kind {
            ir::SublinkKind::Exists => Some(("exists".into(), 2)),
            ir::SublinkKind::Array => Some(("array".into(), 2)),
            ir::SublinkKind::Scalar => sublink_name(&sublink.query),
            ir::SublinkKind::Any | ir::SublinkKind::All | ir::SublinkKind::Row => None,
        },
        E::Special { form, .. } => match form {
            Form::Coalesce => Some(("coalesce".into(), 2)),
            Form::Greatest => Some(("greatest".into(), 2)),
            Form::Least => Some(("least".into(), 2)),
            Form::Grouping => Some(("grouping".into(), 2)),
            Form::MergeAction => Some(("merge_action".into(), 2)),
            Form::Schema => Some(("current_schema".into(), 2)),
            Form::Database => Some(("current_catalog".into(), 2)),
            Form::Clock
            | Form::User
            | Form::JsonConstructor(_)
            | Form::JsonAggregate(_)
            | Form::JsonQuery(_)
            | Form::IsJson
            | Form::Xml(_)
            | Form::Normalized => None,
        },
        E::Op(op) if op.form == ir::OpForm::NullIf => Some(("nullif".into(), 2)),
        E::Row(..) => Some(("row".into(), 2)),
        E::Array(..) => Some(("array".into(), 2)),
        E::Op(_)
        | E::Const(_)
        | E::Param { .. }
        | E::Bool { .. }
        | E::Not(..)
        | E::Is { .. }
        | E::FieldStar(..)
        | E::Default(_)
        | E::Unsupported(_) => None,
    }
}

fn sublink_name(query: &ir::Query) -> Option<(Name, u8)> {
    match &query.body {
        ir::QueryBody::Select(select) => match select.targets.first() {
            Some(ir::Target { alias: Some(alias), .. }) => Some((alias.clone(), 2)),
            Some(target) => output_name(&target.expr),
            None => None,
        },
        ir::QueryBody::Values(_) => Some(("column1".into(), 2)),
        ir::QueryBody::Set { left, .. } => sublink_name(left),
    }
}

/// Forms whose output name differs by what the algebra no longer says.
fn unnameable(expr: &ir::Expr) -> bool {
    use ir::SpecialForm as Form;
    if let ir::Expr::Cast { arg, .. } | ir::Expr::Collate { arg, .. } = expr {
        return unnameable(arg);
    }
    let ir::Expr::Special { form, .. } = expr else { return false };
    match form {
        Form::Clock
        | Form::User
        | Form::JsonConstructor(_)
        | Form::JsonAggregate(_)
        | Form::JsonQuery(_)
        | Form::Xml(_)
        | Form::Normalized => true,
        Form::Coalesce
        | Form::Greatest
        | Form::Least
        | Form::Grouping
        | Form::Database
        | Form::Schema
        | Form::MergeAction
        | Form::IsJson => false,
    }
}
