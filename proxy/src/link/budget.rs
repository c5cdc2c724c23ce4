//! The principal's error budget, as one session knows it (policy 3.9).

use std::time::Duration;

use tokio::time::Instant;

use super::Link;
use crate::budget::Counted;

impl Link {
    /// Now, as the last burst began.
    pub(super) fn now(&self) -> Instant {
        self.begun + Duration::from_micros(self.now_us)
    }

    /// Tells the session whether the budget is spent.
    pub(super) fn note_budget(&mut self) {
        let Some(budget) = &self.budget else { return };
        let max = self.rules.as_ref().map_or(0, |rules| rules.policy.error_budget());
        self.session.budget_is_spent(budget.spent(max, self.now().into_std()).is_some());
    }

    /// Whether the next message has to wait. What was sent may fail, each batch once: no more of them are under way
    /// than there may be errors, or a long pipeline would be over the budget before its first error is known.
    pub(super) fn would_overdraw(&self) -> bool {
        let Some(budget) = self.budget.as_ref().filter(|_| !self.session.is_unsynced()) else { return false };
        let max = self.rules.as_ref().map_or(0, |rules| rules.policy.error_budget());
        let left = usize::try_from(budget.left(max, self.now().into_std())).unwrap_or(usize::MAX);
        let under_way = self.session.owed();
        left > 0 && under_way >= left && !self.session.is_copying() && self.session.batches_owed() >= left
    }

    /// Counts what the session has seen since the last time.
    pub(super) fn count(&mut self, errors: u32, notices: u32) {
        if errors == 0 && notices == 0 {
            return;
        }
        let Some(budget) = self.budget.clone() else { return };
        if notices > 0 {
            let all = budget.note_hidden_notices(notices);
            tracing::debug!(session = self.info.id, notices, all, "notices were not shown");
        }
        if errors == 0 {
            return;
        }
        let max = self.rules.as_ref().map_or(0, |rules| rules.policy.error_budget());
        match budget.count(errors, max, self.now().into_std()) {
            Counted::Within | Counted::Over => {}
            Counted::Spent => {
                let principal = &self.info.principal;
                tracing::warn!(
                    session = self.info.id,
                    user = &*self.info.user,
                    role = &*principal.role,
                    tenant = principal.tenant.as_deref(),
                    max,
                    "the error budget is spent: statements over tenants' rows are refused until the minute is over"
                );
            }
        }
    }
}
