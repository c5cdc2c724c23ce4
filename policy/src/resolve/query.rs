//! Queries: WITH, SELECT, VALUES, set operations.

use super::bound::*;
use super::from::{rename, taken};
use super::scope::{Found, Scope};
use super::uses::{Access, Clause};
use super::{Resolver, Visible};
use crate::catalog::{RelationKind, TypeId};
use crate::ir::{self, ConstValue, Name};
use crate::{Code, Denial, Kind, Rule, SqlState};
use std::collections::HashMap;

/// What surrounds a query's core, bound in the core's scope.
#[derive(Default)]
struct Surroundings<'c> {
    order_by: Vec<Key<'c>>,
    limit: Option<Expr<'c>>,
    offset: Option<Expr<'c>>,
    locking: Vec<Vec<Rel>>,
}

impl<'c> Resolver<'c> {
    /// Binds a query in the current scope.
    pub(super) fn query(&mut self, query: &ir::Query) -> Query<'c> {
        self.query_of(query, None)
    }

    /// Binds a query; `cte` is the CTE whose body it is, so that a recursive branch sees what the
    /// first one yields.
    fn query_of(&mut self, query: &ir::Query, cte: Option<CteId>) -> Query<'c> {
        let place = self.place;
        let keep_unknown = std::mem::replace(&mut self.keep_unknown, false);
        self.nesting += 1;
        self.place.outermost = self.nesting == 1;
        self.place.clause = Clause::Elsewhere;
        let with = self.with(query.with.as_ref());
        let bound = match &query.body {
            ir::QueryBody::Select(select) => self.select(select, query, with, keep_unknown),
            ir::QueryBody::Values(rows) => self.values(rows, query, with, keep_unknown),
            ir::QueryBody::Set { op, all, left, right } => {
                let left = self.branch(left);
                if let Some(cte) = cte.and_then(|id| self.ctes.get_mut(id.0)) {
                    // INVARIANT (recursion): the self-reference has the first branch's columns.
                    cte.fill(&left);
                }
                let right = self.branch(right);
                self.set_operation(*op, *all, left, right, query, with, keep_unknown)
            }
        };
        self.unwith(query.with.as_ref());
        self.nesting -= 1;
        self.place = place;
        bound
    }

    fn branch(&mut self, query: &ir::Query) -> Query<'c> {
        self.keep_unknown = true;
        self.query(query)
    }

    // ---- WITH ----

    /// Binds the CTEs and brings their names into sight until `unwith`.
    pub(super) fn with(&mut self, with: Option<&ir::With>) -> With {
        let Some(with) = with else { return Vec::new() };
        let mut names = HashMap::new();
        if with.recursive {
            names.extend(with.ctes.iter().map(|cte| (cte.name.clone(), Visible::Later)));
        }
        self.with.push(names);
        with.ctes.iter().map(|cte| self.cte(cte, with.recursive)).collect()
    }

    pub(super) fn unwith(&mut self, with: Option<&ir::With>) {
        if with.is_some() {
            self.with.pop();
        }
    }

    fn see(&mut self, name: &Name, visible: Visible) {
        if let Some(frame) = self.with.last_mut() {
            frame.insert(name.clone(), visible);
        }
    }

    fn cte(&mut self, cte: &ir::Cte, recursive: bool) -> CteId {
        let id = CteId(self.ctes.len());
        self.ctes.push(Cte {
            body: CteBody::Pending,
            columns: Vec::new(),
            renames: cte.columns.clone(),
            open: true,
            width: 0,
            recursive: false,
        });
        if recursive {
            self.see(&cte.name, Visible::Cte(id));
        }
        let nesting = self.nesting;
        self.nesting += 1;
        let (body, outputs, open) = match &cte.body {
            ir::CteBody::Query(query) => {
                let query = self.query_of(query, Some(id));
                let (outputs, open) = (query.outputs.clone(), query.open);
                (CteBody::Query(Box::new(query)), outputs, open)
            }
            ir::CteBody::Insert(insert) => {
                let insert = self.insert(insert);
                let outputs = insert.outputs.clone();
                (CteBody::Insert(Box::new(insert)), outputs, false)
            }
            ir::CteBody::Update(update) => {
                let update = self.update(update);
                let outputs = update.outputs.clone();
                (CteBody::Update(Box::new(update)), outputs, false)
            }
            ir::CteBody::Delete(delete) => {
                let delete = self.delete(delete);
                let outputs = delete.outputs.clone();
                (CteBody::Delete(Box::new(delete)), outputs, false)
            }
            ir::CteBody::Merge(merge) => {
                let merge = self.merge_into(merge);
                let outputs = merge.outputs.clone();
                (CteBody::Merge(Box::new(merge)), outputs, false)
            }
        };
        self.nesting = nesting;
        if let Some(cycle) = &cte.cycle {
            self.expr(&cycle.value);
            self.expr(&cycle.default);
        }
        let mut columns = outputs;
        let width = columns.len();
        for (column, name) in columns.iter_mut().zip(&cte.columns) {
            column.name = name.clone();
        }
        let mut added: Vec<Name> = Vec::new();
        added.extend(cte.search.as_ref().map(|(_, sequence)| sequence.clone()));
        if let Some(cycle) = &cte.cycle {
            added.extend([cycle.mark.clone(), cycle.path.clone()]);
        }
        columns.extend(added.into_iter().map(|name| SourceColumn { name, ty: ColumnType::UNKNOWN }));
        if let Some(made) = self.ctes.get_mut(id.0) {
            made.body = body;
            made.columns = columns;
            made.width = width;
            made.open = open;
        }
        self.see(&cte.name, Visible::Cte(id));
        id
    }

    // ---- SELECT ----

    fn select(
        &mut self,
        select: &ir::Select,
        query: &ir::Query,
        with: With,
        keep_unknown: bool,
    ) -> Query<'c> {
        if let Some(into) = &select.into {
            let at = self.at(into.path.at);
            self.uses.kinds.push((Kind::Ddl, at));
        }
        let level = self.next_level();
        self.scopes.push(Scope::new(level));
        let items = self.bind_from(&select.from);
        let (targets, outputs, open) =
            self.in_clause(Clause::Target, |resolver| resolver.targets(&select.targets, keep_unknown));
        let filter = self.maybe(select.filter.as_ref());
        let having = self.maybe(select.having.as_ref());
        let group_by = self.group_by(&select.group_by, &outputs);
        let distinct = match &select.distinct {
            ir::Distinct::No => Distinct::No,
            ir::Distinct::Yes => Distinct::Yes,
            ir::Distinct::On(keys) => {
                Distinct::On(keys.iter().map(|key| self.sort_key(key, &outputs)).collect())
            }
        };
        for window in &select.windows {
            let window = self.window(window);
            if let Some(scope) = self.scopes.last_mut() {
                scope.windows.push(window);
            }
        }
        let around = self.surroundings(query, &outputs);
        let mut scope = self.scopes.pop().unwrap_or_else(|| Scope::new(level));
        let nature = scope.nature;
        let windows = std::mem::take(&mut scope.windows);
        let select = Select {
            level,
            from: taken(scope, items),
            filter,
            targets,
            group_by,
            having,
            distinct,
            windows,
            nature,
        };
        assemble(with, Body::Select(Box::new(select)), around, query, outputs, open)
    }

    /// Binds with the clause noted, for calls whose place matters.
    pub(super) fn in_clause<T>(&mut self, clause: Clause, bind: impl FnOnce(&mut Self) -> T) -> T {
        let outside = std::mem::replace(&mut self.place.clause, clause);
        let bound = bind(self);
        self.place.clause = outside;
        bound
    }

    /// The outputs of a target list or RETURNING; whether their number is unknown.
    pub(super) fn targets(
        &mut self,
        targets: &[ir::Target],
        keep_unknown: bool,
    ) -> (Vec<Expr<'c>>, Vec<SourceColumn>, bool) {
        let mut exprs = Vec::with_capacity(targets.len());
        let mut outputs = Vec::with_capacity(targets.len());
        let mut open = false;
        for target in targets {
            if let ir::Expr::Column(column) = &target.expr
                && column.star
            {
                for (name, expr) in self.star(column) {
                    open |= matches!(expr.node, ExprNode::Refused);
                    outputs.push(self.output(name, &expr, keep_unknown));
                    exprs.push(expr);
                }
                continue;
            }
            open |= matches!(target.expr, ir::Expr::FieldStar(..));
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
        (exprs, outputs, open)
    }

    fn output(&self, name: Name, expr: &Expr<'c>, keep_unknown: bool) -> SourceColumn {
        let ty = match expr.ty {
            TypeId::UNKNOWN if !keep_unknown && !matches!(expr.node, ExprNode::Param(_)) => TypeId::TEXT,
            // An untyped parameter takes its type from its first use, which may be elsewhere.
            TypeId::UNKNOWN if !keep_unknown => TypeId::NONE,
            ty => ty,
        };
        SourceColumn { name, ty: ColumnType { ty, deterministic: self.deterministic(expr) } }
    }

    /// Whether equal values of an expression have equal bytes, as far as collations go.
    fn deterministic(&self, expr: &Expr<'c>) -> bool {
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

    fn surroundings(&mut self, query: &ir::Query, outputs: &[SourceColumn]) -> Surroundings<'c> {
        let order_by = self.in_clause(Clause::OrderBy, |resolver| {
            query
                .order_by
                .iter()
                .map(|key| {
                    resolver.sort_operator(key, query.at);
                    resolver.sort_key(&key.expr, outputs)
                })
                .collect()
        });
        let limit = self.maybe(query.limit.as_ref());
        let offset = self.maybe(query.offset.as_ref());
        let locking = query.locking.iter().map(|locking| self.locking(locking)).collect();
        Surroundings { order_by, limit, offset, locking }
    }

    /// ORDER BY and DISTINCT ON: an output's name or place, else an expression.
    fn sort_key(&mut self, key: &ir::Expr, outputs: &[SourceColumn]) -> Key<'c> {
        if let Some(name) = plain_name(key)
            && let Some(at) = outputs.iter().position(|output| output.name == *name)
        {
            return Key::Output(at);
        }
        match position(key, outputs.len()) {
            Some(at) => Key::Output(at),
            None => Key::Expr(self.expr(key)),
        }
    }

    /// GROUP BY: an input column's name first, then as ORDER BY.
    fn group_key(&mut self, key: &ir::Expr, outputs: &[SourceColumn]) -> Key<'c> {
        if let Some(name) = plain_name(key) {
            let input = self.scopes.last().is_some_and(|scope| !matches!(scope.column(name), Found::Nothing));
            if input {
                return Key::Expr(self.expr(key));
            }
        }
        self.sort_key(key, outputs)
    }

    fn group_by(&mut self, items: &[ir::Grouping], outputs: &[SourceColumn]) -> Vec<Grouping<'c>> {
        let mut groupings = Vec::new();
        for item in items {
            match item {
                ir::Grouping::Expr(ir::Expr::Row(fields, _)) => {
                    for field in fields {
                        groupings.push(Grouping::Key(self.group_key(field, outputs)));
                    }
                }
                ir::Grouping::Expr(expr) => {
                    groupings.push(Grouping::Key(self.group_key(expr, outputs)));
                }
                ir::Grouping::Empty => groupings.push(Grouping::Sets(Vec::new())),
                ir::Grouping::Sets(inner) => {
                    let mut keys = Vec::new();
                    self.grouping_sets(inner, outputs, &mut keys);
                    groupings.push(Grouping::Sets(keys));
                }
            }
        }
        groupings
    }

    fn grouping_sets(&mut self, items: &[ir::Grouping], outputs: &[SourceColumn], keys: &mut Vec<Key<'c>>) {
        for item in items {
            match item {
                ir::Grouping::Expr(ir::Expr::Row(fields, _)) => {
                    for field in fields {
                        keys.push(self.group_key(field, outputs));
                    }
                }
                ir::Grouping::Expr(expr) => keys.push(self.group_key(expr, outputs)),
                ir::Grouping::Empty => {}
                ir::Grouping::Sets(inner) => self.grouping_sets(inner, outputs, keys),
            }
        }
    }

    /// FOR UPDATE and kin: the sources that it names.
    fn locking(&mut self, locking: &ir::Locking) -> Vec<Rel> {
        let at = self.at(locking.at);
        self.uses.kinds.push((Kind::Update, at));
        let mut rels = Vec::new();
        if locking.of.is_empty() {
            let count = self.scopes.last().map_or(0, |scope| scope.sources.len());
            rels.extend((0..count).filter_map(|rel| u32::try_from(rel).ok()).map(Rel));
        }
        for named in &locking.of {
            let name = named.path.parts.last().cloned().unwrap_or_default();
            let found = self.scopes.last().and_then(|scope| match scope.item(None, &name) {
                Found::One(item) => match item.what {
                    super::scope::What::Source(rel) => Some(rel),
                    super::scope::What::Join(_) | super::scope::What::Unknown => None,
                },
                Found::Nothing | Found::Several | Found::Forbidden => None,
            });
            match found {
                Some(rel) => rels.push(rel),
                None => {
                    let place = self.at(named.path.at);
                    let message =
                        format!("relation \"{name}\" in FOR UPDATE clause not found in FROM clause");
                    self.deny(
                        Denial::new(Rule::Relations, Code::RelationUnknown, place, message)
                            .sqlstate(SqlState::UNDEFINED_TABLE),
                    );
                }
            }
        }
        self.note_locks(&rels, at);
        rels
    }

    fn note_locks(&mut self, rels: &[Rel], at: ir::At) {
        let Some(scope) = self.scopes.last() else { return };
        let mut locked = Vec::new();
        for source in rels.iter().filter_map(|rel| scope.source(*rel)) {
            locked_relations(source, &mut locked);
        }
        for relation in locked {
            self.note_relation(relation, Access::Lock, at);
        }
    }

    // ---- VALUES and set operations ----

    fn values(
        &mut self,
        rows: &[Vec<ir::Expr>],
        query: &ir::Query,
        with: With,
        keep_unknown: bool,
    ) -> Query<'c> {
        let level = self.next_level();
        self.scopes.push(Scope::new(level));
        let rows: Vec<Vec<Expr<'c>>> = rows.iter().map(|row| self.exprs(row)).collect();
        let width = rows.first().map_or(0, Vec::len);
        let outputs: Vec<SourceColumn> = (0..width)
            .map(|at| {
                let cells: Vec<&Expr<'c>> = rows.iter().filter_map(|row| row.get(at)).collect();
                let ty = unify(cells.iter().map(|cell| cell.ty));
                let open = cells.iter().any(|cell| matches!(cell.node, ExprNode::Param(_)));
                let ty = match ty {
                    TypeId::UNKNOWN if keep_unknown => ty,
                    TypeId::UNKNOWN if open => TypeId::NONE,
                    TypeId::UNKNOWN => TypeId::TEXT,
                    _ => ty,
                };
                let deterministic = cells.iter().all(|cell| self.deterministic(cell));
                SourceColumn {
                    name: format!("column{}", at + 1).into(),
                    ty: ColumnType { ty, deterministic },
                }
            })
            .collect();
        let around = self.surroundings(query, &outputs);
        self.scopes.pop();
        assemble(with, Body::Values(rows), around, query, outputs, false)
    }

    #[expect(clippy::too_many_arguments, reason = "one call, and a struct of them would say less")]
    fn set_operation(
        &mut self,
        op: ir::SetOp,
        all: bool,
        left: Query<'c>,
        right: Query<'c>,
        query: &ir::Query,
        with: With,
        keep_unknown: bool,
    ) -> Query<'c> {
        let open = left.open || right.open || left.outputs.len() != right.outputs.len();
        let outputs: Vec<SourceColumn> = left
            .outputs
            .iter()
            .zip(&right.outputs)
            .map(|(a, b)| {
                let ty = unify([a.ty.ty, b.ty.ty].into_iter());
                let ty = if ty == TypeId::UNKNOWN && !keep_unknown { TypeId::TEXT } else { ty };
                let deterministic = a.ty.deterministic && b.ty.deterministic;
                SourceColumn { name: a.name.clone(), ty: ColumnType { ty, deterministic } }
            })
            .collect();
        let level = self.next_level();
        self.scopes.push(Scope::new(level));
        let around = self.surroundings(query, &outputs);
        self.scopes.pop();
        let body = Body::Set { op, all, left: Box::new(left), right: Box::new(right) };
        assemble(with, body, around, query, outputs, open)
    }
}

impl<'c> Cte<'c> {
    /// Takes over the columns that its first branch yields.
    fn fill(&mut self, first: &Query<'c>) {
        self.columns = first.outputs.clone();
        for column in &mut self.columns {
            // The recursive branch may give a column another type: nothing is known of it yet,
            // but for what the proof by induction looks at (see `Cte::columns` after binding).
            if column.ty.ty == TypeId::UNKNOWN {
                column.ty.ty = TypeId::TEXT;
            }
        }
        let renames = ir::Alias { name: Name::default(), columns: self.renames.clone() };
        rename(&mut self.columns, Some(&renames));
        self.open = first.open;
    }
}

fn assemble<'c>(
    with: With,
    body: Body<'c>,
    around: Surroundings<'c>,
    query: &ir::Query,
    outputs: Vec<SourceColumn>,
    open: bool,
) -> Query<'c> {
    Query {
        with,
        body,
        order_by: around.order_by,
        limit: around.limit,
        with_ties: query.with_ties,
        offset: around.offset,
        locking: around.locking,
        outputs,
        open,
    }
}

/// What FOR UPDATE over a source locks, inside derived tables and views too.
fn locked_relations<'c>(source: &Source<'c>, locked: &mut Vec<&'c crate::catalog::Relation>) {
    match &source.kind {
        SourceKind::Relation { relation, .. } => locked.push(relation),
        SourceKind::View { relation, .. } => {
            debug_assert_eq!(relation.kind, RelationKind::View, "only views are expanded");
            locked.push(relation);
        }
        SourceKind::Derived(query) => locked_in_query(query, locked),
        SourceKind::Cte(_) | SourceKind::Functions(_) | SourceKind::Excluded(_) | SourceKind::Missing => {}
    }
}

fn locked_in_query<'c>(query: &Query<'c>, locked: &mut Vec<&'c crate::catalog::Relation>) {
    match &query.body {
        Body::Select(select) => {
            select.from.sources.iter().for_each(|source| locked_relations(source, locked));
        }
        Body::Values(_) => {}
        Body::Set { left, right, .. } => {
            locked_in_query(left, locked);
            locked_in_query(right, locked);
        }
    }
}

/// The common type of alternatives: the known one, where untyped literals stand beside it.
fn unify(types: impl Iterator<Item = TypeId>) -> TypeId {
    let mut common = TypeId::UNKNOWN;
    for ty in types {
        if common == TypeId::UNKNOWN {
            common = ty;
        } else if ty != TypeId::UNKNOWN && ty != common {
            return TypeId::NONE;
        }
    }
    common
}

fn plain_name(expr: &ir::Expr) -> Option<&Name> {
    if let ir::Expr::Column(column) = expr
        && let ([name], false) = (column.parts.as_slice(), column.star)
    {
        Some(name)
    } else {
        None
    }
}

/// `ORDER BY 2`: the place from 0. An integer constant in that clause is a place, not a value.
fn position(expr: &ir::Expr, width: usize) -> Option<usize> {
    if let ir::Expr::Const(ir::Const { value: ConstValue::Integer(at), .. }) = expr {
        usize::try_from(*at).ok()?.checked_sub(1).filter(|at| *at < width)
    } else {
        None
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
