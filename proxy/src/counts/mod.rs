//! What the process has done so far, for `/metrics`: counted where it happens, read when somebody asks.
//!
//! INVARIANT (bounded): nothing here is kept by user, tenant, address or statement; roles and codes have a bound.
//! INVARIANT (cheap): a statement costs relaxed additions and no lock, but for a denial.

mod histogram;
mod statements;

use std::sync::atomic::{AtomicU64, Ordering};

pub use histogram::{BUCKETS, Histogram, HistogramSnapshot};
pub use statements::{Statements, StatementsByRole};

/// All of it.
#[derive(Debug, Default)]
pub struct Counts {
    /// Decisions, by role.
    pub statements: StatementsByRole,
    /// From the read that brought a client's messages to the moment when all of them that were whole are judged, entered
    /// in the audit log and on their way: what the proxy adds on the way in. The way back is not timed.
    pub admission: Histogram,
    /// From that read to the end of the reply, PostgreSQL's own time included.
    pub duration: Histogram,
    /// Logins.
    pub logins: Counter,
    /// Logins that failed.
    pub logins_failed: Counter,
    /// Requests to cancel that were looked at.
    pub cancels: Counter,
    /// Reloads that are in force.
    pub reloads: Counter,
    /// Reloads that were refused.
    pub reloads_refused: Counter,
    /// Verdicts over HTTP that were yes.
    pub verified_allowed: Counter,
    /// Verdicts over HTTP that were no.
    pub verified_denied: Counter,
    /// What was asked over HTTP and could not be read.
    pub verified_unreadable: Counter,
}

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// One more.
    pub fn add_one(&self) {
        self.add(1);
    }

    /// So many more.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// How many.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
