//! Looking instead of sleeping: an idle processor takes longer to wake than PostgreSQL to answer a short statement.
//!
//! While no other session waits for PostgreSQL, one that has just moved is polled again and again for a moment, with a
//! look at all sockets each time. As soon as another session has something under way the thread sleeps as usual: then
//! there are answers enough to wake it for, and others have work for the processor. Nor does it look where that did not
//! pay the last time: a client that thinks for long, or a statement that takes long, costs one moment and not one each.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Context;
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::Instant;

/// One a session.
#[derive(Debug)]
pub(super) struct Spin {
    limit: Duration,
    /// How many sessions wait for PostgreSQL.
    waiting: Arc<AtomicUsize>,
    /// This session waits for PostgreSQL, and is counted.
    under_way: bool,
    /// When anything moved last.
    since: Instant,
    /// Whom it has waited for since then.
    awaited: Awaited,
    /// Whether it has looked meanwhile.
    looked: bool,
    /// Whether looking would have paid in the last wait for each.
    pays: Pays,
}

#[derive(Debug, Clone, Copy)]
enum Awaited {
    /// It says something.
    Client,
    /// It owes an answer.
    Server,
}

#[derive(Debug)]
struct Pays {
    client: bool,
    server: bool,
}

impl Spin {
    /// `waiting`: the number of all sessions that wait for PostgreSQL.
    pub(super) fn new(limit: Duration, waiting: Arc<AtomicUsize>) -> Self {
        let pays = Pays { client: true, server: true };
        let awaited = Awaited::Client;
        Spin { limit, waiting, under_way: false, since: Instant::now(), awaited, looked: false, pays }
    }

    /// Nothing moves any more. Has the task polled again, behind a look at the sockets, while that pays. `moved` says
    /// whether anything did since the last time, `owed` whether PostgreSQL owes an answer.
    pub(super) fn rest(&mut self, cx: &mut Context<'_>, moved: bool, owed: bool, now: Instant) {
        self.counts(owed);
        if moved {
            self.learn(now);
            (self.since, self.looked) = (now, false);
            self.awaited = if owed { Awaited::Server } else { Awaited::Client };
        }
        let others = self.waiting.load(Ordering::Relaxed).saturating_sub(usize::from(self.under_way));
        if others == 0 && *self.pay() && now.saturating_duration_since(self.since) < self.limit {
            self.looked = true;
            // The runtime wakes the task once it has looked at the sockets, without waiting for them.
            let _ = pin!(yield_now()).poll(cx);
        }
    }

    /// Something has moved now.
    fn learn(&mut self, now: Instant) {
        // Being woken was a part of the wait.
        let limit = if self.looked { self.limit } else { self.limit + self.limit / 2 };
        *self.pay() = now.saturating_duration_since(self.since) < limit;
    }

    fn pay(&mut self) -> &mut bool {
        match self.awaited {
            Awaited::Client => &mut self.pays.client,
            Awaited::Server => &mut self.pays.server,
        }
    }

    fn counts(&mut self, under_way: bool) {
        match (std::mem::replace(&mut self.under_way, under_way), under_way) {
            (false, true) => drop(self.waiting.fetch_add(1, Ordering::Relaxed)),
            (true, false) => drop(self.waiting.fetch_sub(1, Ordering::Relaxed)),
            (true, true) | (false, false) => {}
        }
    }
}

impl Drop for Spin {
    fn drop(&mut self) {
        self.counts(false);
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Wake, Waker};

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether a session that rests is polled again.
    fn looks(spin: &mut Spin, moved: bool, owed: bool, now: Instant) -> bool {
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&wakes));
        spin.rest(&mut Context::from_waker(&waker), moved, owed, now);
        wakes.0.load(Ordering::Relaxed) > 0
    }

    #[test]
    fn a_session_that_is_alone_looks_for_a_while_and_then_sleeps() {
        let limit = Duration::from_micros(50);
        let mut spin = Spin::new(limit, Arc::default());
        let begun = Instant::now();
        assert!(looks(&mut spin, true, true, begun), "it has just asked");
        assert!(looks(&mut spin, false, true, begun + limit / 2));
        assert!(!looks(&mut spin, false, true, begun + limit));
        assert!(looks(&mut spin, true, false, begun + limit), "it has just got its answer");
        assert!(!looks(&mut spin, false, false, begun + 2 * limit));
        assert!(!looks(&mut Spin::new(Duration::ZERO, Arc::default()), true, true, begun));
    }

    #[test]
    fn what_took_long_the_last_time_is_slept_through_until_it_is_short_again() {
        let (limit, long) = (Duration::from_micros(100), Duration::from_millis(3));
        let mut spin = Spin::new(limit, Arc::default());
        let mut now = Instant::now();
        let mut turn = |spin: &mut Spin, thought: Duration, answered: Duration| {
            now += thought;
            let for_server = looks(spin, true, true, now);
            now += answered;
            (for_server, looks(spin, true, false, now))
        };
        assert_eq!(turn(&mut spin, long, limit / 2), (true, false), "the client thought for long");
        assert_eq!(turn(&mut spin, long, limit / 2), (true, false), "and again");
        assert_eq!(
            turn(&mut spin, limit, limit / 2),
            (true, true),
            "it was quick, for one that was slept for"
        );
        assert_eq!(turn(&mut spin, limit / 2, long), (true, true));
        assert_eq!(turn(&mut spin, limit / 2, limit), (false, true), "the server took long");
        assert_eq!(
            turn(&mut spin, limit / 2, limit),
            (true, true),
            "it was quick, for one that was slept for"
        );
        assert_eq!(
            turn(&mut spin, limit / 2, limit / 2),
            (false, true),
            "it was not, for one that was looked for"
        );
        assert_eq!(turn(&mut spin, limit / 2, limit / 2), (true, true));
    }

    #[test]
    fn nobody_looks_while_another_waits_for_its_answer() {
        let (limit, waiting, now) = (Duration::from_secs(1), Arc::default(), Instant::now());
        let mut one = Spin::new(limit, Arc::clone(&waiting));
        let mut other = Spin::new(limit, Arc::clone(&waiting));
        assert!(looks(&mut one, true, true, now));
        assert!(!looks(&mut other, true, false, now));
        assert!(!looks(&mut other, true, true, now));
        assert!(!looks(&mut one, true, true, now), "there are two now");
        assert!(!looks(&mut one, true, false, now));
        assert!(looks(&mut other, true, true, now));
        drop(other);
        assert!(looks(&mut one, true, false, now), "one that has gone waits for nothing");
        assert_eq!(waiting.load(Ordering::Relaxed), 0);
    }
}
