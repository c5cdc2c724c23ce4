//! How many sessions keep a shared connection beyond their transaction, and why (wire 5): a number each reason, for
//! whoever shows numbers.
//!
//! INVARIANT (balanced): a session is counted as long as its [`Tied`] lives, and no longer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::session::Tie;

/// The numbers of one database.
#[derive(Debug, Default)]
pub struct Ties([Count; Tie::ALL.len()]);

/// The numbers of one reason.
#[derive(Debug, Default)]
struct Count {
    now: AtomicU64,
    ever: AtomicU64,
}

/// Says that a session keeps its connection.
#[derive(Debug)]
pub struct Tied {
    ties: Arc<Ties>,
    tie: Tie,
}

/// How many there are for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TieCount {
    /// The reason; [`Tie::label`] is its short name.
    pub tie: Tie,
    /// Sessions that keep a connection for it now.
    pub now: u64,
    /// How often one has begun to.
    pub ever: u64,
}

impl Ties {
    /// The numbers of every reason, also of those that there are none of.
    pub fn counts(&self) -> impl Iterator<Item = TieCount> {
        Tie::ALL.into_iter().zip(&self.0).map(|(tie, count)| TieCount {
            tie,
            now: count.now.load(Ordering::Relaxed),
            ever: count.ever.load(Ordering::Relaxed),
        })
    }

    /// A session keeps its connection from now on.
    pub fn hold(self: &Arc<Self>, tie: Tie) -> Tied {
        if let Some(count) = self.of(tie) {
            count.now.fetch_add(1, Ordering::Relaxed);
            count.ever.fetch_add(1, Ordering::Relaxed);
        }
        Tied { ties: Arc::clone(self), tie }
    }

    fn of(&self, tie: Tie) -> Option<&Count> {
        Tie::ALL.into_iter().zip(&self.0).find(|(one, _)| *one == tie).map(|(_, count)| count)
    }
}

impl Tied {
    /// Why.
    pub fn tie(&self) -> Tie {
        self.tie
    }
}

impl Drop for Tied {
    fn drop(&mut self) {
        if let Some(count) = self.ties.of(self.tie) {
            count.now.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;
    use crate::session::Pin;

    #[test]
    fn sessions_are_counted_as_long_as_they_are_tied() {
        let ties = Arc::new(Ties::default());
        let of = |tie: Tie| {
            let count = ties.counts().find(|count| count.tie == tie).unwrap();
            (count.now, count.ever)
        };
        let listens = Tie::Pin(Pin::Listens);
        let first = ties.hold(listens);
        let second = ties.hold(listens);
        assert_eq!((of(listens), of(Tie::HeldCursor)), ((2, 2), (0, 0)));
        drop(first);
        assert_eq!(of(listens), (1, 2));
        drop(second);
        assert_eq!(of(listens), (0, 2));
    }

    #[test]
    fn every_reason_has_a_place_and_a_name_of_its_own() {
        let mut labels: Vec<_> = Tie::ALL.into_iter().map(Tie::label).collect();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), Tie::ALL.len());
    }
}
