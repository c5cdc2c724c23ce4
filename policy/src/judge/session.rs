//! Transaction control and settings.

use super::effect;
use super::statement::{Findings, Judge, never};
use crate::ir::{self, At, Const, SetAction, Transaction};
use crate::rules::settings;
use crate::{Code, Denial, Effect, Kind, Rule, Trace};

impl Judge<'_, '_, '_> {
    pub(super) fn transaction(&self, transaction: &Transaction, at: At) -> Findings {
        let mut findings = self.kind(Kind::Transaction, at);
        match transaction {
            Transaction::TwoPhase => findings.deny(never(at, "two-phase commit")),
            Transaction::Begin
            | Transaction::Commit { .. }
            | Transaction::Rollback { .. }
            | Transaction::Savepoint(_)
            | Transaction::Release(_)
            | Transaction::RollbackTo(_) => {}
        }
        let named = match transaction {
            Transaction::Savepoint(name) | Transaction::Release(name) | Transaction::RollbackTo(name) => {
                Some(name)
            }
            Transaction::Begin
            | Transaction::Commit { .. }
            | Transaction::Rollback { .. }
            | Transaction::TwoPhase => None,
        };
        let savepoint = named.map(|name| Trace::Savepoint(name.clone()));
        findings.found.traces.extend(savepoint);
        findings.effect = Some(effect::of_transaction(transaction));
        findings
    }

    pub(super) fn set(&self, set: &ir::Set, at: At) -> Findings {
        let role = self.world.role;
        match &set.action {
            SetAction::To { name, values } => {
                if name.eq_ignore_ascii_case("role") && self.is_none(values) {
                    // SET ROLE NONE lets go.
                    let effect = effect::of_setting(name, set.local, None);
                    return Findings { effect: Some(effect), ..Findings::of(Kind::Set) };
                }
                let mut findings = self.kind(Kind::Set, at);
                let texts: Vec<String> =
                    values.iter().map(|value| self.world.constants.shown(value)).collect();
                let denial = settings::may_write(self.world.policy, role, name, &texts, at);
                findings.found.denials.extend(denial);
                findings.effect = Some(effect::of_setting(name, set.local, Some(&texts)));
                findings
            }
            SetAction::Default(name) => {
                let mut findings = Findings::of(Kind::Set);
                findings.found.denials.extend(settings::may_reset(role, name, at));
                findings.effect = Some(effect::of_setting(name, set.local, None));
                findings
            }
            SetAction::ResetAll => Findings { effect: Some(Effect::ResetAll), ..Findings::of(Kind::Set) },
            SetAction::TransactionCharacteristics => {
                let mut findings = self.kind(Kind::Transaction, at);
                findings.effect = Some(Effect::Transaction(crate::TransactionEffect::Characteristics));
                findings
            }
            SetAction::Snapshot => {
                let mut findings = self.kind(Kind::Transaction, at);
                findings.deny(Denial::new(
                    Rule::Settings,
                    Code::SettingNotAllowed,
                    at,
                    "SET TRANSACTION SNAPSHOT is not allowed",
                ));
                findings
            }
            SetAction::FromCurrent(name) => {
                let mut findings = self.kind(Kind::Set, at);
                findings.deny(Denial::new(
                    Rule::Settings,
                    Code::SettingNotAllowed,
                    at,
                    format!("setting \"{name}\" may not be set from current"),
                ));
                findings
            }
        }
    }

    pub(super) fn is_none(&self, values: &[Const]) -> bool {
        matches!(values, [value] if self.world.constants.shown(value) == "none")
    }
}
