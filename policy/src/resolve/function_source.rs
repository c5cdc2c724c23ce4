//! Functions in FROM: the columns that they yield, where those are known.

use super::Resolver;
use super::bound::*;
use super::expr::one_type;
use super::from::{Brought, rename};
use crate::catalog::{Function, PG_CATALOG, TypeId, TypeKind};
use crate::ir::{self, Name};
use crate::mutants::mutant;

impl<'c> Resolver<'c> {
    pub(super) fn bind_function(&mut self, function: &ir::FunctionFrom) -> Brought<'c> {
        let alias = function.alias.as_ref();
        let before = self.scopes.last().map(|scope| scope.nature).unwrap_or_default();
        let mut columns: Vec<SourceColumn> = Vec::new();
        let mut exprs = Vec::new();
        let mut open = false;
        let single = function.functions.len() == 1;
        for (call, definitions) in &function.functions {
            let first = self.uses.functions.len();
            let bound = self.lateral(true, |resolver| resolver.expr(call));
            let definitions = if definitions.is_empty() && single { &function.columns } else { definitions };
            let made = if definitions.is_empty() {
                let candidates = self
                    .uses
                    .functions
                    .get(first..)
                    .and_then(<[_]>::last)
                    .map(|used| used.candidates.clone());
                self.function_columns(
                    &bound,
                    &candidates.unwrap_or_default(),
                    if single { alias } else { None },
                )
            } else {
                Some(self.definitions(definitions))
            };
            match made {
                Some(made) => columns.extend(made),
                None => open = true,
            }
            exprs.push(bound);
        }
        if function.ordinality {
            columns.push(SourceColumn {
                name: "ordinality".into(),
                ty: ColumnType { ty: TypeId::INT8, deterministic: true },
            });
        }
        // A set-returning function in FROM makes rows of its own, not more of its level's.
        if let Some(scope) = self.scopes.last_mut() {
            let volatile = scope.nature.volatile;
            scope.nature = Nature { volatile, ..before };
        }
        rename(&mut columns, alias);
        let name = match (alias, exprs.first().map(|expr| &expr.node)) {
            (Some(alias), _) => Some(alias.name.clone()),
            (None, Some(ExprNode::Call(call))) => Some(call.name.clone()),
            (None, _) => None,
        };
        let place = self.at(function.at);
        let source = Source::new(name, SourceKind::Functions(exprs), place, columns);
        self.leaf(if open { source.opened() } else { source }, None)
    }

    pub(super) fn definitions(&mut self, definitions: &[ir::ColumnDefinition]) -> Vec<SourceColumn> {
        definitions
            .iter()
            .map(|definition| {
                let ty = self.type_named(&definition.ty, None);
                let bytewise = match &definition.collation {
                    None => true,
                    Some(path) => matches!(
                        path.parts.iter().map(|part| &**part).collect::<Vec<_>>().as_slice(),
                        ["C" | "POSIX" | "default"] | [PG_CATALOG, "C" | "POSIX" | "default"]
                    ),
                };
                let bytewise = bytewise && !self.may_bring_collation(ty);
                // A length cuts a value silently: what is left is another one.
                let ty = if definition.ty.typmods { TypeId::NONE } else { ty };
                SourceColumn { name: definition.name.clone(), ty: ColumnType { ty, deterministic: bytewise } }
            })
            .collect()
    }

    /// The columns of a function in FROM; none where they are not known.
    pub(super) fn function_columns(
        &self,
        expr: &Expr<'c>,
        candidates: &[&'c Function],
        alias: Option<&ir::Alias>,
    ) -> Option<Vec<SourceColumn>> {
        let (name, args): (Name, &[Expr<'c>]) = if let ExprNode::Call(call) = &expr.node {
            (call.name.clone(), &call.args)
        } else {
            ("?column?".into(), &[])
        };
        // What comes out of a function has the collation of what goes in.
        let made_of = |expr: &Expr<'c>, ty: TypeId| {
            let bytewise = self.deterministic(expr) && !self.may_bring_collation(ty);
            let deterministic = bytewise || mutant!(FunctionIsBytewise);
            ColumnType { ty, deterministic }
        };
        let scalar = |ty: TypeId| SourceColumn {
            name: alias.map_or_else(|| name.clone(), |alias| alias.name.clone()),
            ty: made_of(expr, ty),
        };
        let form = matches!(&expr.node, ExprNode::Call(call) if !call.builtin && candidates.is_empty());
        if form || matches!(&expr.node, ExprNode::Other(_)) {
            // CURRENT_DATE, JSON_OBJECT and kin.
            return Some(vec![scalar(expr.ty)]);
        }
        if *name == *"unnest" && candidates.iter().all(|f| &*f.name.schema == PG_CATALOG) {
            if let [arg] = args {
                return match self.element(arg) {
                    Element::Scalar(ty) => Some(vec![scalar(ty)]),
                    Element::Row(columns) => Some(columns),
                    Element::Unknown => None,
                };
            }
            let mut columns = Vec::new();
            for arg in args {
                match self.element(arg) {
                    Element::Scalar(ty) => {
                        columns.push(SourceColumn { name: "unnest".into(), ty: made_of(arg, ty) });
                    }
                    Element::Row(row) => columns.extend(row),
                    Element::Unknown => return None,
                }
            }
            return Some(columns);
        }
        let first = candidates.first()?;
        let same = candidates.iter().all(|other| other.columns == first.columns);
        if !same {
            return None;
        }
        if !first.columns.is_empty() {
            return Some(
                first
                    .columns
                    .iter()
                    .map(|column| SourceColumn {
                        name: match (&column.name, first.columns.len()) {
                            // One named column answers to the alias.
                            (_, 1) if alias.is_some() => scalar(column.ty).name,
                            (Some(name), _) => (&**name).into(),
                            (None, _) => "?column?".into(),
                        },
                        ty: made_of(expr, column.ty),
                    })
                    .collect(),
            );
        }
        let returns = one_type(candidates.iter().map(|candidate| candidate.returns));
        if returns == TypeId::NONE {
            // Several scalars, or not known: a scalar only if each is one.
            let scalars = candidates.iter().all(|candidate| self.is_scalar(candidate.returns));
            return scalars.then(|| vec![scalar(TypeId::NONE)]);
        }
        if let Some(row) = self.row_columns(returns) {
            return Some(row);
        }
        self.is_scalar(returns).then(|| vec![scalar(returns)])
    }

    pub(super) fn is_scalar(&self, ty: TypeId) -> bool {
        match self.world.catalog.type_of(ty).map(|ty| &ty.kind) {
            Some(
                TypeKind::Base
                | TypeKind::Array { .. }
                | TypeKind::Domain { .. }
                | TypeKind::Enum
                | TypeKind::Range { .. }
                | TypeKind::Multirange { .. },
            ) => true,
            Some(TypeKind::Composite { .. } | TypeKind::Pseudo) | None => false,
        }
    }

    /// The columns of a relation's row type.
    pub(super) fn row_columns(&self, ty: TypeId) -> Option<Vec<SourceColumn>> {
        let catalog = self.world.catalog;
        let TypeKind::Composite { relation: Some(name) } = &catalog.type_of(ty)?.kind else {
            return None;
        };
        let relation = catalog.relation(&name.schema, &name.name)?;
        Some(
            relation
                .columns
                .iter()
                .map(|column| SourceColumn { name: (&*column.name).into(), ty: ColumnType::of(column) })
                .collect(),
        )
    }

    fn element(&self, array: &Expr<'c>) -> Element {
        let catalog = self.world.catalog;
        if let ExprNode::Array(items) = &array.node
            && !items.is_empty()
        {
            // ARRAY['a'] of untyped literals is text[].
            let ty = match one_type(items.iter().map(|item| item.ty)) {
                TypeId::UNKNOWN => TypeId::TEXT,
                ty => ty,
            };
            return if self.is_scalar(ty) { Element::Scalar(ty) } else { Element::Unknown };
        }
        let ty = array.ty;
        match catalog.type_of(ty).map(|ty| &ty.kind) {
            Some(TypeKind::Array { element }) => match self.row_columns(*element) {
                Some(row) => Element::Row(row),
                None if self.is_scalar(*element) => Element::Scalar(*element),
                None => Element::Unknown,
            },
            Some(
                TypeKind::Base
                | TypeKind::Domain { .. }
                | TypeKind::Enum
                | TypeKind::Composite { .. }
                | TypeKind::Range { .. }
                | TypeKind::Multirange { .. }
                | TypeKind::Pseudo,
            )
            | None => Element::Unknown,
        }
    }
}

/// What an array holds.
enum Element {
    Scalar(TypeId),
    Row(Vec<SourceColumn>),
    Unknown,
}
