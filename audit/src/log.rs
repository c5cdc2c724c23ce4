//! The log: what a process holds to have its decisions written.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::Mutex;

use crate::appender::{Appender, Pending};
use crate::bell::Bell;
use crate::durable::Durable;
use crate::head_file::HeadFile;
use crate::queue::Caller;
use crate::render::{Close, Line};
use crate::{AppendError, Durability, Entry, Fault, Head, Key, Micros, OpenError, opening, syncer};

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

/// An open log. Made to be shared (`Arc<Log>`); all methods may be called from many threads.
///
/// Dropping it writes what is queued, but no `close` line: that is what [`Log::close`] is for.
pub struct Log {
    inner: Arc<Inner>,
    syncer: Mutex<Option<JoinHandle<()>>>,
}

/// What the log and its syncing thread share.
pub(crate) struct Inner {
    path: PathBuf,
    pub(crate) durability: Durability,
    pub(crate) sync_interval: Duration,
    /// The sequence number of this process's `open` line.
    opened: u64,
    pending: Mutex<Pending>,
    appender: Mutex<Appender>,
    durable: Durable,
    head_file: HeadFile,
    pub(crate) bell: Bell,
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
        let head = started.chain.head();
        let inner = Arc::new(Inner {
            path: options.path,
            durability: options.durability,
            sync_interval: options.sync_interval.clamp(MIN_SYNC_INTERVAL, MAX_SYNC_INTERVAL),
            opened: started.opened,
            pending: Mutex::new(Pending::new(head.seq.saturating_add(1))),
            appender: Mutex::new(Appender::new(started.chain, started.log_file)),
            durable: Durable::new(started.file, head.seq),
            head_file: started.head_file,
            bell: Bell::default(),
        });
        let shared = Arc::clone(&inner);
        let thread = thread::Builder::new()
            .name("audit-sync".to_owned())
            .spawn(move || syncer::run(&shared))
            .map_err(|source| OpenError::Io {
                path: inner.path.clone(),
                action: "cannot start a thread to sync",
                source,
            })?;
        let opened =
            Opened { head, after: started.after, resumed: started.resumed, torn_bytes: started.torn_bytes };
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
        let inner = &*self.inner;
        let line = Line::Entry(entry);
        inner.durable.check().map_err(|fault| inner.sync_error(fault))?;
        let seq = match inner.durability {
            Durability::None => inner.queue(now, &line)?,
            Durability::Os | Durability::Batched => inner.write(now, &line)?,
            Durability::Fsync => {
                let seq = inner.write(now, &line)?;
                inner.durable.reach(seq).map_err(|fault| inner.sync_error(fault))?;
                seq
            }
        };
        Ok(Receipt { seq })
    }

    /// Queues an entry that nobody waits for: it is written with the next append, or within the sync
    /// interval, and is kept until then even while the disk is full.
    ///
    /// # Errors
    /// The entry was not queued. That the file takes nothing shows at the next [`Log::append`], not here.
    pub fn append_unawaited(&self, now: Micros, entry: &Entry<'_>) -> Result<(), AppendError> {
        let inner = &*self.inner;
        let queued_bytes = inner.push_kept(&mut inner.pending.lock(), now, &Line::Entry(entry))?;
        inner.relieve(queued_bytes);
        inner.bell.ring();
        Ok(())
    }

    /// The last line that was written.
    #[must_use]
    pub fn head(&self) -> Head {
        self.inner.appender.lock().head()
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
        inner.durable.check().map_err(|fault| inner.sync_error(fault))?;
        Ok(self.head())
    }

    fn stop_syncer(&self) {
        self.inner.bell.stop();
        if let Some(thread) = self.syncer.lock().take() {
            // A panic of that thread was reported by the panic hook.
            let _ = thread.join();
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.stop_syncer();
        if self.inner.flush().is_ok() {
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

impl Inner {
    /// Writes all that is queued.
    pub(crate) fn flush(&self) -> Result<(), Fault> {
        let mut appender = self.appender.lock();
        let drained = appender.drain(&self.pending);
        self.durable.written(appender.head().seq);
        drained
    }

    /// Syncs the log, then writes FILE.head.
    pub(crate) fn publish_head(&self) -> Result<(), Fault> {
        let head = self.appender.lock().head();
        self.durable.reach(head.seq)?;
        self.head_file.write(head).map_err(|error| Fault::from(&error))
    }

    /// Returns when write(2) of the line has: by this thread, with everybody's pending entries, or by another
    /// one that was at it.
    fn write(&self, now: Micros, line: &Line<'_>) -> Result<u64, AppendError> {
        let ticket = self.pending.lock().push(now, line, Caller::Waits)?;
        self.write_ticket(ticket)
    }

    fn write_ticket(&self, ticket: u64) -> Result<u64, AppendError> {
        let mut appender = self.appender.lock();
        let outcome = match appender.claim(ticket) {
            Some(outcome) => outcome,
            None => {
                let outcome = appender.drain_with(&self.pending, ticket);
                self.durable.written(appender.head().seq);
                outcome
            }
        };
        drop(appender);
        self.bell.ring();
        outcome.map_err(|fault| self.write_error(fault))
    }

    /// Takes a line without writing it. All entries of such a log are kept until they are written, in order,
    /// so its sequence number is known now.
    fn queue(&self, now: Micros, line: &Line<'_>) -> Result<u64, AppendError> {
        let mut pending = self.pending.lock();
        if pending.backlog_bytes > 0 {
            // The last write failed: nothing more is promised until one succeeds.
            drop(pending);
            self.flush().map_err(|fault| self.write_error(fault))?;
            pending = self.pending.lock();
        }
        let seq = pending.next_seq;
        let queued_bytes = self.push_kept(&mut pending, now, line)?;
        drop(pending);
        self.relieve(queued_bytes);
        self.bell.ring();
        Ok(seq)
    }

    /// Takes a line that is kept until it is written; the queue's size.
    fn push_kept(&self, pending: &mut Pending, now: Micros, line: &Line<'_>) -> Result<usize, AppendError> {
        if !pending.has_room() {
            return Err(AppendError::QueueFull { path: self.path.clone() });
        }
        pending.push(now, line, Caller::HasGone)?;
        Ok(pending.queue.bytes())
    }

    /// Writes a long queue. Who makes it too long waits for it, so that nobody queues faster than the file
    /// takes.
    fn relieve(&self, queued_bytes: usize) {
        let appender = match queued_bytes {
            0..LONG_QUEUE_BYTES => None,
            LONG_QUEUE_BYTES..TOO_LONG_QUEUE_BYTES => self.appender.try_lock(),
            TOO_LONG_QUEUE_BYTES.. => Some(self.appender.lock()),
        };
        if let Some(mut appender) = appender {
            // An error shows at the next append.
            let _ = appender.drain(&self.pending);
            self.durable.written(appender.head().seq);
        }
    }

    fn close(&self, now: Micros) -> Result<(), AppendError> {
        let line = Line::Close(Close { opened: self.opened });
        let ticket = {
            let mut pending = self.pending.lock();
            let ticket = pending.push(now, &line, Caller::Waits);
            pending.closed = true;
            ticket?
        };
        let seq = self.write_ticket(ticket)?;
        self.durable.reach(seq).map_err(|fault| self.sync_error(fault))
    }

    fn write_error(&self, fault: Fault) -> AppendError {
        AppendError::Write { path: self.path.clone(), fault }
    }

    fn sync_error(&self, fault: Fault) -> AppendError {
        AppendError::Sync { path: self.path.clone(), fault }
    }
}

const MIN_SYNC_INTERVAL: Duration = Duration::from_millis(1);
const MAX_SYNC_INTERVAL: Duration = Duration::from_secs(3600);

/// A queue of entries that nobody waits for is written by the one who makes it longer than this, if nobody is
/// at it.
const LONG_QUEUE_BYTES: usize = 64 * 1024;
const TOO_LONG_QUEUE_BYTES: usize = 1024 * 1024;
