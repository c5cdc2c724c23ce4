//! The error budget of a principal (policy 3.9).
//!
//! That a statement fails tells something about rows, of other tenants too, and an error is free: so how many there may
//! be in a minute is bounded, for all sessions of one principal together. A minute begins with its first error; once as
//! many errors as the budget have come, statements about tenants' rows are refused until it is over.
//!
//! No clock here: whoever asks says when it is.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pgmoat_policy::Principal;

/// The budgets of all principals.
#[derive(Debug, Default)]
pub struct Budgets {
    known: Mutex<HashMap<Principal, Arc<Budget>>>,
    /// Shared by those who come when there are too many.
    crowd: Arc<Budget>,
}

impl Budgets {
    /// The budget of a principal; the same for all of its sessions.
    pub fn of(&self, principal: &Principal, now: Instant) -> Arc<Budget> {
        let mut known = self.known.lock();
        if let Some(budget) = known.get(principal) {
            return Arc::clone(budget);
        }
        if known.len() >= PRINCIPALS_MAX {
            known.retain(|_, budget| Arc::strong_count(budget) > 1 || budget.is_running(now));
        }
        if known.len() >= PRINCIPALS_MAX {
            return Arc::clone(&self.crowd);
        }
        Arc::clone(known.entry(principal.clone()).or_default())
    }
}

/// One principal's errors.
#[derive(Debug, Default)]
pub struct Budget {
    minute: Mutex<Option<Minute>>,
    /// The errors of `minute`, to see at a glance that there are few.
    errors: AtomicU32,
    /// Notices that were not shown.
    notices: AtomicU64,
}

#[derive(Debug, Clone, Copy)]
struct Minute {
    began: Instant,
    errors: u32,
}

/// What counting has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// There may be more.
    Within,
    /// These errors have spent the budget: somebody should hear of it.
    Spent,
    /// It was spent before.
    Over,
}

impl Budget {
    /// Counts errors.
    pub fn count(&self, errors: u32, max: u32, now: Instant) -> Counted {
        let mut minute = self.minute.lock();
        let before = minute.filter(|minute| minute.left(now).is_some());
        let (began, already) = before.map_or((now, 0), |minute| (minute.began, minute.errors));
        let errors = already.saturating_add(errors);
        *minute = Some(Minute { began, errors });
        self.errors.store(errors, Ordering::Release);
        match (already >= at_least_one(max), errors >= at_least_one(max)) {
            (true, _) => Counted::Over,
            (false, true) => Counted::Spent,
            (false, false) => Counted::Within,
        }
    }

    /// How long the budget stays spent; none where it is not.
    pub fn spent(&self, max: u32, now: Instant) -> Option<Duration> {
        if self.errors.load(Ordering::Acquire) < at_least_one(max) {
            return None;
        }
        self.minute.lock().filter(|minute| minute.errors >= at_least_one(max))?.left(now)
    }

    /// How many more errors there may be now.
    pub fn left(&self, max: u32, now: Instant) -> u32 {
        let errors = match self.errors.load(Ordering::Acquire) {
            0 => 0,
            _ => self
                .minute
                .lock()
                .filter(|minute| minute.left(now).is_some())
                .map_or(0, |minute| minute.errors),
        };
        at_least_one(max).saturating_sub(errors)
    }

    /// Counts notices that were not shown; how many there have been.
    pub fn note_hidden_notices(&self, notices: u32) -> u64 {
        self.notices.fetch_add(u64::from(notices), Ordering::Relaxed) + u64::from(notices)
    }

    fn is_running(&self, now: Instant) -> bool {
        self.minute.lock().is_some_and(|minute| minute.left(now).is_some())
    }
}

impl Minute {
    fn left(self, now: Instant) -> Option<Duration> {
        MINUTE.checked_sub(now.saturating_duration_since(self.began)).filter(|left| !left.is_zero())
    }
}

/// A budget of none is spent by the first error: before there was one, nobody has asked anything.
fn at_least_one(max: u32) -> u32 {
    max.max(1)
}

const MINUTE: Duration = Duration::from_secs(60);
/// Principals with a budget of their own.
const PRINCIPALS_MAX: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    fn principal(tenant: &str) -> Principal {
        Principal { role: "app".into(), tenant: Some(tenant.into()) }
    }

    #[test]
    fn it_is_spent_by_the_last_error_and_renewed_a_minute_after_the_first() {
        let (budget, start) = (Budget::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(budget.count(1, 3, at(0)), Counted::Within);
        assert_eq!(budget.count(1, 3, at(10)), Counted::Within);
        assert_eq!((budget.spent(3, at(10)), budget.left(3, at(10))), (None, 1));
        assert_eq!(budget.count(1, 3, at(20)), Counted::Spent);
        assert_eq!(budget.count(1, 3, at(21)), Counted::Over);
        assert_eq!(budget.spent(3, at(21)), Some(Duration::from_secs(39)));
        assert_eq!(budget.spent(3, at(59)), Some(Duration::from_secs(1)));
        assert_eq!((budget.spent(3, at(60)), budget.left(3, at(60))), (None, 3));
        assert_eq!(budget.count(1, 3, at(61)), Counted::Within);
    }

    #[test]
    fn a_policy_that_allows_more_or_fewer_counts_at_once() {
        let (budget, now) = (Budget::default(), Instant::now());
        budget.count(5, 10, now);
        assert!(budget.spent(10, now).is_none() && budget.spent(5, now).is_some());
        assert!(Budget::default().spent(0, now).is_none(), "nothing has failed yet");
        assert_eq!(Budget::default().count(1, 0, now), Counted::Spent);
    }

    #[test]
    fn sessions_of_one_principal_share_it_and_others_do_not() {
        let (budgets, now) = (Budgets::default(), Instant::now());
        let first = budgets.of(&principal("acme"), now);
        first.count(1, 1, now);
        drop(first);
        assert!(budgets.of(&principal("acme"), now).spent(1, now).is_some(), "it outlives the session");
        assert!(budgets.of(&principal("globex"), now).spent(1, now).is_none());
    }

    #[test]
    fn there_are_so_many_at_most_and_running_minutes_are_kept() {
        let (budgets, now) = (Budgets::default(), Instant::now());
        budgets.of(&principal("acme"), now).count(1, 1, now);
        for number in 0..PRINCIPALS_MAX + 10 {
            budgets.of(&principal(&number.to_string()), now);
        }
        assert!(budgets.known.lock().len() <= PRINCIPALS_MAX);
        assert!(budgets.of(&principal("acme"), now).spent(1, now).is_some());
    }
}
