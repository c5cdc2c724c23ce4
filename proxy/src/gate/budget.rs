//! Whether the moment lets a statement through: the principal's error budget (policy 3.9), and what its transaction sees by.
//! Both are state, so they are asked after the verdict.

use pgmoat_policy::{Code, Denial, Rule, SqlState};

use super::Gate;
use crate::clock;
use crate::session::{Snapshot, Terms};

impl Gate<'_> {
    /// The denial of a statement that is let through at other times.
    pub(super) fn not_now(&self, terms: &Terms, snapshot: Snapshot) -> Option<Denial> {
        self.over_budget(terms).or_else(|| sees_double(terms, snapshot))
    }

    /// The denial of a statement about tenants' rows while the budget is spent.
    fn over_budget(&self, terms: &Terms) -> Option<Denial> {
        let budget = self.budget.filter(|_| terms.scoped)?;
        let max = self.rules.policy.error_budget();
        let left = budget.spent(max, self.now)?;
        let renewed = clock::after(left);
        let seconds = left.as_secs() + 1;
        let message = format!("the budget of {max} errors a minute is spent; it is renewed at {renewed}");
        let hint = format!(
            "find the statement that fails; what reads no tenant's rows goes on, the rest in {seconds} s"
        );
        let denial = Denial::new(Rule::Text, Code::Budget("errors"), None, message);
        Some(denial.sqlstate(SqlState::CONFIGURATION_LIMIT_EXCEEDED).hint(hint))
    }
}

/// The denial of a statement whose proof needs unique keys, where one may stand for two rows.
fn sees_double(terms: &Terms, snapshot: Snapshot) -> Option<Denial> {
    if !terms.by_unique_keys || !snapshot.doubles_keys() {
        return None;
    }
    let message = "under this isolation level, and with rows changed, the transaction may see two rows under one unique key, \
                   one of them another tenant's";
    let hint = "restrict each relation by its tenant column, or use READ COMMITTED";
    Some(Denial::new(Rule::Tenancy, Code::TenantUnproven, None, message).hint(hint))
}
