//! What a log and its syncing thread share: the pending entries, the appender, what was made durable.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use crate::appender::{Appender, Pending};
use crate::bell::Bell;
use crate::digest::Digest;
use crate::durable::Durable;
use crate::head_file::HeadFile;
use crate::opening::Started;
use crate::queue::{Caller, KEPT_BYTES, Rendered};
use crate::render::{Close, Line};
use crate::watch::{Lag, Of, SLOW_SYNC, Taking};
use crate::{AppendError, Change, Durability, Fault, Hash, Head, LogStats, Micros, Options, Rotation, Watch};

/// See above.
pub(crate) struct Inner {
    pub(crate) path: PathBuf,
    pub(crate) durability: Durability,
    pub(crate) sync_interval: Duration,
    pub(crate) rotation: Rotation,
    pub(crate) watch: Watch,
    taking: Taking,
    pub(crate) lag: Lag,
    digest: Digest,
    /// The sequence number of this process's `open` line.
    opened: u64,
    pending: Mutex<Pending>,
    pub(crate) appender: Mutex<Appender>,
    pub(crate) durable: Arc<Durable>,
    head_file: HeadFile,
    pub(crate) bell: Bell,
}

impl Inner {
    pub(crate) fn new(options: Options, started: Started) -> Self {
        let Started { log_file, head_file, chain, span, opened, .. } = started;
        let head = chain.head();
        let durable = Arc::new(Durable::new(Arc::clone(log_file.file()), head.seq));
        let appender = Appender::new(chain, log_file, span, options.durability, Arc::clone(&durable));
        Self {
            path: options.path,
            durability: options.durability,
            sync_interval: options.sync_interval.clamp(MIN_SYNC_INTERVAL, MAX_SYNC_INTERVAL),
            rotation: options.rotation,
            watch: options.watch,
            taking: Taking::default(),
            lag: Lag::default(),
            digest: Digest::new(options.key.as_ref()),
            opened,
            pending: Mutex::new(Pending::new(head.seq.saturating_add(1))),
            appender: Mutex::new(appender),
            durable,
            head_file,
            bell: Bell::default(),
        }
    }

    /// Takes an entry as far as write(2), or as far as the queue where the log only queues.
    pub(crate) fn take(&self, now: Micros, line: &Line<'_>) -> Result<u64, AppendError> {
        let taken = self.durable.check().map_err(|fault| self.sync_error(fault)).and_then(|()| {
            match self.durability {
                Durability::None => self.queue(now, line),
                Durability::Os | Durability::Batched | Durability::Fsync => self.write(now, line),
            }
        });
        self.taking.note(&self.watch, Of::Awaited, taken.as_ref().map(|_| ()));
        taken
    }

    /// Returns when the promise of the log's durability holds for a line that was taken.
    pub(crate) fn settle(&self, seq: u64) -> Result<(), AppendError> {
        match self.durability {
            Durability::None | Durability::Os | Durability::Batched => Ok(()),
            Durability::Fsync => self.settled(self.durable.reach(seq)),
        }
    }

    /// Ready when it holds; the syncing thread sees to that.
    pub(crate) fn poll_settle(&self, seq: u64, cx: &Context<'_>) -> Poll<Result<(), AppendError>> {
        match self.durability {
            Durability::None | Durability::Os | Durability::Batched => Poll::Ready(Ok(())),
            Durability::Fsync => {
                let reached = self.durable.poll_reach(seq, cx).map(|reached| self.settled(reached));
                if reached.is_pending() {
                    self.bell.call();
                }
                reached
            }
        }
    }

    /// Takes an entry that nobody waits for.
    pub(crate) fn take_unawaited(&self, now: Micros, line: &Line<'_>) -> Result<(), AppendError> {
        let queued = with_rendered(line, |line| self.push_kept(&mut self.pending.lock(), now, line));
        if let Err(error) = &queued {
            self.taking.note(&self.watch, Of::Unawaited, Err(error));
        }
        self.relieve(queued?);
        self.bell.ring();
        Ok(())
    }

    pub(crate) fn fingerprint(&self, bytes: &[u8]) -> Hash {
        // No line begins like this, so no fingerprint is a line's hash.
        self.digest.of(&[FINGERPRINT_OF, bytes].concat())
    }

    pub(crate) fn head(&self) -> Head {
        self.appender.lock().head()
    }

    pub(crate) fn stats(&self) -> LogStats {
        let head = self.head();
        let (queued, queued_bytes) = {
            let pending = self.pending.lock();
            (pending.queue.count(), pending.queue.bytes().saturating_add(pending.backlog_bytes))
        };
        LogStats {
            head,
            synced_seq: self.durable.synced_seq(),
            queued,
            queued_bytes,
            takes: self.taking.takes(),
            refused: self.taking.refused(),
        }
    }

    /// Syncs whatever was written, for those who wait.
    pub(crate) fn sync_written(&self) {
        let head = self.head();
        let begun = Instant::now();
        // Who waits learns of a fault; so does everybody else.
        let _ = self.settled(self.durable.reach(head.seq));
        self.lag.note(&self.watch, begun.elapsed(), SLOW_SYNC);
    }

    /// Writes all that is queued, after a look whether the log still has its name; whether that went well.
    pub(crate) fn look_and_flush(&self) -> bool {
        let mut appender = self.appender.lock();
        appender.file.look();
        let drained = appender.drain(&self.pending);
        let begun_after = appender.begun_after.take();
        drop(appender);
        self.tell_begun(begun_after);
        match drained {
            Ok(()) => true,
            Err(fault) => {
                self.taking.note(&self.watch, Of::File, Err(&self.write_error(fault)));
                false
            }
        }
    }

    /// Writes all that is queued.
    pub(crate) fn flush(&self) -> Result<(), Fault> {
        self.appender.lock().drain(&self.pending)
    }

    /// Syncs the log, then writes FILE.head.
    pub(crate) fn publish_head(&self) -> Result<(), Fault> {
        let head = self.head();
        self.durable.reach(head.seq)?;
        self.head_file.write(head).map_err(|error| Fault::from(&error))
    }

    /// The same for the syncing thread; whether it went well.
    pub(crate) fn publish_head_and_tell(&self) -> bool {
        let begun = Instant::now();
        let published = self.publish_head();
        self.lag.note(&self.watch, begun.elapsed(), SLOW_SYNC);
        if let Err(fault) = self.durable.check() {
            self.taking.note(&self.watch, Of::File, Err(&self.sync_error(fault)));
        }
        self.lag.note_head(&self.watch, published.err());
        published.is_ok()
    }

    /// The queue, when all of it was written: numbers that were given to queued entries must not be given to lines
    /// of the log's own. None where others queue too fast, or where nothing can be written.
    pub(crate) fn emptied(&self, appender: &mut Appender) -> Option<MutexGuard<'_, Pending>> {
        for _ in 0..MAX_DRAINS {
            // An error shows at the next append.
            let _ = appender.drain(&self.pending);
            let pending = self.pending.lock();
            if pending.queue.is_empty() {
                return (pending.backlog_bytes == 0).then_some(pending);
            }
        }
        None
    }

    /// Returns when write(2) of the line has: by this thread, with everybody's pending entries, or by another
    /// one that was at it.
    fn write(&self, now: Micros, line: &Line<'_>) -> Result<u64, AppendError> {
        let ticket = with_rendered(line, |line| self.pending.lock().push(now, line, Caller::Waits))?;
        self.write_ticket(ticket)
    }

    fn write_ticket(&self, ticket: u64) -> Result<u64, AppendError> {
        let mut appender = self.appender.lock();
        let outcome = match appender.claim(ticket) {
            Some(outcome) => outcome,
            None => appender.drain_with(&self.pending, ticket),
        };
        let begun_after = appender.begun_after.take();
        drop(appender);
        self.tell_begun(begun_after);
        self.bell.ring();
        outcome.map_err(|fault| self.write_error(fault))
    }

    /// Takes a line without writing it. All entries of such a log are kept until they are written, in order,
    /// so its sequence number is known now.
    fn queue(&self, now: Micros, line: &Line<'_>) -> Result<u64, AppendError> {
        let behind = self.pending.lock().backlog_bytes > 0;
        if behind {
            // The last write failed: nothing more is promised until one succeeds.
            self.flush().map_err(|fault| self.write_error(fault))?;
        }
        let (seq, queued_bytes) = with_rendered(line, |line| {
            let mut pending = self.pending.lock();
            let seq = pending.next_seq;
            self.push_kept(&mut pending, now, line).map(|queued_bytes| (seq, queued_bytes))
        })?;
        self.relieve(queued_bytes);
        self.bell.ring();
        Ok(seq)
    }

    /// Takes a line that is kept until it is written; the queue's size.
    fn push_kept(
        &self,
        pending: &mut Pending,
        now: Micros,
        line: Rendered<'_>,
    ) -> Result<usize, AppendError> {
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
        }
    }

    pub(crate) fn close(&self, now: Micros) -> Result<(), AppendError> {
        let line = Line::Close(Close { opened: self.opened });
        let ticket = {
            let mut pending = self.pending.lock();
            let ticket = with_rendered(&line, |line| pending.push(now, line, Caller::Waits));
            pending.closed = true;
            ticket?
        };
        let seq = self.write_ticket(ticket)?;
        self.settled(self.durable.reach(seq))
    }

    /// A sync's outcome, for those who waited for it.
    fn settled(&self, reached: Result<(), Fault>) -> Result<(), AppendError> {
        let settled = reached.map_err(|fault| self.sync_error(fault));
        if let Err(error) = &settled {
            self.taking.note(&self.watch, Of::File, Err(error));
        }
        settled
    }

    fn tell_begun(&self, after: Option<Head>) {
        if let Some(after) = after {
            self.watch.tell(&Change::BegunAnew { after });
        }
    }

    fn write_error(&self, fault: Fault) -> AppendError {
        AppendError::Write { path: self.path.clone(), fault }
    }

    pub(crate) fn sync_error(&self, fault: Fault) -> AppendError {
        AppendError::Sync { path: self.path.clone(), fault }
    }
}

/// Renders a line into a buffer of this thread's, so that nobody waits for that.
fn with_rendered<T>(line: &Line<'_>, push: impl FnOnce(Rendered<'_>) -> T) -> T {
    RENDERED.with_borrow_mut(|body| {
        body.clear();
        line.render(body);
        let pushed = push(Rendered { kind: line.kind(), body });
        body.shrink_to(KEPT_BYTES);
        pushed
    })
}

thread_local! {
    static RENDERED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

const MIN_SYNC_INTERVAL: Duration = Duration::from_millis(1);
const MAX_SYNC_INTERVAL: Duration = Duration::from_secs(3600);

/// A queue of entries that nobody waits for is written by the one who makes it longer than this, if nobody is
/// at it.
const LONG_QUEUE_BYTES: usize = 64 * 1024;
const TOO_LONG_QUEUE_BYTES: usize = 1024 * 1024;
const FINGERPRINT_OF: &[u8] = b"pgmoat values ";

/// Tries to find the queue empty, once in a round.
const MAX_DRAINS: usize = 16;
