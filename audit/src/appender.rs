//! The appender: who holds it chains and writes everybody's pending entries in one write(2).
//!
//! Lock order: the appender, then the pending entries or what was made durable, never the other way round.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::chain::Chain;
use crate::durable::Durable;
use crate::head::Head;
use crate::log_file::LogFile;
use crate::queue::{Caller, KEPT_BYTES, MAX_QUEUE_BYTES, Queue, Rendered};
use crate::render::{Line, Open, VERSION};
use crate::{AppendError, Durability, Fault, Micros, fresh};

/// What is behind the appender's mutex.
pub(crate) struct Appender {
    pub(crate) chain: Chain,
    pub(crate) file: LogFile,
    pub(crate) span: Span,
    pub(crate) durability: Durability,
    pub(crate) durable: Arc<Durable>,
    /// Entries of failed writes whose callers have gone: written before all others.
    backlog: Queue,
    /// Empty between two drains; its buffers are used again.
    taken: Queue,
    lines: Vec<u8>,
    /// Writes that others of whom are still to learn of.
    settled: VecDeque<Batch>,
    /// A new file was begun after this line, and nobody was told yet.
    pub(crate) begun_after: Option<Head>,
}

/// What is behind the mutex that everybody who appends takes first.
pub(crate) struct Pending {
    pub(crate) queue: Queue,
    /// The sequence number of the next entry, right only where all entries are kept until they are written.
    pub(crate) next_seq: u64,
    /// The size of the backlog: not zero while the file takes nothing and somebody's entry was kept.
    pub(crate) backlog_bytes: usize,
    pub(crate) closed: bool,
}

impl Pending {
    pub(crate) fn new(next_seq: u64) -> Self {
        Self { queue: Queue::default(), next_seq, backlog_bytes: 0, closed: false }
    }

    /// Takes an entry; its ticket.
    pub(crate) fn push(
        &mut self,
        now: Micros,
        line: Rendered<'_>,
        caller: Caller,
    ) -> Result<u64, AppendError> {
        if self.closed {
            return Err(AppendError::Closed);
        }
        let ticket = self.queue.push(now, line, caller)?;
        self.next_seq = self.next_seq.saturating_add(1);
        Ok(ticket)
    }

    /// Whether there is room for an entry that may have to be kept for long.
    pub(crate) const fn has_room(&self) -> bool {
        self.queue.bytes().saturating_add(self.backlog_bytes) < MAX_QUEUE_BYTES
    }
}

/// What the file that is open holds.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    /// Its first line's time.
    pub(crate) first: Micros,
    /// Its last line's time.
    pub(crate) last: Micros,
    /// The last line that says nothing but that it was opened.
    pub(crate) opening_seq: u64,
}

/// The outcome of one write: for each ticket a sequence number, or for all of them a fault.
struct Batch {
    first_ticket: u64,
    end_ticket: u64,
    unclaimed: usize,
    outcome: Result<u64, Fault>,
}

impl Appender {
    pub(crate) fn new(
        chain: Chain,
        file: LogFile,
        span: Span,
        durability: Durability,
        durable: Arc<Durable>,
    ) -> Self {
        Self {
            chain,
            file,
            span,
            durability,
            durable,
            backlog: Queue::default(),
            taken: Queue::default(),
            lines: Vec::new(),
            settled: VecDeque::new(),
            begun_after: None,
        }
    }

    /// The last line that was written.
    pub(crate) const fn head(&self) -> Head {
        self.chain.head()
    }

    /// The outcome of an entry that somebody else wrote; none where it is still pending.
    pub(crate) fn claim(&mut self, ticket: u64) -> Option<Result<u64, Fault>> {
        let at =
            self.settled.iter().position(|batch| (batch.first_ticket..batch.end_ticket).contains(&ticket))?;
        let batch = self.settled.get_mut(at)?;
        let outcome = batch.of(ticket);
        batch.unclaimed = batch.unclaimed.saturating_sub(1);
        if batch.unclaimed == 0 {
            self.settled.remove(at);
        }
        Some(outcome)
    }

    /// Writes all that is pending; the outcome of the entry `mine`, which must be pending.
    pub(crate) fn drain_with(&mut self, pending: &Mutex<Pending>, mine: u64) -> Result<u64, Fault> {
        let mut batch = self.write(pending);
        batch.unclaimed = batch.unclaimed.saturating_sub(1);
        let outcome = batch.of(mine);
        self.settle(batch);
        outcome
    }

    /// Writes all that is pending, for nobody in particular.
    pub(crate) fn drain(&mut self, pending: &Mutex<Pending>) -> Result<(), Fault> {
        let batch = self.write(pending);
        let outcome = batch.outcome.map(|_| ());
        self.settle(batch);
        outcome
    }

    fn settle(&mut self, batch: Batch) {
        if batch.unclaimed > 0 {
            self.settled.push_back(batch);
        }
    }

    fn write(&mut self, pending: &Mutex<Pending>) -> Batch {
        pending.lock().queue.hand_over(&mut self.taken);
        let begun = self.begin_anew(pending);
        let Self { chain, file, backlog, taken, lines, span, .. } = self;
        let before = chain.head();
        lines.clear();
        let mut last = span.last;
        for (record, body) in backlog.iter().chain(taken.iter()) {
            chain.seal(lines, record.time, record.kind, body);
            last = record.time;
        }
        let first_seq = before.seq.saturating_add(backlog.count()).saturating_add(1);
        let was_behind = !backlog.is_empty();
        let written = match begun {
            Ok(()) if lines.is_empty() => Ok(()),
            Ok(()) => file.append(lines),
            Err(fault) => Err(fault),
        };
        match written {
            Ok(()) => {
                backlog.clear();
                span.last = last;
                self.durable.written(chain.head().seq);
            }
            Err(_) => {
                chain.rewind(before);
                backlog.keep_from(taken);
            }
        }
        if was_behind || written.is_err() {
            pending.lock().backlog_bytes = backlog.bytes();
        }
        let batch = Batch {
            first_ticket: taken.first(),
            end_ticket: taken.end(),
            unclaimed: taken.waiting(),
            outcome: written.map(|()| first_seq),
        };
        taken.clear();
        lines.clear();
        lines.shrink_to(KEPT_BYTES);
        batch
    }

    /// Where the log was taken away from under its name: begins a new file, whose first line names the last
    /// one of the file that is gone.
    fn begin_anew(&mut self, pending: &Mutex<Pending>) -> Result<(), Fault> {
        if !self.file.is_lost() {
            return Ok(());
        }
        // Looked at first, so that a file that was changed and not taken away is not told as another one's.
        self.file.still_in_the_way()?;
        let (before, time) = (self.chain.head(), self.span.last);
        let mut lines = Vec::new();
        self.seal_open(&mut lines, time);
        let path = self.file.path().to_owned();
        let head = self.chain.head();
        match fresh::in_place(&path, &lines) {
            Ok(next) => {
                self.durable.go_on_with(Arc::clone(&next), head.seq);
                let len = u64::try_from(lines.len()).unwrap_or(u64::MAX);
                self.go_on_in(LogFile::new(path, next, len), time);
                self.begun_after = Some(before);
                // Where entries are only queued, those that are have been told a number less than they get.
                let mut pending = pending.lock();
                pending.next_seq = pending.next_seq.saturating_add(1);
                Ok(())
            }
            Err(fault) => {
                self.chain.rewind(before);
                Err(fault)
            }
        }
    }

    /// The first line of a file that goes on with the chain.
    pub(crate) fn seal_open(&mut self, lines: &mut Vec<u8>, time: Micros) {
        let key = self.chain.key_id().map(ToOwned::to_owned);
        let after = Some(self.chain.head());
        let durability = self.durability;
        let open =
            Line::Open(Open { resumed: false, after, key: key.as_deref(), durability, version: VERSION });
        self.seal(lines, time, &open);
    }

    pub(crate) fn seal(&mut self, lines: &mut Vec<u8>, time: Micros, line: &Line<'_>) {
        let mut body = Vec::new();
        line.render(&mut body);
        self.chain.seal(lines, time, line.kind(), &body);
    }

    /// `next` has one line, the chain's last.
    pub(crate) fn go_on_in(&mut self, next: LogFile, time: Micros) {
        self.file = next;
        self.span = Span { first: time, last: time, opening_seq: self.chain.head().seq };
    }
}

impl Batch {
    fn of(&self, ticket: u64) -> Result<u64, Fault> {
        self.outcome.map(|first| first.saturating_add(ticket.saturating_sub(self.first_ticket)))
    }
}
