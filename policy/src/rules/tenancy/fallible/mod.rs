//! `tenancy.errors: deny` (policy 3.9): expressions that can fail on another tenant's row.
//!
//! PostgreSQL may evaluate `email::int = 1` before the tenant equality, and which rows fail is one
//! bit an error. So outside the target list only what is known not to fail ([`fails`]) stands over a
//! scoped relation's columns, unless the relation is fenced: a MATERIALIZED CTE or a sub-select with
//! OFFSET 0 that holds the equality alone.
//!
//! A target list is spared where PostgreSQL evaluates it for the rows that its level's WHERE and ON
//! leave. What HAVING or an outer level restricts, it may evaluate for all; of a join that is pulled
//! up into an outer one, it may evaluate a column's expression where that column is read, below the
//! join; and an output that a condition outside looks at is part of that condition.

mod columns;
mod enter;
mod fails;
mod total;

use std::cell::RefCell;

use super::Prover;
use super::ends::Row;
use crate::ir::SublinkKind;
use crate::keyed::{HashMap, HashSet};
use crate::mutants::mutant;
use crate::resolve::{
    Body, CteBody, CteId, Delete, Distinct, DmlFilter, Expr, ExprNode, From, Insert, InsertSource, LevelId,
    Merge, Query, Root, Select, Source, SourceKind, Update, action_exprs, assignment_exprs, children,
    columns, from_exprs, level_exprs, surroundings,
};
use crate::{Denial, ErrorPosture, Rule};

impl<'p, 'c> Prover<'p, 'c> {
    /// Refuses what can fail on other tenants' rows, where the policy says so.
    pub(super) fn refuse_fallible(&self) {
        match self.cx.policy().errors() {
            ErrorPosture::Deny => {}
            ErrorPosture::Redact | ErrorPosture::Pass => return,
        }
        let mut walk = Walk {
            prover: self,
            sources: HashMap::default(),
            among_tenants: false,
            judged: HashSet::default(),
            open: RefCell::default(),
            entered: RefCell::default(),
            restricting: RefCell::default(),
        };
        walk.statement();
    }
}

/// One walk over a statement.
struct Walk<'w, 'p, 'c> {
    prover: &'w Prover<'p, 'c>,
    /// The occurrences of every level.
    sources: HashMap<Row, &'p Source<'c>>,
    /// Some occurrence may have rows of others.
    among_tenants: bool,
    /// Outputs that were judged as parts of a condition.
    judged: HashSet<*const Expr<'c>>,
    /// Whether CTEs have rows of others.
    open: RefCell<HashMap<CteId, bool>>,
    /// The recursive CTEs that are looked at.
    entered: RefCell<HashSet<CteId>>,
    /// Whether queries restrict what they read, by their place in memory.
    restricting: RefCell<HashMap<*const Query<'c>, bool>>,
}

/// For which rows a target list is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Targets {
    /// Those that are left in the end.
    Survivors,
    /// Those that its own level leaves.
    Apart,
    /// Its level may be pulled up into the one around it.
    Inner,
    /// Any: it is part of a condition.
    Judged,
}

impl<'p, 'c> Walk<'_, 'p, 'c> {
    fn statement(&mut self) {
        let bound = self.prover.cx.bound;
        let root = match &bound.root {
            Root::Query(query) => Some(Change::Query(query)),
            Root::Insert(insert) => Some(Change::Insert(insert)),
            Root::Update(update) => Some(Change::Update(update)),
            Root::Delete(delete) => Some(Change::Delete(delete)),
            Root::Merge(merge) => Some(Change::Merge(merge)),
            Root::Nothing => None,
        };
        let ctes: Vec<Change<'p, 'c>> = bound
            .ctes
            .iter()
            .filter_map(|cte| match &cte.body {
                CteBody::Query(query) => Some(Change::Query(query)),
                CteBody::Insert(insert) => Some(Change::Insert(insert)),
                CteBody::Update(update) => Some(Change::Update(update)),
                CteBody::Delete(delete) => Some(Change::Delete(delete)),
                CteBody::Merge(merge) => Some(Change::Merge(merge)),
                CteBody::Pending => None,
            })
            .collect();
        for part in ctes.iter().chain(&root) {
            self.enter(part);
        }
        self.among_tenants = self.is_among_tenants();
        for cte in &ctes {
            // Its rows are made before anybody outside looks at them, or it is pulled up.
            match cte {
                Change::Query(query) => self.query(query, Targets::Inner),
                Change::Insert(_) | Change::Update(_) | Change::Delete(_) | Change::Merge(_) => {
                    self.change(cte);
                }
            }
        }
        root.iter().for_each(|root| self.change(root));
    }

    fn change(&mut self, change: &Change<'p, 'c>) {
        match change {
            Change::Query(query) => self.query(query, Targets::Survivors),
            Change::Insert(insert) => {
                match &insert.source {
                    InsertSource::DefaultValues => {}
                    InsertSource::Values(rows) => rows.iter().flatten().for_each(|cell| self.target(cell)),
                    InsertSource::Query(query) => self.query(query, Targets::Survivors),
                }
                if let Some(conflict) = &insert.conflict {
                    conflict
                        .update
                        .iter()
                        .for_each(|set| assignment_exprs(set, &mut |expr| self.target(expr)));
                    conflict.filter.iter().for_each(|filter| self.condition(filter));
                }
                insert.returning.iter().for_each(|expr| self.target(expr));
            }
            Change::Update(update) => {
                self.from(&update.from);
                self.filter(&update.filter);
                assignment_exprs(&update.set, &mut |expr| self.target(expr));
                update.returning.iter().for_each(|expr| self.target(expr));
            }
            Change::Delete(delete) => {
                self.from(&delete.from);
                self.filter(&delete.filter);
                delete.returning.iter().for_each(|expr| self.target(expr));
            }
            Change::Merge(merge) => {
                self.from(&merge.from);
                self.condition(&merge.on);
                for action in &merge.actions {
                    action.condition.iter().for_each(|condition| self.condition(condition));
                    action_exprs(&action.then, &mut |expr| self.target(expr));
                }
                merge.returning.iter().for_each(|expr| self.target(expr));
            }
        }
    }

    fn filter(&mut self, filter: &'p DmlFilter<'c>) {
        match filter {
            DmlFilter::Condition(condition) => self.condition(condition),
            DmlFilter::Nothing | DmlFilter::CurrentOf(_) => {}
        }
    }

    fn query(&mut self, query: &'p Query<'c>, targets: Targets) {
        match &query.body {
            Body::Select(select) => {
                self.from(&select.from);
                let spared = self.spared(query, select, targets);
                let alone =
                    |expr: &Expr<'c>| targets == Targets::Survivors || !reads_around(expr, select.level);
                for expr in &select.targets {
                    if spared && alone(expr) { self.target(expr) } else { self.condition(expr) }
                }
                let is_target =
                    |expr: &Expr<'c>| select.targets.iter().any(|target| std::ptr::eq(target, expr));
                level_exprs(select, &mut |expr| {
                    if !is_target(expr) {
                        self.condition(expr);
                    }
                });
            }
            Body::Values(rows) => rows.iter().flatten().for_each(|cell| match targets {
                Targets::Survivors => self.target(cell),
                Targets::Apart | Targets::Inner | Targets::Judged => self.condition(cell),
            }),
            Body::Set { left, right, .. } => {
                // A branch that is a join is not pulled up.
                let targets = if targets == Targets::Inner { Targets::Apart } else { targets };
                self.query(left, targets);
                self.query(right, targets);
            }
        }
        surroundings(query, &mut |expr| self.condition(expr));
    }

    /// Whether the rows that a target list is evaluated for are T's.
    fn spared(&self, query: &Query<'c>, select: &Select<'c>, targets: Targets) -> bool {
        let nature = select.nature;
        let grouped = !select.group_by.is_empty() || nature.aggregates || nature.windows;
        let cut = query.limit.is_some() || query.offset.is_some() || !matches!(select.distinct, Distinct::No);
        let scan = matches!(select.from.sources.as_slice(), [source] if source.relation().is_some());
        match targets {
            Targets::Apart | Targets::Inner if mutant!(InnerTargetsSpared) => true,
            Targets::Survivors => select.having.is_none() || self.restricted_by_where(select),
            Targets::Apart => self.restricted_by_where(select),
            Targets::Inner => (scan || grouped || cut) && self.restricted_by_where(select),
            Targets::Judged => false,
        }
    }

    fn from(&mut self, from: &'p From<'c>) {
        for source in &from.sources {
            if let SourceKind::View { query, .. } | SourceKind::Derived(query) = &source.kind {
                self.query(query, Targets::Inner);
            }
        }
        from_exprs(from, &mut |expr| self.condition(expr));
    }

    /// An expression of a target list: its sub-selects have conditions of their own.
    fn target(&mut self, expr: &'p Expr<'c>) {
        self.sub_select(expr, Targets::Survivors);
        children(expr, &mut |child| self.target(child));
    }

    /// An expression that stands, or may be evaluated, beside the tenant equality.
    fn condition(&mut self, expr: &'p Expr<'c>) {
        if let Some((code, what)) = self.fails(expr) {
            let message = format!("{what} may fail on another tenant's row");
            let hint = "put it into the target list, or read the relation by a sub-select with the tenant equality alone and OFFSET 0";
            self.prover.deny(Denial::new(Rule::Tenancy, code, expr.at, message).hint(hint));
        }
        for output in self.outputs_behind(expr) {
            if self.judged.insert(output) {
                self.condition(output);
            }
        }
        self.sub_select(expr, Targets::Apart);
        children(expr, &mut |child| self.condition(child));
    }

    fn sub_select(&mut self, expr: &'p Expr<'c>, targets: Targets) {
        let ExprNode::Sublink(sublink) = &expr.node else { return };
        let targets = match sublink.kind {
            // Its output is compared, as a join's column would be.
            SublinkKind::Any | SublinkKind::All => Targets::Judged,
            // Its output is not looked at.
            SublinkKind::Exists => Targets::Survivors,
            SublinkKind::Scalar | SublinkKind::Row | SublinkKind::Array => targets,
        };
        self.query(&sublink.query, targets);
    }
}

/// Whether an expression reads columns of other levels than its own.
fn reads_around(expr: &Expr<'_>, own: LevelId) -> bool {
    let mut found = false;
    columns(expr, &mut |col| found |= col.level != own);
    found
}

/// A part of a statement that has rows.
enum Change<'p, 'c> {
    Query(&'p Query<'c>),
    Insert(&'p Insert<'c>),
    Update(&'p Update<'c>),
    Delete(&'p Delete<'c>),
    Merge(&'p Merge<'c>),
}
