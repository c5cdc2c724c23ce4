//! MERGE (policy 3.6): ON restricts the target; the source stands by itself unless every action is
//! MATCHED.

use super::hints::object;
use super::joins::{Condition, Rels};
use super::level::{Level, Outcome, ReadAgain};
use super::restriction::Implied;
use super::write::{TARGET, Target};
use super::{Facts, Proof, Prover, learn};
use crate::ir::MergeWhen;
use crate::mutants::mutant;
use crate::resolve::{Expr, Merge, MergeAction, MergeThen, Rel, action_exprs};
use crate::{Code, Denial, Rule};

impl<'c> Prover<'_, 'c> {
    pub(super) fn check_merge(&self, merge: &Merge<'c>) {
        // A row of the source that matches nothing is used by NOT MATCHED actions.
        let only_matched = merge.actions.iter().all(|action| match action.when {
            MergeWhen::Matched => true,
            MergeWhen::NotMatchedBySource | MergeWhen::NotMatchedByTarget => false,
        });
        let filters = match only_matched || mutant!(MergeOnFiltersSource) {
            true => Self::all_rels(&merge.from),
            // The target alone, which comes first.
            false => Rels::first(1),
        };
        self.merges.borrow_mut().insert(merge.level, only_matched);
        self.enter(merge.level, &merge.from);
        let implied = self.implied(&merge.on, true);
        let conditions = vec![Condition { implied, filters }];
        let level = Level { id: merge.level, from: &merge.from, conditions, given: Facts::new() };
        let outcome: Outcome = self.solve(level);
        self.check_sources(&merge.from, merge.level, &outcome, ReadAgain::Target);
        self.check_expr(&merge.on);
        let target = merge.from.sources.first().and_then(|s| self.target(s, merge.level));
        // ON says nothing of the rows that it does not match: they come last.
        let by_source = |action: &&MergeAction<'c>| action.when == MergeWhen::NotMatchedBySource;
        let matched = merge.actions.iter().filter(|action| !by_source(action));
        for action in matched.chain(merge.actions.iter().filter(by_source)) {
            if by_source(&action) {
                self.forget_old_row(merge.level, None);
            }
            if let Some(target) = &target {
                self.check_action(target, action, merge);
                self.learn_target(target);
            }
            action.condition.iter().for_each(|condition| self.check_expr(condition));
            action_exprs(&action.then, &mut |expr| self.check_expr(expr));
        }
        self.forget_old_row(merge.level, None);
        if let Some(target) = &target {
            // Every action left, or made, a row of T's.
            self.learn_target(target);
        }
        self.may_be_null(merge);
        self.learn_old_and_new(target.as_ref(), (0..).map(Rel).zip(&merge.from.sources));
        merge.returning.iter().for_each(|expr| self.check_expr(expr));
        self.check_with(&merge.with);
    }

    /// The target's row is T's: what an action reaches was judged.
    fn learn_target(&self, target: &Target<'c>) {
        learn(&mut self.facts.borrow_mut(), (target.col(TARGET), target.class), Proof::default());
    }

    /// Beside a row that no row of the source matches, the source's columns are NULL.
    fn may_be_null(&self, merge: &Merge<'c>) {
        let by_source = |action: &MergeAction<'c>| action.when == MergeWhen::NotMatchedBySource;
        if merge.actions.iter().any(by_source) {
            let mut facts = self.facts.borrow_mut();
            let here = facts.iter_mut().filter(|((col, _), _)| col.level == merge.level && col.rel != TARGET);
            here.for_each(|(_, proof)| proof.or_null(true));
        }
    }

    pub(super) fn check_action(&self, target: &Target<'c>, action: &MergeAction<'c>, merge: &Merge<'c>) {
        let at = merge.from.sources.first().and_then(|source| source.at);
        if action.when == MergeWhen::NotMatchedBySource
            && !mutant!(BySourceUnguarded)
            && !self.guards_alone(target, action.condition.as_ref())
        {
            let name = &target.relation.name.name;
            self.deny(
                Denial::new(
                    Rule::Tenancy,
                    Code::TenantUnproven,
                    at,
                    format!(
                        "WHEN NOT MATCHED BY SOURCE reaches rows of \"{name}\" that are not the tenant's"
                    ),
                )
                .object(object(target.relation, None)),
            );
        }
        match &action.then {
            MergeThen::Nothing | MergeThen::Delete => {}
            MergeThen::Insert { .. } if mutant!(MergeInsertUnchecked) => {}
            MergeThen::Update(set) => self.check_assignments(target, set),
            MergeThen::Insert { columns, values, .. } => {
                let place = columns.iter().position(|w| w.column == Some(target.column) && !w.partial);
                match (place, values) {
                    (Some(place), Some(values)) => self.check_cell(target, values.get(place), at),
                    (_, _) if place.is_none() && values.is_some() && self.default_is_own(target) => {}
                    (_, _) => self.deny(self.missing_column(target, at)),
                }
            }
        }
    }

    /// The condition alone implies that the target's row is T's.
    pub(super) fn guards_alone(&self, target: &Target<'c>, condition: Option<&Expr<'c>>) -> bool {
        let Some(condition) = condition else { return false };
        match self.implied(condition, true) {
            Implied::Anything => true,
            Implied::Known(known) => match known.own.get(&(target.col(TARGET), target.class)) {
                Some(proof) => {
                    self.rely(proof);
                    true
                }
                None => false,
            },
        }
    }
}
