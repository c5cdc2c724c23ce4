//! Functions of CREATE CAST: they run for whoever casts, and unasked (policy 4.6).
//!
//! * An explicit cast calls the function that makes its type of the argument's.
//! * A cast AS ASSIGNMENT is called where a column is written.
//! * A cast AS IMPLICIT is called wherever its type meets another, which nobody follows here: where its
//!   function is not allowed, its type is out of reach.

use super::Context;
use crate::catalog::{Cast, CastContext, CastMethod, PG_CATALOG, TypeId, is_builtin_schema};
use crate::ir::At;
use crate::keyed::HashMap;
use crate::policy::FunctionRule;
use crate::resolve::{
    ArgValue, Assignment, Body, CteBody, Expr, ExprNode, Insert, InsertSource, MergeThen, Root, Source,
    UsedColumn, World, Written,
};
use crate::{Code, Denial, Rule};

pub(super) fn judge(cx: &Context<'_, '_>, denials: &mut Vec<Denial>) {
    let refused: Vec<&Cast> = cx.catalog().casts().filter(|cast| is_refused(&cx.world, cast)).collect();
    if refused.is_empty() {
        return;
    }
    let mut params = HashMap::default();
    for used in &cx.bound.uses.params {
        *params.entry(used.number).or_default() += 1;
    }
    let casts = Casts { cx, refused, params };
    casts.explicit(denials);
    casts.implicit(denials);
    casts.written(denials);
}

/// Whether an argument of EXECUTE may be cast to its parameter's type by a function that the role may not call.
pub(crate) fn may_run_unasked(world: &World<'_>) -> bool {
    world.catalog.casts().any(|cast| cast.context != CastContext::Explicit && is_refused(world, cast))
}

/// Made by a function that the role may not call.
fn is_refused(world: &World<'_>, cast: &Cast) -> bool {
    match &cast.method {
        CastMethod::Function(function) => {
            *function.schema != *PG_CATALOG
                && world.role.allows_function(&function.schema, &function.name) != FunctionRule::Allowed
        }
        CastMethod::InOut | CastMethod::Binary => false,
    }
}

struct Casts<'x, 'p, 'c> {
    cx: &'x Context<'p, 'c>,
    refused: Vec<&'c Cast>,
    /// How often each parameter is used.
    params: HashMap<u32, usize>,
}

impl<'c> Casts<'_, '_, 'c> {
    fn explicit(&self, denials: &mut Vec<Denial>) {
        for used in &self.cx.bound.uses.types {
            let from = match (&used.arg, used.from) {
                // A definition, not a cast.
                (None, _) => TypeId::UNKNOWN,
                (Some(ArgValue::Param(number)), TypeId::UNKNOWN) => self.param_type(*number),
                (Some(_), from) => from,
            };
            let called = used.ty.and_then(|ty| self.called(from, ty.id, |_| true));
            denials.extend(called.map(|cast| self.denial(cast, used.path.at)));
        }
    }

    /// The types that a cast may leave unasked, wherever they come from.
    fn implicit(&self, denials: &mut Vec<Denial>) {
        let uses = &self.cx.bound.uses;
        let columns = uses.columns.iter().filter_map(|used| match used.column {
            UsedColumn::At(place) => Some((used.relation.columns.get(place as usize)?.ty, used.at)),
            UsedColumn::System(_) | UsedColumn::WholeRow => None,
        });
        let types = uses.types.iter().filter_map(|used| Some((used.ty?.id, used.path.at)));
        let functions = uses.functions.iter().flat_map(|used| {
            let arguments = |function: &'c crate::catalog::Function| {
                function.args.iter().map(|arg| arg.ty).chain([function.returns])
            };
            let types = used.candidates.iter().flat_map(move |function| arguments(function));
            types.map(|ty| (ty, used.path.at))
        });
        let declared = self.cx.declared.all().map(|(_, ty)| (ty, None));
        for (ty, at) in columns.chain(types).chain(functions).chain(declared) {
            let leaves = self.refused.iter().find(|cast| {
                let own = if self.is_builtin(cast.source) { cast.target } else { cast.source };
                cast.context == CastContext::Implicit && self.within(ty).contains(&own)
            });
            denials.extend(leaves.map(|cast| self.denial(cast, at)));
        }
    }

    fn written(&self, denials: &mut Vec<Denial>) {
        let bound = self.cx.bound;
        match &bound.root {
            Root::Insert(insert) => self.inserted(insert, denials),
            Root::Update(update) => self.assigned(update.from.sources.first(), &update.set, denials),
            Root::Merge(merge) => self.merged(merge, denials),
            Root::Query(_) | Root::Delete(_) | Root::Nothing => {}
        }
        for cte in &bound.ctes {
            match &cte.body {
                CteBody::Insert(insert) => self.inserted(insert, denials),
                CteBody::Update(update) => self.assigned(update.from.sources.first(), &update.set, denials),
                CteBody::Merge(merge) => self.merged(merge, denials),
                CteBody::Query(_) | CteBody::Delete(_) | CteBody::Pending => {}
            }
        }
    }

    fn inserted(&self, insert: &Insert<'c>, denials: &mut Vec<Denial>) {
        let target = Some(&insert.target);
        for (place, column) in insert.columns.iter().enumerate() {
            match &insert.source {
                InsertSource::DefaultValues => {}
                InsertSource::Values(rows) => {
                    for cell in rows.iter().filter_map(|row| row.get(place)) {
                        self.assigns(target, column, self.value_type(cell), denials);
                    }
                }
                InsertSource::Query(query) => {
                    let from = match &query.body {
                        Body::Select(select) if !query.open => {
                            select.targets.get(place).map_or(TypeId::NONE, |value| self.value_type(value))
                        }
                        Body::Select(_) | Body::Values(_) | Body::Set { .. } => {
                            let output = query.outputs.get(place).filter(|_| !query.open);
                            let known = output.map(|output| output.ty.ty).filter(|ty| *ty != TypeId::UNKNOWN);
                            known.unwrap_or(TypeId::NONE)
                        }
                    };
                    self.assigns(target, column, from, denials);
                }
            }
        }
        if let Some(set) = insert.conflict.as_ref().and_then(|conflict| conflict.update.as_ref()) {
            self.assigned(target, set, denials);
        }
    }

    fn merged(&self, merge: &crate::resolve::Merge<'c>, denials: &mut Vec<Denial>) {
        let target = merge.from.sources.first();
        for action in &merge.actions {
            match &action.then {
                MergeThen::Nothing | MergeThen::Delete => {}
                MergeThen::Update(set) => self.assigned(target, set, denials),
                MergeThen::Insert { columns, values } => {
                    for (column, value) in columns.iter().zip(values.iter().flatten()) {
                        self.assigns(target, column, self.value_type(value), denials);
                    }
                }
            }
        }
    }

    fn assigned(&self, target: Option<&Source<'c>>, set: &[Assignment<'c>], denials: &mut Vec<Denial>) {
        for assignment in set {
            match assignment {
                Assignment::One { column, value } => {
                    self.assigns(target, column, self.value_type(value), denials);
                }
                Assignment::Many { columns, value } => {
                    for (place, column) in columns.iter().enumerate() {
                        let field = value.as_row().and_then(|fields| fields.get(place));
                        self.assigns(
                            target,
                            column,
                            field.map_or(TypeId::NONE, |field| self.value_type(field)),
                            denials,
                        );
                    }
                }
            }
        }
    }

    fn assigns(
        &self,
        target: Option<&Source<'c>>,
        column: &Written<'c>,
        from: TypeId,
        denials: &mut Vec<Denial>,
    ) {
        let relation = target.and_then(|target| target.relation());
        let Some(place) = column.column else { return };
        let Some(written) = relation.and_then(|relation| relation.columns.get(place as usize)) else {
            return;
        };
        let unasked = |cast: &Cast| cast.context != CastContext::Explicit;
        let called = self.called(from, written.ty, unasked);
        denials.extend(called.map(|cast| self.denial(cast, column.at)));
    }

    /// A refused cast that may make one type of another. What has no type yet goes by its input function.
    fn called(&self, from: TypeId, to: TypeId, wanted: impl Fn(&Cast) -> bool) -> Option<&'c Cast> {
        let (known, sources, targets) = (from != TypeId::NONE, self.within(from), self.within(to));
        let makes = |cast: &&&'c Cast| {
            targets.contains(&cast.target) && (!known || sources.contains(&cast.source)) && wanted(cast)
        };
        if from == TypeId::UNKNOWN { None } else { self.refused.iter().find(makes).copied() }
    }

    /// The type that a written value is cast from; what has none yet goes by its input function.
    fn value_type(&self, value: &Expr<'c>) -> TypeId {
        if let ExprNode::Param(number) = value.node {
            self.param_type(number)
        } else {
            value.untyped_or_known()
        }
    }

    /// A parameter's type; another use may have fixed one first.
    fn param_type(&self, number: u32) -> TypeId {
        let several = self.params.get(&number).is_some_and(|uses| *uses > 1);
        let undeclared = if several { TypeId::NONE } else { TypeId::UNKNOWN };
        self.cx.declared.get(number).unwrap_or(undeclared)
    }

    fn within(&self, ty: TypeId) -> Vec<TypeId> {
        self.cx.catalog().parts_of(ty)
    }

    fn is_builtin(&self, ty: TypeId) -> bool {
        self.cx.catalog().type_of(ty).is_none_or(|ty| is_builtin_schema(&ty.name.schema))
    }

    fn denial(&self, cast: &Cast, at: At) -> Denial {
        let name = |ty: TypeId| {
            self.cx
                .catalog()
                .type_of(ty)
                .map_or_else(|| "another type".to_owned(), |ty| ty.name.name.to_string())
        };
        let message = format!(
            "the cast from {} to {} calls a function that is not allowed",
            name(cast.source),
            name(cast.target)
        );
        Denial::new(Rule::Functions, Code::TypeNotAllowed, at, message)
    }
}
