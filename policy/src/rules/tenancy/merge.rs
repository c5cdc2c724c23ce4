//! MERGE (policy 3.6): ON restricts the target; the source stands by itself unless every action is
//! MATCHED.

use std::collections::BTreeSet;

use super::hints::object;
use super::joins::Condition;
use super::level::{Level, Outcome};
use super::restriction::Implied;
use super::write::{TARGET, Target};
use super::{Facts, Prover};
use crate::ir::MergeWhen;
use crate::resolve::*;
use crate::{Code, Denial, Rule};

impl<'c> Prover<'_, 'c> {
    pub(super) fn check_merge(&self, merge: &Merge<'c>) {
        // A row of the source that matches nothing is used by NOT MATCHED actions.
        let only_matched = merge.actions.iter().all(|action| match action.when {
            MergeWhen::Matched => true,
            MergeWhen::NotMatchedBySource | MergeWhen::NotMatchedByTarget => false,
        });
        let filters = match only_matched {
            true => Self::all_rels(&merge.from),
            false => BTreeSet::from([TARGET]),
        };
        let implied = self.implied(&merge.on, true);
        let conditions = vec![Condition { implied, filters }];
        let level = Level { id: merge.level, from: &merge.from, conditions, given: Facts::new() };
        let outcome: Outcome = self.solve(level);
        self.check_sources(&merge.from, merge.level, &outcome, &BTreeSet::new());
        self.check_expr(&merge.on);
        let target = merge.from.sources.first().and_then(|s| self.target(s, merge.level));
        for action in &merge.actions {
            action.condition.iter().for_each(|condition| self.check_expr(condition));
            if let Some(target) = &target {
                self.check_action(target, action, merge);
            }
            match &action.then {
                MergeThen::Nothing | MergeThen::Delete => {}
                MergeThen::Update(set) => assignment_exprs(set, &mut |expr| self.check_expr(expr)),
                MergeThen::Insert { values, .. } => {
                    values.iter().flatten().for_each(|value| self.check_expr(value));
                }
            }
        }
        merge.returning.iter().for_each(|expr| self.check_expr(expr));
        self.check_with(&merge.with);
    }

    pub(super) fn check_action(&self, target: &Target<'c>, action: &MergeAction<'c>, merge: &Merge<'c>) {
        let at = merge.from.sources.first().and_then(|source| source.at);
        if action.when == MergeWhen::NotMatchedBySource
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
