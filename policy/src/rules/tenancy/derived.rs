//! Derived tables, CTEs, views and sub-selects: what they yield by themselves, and what a
//! condition outside may restrict inside (policy 3.3).

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::level::{grouping_columns, key_column};
use super::restriction::Implied;
use super::write::TARGET;
use super::{Demands, Outputs, Proof, Prover, learn};
use crate::catalog::{Relation, RelationKind, TypeKind};
use crate::ir::{self, IsTest, SetOp, SublinkKind};
use crate::mutants::mutant;
use crate::resolve::*;

/// How often what a recursive CTE yields is guessed anew: each guess is smaller than the last.
const MAX_ROUNDS: usize = 64;

impl<'c> Prover<'_, 'c> {
    // ---- upwards: what a query yields by itself ----

    /// Which output columns of a query are T in every row.
    pub(super) fn outputs_of(&self, query: &Query<'c>) -> Outputs {
        let key: *const Query<'c> = query;
        if let Some(known) = self.outputs.borrow().get(&key) {
            return known.clone();
        }
        let outputs = if query.open { Outputs::new() } else { self.body_outputs(query) };
        self.outputs.borrow_mut().insert(key, outputs.clone());
        outputs
    }

    fn body_outputs(&self, query: &Query<'c>) -> Outputs {
        match &query.body {
            Body::Select(select) => {
                let level = self.select_level(select, &Demands::new(), |_| None);
                let outcome = self.solve(level);
                let grouped = select.group_by.iter().any(|item| matches!(item, Grouping::Sets(_)));
                select
                    .targets
                    .iter()
                    .zip(&query.outputs)
                    .map(|(target, output)| {
                        let mut known = self.expr_classes(target, output, &outcome);
                        if known.is_empty() {
                            known = self.unnested(select, target, output);
                        }
                        known.values_mut().for_each(|proof| proof.or_null(grouped));
                        known
                    })
                    .collect()
            }
            Body::Values(rows) => self.values_outputs(rows, &query.outputs),
            Body::Set { op, left, right, .. } => {
                let (left_outputs, right_outputs) = (self.outputs_of(left), self.outputs_of(right));
                let merged = left_outputs.iter().zip(&right_outputs).map(|(left, right)| match op {
                    SetOp::Union if mutant!(FirstBranchSpeaksForBoth) => left.clone(),
                    SetOp::Union => both(left, right),
                    SetOp::Except => left.clone(),
                    // A row is in both: what either side knows of it holds.
                    SetOp::Intersect => {
                        let mut all = left.clone();
                        for (class, proof) in right {
                            learn(&mut all, *class, proof.clone());
                        }
                        all
                    }
                });
                self.of_family(merged.collect(), &query.outputs)
            }
        }
    }

    /// Keeps what fits the outputs' own types: a set operation may have converted them.
    fn of_family(&self, mut outputs: Outputs, columns: &[SourceColumn]) -> Outputs {
        for (known, column) in outputs.iter_mut().zip(columns) {
            known.retain(|class, _| self.fits(column, *class));
        }
        outputs
    }

    fn fits(&self, column: &SourceColumn, class: super::ClassId) -> bool {
        // An untyped literal becomes what it meets.
        let untyped = column.ty.ty == crate::catalog::TypeId::UNKNOWN;
        let same = self.classes.family(class) == Some(self.family_of(column.ty.ty));
        column.ty.deterministic && (untyped || same)
    }

    fn values_outputs(&self, rows: &[Vec<Expr<'c>>], columns: &[SourceColumn]) -> Outputs {
        let outputs = columns
            .iter()
            .enumerate()
            .map(|(at, _)| {
                let mut known = BTreeMap::new();
                for class in self.classes.ids() {
                    let cells = rows.iter().map(|row| self.own_operand(row.get(at)?, class));
                    let all = cells.reduce(|a, b| Some(a?.and(&b?))).flatten();
                    known.extend(all.map(|proof| (class, proof)));
                }
                known
            })
            .collect();
        self.of_family(outputs, columns)
    }

    /// The classes of which an output expression is T, given its level's facts.
    fn expr_classes(
        &self,
        expr: &Expr<'c>,
        output: &SourceColumn,
        outcome: &super::level::Outcome,
    ) -> BTreeMap<super::ClassId, Proof> {
        let mut known = BTreeMap::new();
        for class in self.classes.ids().filter(|class| self.fits(output, *class)) {
            let own = expr.as_column().and_then(|col| {
                let mut proof = outcome.facts.get(&(col, class))?.clone();
                proof.or_null(outcome.nullable.contains(&col.rel));
                Some(proof)
            });
            let proof = own.or_else(|| self.own_operand(expr, class));
            known.extend(proof.map(|proof| (class, proof)));
        }
        known
    }

    /// What a source of FROM yields by itself.
    pub(super) fn source_outputs(&self, source: &Source<'c>) -> Outputs {
        if source.open {
            return Outputs::new();
        }
        match &source.kind {
            SourceKind::View { query, .. } | SourceKind::Derived(query) => self.outputs_of(query),
            SourceKind::Cte(id) => self.cte_outputs(*id),
            SourceKind::Functions(functions) => self.unnest_outputs(functions),
            SourceKind::Relation { .. } | SourceKind::Excluded(_) | SourceKind::Missing => Outputs::new(),
        }
    }

    /// `unnest($1)` whose every element is T. Of several arrays the shorter ones are padded with
    /// NULLs; one whose element is not known to be a scalar may be several columns, so that nothing
    /// is known behind it.
    fn unnest_outputs(&self, functions: &[Expr<'c>]) -> Outputs {
        let [Expr { node: ExprNode::Call(call), .. }] = functions else { return Outputs::new() };
        if &*call.name != "unnest" || !call.builtin {
            return Outputs::new();
        }
        let several = call.args.len() > 1;
        let mut outputs = Outputs::new();
        for array in &call.args {
            let mut known = BTreeMap::new();
            for class in self.classes.ids() {
                if let Some(mut proof) = self.own_elements(array, class) {
                    proof.or_padded(several);
                    known.insert(class, proof);
                }
            }
            if several && !self.is_scalar_array(array) {
                break;
            }
            outputs.push(known);
        }
        outputs
    }

    /// `SELECT unnest($1), …`: beside another set-returning function it may be padded.
    fn unnested(
        &self,
        select: &Select<'c>,
        target: &Expr<'c>,
        output: &SourceColumn,
    ) -> BTreeMap<super::ClassId, Proof> {
        let ExprNode::Call(call) = &target.node else { return BTreeMap::new() };
        let ([array], "unnest", true) = (call.args.as_slice(), &*call.name, call.builtin) else {
            return BTreeMap::new();
        };
        let others = select.targets.iter().filter(|other| !std::ptr::eq(*other, target));
        let several = others.clone().any(|other| other.as_column().is_none() && !other.is_value());
        let classes = self.classes.ids().filter(|class| self.fits(output, *class));
        classes
            .filter_map(|class| {
                let mut proof = self.own_elements(array, class)?;
                proof.or_padded(several);
                Some((class, proof))
            })
            .collect()
    }

    fn is_scalar_array(&self, array: &Expr<'c>) -> bool {
        let catalog = self.cx.catalog();
        matches!(array.node, ExprNode::Array(_))
            || catalog.type_of(array.ty).and_then(|ty| ty.kind.element()).is_some_and(|element| {
                catalog.type_of(element).is_some_and(|ty| !matches!(ty.kind, TypeKind::Composite { .. }))
            })
    }

    pub(super) fn cte_outputs(&self, id: CteId) -> Outputs {
        if let Some(known) = self.cte_outputs.borrow().get(&id) {
            return known.clone();
        }
        let Some(cte) = self.cx.bound.cte(id) else { return Outputs::new() };
        let outputs = match &cte.body {
            CteBody::Query(query) if cte.recursive => self.recursive_outputs(id, query),
            CteBody::Query(query) => self.outputs_of(query),
            CteBody::Insert(insert) => {
                self.returned(insert.level, &insert.target, &insert.returning, &insert.outputs)
            }
            CteBody::Update(update) => {
                self.returned_of(update.level, &update.from, &update.returning, &update.outputs)
            }
            CteBody::Delete(delete) => {
                self.returned_of(delete.level, &delete.from, &delete.returning, &delete.outputs)
            }
            CteBody::Merge(merge) => {
                self.returned_of(merge.level, &merge.from, &merge.returning, &merge.outputs)
            }
            CteBody::Pending => Outputs::new(),
        };
        self.cte_outputs.borrow_mut().insert(id, outputs.clone());
        outputs
    }

    fn returned_of(
        &self,
        level: LevelId,
        from: &From<'c>,
        returning: &[Expr<'c>],
        outputs: &[SourceColumn],
    ) -> Outputs {
        match from.sources.first() {
            Some(target) => self.returned(level, target, returning, outputs),
            None => Outputs::new(),
        }
    }

    /// RETURNING's columns that are plainly the target's tenant column: that each row which is
    /// written, left or removed is T's is judged where the change is.
    fn returned(
        &self,
        level: LevelId,
        target: &Source<'c>,
        returning: &[Expr<'c>],
        outputs: &[SourceColumn],
    ) -> Outputs {
        let Some(target) = self.target(target, level) else { return Outputs::new() };
        let own = target.col(TARGET);
        returning
            .iter()
            .zip(outputs)
            .map(|(expr, output)| {
                let yields = expr.as_column() == Some(own) && self.fits(output, target.class);
                yields.then(|| (target.class, Proof::default())).into_iter().collect()
            })
            .collect()
    }

    /// By induction: what the first branch yields, as far as every branch passes it on.
    fn recursive_outputs(&self, id: CteId, query: &Query<'c>) -> Outputs {
        let Body::Set { left, right, .. } = &query.body else { return Outputs::new() };
        let mut guess = self.outputs_of(left);
        if mutant!(RecursionTrusted) {
            return guess;
        }
        let before: HashSet<_> = self.outputs.borrow().keys().copied().collect();
        for _ in 0..MAX_ROUNDS {
            self.cte_outputs.borrow_mut().insert(id, guess.clone());
            // What the last guess led to is asked anew.
            self.outputs.borrow_mut().retain(|query, _| before.contains(query));
            let passed = self.outputs_of(right);
            let next: Outputs = guess.iter().zip(&passed).map(|(a, b)| both(a, b)).collect();
            let next = self.of_family(next, &query.outputs);
            let same = next.iter().zip(&guess).all(|(a, b)| a.keys().eq(b.keys()));
            if same && next.len() == guess.len() {
                return next;
            }
            guess = next;
        }
        self.outputs.borrow_mut().retain(|query, _| before.contains(query));
        Outputs::new()
    }

    // ---- downwards: what is judged inside ----

    /// Judges a query whose outputs count only where `demands` says that they are T.
    pub(super) fn check_query(&self, query: &Query<'c>, demands: &Demands) {
        // Before any fact of its own levels can be seen by this question.
        self.outputs_of(query);
        if query.locking.is_empty() {
            self.check_core(query, demands);
        } else {
            self.without_outside(|| self.check_core(query, demands));
        }
    }

    /// A constant LIMIT 0 without a locking clause: PostgreSQL evaluates nothing below it but OFFSET.
    fn yields_nothing(&self, query: &Query<'c>) -> bool {
        let Some(Expr { node: ExprNode::Const(limit), .. }) = &query.limit else { return false };
        self.cx.constants.is_zero(limit) && query.locking.is_empty() && !query.with_ties
    }

    /// WHERE FALSE without anything that makes a row of no rows.
    fn has_no_row(&self, select: &Select<'c>) -> bool {
        let made = select.nature.aggregates
            || select.having.is_some()
            || select.group_by.iter().any(|item| matches!(item, Grouping::Sets(_)));
        let never = |filter: &Expr<'c>| matches!(self.implied(filter, true), Implied::Anything);
        !made && select.filter.as_ref().is_some_and(never)
    }

    /// Judges with nothing known of outer levels: PostgreSQL may evaluate a sub-select for a row
    /// that the outer level's conditions drop later, and what it locks then stays locked.
    pub(super) fn without_outside(&self, check: impl FnOnce()) {
        let outside = std::mem::take(&mut *self.facts.borrow_mut());
        check();
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
                let level = self.select_level(select, &through, |output| transparent(select, output));
                let outcome = self.solve(level);
                let locked: BTreeSet<Rel> = query.locking.iter().flatten().copied().collect();
                self.check_sources(&select.from, select.level, &outcome, &locked);
                self.check_memberships(select.filter.as_ref());
                let empty = self.has_no_row(select);
                level_exprs(select, &mut |expr| {
                    let filter = select.filter.as_ref().is_some_and(|filter| std::ptr::eq(filter, expr));
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

    /// A demand passes into a branch where the set operation kept the column's own type family.
    fn branch_demands(&self, query: &Query<'c>, branch: &Query<'c>, demands: &Demands) -> Demands {
        let family = |query: &Query<'c>, at: usize| {
            query.outputs.get(at).map(|column| self.family_of(column.ty.ty).clone())
        };
        demands
            .iter()
            .filter(|((at, class), _)| {
                let expected = self.classes.family(*class).cloned();
                !query.open && family(query, *at) == expected && family(branch, *at) == expected
            })
            .map(|(key, proof)| (*key, proof.clone()))
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
    fn check_memberships(&self, filter: Option<&Expr<'c>>) {
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
                    demands.insert((at, class), Proof { nullable: false, ..proof });
                }
            }
        }
        self.check_query(query, &demands);
        let key: *const Query<'c> = query;
        self.checked.borrow_mut().insert(key);
    }
}

/// Both yield T.
fn both(
    left: &BTreeMap<super::ClassId, Proof>,
    right: &BTreeMap<super::ClassId, Proof>,
) -> BTreeMap<super::ClassId, Proof> {
    left.iter().filter_map(|(class, proof)| Some((*class, proof.clone().and(right.get(class)?)))).collect()
}

/// The demands that pass what surrounds a query's core: no LIMIT, OFFSET, FETCH, locking clause.
fn through(query: &Query<'_>, demands: &Demands) -> Demands {
    let limited = query.limit.is_some() || query.offset.is_some() || query.with_ties;
    let opaque = query.open
        || limited && !mutant!(LimitIsTransparent)
        || !query.locking.is_empty() && !mutant!(LockIsTransparent);
    if opaque { Demands::new() } else { demands.clone() }
}

/// The column of the level that an output plainly is, if nothing in the level can see rows that
/// the output's value excludes.
fn transparent(select: &Select<'_>, output: usize) -> Option<Col> {
    let target = select.targets.get(output)?;
    let ExprNode::Column(col) = &target.node else { return None };
    let nature = select.nature;
    let evaluates = (nature.set_returning || nature.volatile) && !mutant!(VolatileIsTransparent);
    if col.level != select.level || evaluates {
        return None;
    }
    let distinct = match &select.distinct {
        Distinct::No | Distinct::Yes => true,
        Distinct::On(keys) => keys.iter().any(|key| key_column(select, key) == Some(*col)),
    };
    let grouped = !select.group_by.is_empty();
    let groups = match (grouped, nature.aggregates || select.having.is_some()) {
        (false, false) => true,
        (false, true) => false,
        (true, _) => grouped_by(select, *col),
    };
    let windows = !nature.windows && select.windows.is_empty()
        || !select.windows.is_empty()
            && select.windows.iter().all(|window| partitioned_by(select, window, *col));
    let distinct = distinct || mutant!(DistinctOnIsTransparent);
    let groups = groups || mutant!(AggregateIsTransparent);
    let windows = windows || mutant!(WindowIsTransparent);
    (distinct && groups && windows).then_some(*col)
}

/// GROUP BY includes the column, or a primary key that determines it.
fn grouped_by(select: &Select<'_>, col: Col) -> bool {
    let keys = grouping_columns(select);
    if keys.contains(&col) {
        return true;
    }
    let plain = select.group_by.iter().all(|item| matches!(item, Grouping::Key(_)));
    plain && key_among(select, &keys, col)
}

/// A primary key that determines the column is among these.
fn key_among(select: &Select<'_>, keys: &BTreeSet<Col>, col: Col) -> bool {
    let source = select.from.sources.get(col.rel.0 as usize);
    let Some(SourceKind::Relation { relation, only }) = source.map(|source| &source.kind) else {
        return false;
    };
    determined(relation, *only, |column| keys.contains(&Col { level: col.level, rel: col.rel, column }))
}

/// Whether a non-deferrable primary key is among the columns, and no child table can repeat it.
fn determined(relation: &Relation, only: bool, has: impl Fn(u32) -> bool) -> bool {
    let inherited = relation.has_children && relation.kind != RelationKind::PartitionedTable && !only;
    let Some(key) = relation.primary_key() else { return false };
    !inherited
        && key.columns.iter().all(|column| {
            column
                .name
                .as_deref()
                .and_then(|name| relation.columns.position(name))
                .and_then(|at| u32::try_from(at).ok())
                .is_some_and(&has)
        })
}

/// PARTITION BY includes the column, its own or that of the window that it builds upon.
fn partitioned_by(select: &Select<'_>, window: &Window<'_>, col: Col) -> bool {
    let mut current = window;
    for _ in 0..=select.windows.len() {
        let keys: BTreeSet<Col> = current.partition_by.iter().filter_map(Expr::as_column).collect();
        if keys.contains(&col) || key_among(select, &keys, col) {
            return true;
        }
        let base = current
            .base
            .as_ref()
            .and_then(|base| select.windows.iter().find(|other| other.name.as_ref() == Some(base)));
        match base {
            Some(base) => current = base,
            None => return false,
        }
    }
    false
}
