//! How appenders wake the syncing thread: a flag that is nearly always up already, and a condition variable
//! for the one time in an interval when it is not.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

/// Rung by everybody who appended.
#[derive(Default)]
pub(crate) struct Bell {
    rung: AtomicBool,
    stop: Mutex<bool>,
    moved: Condvar,
}

/// Why the thread woke up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    Due,
    Stop,
}

impl Bell {
    /// There is something to flush or to sync. A system call only where the thread sleeps with nothing to do.
    pub(crate) fn ring(&self) {
        // Swaps on both sides: whoever finds the flag up knows that the thread, when it takes the flag down,
        // sees what was queued before.
        if !self.rung.swap(true, Ordering::AcqRel) {
            // The lock, so that the thread is either before its look at the flag or already waiting.
            drop(self.stop.lock());
            self.moved.notify_one();
        }
    }

    /// Takes the flag down; whether it was up.
    pub(crate) fn answer(&self) -> bool {
        self.rung.swap(false, Ordering::AcqRel)
    }

    pub(crate) fn stop(&self) {
        *self.stop.lock() = true;
        self.moved.notify_one();
    }

    /// Waits until the moment that `due` names for a bell that has rung or has not; `None` is never.
    pub(crate) fn wait(&self, due: impl Fn(bool) -> Option<Instant>) -> Woken {
        let mut stop = self.stop.lock();
        loop {
            if *stop {
                return Woken::Stop;
            }
            match due(self.rung.load(Ordering::Acquire)) {
                None => self.moved.wait(&mut stop),
                Some(at) if at <= Instant::now() => return Woken::Due,
                Some(at) => {
                    self.moved.wait_until(&mut stop, at);
                }
            }
        }
    }
}
