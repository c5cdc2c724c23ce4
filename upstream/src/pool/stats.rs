//! How a pool stands, and what has become of its connections.

use std::fmt;
use std::ops::Add;
use std::sync::atomic::{AtomicU64, Ordering};

/// Why a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It was not given back: something was under way, or its session ended in a fault.
    Dropped,
    /// Something of its user's is on it that no reset takes away.
    Dirty,
    /// It was given back with a proof that was another's.
    Mistaken,
    /// The reset on its way back failed.
    Reset,
    /// It was found closed by the server.
    Dead,
    /// The server had said something on it that nobody asked for.
    Unasked,
    /// The server is not what is asked for any more, or another one has taken its place.
    Moved,
    /// It has lived for its time.
    Aged,
    /// It has rested for too long.
    Idle,
    /// It was one of the reserve, and nobody waits.
    Surplus,
    /// The pool is closed.
    Closed,
}

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 11] = [
        Cause::Dropped,
        Cause::Dirty,
        Cause::Mistaken,
        Cause::Reset,
        Cause::Dead,
        Cause::Unasked,
        Cause::Moved,
        Cause::Aged,
        Cause::Idle,
        Cause::Surplus,
        Cause::Closed,
    ];

    /// One word for it.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Dropped => "dropped",
            Cause::Dirty => "dirty",
            Cause::Mistaken => "mistaken",
            Cause::Reset => "reset",
            Cause::Dead => "dead",
            Cause::Unasked => "unasked",
            Cause::Moved => "moved",
            Cause::Aged => "aged",
            Cause::Idle => "idle",
            Cause::Surplus => "surplus",
            Cause::Closed => "closed",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A pool at one moment. From `opened` on they only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Leased, or being made for a lease.
    pub in_use: usize,
    /// At rest.
    pub idle: usize,
    /// All that there are, those being made included.
    pub live: usize,
    /// Checkouts that wait.
    pub waiting: usize,
    /// Whether the server is thought to be down.
    pub down: bool,
    /// Connections made.
    pub opened: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Checkouts that got a connection at rest.
    pub reused: u64,
    /// Connections that were closed.
    pub destroyed: u64,
    /// Checkouts that waited too long.
    pub timeouts: u64,
    /// Times that a checkout waited; one may wait twice, for its place and for its turn.
    pub waits: u64,
    /// How long, in all, in microseconds.
    pub waited_us: u64,
    pub(super) causes: [u64; Cause::ALL.len()],
}

impl PoolStats {
    /// Connections that were closed for one cause.
    pub fn destroyed_for(&self, cause: Cause) -> u64 {
        self.causes.get(cause as usize).copied().unwrap_or_default()
    }
}

/// Of several pools together; down if one of them is.
impl Add for PoolStats {
    type Output = PoolStats;

    fn add(self, other: PoolStats) -> PoolStats {
        let mut causes = self.causes;
        causes.iter_mut().zip(other.causes).for_each(|(sum, count)| *sum += count);
        PoolStats {
            in_use: self.in_use + other.in_use,
            idle: self.idle + other.idle,
            live: self.live + other.live,
            waiting: self.waiting + other.waiting,
            down: self.down || other.down,
            opened: self.opened + other.opened,
            failed: self.failed + other.failed,
            reused: self.reused + other.reused,
            destroyed: self.destroyed + other.destroyed,
            timeouts: self.timeouts + other.timeouts,
            waits: self.waits + other.waits,
            waited_us: self.waited_us + other.waited_us,
            causes,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) leases: AtomicU64,
    pub(super) opened: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) reused: AtomicU64,
    pub(super) timeouts: AtomicU64,
    causes: [AtomicU64; Cause::ALL.len()],
}

impl Counts {
    pub(super) fn destroyed(&self, cause: Cause) {
        if let Some(count) = self.causes.get(cause as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What only grows.
    pub(super) fn totals(&self) -> PoolStats {
        let total = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let causes = self.causes.each_ref().map(total);
        PoolStats {
            opened: total(&self.opened),
            failed: total(&self.failed),
            reused: total(&self.reused),
            destroyed: causes.iter().sum(),
            timeouts: total(&self.timeouts),
            causes,
            ..PoolStats::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_counted_by_itself() {
        let counts = Counts::default();
        for (number, cause) in Cause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, number, "in the list's order");
            (0..=number).for_each(|_| counts.destroyed(cause));
        }
        let totals = counts.totals();
        assert!(Cause::ALL.iter().zip(1..).all(|(cause, count)| totals.destroyed_for(*cause) == count));
        assert_eq!(totals.destroyed, 66);
    }
}
