//! Functions in FROM: the columns that they yield, where those are known.

use super::Resolver;
use super::bound::*;
use super::expr::one_type;
use super::from::{Brought, rename};
use super::output::title;
use crate::catalog::{Argument, Function, PG_CATALOG, TypeId, TypeKind};
use crate::ir::{self, Name};
use crate::mutants::mutant;

impl<'c> Resolver<'c> {
    pub(super) fn bind_function(&mut self, function: &ir::FunctionFrom) -> Brought<'c> {
        let alias = function.alias.as_ref();
        let before = self.scopes.last().map(|scope| scope.nature).unwrap_or_default();
        let mut columns: Vec<SourceColumn> = Vec::new();
        let mut exprs = Vec::new();
        let mut open = false;
        let mut name = alias.map(|alias| alias.name.clone());
        let single = function.functions.len() == 1;
        for (call, definitions) in &function.functions {
            let first = self.uses.functions.len();
            let bound = self.lateral(true, |resolver| resolver.expr(call));
            let definitions = if definitions.is_empty() && single { &function.columns } else { definitions };
            let title = title(call, &bound);
            let made = if definitions.is_empty() {
                let candidates = match is_call(call) {
                    true => self.uses.functions.get(first..).and_then(<[_]>::last),
                    // Those of something inside.
                    false => None,
                };
                let candidates = candidates.map(|used| used.candidates.clone()).unwrap_or_default();
                let alias = if single { alias.map(|alias| &alias.name) } else { None };
                let name = alias.cloned().or_else(|| title.clone().name());
                name.and_then(|name| self.function_columns(call, &bound, &candidates, &name))
            } else {
                Some(self.definitions(definitions))
            };
            if exprs.is_empty() {
                name = name.or_else(|| title.name());
            }
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
        if name.is_none() {
            self.unsupported(function.at, "a function in FROM without a certain name");
        }
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

    /// The columns of a function in FROM; none where they are not known. `title` is what a column without a
    /// name of its own is called.
    fn function_columns(
        &self,
        call: &ir::Expr,
        expr: &Expr<'c>,
        candidates: &[&'c Function],
        title: &Name,
    ) -> Option<Vec<SourceColumn>> {
        let scalar = |ty: TypeId| SourceColumn { name: title.clone(), ty: self.made_of(expr, ty) };
        if let ir::Expr::Special { form, .. } = call
            && !may_be_a_row(*form)
        {
            // On an older server some are calls of a user's function, on a newer one they are not.
            return candidates.is_empty().then(|| vec![scalar(expr.ty)]);
        }
        if candidates.is_empty() {
            let known = match expr.ty {
                TypeId::UNKNOWN => Some(vec![scalar(TypeId::TEXT)]),
                ty => self.row_columns(ty),
            };
            return known.or_else(|| self.is_scalar(expr.ty).then(|| vec![scalar(expr.ty)]));
        }
        let (name, args) = name_and_arguments(expr)?;
        if name == "unnest" && candidates.iter().all(|f| &*f.name.schema == PG_CATALOG) {
            return self.unnested(expr, args, title);
        }
        let first = candidates.first()?;
        if candidates.iter().any(|other| other.columns != first.columns) {
            return None;
        }
        if !first.columns.is_empty() {
            return self.output_columns(expr, &first.columns, title);
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

    /// The columns of unnest(): of one array, of several side by side.
    fn unnested(&self, expr: &Expr<'c>, args: &[Expr<'c>], title: &Name) -> Option<Vec<SourceColumn>> {
        if let [arg] = args {
            return match self.element(arg) {
                Element::Scalar(ty) => {
                    Some(vec![SourceColumn { name: title.clone(), ty: self.made_of(expr, ty) }])
                }
                Element::Row(columns) => Some(columns),
                Element::Unknown => None,
            };
        }
        let mut columns = Vec::new();
        for arg in args {
            match self.element(arg) {
                Element::Scalar(ty) => {
                    columns.push(SourceColumn { name: "unnest".into(), ty: self.made_of(arg, ty) });
                }
                Element::Row(row) => columns.extend(row),
                Element::Unknown => return None,
            }
        }
        Some(columns)
    }

    /// The columns of OUT parameters and of RETURNS TABLE.
    fn output_columns(
        &self,
        expr: &Expr<'c>,
        outputs: &[Argument],
        title: &Name,
    ) -> Option<Vec<SourceColumn>> {
        if let [column] = outputs {
            // A single OUT parameter is the whole result, and keeps its name beside an alias, too.
            let own = column.name.as_ref().filter(|_| !mutant!(FunctionsColumnByAlias));
            let name = own.map_or_else(|| title.clone(), |name| (&**name).into());
            let whole = || vec![SourceColumn { name, ty: self.made_of(expr, column.ty) }];
            return self.row_columns(column.ty).or_else(|| self.is_scalar(column.ty).then(whole));
        }
        let columns = outputs.iter().zip(1..).map(|(column, number)| SourceColumn {
            name: match &column.name {
                Some(name) => (&**name).into(),
                None => format!("column{number}").into(),
            },
            ty: self.made_of(expr, column.ty),
        });
        Some(columns.collect())
    }

    /// What comes out of a function has the collation of what goes in.
    fn made_of(&self, expr: &Expr<'c>, ty: TypeId) -> ColumnType {
        let ty = if ty.is_polymorphic() { TypeId::NONE } else { ty };
        let bytewise = self.deterministic(expr) && !self.may_bring_collation(ty);
        let deterministic = bytewise || mutant!(FunctionIsBytewise);
        ColumnType { ty, deterministic }
    }

    pub(super) fn is_scalar(&self, ty: TypeId) -> bool {
        match self.world.catalog.type_of(ty).map(|ty| &ty.kind) {
            Some(
                TypeKind::Base
                | TypeKind::Array { .. }
                | TypeKind::Enum
                | TypeKind::Range { .. }
                | TypeKind::Multirange { .. },
            ) => true,
            // Over a composite type it has that one's columns.
            Some(TypeKind::Domain { base, .. }) => self.is_scalar(*base),
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
        let Some(element) = catalog.type_of(array.ty).and_then(|ty| ty.kind.element()) else {
            return Element::Unknown;
        };
        match self.row_columns(element) {
            Some(row) => Element::Row(row),
            None if self.is_scalar(element) => Element::Scalar(element),
            None => Element::Unknown,
        }
    }
}

/// Of a call; of a form, its operands alone.
fn name_and_arguments<'e, 'c>(expr: &'e Expr<'c>) -> Option<(&'e str, &'e [Expr<'c>])> {
    match &expr.node {
        ExprNode::Call(call) => Some((&call.name, &call.args)),
        ExprNode::Other(args) => Some(("", args)),
        ExprNode::Const(_)
        | ExprNode::Param(_)
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
        | ExprNode::Array(_)
        | ExprNode::Default
        | ExprNode::Refused => None,
    }
}

/// A call, or a form that older servers take for one.
fn is_call(expr: &ir::Expr) -> bool {
    use ir::SpecialForm as Form;
    match expr {
        ir::Expr::Call(_) => true,
        ir::Expr::Special { form, .. } => matches!(
            form,
            Form::JsonConstructor(_) | Form::JsonAggregate(_) | Form::JsonQuery(_) | Form::MergeAction
        ),
        ir::Expr::Const(_)
        | ir::Expr::Param { .. }
        | ir::Expr::Column(_)
        | ir::Expr::Op(_)
        | ir::Expr::Bool { .. }
        | ir::Expr::Not(..)
        | ir::Expr::Is { .. }
        | ir::Expr::Cast { .. }
        | ir::Expr::Collate { .. }
        | ir::Expr::Sublink(_)
        | ir::Expr::Case { .. }
        | ir::Expr::Row(..)
        | ir::Expr::Array(..)
        | ir::Expr::Field { .. }
        | ir::Expr::FieldStar(..)
        | ir::Expr::Subscript { .. }
        | ir::Expr::Default(_)
        | ir::Expr::Unsupported(_) => false,
    }
}

/// Forms whose result has the type of what they are given.
fn may_be_a_row(form: ir::SpecialForm) -> bool {
    use ir::SpecialForm as Form;
    matches!(form, Form::Coalesce | Form::Greatest | Form::Least)
}

/// What an array holds.
enum Element {
    Scalar(TypeId),
    Row(Vec<SourceColumn>),
    Unknown,
}
