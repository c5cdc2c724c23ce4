//! What all clients have met, in numbers, and each thing that is not right in words.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) sessions: AtomicU64,
    pub(crate) statements: AtomicU64,
    pub(crate) rows: AtomicU64,
    pub(crate) denied: AtomicU64,
    wrong: Mutex<Vec<String>>,
    protocol: Mutex<Vec<String>>,
    faults: Mutex<Vec<Fault>>,
}

/// An error that was not asked for.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) at: SystemTime,
    /// An SQLSTATE; `closed` where the connection ended without one.
    pub(crate) code: String,
    pub(crate) text: String,
}

impl Tally {
    /// A row or an answer that is not the asker's.
    pub(crate) fn wrong(&self, what: String) {
        lock(&self.wrong).push(what);
    }

    /// An answer that no server gives.
    pub(crate) fn protocol(&self, what: String) {
        lock(&self.protocol).push(what);
    }

    pub(crate) fn fault(&self, at: SystemTime, code: &str, text: String) {
        lock(&self.faults).push(Fault { at, code: code.to_owned(), text });
    }

    pub(crate) fn wrongs(&self) -> Vec<String> {
        lock(&self.wrong).clone()
    }

    pub(crate) fn protocols(&self) -> Vec<String> {
        lock(&self.protocol).clone()
    }

    pub(crate) fn faults(&self) -> Vec<Fault> {
        lock(&self.faults).clone()
    }

    pub(crate) fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
