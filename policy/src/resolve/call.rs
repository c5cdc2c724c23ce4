//! Calls: every candidate of a name, and what a call makes of its level.

use super::bound::*;
use super::expr::one_type;
use super::names::Qualified;
use super::scope::SYSTEM_COLUMNS;
use super::uses::*;
use super::{Resolver, overload, walk};
use crate::catalog::{Function, FunctionKind, Listing, PG_CATALOG, TypeId, Volatility};
use crate::ir::{self, At};
use crate::{Code, Denial, Rule};

impl<'c> Resolver<'c> {
    pub(super) fn special(&mut self, form: ir::SpecialForm, args: &[ir::Expr], at: At) -> Expr<'c> {
        use ir::SpecialForm as Form;
        let args = self.exprs(args);
        let ty = match form {
            Form::Coalesce | Form::Greatest | Form::Least => one_type(args.iter().map(|arg| arg.ty)),
            Form::IsJson => TypeId::BOOL,
            Form::User(_) | Form::Database | Form::Schema => TypeId::NAME,
            Form::Grouping => TypeId::INT4,
            Form::Clock(_) | Form::JsonConstructor(_) | Form::JsonAggregate(_) | Form::JsonQuery(_) => {
                TypeId::NONE
            }
            Form::Xml("IS DOCUMENT") => TypeId::BOOL,
            Form::Xml("XMLSERIALIZE") => TypeId::NONE,
            Form::Xml(_) => TypeId::XML,
            Form::MergeAction => TypeId::TEXT,
        };
        // On an older server some of these are calls of a user's function (policy 4.6).
        let newer = match form {
            Form::MergeAction => Some("merge_action"),
            Form::JsonConstructor(name) | Form::JsonAggregate(name) | Form::JsonQuery(name) => Some(name),
            Form::IsJson => Some("is json"),
            Form::Coalesce
            | Form::Greatest
            | Form::Least
            | Form::Grouping
            | Form::Clock(_)
            | Form::User(_)
            | Form::Database
            | Form::Schema
            // In the grammar of every server, and nothing but its arguments.
            | Form::Xml(_) => None,
        };
        if let Form::JsonAggregate(_) = form {
            let aggregate = Nature { aggregates: true, ..Nature::default() };
            self.mark(aggregate, &args.iter().collect::<Vec<_>>());
        }
        if let Some(name) = newer {
            self.special_call(&name.to_lowercase(), form, &args, at);
        }
        let node = match form {
            // They read texts, and can fail on them.
            Form::JsonConstructor(name)
            | Form::JsonAggregate(name)
            | Form::JsonQuery(name)
            | Form::Xml(name)
                if name != "IS DOCUMENT" =>
            {
                ExprNode::Call(Box::new(Call { name: name.into(), builtin: false, args, rest: Vec::new() }))
            }
            Form::JsonConstructor(_)
            | Form::JsonAggregate(_)
            | Form::JsonQuery(_)
            | Form::Xml(_)
            | Form::MergeAction
            | Form::IsJson
            | Form::Coalesce
            | Form::Greatest
            | Form::Least
            | Form::Grouping
            | Form::Clock(_)
            | Form::User(_)
            | Form::Database
            | Form::Schema => ExprNode::Other(args),
        };
        self.made(node, ty, at)
    }

    /// A form of a newer grammar: judged as a call of that name, too.
    pub(super) fn special_call(&mut self, name: &str, form: ir::SpecialForm, args: &[Expr<'c>], at: At) {
        let path = ir::Path { parts: vec![name.into()], at: self.at(at) };
        let candidates = self.functions_named(&path, false);
        let known = match form {
            ir::SpecialForm::JsonConstructor(_)
            | ir::SpecialForm::JsonAggregate(_)
            | ir::SpecialForm::JsonQuery(_)
            | ir::SpecialForm::MergeAction
            | ir::SpecialForm::IsJson => self.world.catalog.server_version_num() >= 170_000,
            ir::SpecialForm::Xml(_)
            | ir::SpecialForm::Coalesce
            | ir::SpecialForm::Greatest
            | ir::SpecialForm::Least
            | ir::SpecialForm::Grouping
            | ir::SpecialForm::Clock(_)
            | ir::SpecialForm::User(_)
            | ir::SpecialForm::Database
            | ir::SpecialForm::Schema => false,
        };
        let out_of_place = form == ir::SpecialForm::MergeAction && !self.merge_returning;
        if candidates.is_empty() && (!known || out_of_place) {
            let place = self.at(at);
            self.deny(Denial::new(
                Rule::Functions,
                Code::FunctionNotAllowed,
                place,
                format!("function {name} is not allowed"),
            ));
            return;
        }
        if !candidates.is_empty() {
            let args = self.args(args);
            let in_view = self.in_view();
            let place = self.place;
            self.uses.functions.push(FunctionUse { path, candidates, args, place, in_view, field: false });
        }
    }

    pub(super) fn call(&mut self, call: &ir::Call) -> Expr<'c> {
        let whole = std::mem::replace(&mut self.place.whole, false);
        let mut place = self.place;
        place.whole = whole;
        let args: Vec<Expr<'c>> = call.args.iter().map(|(_, arg)| self.expr(arg)).collect();
        let mut rest: Vec<Expr<'c>> = Vec::new();
        for key in &call.order_by {
            rest.push(self.expr(&key.expr));
            self.sort_operator(key, call.at);
        }
        rest.extend(call.filter.as_ref().map(|filter| self.expr(filter)));
        if let Some(over) = &call.over {
            let window = self.window(over);
            if let Some(scope) = self.scopes.last_mut() {
                scope.windows.push(window);
            }
        }
        let arity = args.len() + if call.within_group { call.order_by.len() } else { 0 };
        let named = self.functions_named(&call.name, call.sql_syntax);
        let fits: Vec<_> =
            named.iter().copied().filter(|function| function.takes(arity) || call.variadic).collect();
        let candidates = if fits.is_empty() { named } else { fits };
        let by_name = call.args.iter().any(|(name, _)| name.is_some());
        let candidates = match by_name || call.within_group {
            true => candidates,
            false => overload::reachable(self.world.catalog, candidates, &args),
        };
        let all: Vec<&Expr<'c>> = args.iter().chain(&rest).collect();
        self.note_nature(&candidates, call.over.is_some(), &all);
        let row_argument = match args.as_slice() {
            [arg] => matches!(arg.node, ExprNode::WholeRow { .. }),
            _ => false,
        };
        let mut path = call.name.clone();
        path.at = self.at(call.at.or(path.at));
        let builtin = !candidates.is_empty() && candidates.iter().all(|function| is_own(function));
        let ty =
            one_type(candidates.iter().map(|function| {
                if function.returns.is_polymorphic() { TypeId::NONE } else { function.returns }
            }));
        let ty = match (args.as_slice(), call.name.parts.last().is_some_and(|name| **name == *"unnest")) {
            ([array], true) if builtin => {
                let array = self.world.catalog.type_of(array.ty);
                array.and_then(|ty| ty.kind.element()).unwrap_or(ty)
            }
            (_, _) => ty,
        };
        let infos = self.args(&args);
        let in_view = self.in_view();
        let is_cast = self.call_as_cast(call, &args);
        if is_cast && candidates.is_empty() {
            let bound = Call { name: "cast".into(), builtin: false, args, rest };
            return self.made(ExprNode::Call(Box::new(bound)), TypeId::NONE, call.at);
        }
        let field = row_argument && path.parts.len() == 1;
        if let ([arg], true) = (args.as_slice(), field) {
            self.note_system_field(arg, &path);
        }
        self.uses.functions.push(FunctionUse { path, candidates, args: infos, place, in_view, field });
        let name = call.name.parts.last().cloned().unwrap_or_default();
        let bound = Call { name, builtin, args, rest };
        self.made(ExprNode::Call(Box::new(bound)), ty, call.at)
    }

    /// `xmin(t)` reads the system column of that name (the whole row holds the others).
    fn note_system_field(&mut self, row: &Expr<'c>, path: &ir::Path) {
        let (ExprNode::WholeRow { level, rel }, [name]) = (&row.node, path.parts.as_slice()) else { return };
        let Some(column) = SYSTEM_COLUMNS.iter().find(|column| ***column == **name) else { return };
        let scope = self.scopes.iter().find(|scope| scope.level == *level);
        if let Some(relation) = scope.and_then(|scope| scope.source(*rel)).and_then(Source::shape) {
            let column = UsedColumn::System(column);
            self.uses.columns.push(ColumnUse { relation, column, at: path.at });
        }
    }

    /// `regclass('x')`: a call of a type's name with one argument is a cast, where no function
    /// matches exactly. Whether it is one.
    pub(super) fn call_as_cast(&mut self, call: &ir::Call, args: &[Expr<'c>]) -> bool {
        let [arg] = args else { return false };
        if call.sql_syntax || call.over.is_some() || call.star {
            return false;
        }
        self.names_type(&call.name, arg)
    }

    /// Whether a type of that name is in sight, to which a call or an attribute casts: the cast is judged.
    pub(super) fn names_type(&mut self, path: &ir::Path, arg: &Expr<'c>) -> bool {
        let catalog = self.world.catalog;
        let exists = match self.qualified(path) {
            Qualified::Bare(name) => {
                self.search_path().any(|schema| catalog.type_named(schema, name).is_some())
            }
            Qualified::In { schema, name } => catalog.type_named(schema, name).is_some(),
            Qualified::Elsewhere => false,
        };
        if exists {
            let value = self.arg_value(arg);
            let ty = ir::TypeRef {
                path: path.clone(),
                typmods: false,
                array: false,
                setof: false,
                pct_type: false,
            };
            self.type_named(&ty, Some(value));
            self.cast_from(arg.untyped_or_known());
        }
        exists
    }

    pub(super) fn window(&mut self, window: &ir::WindowDef) -> Window<'c> {
        let partition_by = self.exprs(&window.partition_by);
        let mut rest: Vec<Expr<'c>> = Vec::new();
        for key in &window.order_by {
            rest.push(self.expr(&key.expr));
            self.sort_operator(key, window.at);
        }
        rest.extend(self.exprs(&window.offsets));
        Window { name: window.name.clone(), base: window.base.clone(), partition_by, rest }
    }

    /// Marks what a call makes of its level: of the current one, and of every outer one whose
    /// columns it reads (an aggregate over an outer level's columns is that level's own).
    pub(super) fn note_nature(
        &mut self,
        candidates: &[&'c crate::catalog::Function],
        over: bool,
        args: &[&Expr<'c>],
    ) {
        let aggregate = candidates.iter().any(|f| f.kind == FunctionKind::Aggregate);
        let window = candidates.iter().any(|f| f.kind == FunctionKind::Window);
        let nature = Nature {
            aggregates: aggregate && !over,
            windows: over || window,
            set_returning: candidates.iter().any(|f| f.returns_set),
            volatile: candidates.iter().any(|f| f.volatility == Volatility::Volatile),
        };
        if nature != Nature::default() {
            self.mark(nature, args);
        }
    }

    /// Of the current level, and of every outer one whose columns are read. What is volatile runs once for
    /// each row of every level around it.
    fn mark(&mut self, nature: Nature, args: &[&Expr<'c>]) {
        let mut levels = Vec::new();
        for arg in args {
            walk::columns(arg, &mut |col| levels.push(col.level));
        }
        let depth = self.scopes.len();
        for (at, scope) in self.scopes.iter_mut().enumerate() {
            scope.nature.volatile |= nature.volatile;
            if at + 1 == depth || levels.contains(&scope.level) {
                scope.nature.aggregates |= nature.aggregates;
                scope.nature.windows |= nature.windows;
                scope.nature.set_returning |= nature.set_returning;
            }
        }
    }

    pub(super) fn args(&self, args: &[Expr<'c>]) -> Vec<Arg> {
        args.iter().map(|arg| Arg { ty: arg.ty, value: self.arg_value(arg) }).collect()
    }
}

/// A function of PostgreSQL's own.
pub(super) fn is_own(function: &Function) -> bool {
    &*function.name.schema == PG_CATALOG && function.listing != Listing::User
}
