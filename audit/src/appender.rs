//! The appender: who holds it chains and writes everybody's pending entries in one write(2).
//!
//! Lock order: the appender, then the pending entries, never the other way round.

use std::collections::VecDeque;

use parking_lot::Mutex;

use crate::chain::Chain;
use crate::head::Head;
use crate::log_file::LogFile;
use crate::queue::{Caller, KEPT_BYTES, MAX_QUEUE_BYTES, Queue};
use crate::render::Line;
use crate::{AppendError, Fault, Micros};

/// What is behind the appender's mutex.
pub(crate) struct Appender {
    chain: Chain,
    file: LogFile,
    /// Entries of failed writes whose callers have gone: written before all others.
    backlog: Queue,
    /// Empty between two drains; its buffers are used again.
    taken: Queue,
    lines: Vec<u8>,
    /// Writes that others of whom are still to learn of.
    settled: VecDeque<Batch>,
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
    pub(crate) fn push(&mut self, now: Micros, line: &Line<'_>, caller: Caller) -> Result<u64, AppendError> {
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

/// The outcome of one write: for each ticket a sequence number, or for all of them a fault.
struct Batch {
    first_ticket: u64,
    end_ticket: u64,
    unclaimed: usize,
    outcome: Result<u64, Fault>,
}

impl Appender {
    pub(crate) fn new(chain: Chain, file: LogFile) -> Self {
        Self {
            chain,
            file,
            backlog: Queue::default(),
            taken: Queue::default(),
            lines: Vec::new(),
            settled: VecDeque::new(),
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
        let Self { chain, file, backlog, taken, lines, settled: _ } = self;
        pending.lock().queue.hand_over(taken);
        let before = chain.head();
        lines.clear();
        for (record, body) in backlog.iter().chain(taken.iter()) {
            chain.seal(lines, record.time, record.kind, body);
        }
        let first_seq = before.seq.saturating_add(backlog.count()).saturating_add(1);
        let was_behind = !backlog.is_empty();
        let written = if lines.is_empty() { Ok(()) } else { file.append(lines) };
        match written {
            Ok(()) => backlog.clear(),
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
}

impl Batch {
    fn of(&self, ticket: u64) -> Result<u64, Fault> {
        self.outcome.map(|first| first.saturating_add(ticket.saturating_sub(self.first_ticket)))
    }
}
