//! Who may have a connection: so many at a time, first come, first served, and a reserve for those who have waited.
//!
//! A place is the right to one connection; having it says nothing about whether there is one. Those who wait are served
//! in their order (tokio's semaphore is fair) and leave when they are dropped.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

#[derive(Debug)]
pub(super) struct Places {
    regular: Arc<Semaphore>,
    reserve: Arc<Semaphore>,
    sizes: [usize; 2],
    waiting: AtomicUsize,
    waits: AtomicU64,
    waited_us: AtomicU64,
}

/// One of them, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    _permit: OwnedSemaphorePermit,
}

/// Why there was none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoPlace {
    TooLate,
    Closed,
}

impl Places {
    pub(super) fn new(size: usize, reserve: usize) -> Self {
        let sizes = [size.min(Semaphore::MAX_PERMITS), reserve.min(Semaphore::MAX_PERMITS)];
        let [regular, reserve] = sizes.map(|size| Arc::new(Semaphore::new(size)));
        Places {
            regular,
            reserve,
            sizes,
            waiting: AtomicUsize::new(0),
            waits: AtomicU64::new(0),
            waited_us: AtomicU64::new(0),
        }
    }

    /// A place, if there is one that nobody waits for.
    pub(super) fn take_now(&self) -> Option<Place> {
        Arc::clone(&self.regular).try_acquire_owned().ok().map(|permit| Place { _permit: permit })
    }

    /// A place by `until`; after `patience` one of the reserve will do, too.
    pub(super) async fn take(&self, patience: Duration, until: Instant) -> Result<Place, NoPlace> {
        if let Some(place) = self.take_now() {
            return Ok(place);
        }
        let _waiting = self.wait();
        let mut regular = pin!(Arc::clone(&self.regular).acquire_owned());
        let reserve_from = (Instant::now() + patience).min(until);
        let mut got = timeout_at(reserve_from, regular.as_mut()).await;
        if got.is_err() && reserve_from < until {
            // The place in the line is kept.
            let either = async {
                tokio::select! {
                    biased;
                    permit = regular => permit,
                    permit = Arc::clone(&self.reserve).acquire_owned() => permit,
                }
            };
            got = timeout_at(until, either).await;
        }
        match got {
            Ok(Ok(permit)) => Ok(Place { _permit: permit }),
            Ok(Err(_)) => Err(NoPlace::Closed),
            Err(_) => Err(NoPlace::TooLate),
        }
    }

    pub(super) fn in_use(&self) -> usize {
        let [regular, reserve] = self.sizes;
        let free = self.regular.available_permits() + self.reserve.available_permits();
        (regular + reserve).saturating_sub(free)
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// How often somebody has waited, and how long all of them have, in microseconds.
    pub(super) fn waited(&self) -> (u64, u64) {
        (self.waits.load(Ordering::Relaxed), self.waited_us.load(Ordering::Relaxed))
    }

    /// Counts one who waits until that is dropped.
    pub(super) fn wait(&self) -> Waiting<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.waits.fetch_add(1, Ordering::Relaxed);
        Waiting { places: self, since: Instant::now() }
    }

    /// Nobody gets one any more.
    pub(super) fn close(&self) {
        self.regular.close();
        self.reserve.close();
    }
}

/// One who waits; leaves when dropped.
pub(super) struct Waiting<'a> {
    places: &'a Places,
    since: Instant,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let waited_us = u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.places.waited_us.fetch_add(waited_us, Ordering::Relaxed);
        self.places.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
