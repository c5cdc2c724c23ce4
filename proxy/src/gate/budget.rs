//! Whether the principal's error budget lets a statement through (policy 3.9). A budget needs a clock and state, so it
//! is asked after the verdict.

use pgmoat_policy::{Code, Denial, Rule, SqlState};

use super::Gate;
use crate::clock;
use crate::session::Terms;

impl Gate<'_> {
    /// The denial of a statement about tenants' rows while the budget is spent.
    pub(super) fn over_budget(&self, terms: &Terms) -> Option<Denial> {
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
