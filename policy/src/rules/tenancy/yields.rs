//! What a query, a CTE or a function in FROM yields by itself: which of its output columns are T in
//! every row, without any help from outside (policy 3, columns that are T).

use std::collections::BTreeMap;

use super::write::TARGET;
use super::{Demands, Facts, Outputs, Proof, Prover, Yields, learn};
use crate::catalog::TypeKind;
use crate::ir::SetOp;
use crate::keyed::HashSet;
use crate::mutants::mutant;
use crate::resolve::{
    Body, CteBody, CteId, Expr, ExprNode, From, Grouping, LevelId, Query, Select, Source, SourceColumn,
    SourceKind, level_exprs, surroundings,
};

/// How often what a recursive CTE yields is guessed anew: each guess is smaller than the last.
const MAX_ROUNDS: usize = 64;

/// The same of all recursive CTEs of a statement together: each guess of one asks those within it anew.
const MAX_ROUNDS_OF_STATEMENT: usize = 512;

impl<'c> Prover<'_, 'c> {
    /// Which output columns of a query are T in every row.
    pub(super) fn outputs_of(&self, query: &Query<'c>) -> Outputs {
        let place: *const Query<'c> = query;
        let key = (place, self.outside.get());
        if let Some(known) = self.outputs.borrow().get(&key) {
            return known.outputs.clone();
        }
        let mut yields = Yields::default();
        if !query.open {
            yields.outputs = self.body_outputs(query, &mut yields.inside);
        }
        let outputs = yields.outputs.clone();
        self.outputs.borrow_mut().insert(key, yields);
        outputs
    }

    /// What is known within a query's level by itself.
    pub(super) fn inside_of(&self, query: &Query<'c>) -> Facts {
        self.outputs_of(query);
        let place: *const Query<'c> = query;
        let known = self.outputs.borrow();
        known.get(&(place, self.outside.get())).map(|known| known.inside.clone()).unwrap_or_default()
    }

    fn body_outputs(&self, query: &Query<'c>, inside: &mut Facts) -> Outputs {
        match &query.body {
            Body::Select(select) => {
                let level = self.select_level(select, &Demands::new(), |_| None);
                let outcome = self.solve(level);
                if self.carriers {
                    inside.extend(outcome.facts.iter().map(|((col, class), proof)| {
                        let mut proof = proof.clone();
                        proof.or_null(outcome.nullable.contains(&col.rel));
                        ((*col, *class), proof)
                    }));
                }
                let grouped = select.group_by.iter().any(|item| matches!(item, Grouping::Sets(_)));
                select
                    .targets
                    .iter()
                    .zip(&query.outputs)
                    .map(|(target, output)| {
                        let mut known = self.expr_classes(target, output, &outcome);
                        if known.is_empty() {
                            known = self.unnested(query, select, target, output);
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

    pub(super) fn fits(&self, column: &SourceColumn, class: super::ClassId) -> bool {
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
            let own = self.plain_column(expr).and_then(|col| {
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

    /// `SELECT unnest($1), …`: beside another set-returning function, which may also be in a key that
    /// is no output, it may be padded.
    fn unnested(
        &self,
        query: &Query<'c>,
        select: &Select<'c>,
        target: &Expr<'c>,
        output: &SourceColumn,
    ) -> BTreeMap<super::ClassId, Proof> {
        let ExprNode::Call(call) = &target.node else { return BTreeMap::new() };
        let ([array], "unnest", true) = (call.args.as_slice(), &*call.name, call.builtin) else {
            return BTreeMap::new();
        };
        let mut several = false;
        let mut beside = |other: &Expr<'c>| {
            several |= !std::ptr::eq(other, target) && other.as_column().is_none() && !other.is_value();
        };
        if !mutant!(PaddedByOutputsAlone) {
            surroundings(query, &mut beside);
        }
        level_exprs(select, &mut |expr| {
            // No row is made there.
            let filters = select.filter.iter().chain(&select.having).any(|filter| std::ptr::eq(filter, expr));
            let is_target = || select.targets.iter().any(|other| std::ptr::eq(other, expr));
            if !filters && (!mutant!(PaddedByOutputsAlone) || is_target()) {
                beside(expr);
            }
        });
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
        let key = (id, self.outside.get());
        if let Some(known) = self.cte_outputs.borrow().get(&key) {
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
        self.cte_outputs.borrow_mut().insert(key, outputs.clone());
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
        let ctes_before: HashSet<_> = self.cte_outputs.borrow().keys().copied().collect();
        let forget = || {
            self.outputs.borrow_mut().retain(|key, _| before.contains(key));
            self.cte_outputs.borrow_mut().retain(|key, _| ctes_before.contains(key));
        };
        for _ in 0..MAX_ROUNDS {
            let rounds = self.rounds.get();
            if rounds == MAX_ROUNDS_OF_STATEMENT {
                break;
            }
            self.rounds.set(rounds + 1);
            // What the last guess led to is asked anew.
            forget();
            self.cte_outputs.borrow_mut().insert((id, self.outside.get()), guess.clone());
            let passed = self.outputs_of(right);
            let next: Outputs = guess.iter().zip(&passed).map(|(a, b)| both(a, b)).collect();
            let next = self.of_family(next, &query.outputs);
            if alike(&next, &guess) {
                return next;
            }
            guess = next;
        }
        forget();
        Outputs::new()
    }
}

/// The same columns are T, on the same terms: what a value passed on brings with it (a parameter to be
/// checked, a NULL) may take a round for each column that it goes through.
fn alike(left: &Outputs, right: &Outputs) -> bool {
    let settled = |proof: &Proof| match mutant!(RecursionSettledEarly) {
        true => Proof::default(),
        false => proof.terms(),
    };
    let terms = |outputs: &Outputs| {
        outputs
            .iter()
            .map(|output| output.iter().map(|(class, proof)| (*class, settled(proof))).collect())
            .collect::<Vec<Vec<_>>>()
    };
    terms(left) == terms(right)
}

/// Both yield T.
fn both(
    left: &BTreeMap<super::ClassId, Proof>,
    right: &BTreeMap<super::ClassId, Proof>,
) -> BTreeMap<super::ClassId, Proof> {
    left.iter().filter_map(|(class, proof)| Some((*class, proof.clone().and(right.get(class)?)))).collect()
}
