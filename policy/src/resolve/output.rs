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
            if self.too_many_columns(here) {
                break;
            }
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
                outputs.push(self.output(NAMELESS.into(), &expr, keep_unknown));
                exprs.push(expr);
                continue;
            }
            self.place.whole = true;
            let expr = self.expr(&target.expr);
            self.place.whole = false;
            let name = match &target.alias {
                Some(alias) => alias.clone(),
                None => title(&target.expr, &expr).name().unwrap_or_else(|| {
                    open = true;
                    NAMELESS.into()
                }),
            };
            outputs.push(self.output(name, &expr, keep_unknown));
            exprs.push(expr);
        }
        self.too_many_columns(outputs.len());
        self.uncertain_places |= places.is_some();
        let open = open || places.is_some();
        let places = places.unwrap_or(outputs.len());
        Targets { exprs, outputs, open, places }
    }

    /// Refuses a list that PostgreSQL refuses, too: `*` of what is named twice doubles at each step.
    pub(super) fn too_many_columns(&mut self, columns: usize) -> bool {
        if columns > MAX_COLUMNS {
            self.unsupported(None, "a list of more than 1664 columns");
        }
        columns > MAX_COLUMNS
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

/// What PostgreSQL calls an output, or a function in FROM, without an alias (FigureColname).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Title {
    /// A name of its own.
    Own(Name),
    /// One that a cast or a CASE around it keeps only for want of a better: a type's, or `case`.
    Weak(Name),
    /// None: `?column?`.
    Nameless,
    /// That of a sub-select's output whose name is not known.
    Uncertain,
}

impl Title {
    /// None where it is uncertain.
    pub(super) fn name(self) -> Option<Name> {
        match self {
            Title::Own(name) | Title::Weak(name) => Some(name),
            Title::Nameless => Some(NAMELESS.into()),
            Title::Uncertain => None,
        }
    }

    fn or(self, weak: &str) -> Title {
        match self {
            Title::Own(_) | Title::Uncertain => self,
            Title::Weak(_) | Title::Nameless => Title::Weak(weak.into()),
        }
    }
}

pub(super) const NAMELESS: &str = "?column?";

/// The title of an expression, as written and as bound.
pub(super) fn title(expr: &ir::Expr, bound: &Expr<'_>) -> Title {
    use ir::{Expr as E, SpecialForm as Form};
    let own = |name: &str| Title::Own(name.into());
    let last = |parts: &[Name]| parts.last().cloned().map_or(Title::Nameless, Title::Own);
    match (expr, &bound.node) {
        (E::Column(column), _) => last(&column.parts),
        (E::Call(call), _) => last(&call.name.parts),
        (E::Field { field, .. }, _) => Title::Own(field.clone()),
        (E::Cast { arg, ty, .. }, ExprNode::Cast { arg: bound, .. }) => {
            title(arg, bound).or(ty.path.parts.last().map_or(NAMELESS, |name| name))
        }
        (E::Collate { arg, .. }, ExprNode::Collate { arg: bound, .. }) => title(arg, bound),
        (E::Subscript { arg, .. }, ExprNode::Other(args)) => {
            args.first().map_or(Title::Uncertain, |bound| title(arg, bound))
        }
        (E::Case { otherwise: None, .. }, _) => Title::Weak("case".into()),
        (E::Case { otherwise: Some(otherwise), .. }, ExprNode::Other(args)) => {
            args.last().map_or(Title::Uncertain, |bound| title(otherwise, bound)).or("case")
        }
        (E::Sublink(sublink), node) => match (sublink.kind, node) {
            (ir::SublinkKind::Exists, _) => own("exists"),
            (ir::SublinkKind::Array, _) => own("array"),
            (ir::SublinkKind::Any | ir::SublinkKind::All | ir::SublinkKind::Row, _) => Title::Nameless,
            (ir::SublinkKind::Scalar, ExprNode::Sublink(_)) if mutant!(SubselectIsNameless) => {
                Title::Nameless
            }
            (ir::SublinkKind::Scalar, ExprNode::Sublink(bound)) if !bound.query.open => {
                bound.query.outputs.first().map_or(Title::Uncertain, |output| Title::Own(output.name.clone()))
            }
            (ir::SublinkKind::Scalar, _) => Title::Uncertain,
        },
        (E::Special { form, .. }, _) => match form {
            Form::Coalesce => own("coalesce"),
            Form::Greatest => own("greatest"),
            Form::Least => own("least"),
            Form::Grouping => own("grouping"),
            Form::MergeAction => own("merge_action"),
            Form::Schema => own("current_schema"),
            Form::Database => own("current_catalog"),
            Form::Clock(name) | Form::User(name) => own(name),
            Form::Xml("IS DOCUMENT") | Form::IsJson => Title::Nameless,
            Form::JsonConstructor(name)
            | Form::JsonAggregate(name)
            | Form::JsonQuery(name)
            | Form::Xml(name) => own(&name.to_ascii_lowercase()),
        },
        (E::Op(op), _) if op.form == ir::OpForm::NullIf => own("nullif"),
        (E::Row(..), _) => own("row"),
        (E::Array(..), _) => own("array"),
        // Bound as something else: nothing is known.
        (E::Cast { .. } | E::Collate { .. } | E::Subscript { .. } | E::Case { .. }, _) => Title::Uncertain,
        (
            E::Op(_)
            | E::Const(_)
            | E::Param { .. }
            | E::Bool { .. }
            | E::Not(..)
            | E::Is { .. }
            | E::FieldStar(..)
            | E::Default(_)
            | E::Unsupported(_),
            _,
        ) => Title::Nameless,
    }
}
