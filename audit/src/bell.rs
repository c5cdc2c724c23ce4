//! How appenders wake the syncing thread: flags that are nearly always up already, and a condition variable
//! for the one time in an interval when they are not.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

/// Rung by everybody who appended.
#[derive(Default)]
pub(crate) struct Bell {
    rung: AtomicBool,
    urgent: AtomicBool,
    stop: Mutex<bool>,
    moved: Condvar,
}

/// What a bell has said and was not answered yet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rung {
    /// There is something to flush or to sync in the thread's own time.
    pub(crate) rung: bool,
    /// Somebody waits for a sync.
    pub(crate) urgent: bool,
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
        self.raise(&self.rung);
    }

    /// Somebody waits for a sync.
    pub(crate) fn call(&self) {
        self.raise(&self.urgent);
    }

    /// Takes the flag of [`Bell::ring`] down; whether it was up.
    pub(crate) fn answer(&self) -> bool {
        self.rung.swap(false, Ordering::AcqRel)
    }

    /// Takes the flag of [`Bell::call`] down; whether it was up.
    pub(crate) fn answer_call(&self) -> bool {
        self.urgent.swap(false, Ordering::AcqRel)
    }

    pub(crate) fn stop(&self) {
        *self.stop.lock() = true;
        self.moved.notify_one();
    }

    /// Waits until the moment that `due` names; `None` is never.
    pub(crate) fn wait(&self, due: impl Fn(Rung) -> Option<Instant>) -> Woken {
        let mut stop = self.stop.lock();
        loop {
            if *stop {
                return Woken::Stop;
            }
            let rung = self.rung.load(Ordering::Acquire);
            match due(Rung { rung, urgent: self.urgent.load(Ordering::Acquire) }) {
                None => self.moved.wait(&mut stop),
                Some(at) if at <= Instant::now() => return Woken::Due,
                Some(at) => {
                    self.moved.wait_until(&mut stop, at);
                }
            }
        }
    }

    fn raise(&self, flag: &AtomicBool) {
        // Swaps on both sides: whoever finds the flag up knows that the thread, when it takes the flag down,
        // sees what was queued before.
        // A flag that is found up by a look alone says the same: a lock lies between what was queued and what the thread
        // takes, so its swap is seen by whoever queued too late for it.
        if !flag.load(Ordering::Acquire) && !flag.swap(true, Ordering::AcqRel) {
            // The lock, so that the thread is either before its look at the flag or already waiting.
            drop(self.stop.lock());
            self.moved.notify_one();
        }
    }
}
