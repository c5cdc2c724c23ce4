//! What a log tells about itself, each once when it changes: for the operator's log, not for the chain.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::{AppendError, Fault, Head, RotateError};

/// Something has changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Change<'a> {
    /// Entries are not taken any more; what waits for them is denied.
    Failing(&'a AppendError),
    /// Entries are taken again.
    Taking {
        /// How many were not, in between, and what waited for them was denied.
        refused: u64,
        /// How many that nobody waited for are missing from the log: there was no room to keep them.
        lost: u64,
    },
    /// The log was removed or moved away, and a new file goes on with the chain.
    BegunAnew {
        /// The last line before it, in the file that is gone.
        after: Head,
    },
    /// A file is finished, and a new one goes on with the chain.
    Rotated {
        /// The finished file.
        file: &'a Path,
        /// Its last line.
        head: Head,
    },
    /// The file is due for rotation and stays in use, since it cannot be rotated.
    NotRotating(&'a RotateError),
    /// FILE.head cannot be written: it lags behind the log.
    HeadLags(Fault),
    /// FILE.head is written again.
    HeadFollows,
    /// A sync took longer than [`SLOW_SYNC`].
    SlowSync(Duration),
    /// Syncs are fast again.
    FastSync,
}

/// Who is told.
#[derive(Clone)]
pub struct Watch(Arc<dyn Fn(&Change<'_>) + Send + Sync>);

impl Watch {
    /// `tell` is called by whoever noticed, with no lock held; it must not append.
    pub fn new(tell: impl Fn(&Change<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(crate) fn tell(&self, change: &Change<'_>) {
        (self.0)(change);
    }
}

impl Default for Watch {
    /// Nobody.
    fn default() -> Self {
        Self::new(|_| {})
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch(..)")
    }
}

/// Whether a log takes entries, as last told.
#[derive(Default)]
pub(crate) struct Taking {
    fails: AtomicBool,
    refused: AtomicU64,
    lost: AtomicU64,
}

/// Whose outcome is noted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    /// An entry's that somebody waits for.
    Awaited,
    /// An entry's that nobody waits for.
    Unawaited,
    /// The file's.
    File,
}

impl Taking {
    pub(crate) fn takes(&self) -> bool {
        !self.fails.load(Ordering::Relaxed)
    }

    /// How many entries that somebody waited for were not taken since it last told so.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Notes how an entry fared, and tells when that is news.
    pub(crate) fn note(&self, watch: &Watch, of: Of, outcome: Result<(), &AppendError>) {
        let error = match outcome {
            // Says nothing about the file.
            Err(AppendError::TooLong { .. } | AppendError::Closed) => return,
            Err(
                error
                @ (AppendError::Write { .. } | AppendError::Sync { .. } | AppendError::QueueFull { .. }),
            ) => error,
            Ok(()) => {
                if self.fails.load(Ordering::Relaxed) && self.fails.swap(false, Ordering::AcqRel) {
                    let taken = |count: &AtomicU64| count.swap(0, Ordering::AcqRel);
                    watch.tell(&Change::Taking { refused: taken(&self.refused), lost: taken(&self.lost) });
                }
                return;
            }
        };
        match of {
            Of::Awaited => drop(self.refused.fetch_add(1, Ordering::AcqRel)),
            Of::Unawaited => drop(self.lost.fetch_add(1, Ordering::AcqRel)),
            Of::File => {}
        }
        if !self.fails.swap(true, Ordering::AcqRel) {
            watch.tell(&Change::Failing(error));
        }
    }
}

/// What lags behind the entries, as last told. Written by the syncing thread alone.
#[derive(Default)]
pub(crate) struct Lag {
    slow: AtomicBool,
    head: AtomicBool,
    rotation: AtomicBool,
}

impl Lag {
    pub(crate) fn note(&self, watch: &Watch, took: Duration, limit: Duration) {
        match (took >= limit, self.slow.swap(took >= limit, Ordering::AcqRel)) {
            (true, false) => watch.tell(&Change::SlowSync(took)),
            (false, true) => watch.tell(&Change::FastSync),
            (true, true) | (false, false) => {}
        }
    }

    pub(crate) fn note_head(&self, watch: &Watch, fault: Option<Fault>) {
        match (fault, self.head.swap(fault.is_some(), Ordering::AcqRel)) {
            (Some(fault), false) => watch.tell(&Change::HeadLags(fault)),
            (None, true) => watch.tell(&Change::HeadFollows),
            (Some(_), true) | (None, false) => {}
        }
    }

    pub(crate) fn rotates(&self) {
        self.rotation.store(false, Ordering::Release);
    }

    pub(crate) fn does_not_rotate(&self, watch: &Watch, error: &RotateError) {
        if !self.rotation.swap(true, Ordering::AcqRel) {
            watch.tell(&Change::NotRotating(error));
        }
    }
}

/// What a sync may take before it is told.
pub const SLOW_SYNC: Duration = Duration::from_secs(1);
