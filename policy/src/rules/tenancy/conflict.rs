//! ON CONFLICT: the row that is in the way is the tenant's (policy 3.5).

use std::collections::BTreeSet;

use super::hints::object;
use super::restriction::{Carries, Implied, carried};
use super::write::{EXCLUDED, TARGET, Target};
use super::{Proof, Prover, learn};
use crate::catalog::UniqueKey;
use crate::ir::At;
use crate::mutants::mutant;
use crate::resolve::{Arbiter, Conflict, Expr, Insert, InsertSource, assignment_exprs};
use crate::{Code, Denial, LimitName, Rule};

impl<'c> Prover<'_, 'c> {
    pub(super) fn check_conflict(&self, target: &Target<'c>, insert: &Insert<'c>, conflict: &Conflict<'c>) {
        let by_key = self.arbiter_has_tenant(target, &conflict.arbiter) || mutant!(ArbiterIgnored);
        if !by_key {
            let guarded = match &conflict.update {
                None => true,
                Some(_) => self.guards_target(target, conflict.filter.as_ref()),
            };
            if !guarded {
                self.deny(self.conflict_denial(target, conflict.at));
            } else if let Err(code) = self.few_rows(insert) {
                self.deny(Denial { code, ..self.conflict_denial(target, conflict.at) });
            }
        }
        if let Some(set) = &conflict.update {
            self.check_assignments(target, set);
            // The row that is updated is T's: sub-selects may take their equality from it.
            learn(&mut self.facts.borrow_mut(), (target.col(TARGET), target.class), Proof::default());
        }
    }

    /// The source is VALUES of few rows: how many conflicts there were tells little.
    pub(super) fn few_rows(&self, insert: &Insert<'c>) -> Result<(), Code> {
        match &insert.source {
            InsertSource::Values(rows) if rows.len() <= self.cx.role.limits.conflict_rows => Ok(()),
            InsertSource::Values(_) => Err(Code::Limit(LimitName::ConflictRows)),
            InsertSource::DefaultValues => Ok(()),
            InsertSource::Query(_) => Err(Code::TenantUnproven),
        }
    }

    /// The arbiter's columns include the tenant column, under a deterministic collation.
    pub(super) fn arbiter_has_tenant(&self, target: &Target<'c>, arbiter: &Arbiter<'c>) -> bool {
        let keys = &target.relation.unique_keys;
        let tenant = target.relation.columns.get(target.column as usize).map(|c| c.name.clone());
        let has = |key: &UniqueKey| {
            key.columns
                .iter()
                .any(|column| column.name == tenant && column.collation_deterministic != Some(false))
        };
        match arbiter {
            Arbiter::Any => false,
            Arbiter::Constraint(name) => keys.iter().any(|key| *key.name == **name && has(key)),
            Arbiter::Columns { columns, .. } => {
                let named = columns.iter().any(|(column, plain)| *column == target.column && *plain);
                // PostgreSQL takes every unique index over these columns for the arbiter.
                let names: BTreeSet<&str> = columns
                    .iter()
                    .filter_map(|(column, _)| target.relation.columns.get(*column as usize))
                    .map(|column| &*column.name)
                    .collect();
                let over = |key: &&UniqueKey| {
                    let own: BTreeSet<&str> =
                        key.columns.iter().filter_map(|column| column.name.as_deref()).collect();
                    own == names
                };
                named && keys.iter().filter(over).all(has)
            }
        }
    }

    /// DO UPDATE … WHERE implies that the target's row is T's.
    pub(super) fn guards_target(&self, target: &Target<'c>, filter: Option<&Expr<'c>>) -> bool {
        let Some(filter) = filter else { return false };
        let known = match self.implied(filter, true) {
            Implied::Anything => return true,
            Implied::Known(known) => known,
        };
        let mut facts = known.own;
        learn(&mut facts, (target.col(EXCLUDED), target.class), Proof::default());
        let own = if mutant!(ExcludedIsTarget) { target.col(EXCLUDED) } else { target.col(TARGET) };
        let carried = known
            .edges
            .iter()
            .filter(|edge| edge.carries == Carries::Equal && edge.to == own)
            .find_map(|edge| carried(&edge.from, |col| facts.get(&(*col, target.class))));
        match facts.get(&(own, target.class)).cloned().or(carried) {
            Some(proof) => {
                self.rely(&proof);
                true
            }
            None => false,
        }
    }

    pub(super) fn conflict_denial(&self, target: &Target<'c>, at: At) -> Denial {
        let column = self.tenant_column_name(target.relation).unwrap_or_default();
        Denial::new(
            Rule::Tenancy,
            Code::TenantUnproven,
            at,
            format!("ON CONFLICT may reach a row of \"{}\" that is not the tenant's", target.relation.name.name),
        )
        .hint(format!(
            "name a unique key that contains \"{column}\", or add \"{}.{column} = EXCLUDED.{column}\" to the WHERE of DO UPDATE",
            target.relation.name.name
        ))
        .object(object(target.relation, Some(&column)))
    }
}

pub(super) fn conflict_exprs<'e, 'c>(conflict: &'e Conflict<'c>, visit: &mut dyn FnMut(&'e Expr<'c>)) {
    match &conflict.arbiter {
        Arbiter::Any | Arbiter::Constraint(_) => {}
        Arbiter::Columns { rest, .. } => rest.iter().for_each(&mut *visit),
    }
    if let Some(set) = &conflict.update {
        assignment_exprs(set, visit);
    }
    conflict.filter.iter().for_each(visit);
}
