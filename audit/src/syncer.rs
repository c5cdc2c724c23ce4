//! The thread that makes things durable in its own time: it flushes entries that nobody waits for, syncs the
//! log, and writes FILE.head after it. No append ever hands anything over to it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::Durability;
use crate::bell::{Rung, Woken};
use crate::inner::Inner;

/// Runs until the bell stops it.
pub(crate) fn run(inner: &Arc<Inner>) {
    let mut rounds = Rounds::new(inner.durability, inner.sync_interval);
    let mut rotation = None;
    while inner.bell.wait(|rung| rounds.due(rung)) == Woken::Due {
        // First those who wait.
        if inner.bell.answer_call() {
            inner.sync_written();
        }
        let now = Instant::now();
        if rounds.flush_at <= now && inner.bell.answer() {
            let flushed = inner.look_and_flush();
            rounds.head_lags = true;
            rounds.flush_at = now + if flushed { rounds.flush_every } else { RETRY };
            if !flushed {
                // What could not be written is still there: come back without being called.
                inner.bell.ring();
            }
        }
        if rounds.head_lags && rounds.head_at <= now {
            // A failed sync is remembered and denies; a head that cannot be written is tried again, and until
            // then proves less, not something false.
            rounds.head_lags = !inner.publish_head_and_tell();
            rounds.head_at =
                now + if rounds.head_lags { rounds.head_every.max(RETRY) } else { rounds.head_every };
        }
        // After the sync, so that little is left to be synced until the next file has the log's name.
        if rounds.rotate_at <= now && !inner.rotate_if_due(&mut rotation) {
            rounds.rotate_at = now + RETRY_ROTATION;
        }
    }
}

/// When to do what next.
struct Rounds {
    flush_every: Duration,
    flush_at: Instant,
    head_every: Duration,
    head_at: Instant,
    /// Lines were written after FILE.head.
    head_lags: bool,
    rotate_at: Instant,
}

impl Rounds {
    fn new(durability: Durability, interval: Duration) -> Self {
        let head_every = match durability {
            // These promise nothing about power cuts, so the one sync that FILE.head needs can be rare.
            Durability::None | Durability::Os => interval.max(LAZY_SYNC),
            Durability::Batched | Durability::Fsync => interval,
        };
        let now = Instant::now();
        Self {
            flush_every: interval,
            flush_at: now,
            head_every,
            head_at: now,
            head_lags: false,
            rotate_at: now,
        }
    }

    fn due(&self, Rung { rung, urgent }: Rung) -> Option<Instant> {
        if urgent {
            return Some(Instant::now());
        }
        let flush = rung.then_some(self.flush_at);
        let head = self.head_lags.then_some(self.head_at);
        [flush, head].into_iter().flatten().min()
    }
}

const LAZY_SYNC: Duration = Duration::from_secs(1);

/// After a write that failed. The next append tries at once; this is for entries that nobody waits for.
const RETRY: Duration = Duration::from_millis(500);

/// After a rotation that failed. The log goes on, so there is no hurry.
const RETRY_ROTATION: Duration = Duration::from_secs(5);
