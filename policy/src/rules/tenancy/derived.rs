//! Derived tables, CTEs, views and sub-selects: what a condition outside may restrict inside
//! (policy 3.3).

use super::level::ReadAgain;
use super::restriction::Implied;
use super::transparent::{through, transparent};
use super::{Demanded, Demands, Proof, Prover};
use crate::ir::{self, IsTest, SublinkKind};
use crate::mutants::mutant;
use crate::resolve::{
    Body, CteBody, CteId, Expr, ExprNode, Grouping, LevelId, Query, Select, SourceKind, Sublink, With,
    children, from_exprs, level_exprs, surroundings,
};

impl<'c> Prover<'_, 'c> {
    /// Judges a query whose outputs count only where `demands` says that they are T.
    pub(super) fn check_query(&self, query: &Query<'c>, demands: &Demands) {
        // Before any fact of its own levels can be seen by this question.
        let judge = || {
            self.outputs_of(query);
            self.check_core(query, demands);
        };
        if !query.locks || mutant!(OuterProvesLocked) {
            judge();
        } else {
            self.without_outside(judge);
        }
    }

    /// A constant LIMIT 0 without a locking clause: PostgreSQL evaluates nothing below it but OFFSET.
    fn yields_nothing(&self, query: &Query<'c>) -> bool {
        let Some(Expr { node: ExprNode::Const(limit), .. }) = &query.limit else { return false };
        self.cx.constants().is_zero(limit) && !query.locks && !query.with_ties
    }

    /// WHERE FALSE without anything that makes a row of no rows.
    fn has_no_row(&self, select: &Select<'c>) -> bool {
        let made = select.nature.aggregates
            || select.having.is_some()
            || select.group_by.iter().any(|item| matches!(item, Grouping::Sets(_)));
        let never = |filter: &Expr<'c>| matches!(self.implied(filter, true), Implied::Anything);
        (!made || mutant!(EmptyAggregateIgnored)) && select.filter.as_ref().is_some_and(never)
    }

    /// Judges with nothing known of outer levels: PostgreSQL may evaluate a sub-select for a row
    /// that the outer level's conditions drop later, and what it locks then stays locked.
    pub(super) fn without_outside(&self, check: impl FnOnce()) {
        let outside = std::mem::take(&mut *self.facts.borrow_mut());
        // What queries yield by themselves may have been found with its help.
        let before = self.outside.replace(self.forgotten.get() + 1);
        self.forgotten.set(self.outside.get());
        check();
        self.outside.set(before);
        self.facts.borrow_mut().extend(outside);
    }

    fn check_core(&self, query: &Query<'c>, demands: &Demands) {
        if self.yields_nothing(query) {
            self.check_dead(query);
            return query.offset.iter().for_each(|offset| self.check_expr(offset));
        }
        let through = through(query, demands);
        match &query.body {
            Body::Select(select) => {
                let level = self.select_level(select, &through, |output| {
                    transparent(select, self.plain_column(select.targets.get(output)?)?, &self.unique)
                });
                let outcome = self.solve(level);
                let again = if query.locks { ReadAgain::All } else { ReadAgain::None };
                self.check_sources(&select.from, select.level, &outcome, again);
                self.check_memberships(select.filter.as_ref());
                let empty = self.has_no_row(select);
                let sets = select.group_by.iter().any(|item| matches!(item, Grouping::Sets(_)));
                level_exprs(select, &mut |expr| {
                    let filter = select.filter.as_ref().is_some_and(|filter| std::ptr::eq(filter, expr));
                    if sets && !filter && !mutant!(GroupingSetsIgnored) {
                        // WHERE comes first, and below the grouping.
                        self.extend_with_nulls(select.level);
                    }
                    let target = || select.targets.iter().any(|target| std::ptr::eq(target, expr));
                    if mutant!(TargetListUnchecked) && target() {
                    } else if empty && !filter {
                        self.check_dead_expr(expr);
                    } else {
                        self.check_expr(expr);
                    }
                });
            }
            Body::Values(rows) => {
                rows.iter().flatten().for_each(|cell| self.check_expr(cell));
            }
            Body::Set { left, right, .. } => {
                for branch in [left, right] {
                    if mutant!(SecondBranchSkipped) && std::ptr::eq(branch, right) {
                        continue;
                    }
                    self.check_query(branch, &self.branch_demands(query, branch, &through));
                }
            }
        }
        surroundings(query, &mut |expr| self.check_expr(expr));
        self.check_with(&query.with);
    }

    /// Grouping sets leave a column out of some rows: above them it may be NULL.
    fn extend_with_nulls(&self, level: LevelId) {
        for ((col, _), proof) in self.facts.borrow_mut().iter_mut() {
            proof.or_null(col.level == level);
        }
    }

    /// A demand passes into a branch where the set operation kept the column's own type family.
    fn branch_demands(&self, query: &Query<'c>, branch: &Query<'c>, demands: &Demands) -> Demands {
        let family = |query: &Query<'c>, at: usize| {
            query.outputs.get(at).map(|column| self.family_of(column.ty.ty).clone())
        };
        demands
            .iter()
            .filter(|((demanded, class), _)| {
                let expected = self.classes.family(*class).cloned();
                match demanded {
                    Demanded::Output(at) => {
                        !query.open && family(query, *at) == expected && family(branch, *at) == expected
                    }
                    Demanded::Behind(_) => false,
                }
            })
            .map(|(key, proof)| (key.clone(), proof.clone()))
            .collect()
    }

    /// A query of which no row is used: its relations need no proof, data-modifying CTEs do.
    pub(super) fn check_dead(&self, query: &Query<'c>) {
        match &query.body {
            Body::Select(select) => {
                self.seen.borrow_mut().insert(select.level);
                for source in &select.from.sources {
                    if let SourceKind::View { query, .. } | SourceKind::Derived(query) = &source.kind {
                        self.check_dead(query);
                    }
                }
                from_exprs(&select.from, &mut |expr| self.check_dead_expr(expr));
                level_exprs(select, &mut |expr| self.check_dead_expr(expr));
            }
            Body::Values(rows) => rows.iter().flatten().for_each(|cell| self.check_dead_expr(cell)),
            Body::Set { left, right, .. } => {
                self.check_dead(left);
                self.check_dead(right);
            }
        }
        surroundings(query, &mut |expr| self.check_dead_expr(expr));
        self.check_with(&query.with);
    }

    fn check_dead_expr(&self, expr: &Expr<'c>) {
        if let ExprNode::Sublink(sublink) = &expr.node {
            self.check_dead(&sublink.query);
        }
        children(expr, &mut |child| self.check_dead_expr(child));
    }

    /// The CTEs of a WITH, last first, when all references to them have been seen.
    pub(super) fn check_with(&self, with: &With) {
        for id in with.iter().rev() {
            let demands = self.demands.borrow_mut().remove(id);
            if demands.is_none() && mutant!(UnreferencedCteSkipped) {
                continue;
            }
            let demands = demands.unwrap_or_default();
            let Some(cte) = self.cx.bound.cte(*id) else { continue };
            match &cte.body {
                CteBody::Query(query) if cte.recursive && !mutant!(RecursionRestrictedOutside) => {
                    self.check_query(query, &Demands::new());
                }
                CteBody::Query(query) => self.check_query(query, &demands),
                CteBody::Insert(insert) => self.check_insert(insert),
                CteBody::Update(update) => self.check_update(update),
                CteBody::Delete(delete) => self.check_delete(delete),
                CteBody::Merge(merge) => self.check_merge(merge),
                CteBody::Pending => {}
            }
        }
    }

    /// A reference to a CTE: what all references know in common restricts inside.
    pub(super) fn refer(&self, id: CteId, demands: Demands) {
        let mut all = self.demands.borrow_mut();
        let common = match all.remove(&id) {
            None => demands,
            Some(known) if mutant!(OneReferenceSpeaksForAll) => known,
            Some(known) => known
                .into_iter()
                .filter_map(|(key, proof)| {
                    let other = demands.get(&key)?;
                    Some((key, proof.and(other)))
                })
                .collect(),
        };
        all.insert(id, common);
    }

    /// Judges every sub-select in an expression.
    pub(super) fn check_expr(&self, expr: &Expr<'c>) {
        self.step();
        if let ExprNode::Sublink(sublink) = &expr.node {
            let query: *const Query<'c> = &sublink.query;
            if mutant!(MembershipInwardsAlways) {
                self.check_membership(sublink);
            }
            if !self.checked.borrow().contains(&query) {
                self.check_query(&sublink.query, &Demands::new());
            }
        }
        children(expr, &mut |child| self.check_expr(child));
    }

    /// `c IN (SELECT …)` that stands as a conjunct of WHERE, where c is T: only the sub-select's
    /// rows with T matter (policy 3.1).
    pub(super) fn check_memberships(&self, filter: Option<&Expr<'c>>) {
        let Some(filter) = filter else { return };
        if let ExprNode::Bool { op: ir::BoolOp::And, args } = &filter.node {
            args.iter().for_each(|arg| self.check_memberships(Some(arg)));
        } else if let ExprNode::Is { test: IsTest::True, positive: true, arg } = &filter.node {
            self.check_memberships(Some(arg));
        } else if let ExprNode::Sublink(sublink) = &filter.node {
            self.check_membership(sublink);
        }
    }

    fn check_membership(&self, sublink: &Sublink<'c>) {
        let (Some(test), SublinkKind::Any, true) = (&sublink.test, sublink.kind, sublink.equality) else {
            return;
        };
        let query = &sublink.query;
        let mut demands = Demands::new();
        for (at, field) in test.fields().iter().enumerate() {
            let Some(columns) = self.operand_column(field) else { continue };
            let ([col], Some(output)) = (columns.cols.as_slice(), query.outputs.get(at)) else {
                continue;
            };
            for class in self.classes.of_family(&columns.family) {
                let proof = self.facts.borrow().get(&(*col, class)).cloned();
                if let Some(proof) = proof.filter(|_| self.fits(output, class)) {
                    demands.insert((Demanded::Output(at), class), Proof { nullable: false, ..proof });
                }
            }
        }
        self.demand_keys(&mut demands, test.fields(), query);
        self.check_query(query, &demands);
        let key: *const Query<'c> = query;
        self.checked.borrow_mut().insert(key);
    }
}
