//! The log: what a process holds to have its decisions written.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::Mutex;

use crate::inner::Inner;
use crate::render::Line;
use crate::{
    AppendError, Durability, Entry, Hash, Head, Key, Micros, OpenError, Rotation, Watch, opening, syncer,
};

/// How a log is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// The log file. FILE.head and FILE.torn are made beside it.
    pub path: PathBuf,
    /// What an append that has returned survives.
    pub durability: Durability,
    /// The longest time between two fdatasync(2) while there is something to sync, and until an entry that
    /// nobody waits for is written. Taken as at least a millisecond and at most an hour.
    pub sync_interval: Duration,
    /// Makes each line's hash an HMAC-SHA-256. One key for the whole life of a file.
    pub key: Option<Key>,
    /// When a file is finished and the next one begun.
    pub rotation: Rotation,
    /// Who is told of changes in the log's state.
    pub watch: Watch,
}

impl Options {
    /// A log without a key, that is never rotated and whose state nobody is told.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, durability: Durability) -> Self {
        Self {
            path: path.into(),
            durability,
            sync_interval: DEFAULT_SYNC_INTERVAL,
            key: None,
            rotation: Rotation::default(),
            watch: Watch::default(),
        }
    }
}

/// What was found when a log was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The last line now: this opening's own.
    pub head: Head,
    /// The last line before this opening; none for the first file of a chain.
    pub after: Option<Head>,
    /// Whether the file had lines already. A new file with `after` goes on with the chain of one that was
    /// moved away.
    pub resumed: bool,
    /// The length of a torn line that was moved to FILE.torn; 0 for none.
    pub torn_bytes: u64,
}

/// Proof that an entry was taken, as far as the log's [`Durability`] promises.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a permit is made from this"]
pub struct Receipt {
    seq: u64,
}

impl Receipt {
    /// The sequence number of the entry's line.
    #[must_use]
    pub const fn seq(&self) -> u64 {
        self.seq
    }
}

/// An entry that was written and is not yet as durable as the log promises.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "what it permits waits for Log::poll_receipt"]
pub struct Written {
    seq: u64,
}

impl Written {
    /// The sequence number of the entry's line.
    #[must_use]
    pub const fn seq(&self) -> u64 {
        self.seq
    }
}

/// A log at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogStats {
    /// The last line that was written.
    pub head: Head,
    /// The last line that is known to survive a power cut.
    pub synced_seq: u64,
    /// Entries that are not written yet, without those that a full disk holds up.
    pub queued: u64,
    /// Their bytes, with those that a full disk holds up.
    pub queued_bytes: usize,
    /// Whether entries are taken, as last seen.
    pub takes: bool,
    /// Entries that somebody waited for and that were not taken, since it last took one.
    pub refused: u64,
}

/// An open log. Made to be shared (`Arc<Log>`); all methods may be called from many threads.
///
/// Dropping it writes what is queued, but no `close` line: that is what [`Log::close`] is for.
pub struct Log {
    inner: Arc<Inner>,
    syncer: Mutex<Option<JoinHandle<()>>>,
}

impl Log {
    /// Opens or makes a log: takes its lock, looks at its last line and at FILE.head, moves a torn last line
    /// to FILE.torn, writes an `open` line (and `recovered`), and syncs.
    ///
    /// # Errors
    /// Somebody else has the log, it is not a log of this key, FILE.head does not agree with it, or the
    /// system refuses.
    pub fn open(options: Options, now: Micros) -> Result<(Self, Opened), OpenError> {
        let started = opening::start(&options, now)?;
        let opened = Opened {
            head: started.chain.head(),
            after: started.after,
            resumed: started.resumed,
            torn_bytes: started.torn_bytes,
        };
        let inner = Arc::new(Inner::new(options, started));
        let shared = Arc::clone(&inner);
        let thread = thread::Builder::new()
            .name("audit-sync".to_owned())
            .spawn(move || syncer::run(&shared))
            .map_err(|source| OpenError::Io {
                path: inner.path.clone(),
                action: "cannot start a thread to sync",
                source,
            })?;
        Ok((Self { inner, syncer: Mutex::new(Some(thread)) }, opened))
    }

    /// Has an entry written, and returns when the promise of the log's [`Durability`] holds for it.
    ///
    /// Blocks for a write(2) into the page cache, and for fdatasync(2) with [`Durability::Fsync`]; never for
    /// another thread's wake-up. Does not allocate once its buffers have grown.
    ///
    /// # Errors
    /// The entry is not in the log, and what waited for it must be denied. After [`AppendError::Sync`] the
    /// log takes nothing more; after [`AppendError::Write`] the next append tries again.
    pub fn append(&self, now: Micros, entry: &Entry<'_>) -> Result<Receipt, AppendError> {
        let Written { seq } = self.write(now, entry)?;
        self.inner.settle(seq)?;
        Ok(Receipt { seq })
    }

    /// Has an entry written, and returns when write(2) has; what it permits must wait for
    /// [`Log::poll_receipt`]. So many that wait share one fdatasync(2), and none of them blocks its thread.
    ///
    /// # Errors
    /// As [`Log::append`].
    pub fn write(&self, now: Micros, entry: &Entry<'_>) -> Result<Written, AppendError> {
        self.inner.take(now, &Line::Entry(entry)).map(|seq| Written { seq })
    }

    /// Has an entry written that permits nothing by itself (a login, a refusal): whatever comes behind it in the
    /// chain is durable only with it. Blocks for a write(2) alone; it is durable within the sync interval.
    ///
    /// # Errors
    /// As [`Log::append`].
    pub fn enter(&self, now: Micros, entry: &Entry<'_>) -> Result<(), AppendError> {
        self.write(now, entry).map(|_written| ())
    }

    /// Ready when the promise of the log's [`Durability`] holds for a written entry: at once, but for
    /// [`Durability::Fsync`].
    ///
    /// # Errors
    /// [`AppendError::Sync`]; what waited must be denied.
    pub fn poll_receipt(&self, written: &Written, cx: &Context<'_>) -> Poll<Result<Receipt, AppendError>> {
        let seq = written.seq;
        self.inner.poll_settle(seq, cx).map_ok(|()| Receipt { seq })
    }

    /// Whether a written entry has to be waited for at all.
    #[must_use]
    pub fn has_receipts_later(&self) -> bool {
        match self.inner.durability {
            Durability::None | Durability::Os | Durability::Batched => false,
            Durability::Fsync => true,
        }
    }

    /// Queues an entry that nobody waits for: it is written with the next append, or within the sync
    /// interval, and is kept until then even while the disk is full.
    ///
    /// # Errors
    /// The entry was not queued. That the file takes nothing shows at the next [`Log::append`], not here.
    pub fn append_unawaited(&self, now: Micros, entry: &Entry<'_>) -> Result<(), AppendError> {
        self.inner.take_unawaited(now, &Line::Entry(entry))
    }

    /// A fingerprint of values that are not to be written themselves, made as the lines' hashes are: with the log's
    /// key, if it has one, nobody without it can try values out.
    #[must_use]
    pub fn fingerprint(&self, bytes: &[u8]) -> Hash {
        self.inner.fingerprint(bytes)
    }

    /// The last line that was written.
    #[must_use]
    pub fn head(&self) -> Head {
        self.inner.head()
    }

    /// How it stands.
    #[must_use]
    pub fn stats(&self) -> LogStats {
        self.inner.stats()
    }

    /// Writes what is queued and a `close` line, syncs, writes FILE.head; that head. Every later append is
    /// [`AppendError::Closed`].
    ///
    /// # Errors
    /// The line was not written or not synced; the log is closed all the same, as after a crash.
    pub fn close(&self, now: Micros) -> Result<Head, AppendError> {
        let inner = &*self.inner;
        let closed = inner.close(now);
        self.stop_syncer();
        closed?;
        // FILE.head is a by-product: that it could not be written does not make the log any less closed.
        let _ = inner.publish_head();
        Ok(self.head())
    }

    /// False if it was stopped before.
    fn stop_syncer(&self) -> bool {
        self.inner.bell.stop();
        let Some(thread) = self.syncer.lock().take() else { return false };
        // A panic of that thread was reported by the panic hook.
        let _ = thread.join();
        true
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if self.stop_syncer() && self.inner.flush().is_ok() {
            let _ = self.inner.publish_head();
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log")
            .field("path", &self.inner.path)
            .field("durability", &self.inner.durability)
            .finish_non_exhaustive()
    }
}

const DEFAULT_SYNC_INTERVAL: Duration = Duration::from_millis(50);
