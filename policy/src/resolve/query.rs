//! Queries: WITH, SELECT, VALUES, set operations.

use super::Resolver;
use super::bound::*;
use super::from::taken;
use super::output::Targets;
use super::scope::{Found, Scope};
use super::uses::Clause;
use crate::Kind;
use crate::catalog::TypeId;
use crate::ir::{self, Name};

/// What surrounds a query's core, bound in the core's scope.
#[derive(Default)]
struct Surroundings<'c> {
    order_by: Vec<Key<'c>>,
    limit: Option<Expr<'c>>,
    offset: Option<Expr<'c>>,
    locks: bool,
}

/// What ORDER BY and its kin can name.
#[derive(Clone, Copy)]
pub(super) struct Named<'o> {
    outputs: &'o [SourceColumn],
    /// The first of them, as many as have a certain place.
    places: usize,
}

impl<'o> Named<'o> {
    fn all(outputs: &'o [SourceColumn]) -> Named<'o> {
        Named { outputs, places: outputs.len() }
    }
}

impl<'c> Resolver<'c> {
    /// Binds a query in the current scope.
    pub(super) fn query(&mut self, query: &ir::Query) -> Query<'c> {
        self.query_of(query, None)
    }

    /// Binds a query; `cte` is the CTE whose body it is, so that a recursive branch sees what the
    /// first one yields.
    pub(super) fn query_of(&mut self, query: &ir::Query, cte: Option<CteId>) -> Query<'c> {
        let place = self.place;
        let keep_unknown = std::mem::replace(&mut self.keep_unknown, false);
        self.nesting += 1;
        self.place.outermost = self.nesting == 1;
        self.place.clause = Clause::Elsewhere;
        let with = self.with(query.with.as_ref());
        let bound = match &query.body {
            ir::QueryBody::Select(select) => self.select(select, query, with, keep_unknown),
            ir::QueryBody::Values(rows) => self.values(rows, query, with),
            ir::QueryBody::Set { op, all, left, right } => {
                let left = self.branch(left);
                if let Some(cte) = cte.and_then(|id| self.ctes.get_mut(id.0)) {
                    // INVARIANT (recursion): the self-reference has the first branch's columns.
                    cte.fill(&left);
                }
                let right = self.branch(right);
                self.set_operation(*op, *all, left, right, query, with)
            }
        };
        self.unwith(query.with.as_ref());
        self.nesting -= 1;
        self.place = place;
        bound
    }

    pub(super) fn branch(&mut self, query: &ir::Query) -> Query<'c> {
        self.keep_unknown = true;
        self.query(query)
    }

    // ---- WITH ----

    // ---- SELECT ----

    pub(super) fn select(
        &mut self,
        select: &ir::Select,
        query: &ir::Query,
        with: With,
        keep_unknown: bool,
    ) -> Query<'c> {
        if let Some(into) = &select.into {
            let at = self.at(into.path.at);
            self.uses.kinds.push((Kind::Ddl, at));
            // As CREATE TABLE AS: where its rows go is nobody's here.
            self.unsupported(at, "SELECT INTO");
        }
        let level = self.next_level();
        self.scopes.push(Scope::new(level));
        let items = self.bind_from(&select.from);
        let Targets { exprs: targets, outputs, open, places } =
            self.in_clause(Clause::Target, |resolver| resolver.targets(&select.targets, keep_unknown));
        let named = Named { outputs: &outputs, places };
        let filter = self.maybe(select.filter.as_ref());
        let having = self.maybe(select.having.as_ref());
        let group_by = self.group_by(&select.group_by, named);
        let distinct = match &select.distinct {
            ir::Distinct::No => Distinct::No,
            ir::Distinct::Yes => Distinct::Yes,
            ir::Distinct::On(keys) => {
                Distinct::On(keys.iter().map(|key| self.sort_key(key, named)).collect())
            }
        };
        for window in &select.windows {
            let window = self.window(window);
            if let Some(scope) = self.scopes.last_mut() {
                scope.windows.push(window);
            }
        }
        let around = self.surroundings(query, named);
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

    fn surroundings(&mut self, query: &ir::Query, outputs: Named<'_>) -> Surroundings<'c> {
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
        query.locking.iter().for_each(|locking| self.locking(locking));
        Surroundings { order_by, limit, offset, locks: !query.locking.is_empty() }
    }

    /// ORDER BY and DISTINCT ON: an output's name or place, else an expression.
    pub(super) fn sort_key(&mut self, key: &ir::Expr, outputs: Named<'_>) -> Key<'c> {
        if let Some(name) = plain_name(key)
            && let Some(at) = outputs.outputs.iter().position(|output| output.name == *name)
        {
            return Key::Output(at);
        }
        match self.position(key, outputs.places) {
            Some(at) => Key::Output(at),
            None => Key::Expr(self.expr(key)),
        }
    }

    /// `ORDER BY 2`: the place from 0. An integer constant in that clause is a place, not a value.
    fn position(&self, expr: &ir::Expr, width: usize) -> Option<usize> {
        let ir::Expr::Const(constant) = expr else { return None };
        self.world.constants.place(constant)?.checked_sub(1).filter(|at| *at < width)
    }

    /// GROUP BY: an input column's name first, then as ORDER BY.
    pub(super) fn group_key(&mut self, key: &ir::Expr, outputs: Named<'_>) -> Key<'c> {
        if let Some(name) = plain_name(key) {
            let input = self.scopes.last().is_some_and(|scope| !matches!(scope.column(name), Found::Nothing));
            if input {
                return Key::Expr(self.expr(key));
            }
        }
        self.sort_key(key, outputs)
    }

    pub(super) fn group_by(&mut self, items: &[ir::Grouping], outputs: Named<'_>) -> Vec<Grouping<'c>> {
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

    pub(super) fn grouping_sets(
        &mut self,
        items: &[ir::Grouping],
        outputs: Named<'_>,
        keys: &mut Vec<Key<'c>>,
    ) {
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

    // ---- VALUES and set operations ----

    pub(super) fn values(&mut self, rows: &[Vec<ir::Expr>], query: &ir::Query, with: With) -> Query<'c> {
        let level = self.next_level();
        self.scopes.push(Scope::new(level));
        let rows: Vec<Vec<Expr<'c>>> = rows.iter().map(|row| self.list(row)).collect();
        let width = rows.first().map_or(0, Vec::len);
        let outputs: Vec<SourceColumn> = (0..width)
            .map(|at| {
                let cells: Vec<&Expr<'c>> = rows.iter().filter_map(|row| row.get(at)).collect();
                let ty = self.unify(cells.iter().map(|cell| cell.ty));
                let open = cells.iter().any(|cell| matches!(cell.node, ExprNode::Param(_)));
                let ty = match ty {
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
        let around = self.surroundings(query, Named::all(&outputs));
        self.scopes.pop();
        assemble(with, Body::Values(rows), around, query, outputs, false)
    }

    pub(super) fn set_operation(
        &mut self,
        op: ir::SetOp,
        all: bool,
        left: Query<'c>,
        right: Query<'c>,
        query: &ir::Query,
        with: With,
    ) -> Query<'c> {
        let open = left.open || right.open || left.outputs.len() != right.outputs.len();
        let outputs: Vec<SourceColumn> = left
            .outputs
            .iter()
            .zip(&right.outputs)
            .map(|(a, b)| {
                // Of untyped literals alone it is text at once, whatever is around.
                let ty = match self.unify([a.ty.ty, b.ty.ty].into_iter()) {
                    TypeId::UNKNOWN => TypeId::TEXT,
                    ty => ty,
                };
                let deterministic = a.ty.deterministic && b.ty.deterministic;
                SourceColumn { name: a.name.clone(), ty: ColumnType { ty, deterministic } }
            })
            .collect();
        let level = self.next_level();
        self.scopes.push(Scope::new(level));
        let around = self.surroundings(query, Named::all(&outputs));
        self.scopes.pop();
        let body = Body::Set { op, all, left: Box::new(left), right: Box::new(right) };
        assemble(with, body, around, query, outputs, open)
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
        locks: around.locks,
        outputs,
        open,
    }
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
