//! How many connections there are. INVARIANT (pool size): each has a slot from before its first packet until after its
//! socket is closed, and there are never more slots than the pool's size and reserve.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

#[derive(Clone, Debug)]
pub(super) struct Slots {
    shared: Arc<Counted>,
}

#[derive(Debug)]
struct Counted {
    live: AtomicUsize,
    max: usize,
    /// For those who wait for a connection.
    news: Notify,
    /// For the one who keeps the minimum.
    freed: Notify,
}

/// One connection's, until it is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    shared: Arc<Counted>,
}

impl Slots {
    pub(super) fn new(max: usize) -> Self {
        let counted = Counted { live: AtomicUsize::new(0), max, news: Notify::new(), freed: Notify::new() };
        Slots { shared: Arc::new(counted) }
    }

    /// One, if there are fewer than `limit` connections.
    pub(super) fn take(&self, limit: usize) -> Option<Slot> {
        let limit = limit.min(self.shared.max);
        let one_more = |live| (live < limit).then_some(live + 1);
        self.shared.live.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).ok()?;
        Some(Slot { shared: Arc::clone(&self.shared) })
    }

    pub(super) fn live(&self) -> usize {
        self.shared.live.load(Ordering::Acquire)
    }

    /// Is ready when a connection has come to rest, a slot was freed, or something else has changed for those who wait.
    pub(super) fn news(&self) -> Notified<'_> {
        self.shared.news.notified()
    }

    /// One of those who wait has something to look at.
    pub(super) fn tell_one(&self) {
        self.shared.news.notify_one();
    }

    /// All of them have.
    pub(super) fn tell_all(&self) {
        self.shared.news.notify_waiters();
    }

    /// Returns after a slot was freed; at once if one was that nobody waited for.
    pub(super) async fn freed(&self) {
        self.shared.freed.notified().await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.shared.live.fetch_sub(1, Ordering::AcqRel);
        self.shared.news.notify_one();
        self.shared.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_never_more_than_the_limit() {
        let slots = Slots::new(2);
        let (first, second) = (slots.take(9), slots.take(9));
        assert!(first.is_some() && second.is_some() && slots.take(9).is_none());
        drop(first);
        assert!(slots.take(1).is_none());
        assert!(slots.take(2).is_some());
        assert_eq!(slots.live(), 1);
    }
}
