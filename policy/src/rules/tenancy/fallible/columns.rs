//! Whose columns an expression reads: others' rows stand behind them until a fence, or the level's own
//! conditions, have dropped those.

use std::cell::Cell;

use super::super::classes::Scope;
use super::super::ends::Row;
use super::super::joins::Condition;
use super::super::level::{Level, Outcome};
use super::super::{Facts, Prover};
use super::Walk;
use crate::keyed::HashSet;
use crate::resolve::{
    Body, Col, CteBody, CteId, Expr, ExprNode, LevelId, Query, Rel, Select, Source, SourceKind, children,
};

impl<'p, 'c> Walk<'_, 'p, 'c> {
    /// Whether an expression reads a column that may be another tenant's.
    pub(super) fn of_tenants(&self, expr: &Expr<'c>) -> bool {
        let row = expr.row();
        let mut found = row.is_some_and(|row| self.is_open(row));
        if let ExprNode::Sublink(sublink) = &expr.node {
            found |= self.reads_tenants(&sublink.query);
        }
        children(expr, &mut |child| found |= self.of_tenants(child));
        found
    }

    /// Whether any occurrence may have rows of others, but for those that a fence encloses.
    pub(super) fn is_among_tenants(&self) -> bool {
        let derived = self.sources.values().filter_map(|source| match &source.kind {
            SourceKind::View { query, .. } | SourceKind::Derived(query) => {
                self.is_fence(query, query.offset.is_some()).then_some(query)
            }
            SourceKind::Relation { .. }
            | SourceKind::Cte(_)
            | SourceKind::Functions(_)
            | SourceKind::Excluded(_)
            | SourceKind::Missing => None,
        });
        let ctes = self.prover.cx.bound.ctes.iter().filter_map(|cte| match &cte.body {
            CteBody::Query(query) => self.is_fence(query, cte.materialized).then_some(query),
            CteBody::Insert(_)
            | CteBody::Update(_)
            | CteBody::Delete(_)
            | CteBody::Merge(_)
            | CteBody::Pending => None,
        });
        let level = |query: &Query<'c>| match &query.body {
            Body::Select(select) => Some(select.level),
            Body::Values(_) | Body::Set { .. } => None,
        };
        let fenced: HashSet<LevelId> =
            derived.map(|query| level(query)).chain(ctes.map(|query| level(query))).flatten().collect();
        self.sources.keys().any(|row| !fenced.contains(&row.0) && self.is_open(*row))
    }

    /// Whether an occurrence may have rows of others while a condition looks at it.
    pub(super) fn is_open(&self, row: Row) -> bool {
        let Some(source) = self.sources.get(&row) else { return true };
        match &source.kind {
            SourceKind::Relation { relation, .. } | SourceKind::Excluded(relation) => {
                self.prover.cx.is_scoped(relation)
            }
            SourceKind::View { query, .. } | SourceKind::Derived(query) => {
                !self.is_fence(query, query.offset.is_some()) && self.reads_tenants(query)
            }
            SourceKind::Cte(id) => self.is_open_cte(*id),
            SourceKind::Functions(functions) => functions.iter().any(|function| self.of_tenants(function)),
            SourceKind::Missing => true,
        }
    }

    fn is_open_cte(&self, id: CteId) -> bool {
        let Some(cte) = self.prover.cx.bound.cte(id) else { return true };
        match &cte.body {
            CteBody::Query(query) => {
                if let Some(known) = self.open.borrow().get(&id) {
                    return *known;
                }
                if cte.recursive && !self.entered.borrow_mut().insert(id) {
                    // What it reads beside itself says it.
                    return false;
                }
                let open = !self.is_fence(query, cte.materialized) && self.reads_tenants(query);
                self.entered.borrow_mut().remove(&id);
                if self.entered.borrow().is_empty() {
                    self.open.borrow_mut().insert(id, open);
                }
                open
            }
            CteBody::Insert(_) | CteBody::Update(_) | CteBody::Delete(_) | CteBody::Merge(_) => false,
            CteBody::Pending => true,
        }
    }

    /// Whether a query reads relations of tenants that no fence encloses, or hands out a column of the
    /// levels around it that does.
    fn reads_tenants(&self, query: &Query<'c>) -> bool {
        match &query.body {
            Body::Select(select) => {
                (0..).map(Rel).zip(&select.from.sources).any(|(rel, _)| self.is_open((select.level, rel)))
                    || select.targets.iter().any(|target| self.of_tenants(target))
            }
            Body::Values(rows) => rows.iter().flatten().any(|cell| self.of_tenants(cell)),
            Body::Set { left, right, .. } => self.reads_tenants(left) || self.reads_tenants(right),
        }
    }

    /// A query behind which nothing is evaluated early, and whose condition is the equality alone.
    fn is_fence(&self, query: &Query<'c>, barrier: bool) -> bool {
        let (true, Body::Select(select)) = (barrier, &query.body) else { return false };
        let ([source], Some(filter)) = (select.from.sources.as_slice(), &select.filter) else { return false };
        let alone = matches!(
            &filter.node,
            ExprNode::Op(op) if op.left.as_ref().is_some_and(|left| left.as_column().is_some())
        );
        source.relation().is_some() && alone && self.restricted_by_where(select)
    }

    /// Whether the conditions of a query's own levels restrict all that it reads.
    fn restricted(&self, query: &Query<'c>) -> bool {
        let place = std::ptr::from_ref(query);
        if let Some(known) = self.restricting.borrow().get(&place) {
            return *known;
        }
        let restricted = match &query.body {
            Body::Select(select) => self.restricted_by_where(select),
            Body::Values(_) => true,
            Body::Set { left, right, .. } => self.restricted(left) && self.restricted(right),
        };
        self.restricting.borrow_mut().insert(place, restricted);
        restricted
    }

    /// Whether WHERE and ON, without HAVING, restrict all that a level reads.
    pub(super) fn restricted_by_where(&self, select: &Select<'c>) -> bool {
        let prover = self.prover;
        let conditions = select.filter.iter().map(|filter| Condition {
            implied: prover.implied(filter, true),
            filters: Prover::all_rels(&select.from),
        });
        let conditions = conditions.collect();
        let level = Level { id: select.level, from: &select.from, conditions, given: Facts::new() };
        // Neither what levels around say counts, nor what was found of this one with their help.
        let outcome = Cell::new(Outcome::default());
        prover.without_outside(|| outcome.set(prover.solve(level)));
        let outcome = outcome.take();
        (0..).map(Rel).zip(&select.from.sources).all(|(rel, source)| match &source.kind {
            SourceKind::Relation { relation, .. } => match prover.classes.scope(prover.cx, relation) {
                Scope::Scoped { column, class } => {
                    let proof = outcome.facts.get(&(Col { level: select.level, rel, column }, class));
                    // Whatever else proves the rows: it restricts them here only if its values are checked.
                    proof.inspect(|proof| prover.rely(proof)).is_some()
                }
                Scope::NoOwn => false,
                Scope::Free => true,
            },
            SourceKind::View { query, .. } | SourceKind::Derived(query) => self.restricted(query),
            SourceKind::Cte(id) => prover.cx.bound.cte(*id).is_some_and(|cte| match &cte.body {
                CteBody::Query(query) => !cte.recursive && self.restricted(query),
                CteBody::Insert(_) | CteBody::Update(_) | CteBody::Delete(_) | CteBody::Merge(_) => true,
                CteBody::Pending => false,
            }),
            SourceKind::Functions(_) | SourceKind::Excluded(_) | SourceKind::Missing => true,
        })
    }

    /// The expressions that a column, or the row, of a derived source is, unless a fence stands between.
    pub(super) fn outputs_behind(&self, expr: &Expr<'c>) -> Vec<&'p Expr<'c>> {
        let column = expr.as_column().map(|col| col.column as usize);
        let whole = matches!(expr.node, ExprNode::WholeRow { .. });
        let Some(row) = expr.row().filter(|_| column.is_some() || whole) else { return Vec::new() };
        let mut found = Vec::new();
        if let Some(query) = self.sources.get(&row).and_then(|source| self.pulled_up(source)) {
            match column {
                Some(column) => outputs(query, column, &mut found),
                None => (0..query.outputs.len()).for_each(|column| outputs(query, column, &mut found)),
            }
        }
        found
    }

    /// The query of a source that a condition outside may be evaluated within.
    fn pulled_up(&self, source: &'p Source<'c>) -> Option<&'p Query<'c>> {
        let query = match &source.kind {
            SourceKind::View { query, .. } | SourceKind::Derived(query) => query,
            SourceKind::Cte(id) => match self.prover.cx.bound.cte(*id) {
                Some(cte) if !cte.materialized => match &cte.body {
                    CteBody::Query(query) => query,
                    CteBody::Insert(_)
                    | CteBody::Update(_)
                    | CteBody::Delete(_)
                    | CteBody::Merge(_)
                    | CteBody::Pending => return None,
                },
                Some(_) | None => return None,
            },
            SourceKind::Relation { .. }
            | SourceKind::Functions(_)
            | SourceKind::Excluded(_)
            | SourceKind::Missing => return None,
        };
        query.offset.is_none().then_some(query)
    }
}

/// The expressions that an output of a query is, one a branch.
fn outputs<'p, 'c>(query: &'p Query<'c>, at: usize, found: &mut Vec<&'p Expr<'c>>) {
    match &query.body {
        Body::Select(select) => found.extend(select.targets.get(at)),
        Body::Values(rows) => found.extend(rows.iter().filter_map(|row| row.get(at))),
        Body::Set { left, right, .. } => {
            outputs(left, at, found);
            outputs(right, at, found);
        }
    }
}
