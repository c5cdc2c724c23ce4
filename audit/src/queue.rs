//! Entries that wait to be chained: rendered bodies, one after the other in one buffer. Pure.
//!
//! Sequence numbers and hashes are given when the entries are written, because a failed write drops those
//! whose callers wait and keeps the others.

use crate::{AppendError, Kind, MAX_LINE_BYTES, Micros, chain};

/// Rendered entries in the order in which they came. Each has a ticket: [`Queue::first`] and on.
#[derive(Default)]
pub(crate) struct Queue {
    bytes: Vec<u8>,
    records: Vec<Record>,
    first: u64,
}

/// One entry of a queue.
#[derive(Clone, Copy)]
pub(crate) struct Record {
    pub(crate) kind: Kind,
    pub(crate) time: Micros,
    pub(crate) caller: Caller,
    end: usize,
}

/// What [`crate::render::Line::render`] made of an entry.
#[derive(Clone, Copy)]
pub(crate) struct Rendered<'a> {
    pub(crate) kind: Kind,
    pub(crate) body: &'a [u8],
}

/// What the one who appended does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Waits, and is told when the entry was not taken: then it is dropped.
    Waits,
    /// Has gone on: the entry is kept until it is written.
    HasGone,
}

impl Queue {
    /// Takes an entry; its ticket.
    pub(crate) fn push(
        &mut self,
        time: Micros,
        line: Rendered<'_>,
        caller: Caller,
    ) -> Result<u64, AppendError> {
        let Rendered { kind, body } = line;
        if body.len() > chain::MAX_BODY_BYTES {
            return Err(AppendError::TooLong { bytes: body.len() });
        }
        let ticket = self.end();
        self.bytes.extend_from_slice(body);
        self.records.push(Record { kind, time, caller, end: self.bytes.len() });
        Ok(ticket)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Record, &[u8])> {
        let starts = std::iter::once(0).chain(self.records.iter().map(|record| record.end));
        self.records
            .iter()
            .zip(starts)
            .map(|(record, start)| (record, self.bytes.get(start..record.end).unwrap_or_default()))
    }

    /// Adds copies of another queue's entries whose callers have gone.
    pub(crate) fn keep_from(&mut self, other: &Self) {
        for (record, body) in other.iter().filter(|(record, _)| record.caller == Caller::HasGone) {
            self.bytes.extend_from_slice(body);
            self.records.push(Record { end: self.bytes.len(), ..*record });
        }
    }

    /// Hands everything over to `taken`, which must be empty, and goes on with the next ticket.
    pub(crate) fn hand_over(&mut self, taken: &mut Self) {
        std::mem::swap(self, taken);
        self.first = taken.end();
    }

    /// Empties the queue. Room that one long entry needed is given back.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.records.clear();
        self.records.shrink_to(KEPT_RECORDS);
    }

    /// The first entry's ticket.
    pub(crate) const fn first(&self) -> u64 {
        self.first
    }

    /// The ticket after the last one.
    pub(crate) fn end(&self) -> u64 {
        self.first.saturating_add(self.count())
    }

    pub(crate) fn count(&self) -> u64 {
        u64::try_from(self.records.len()).unwrap_or(u64::MAX)
    }

    pub(crate) fn waiting(&self) -> usize {
        self.records.iter().filter(|record| record.caller == Caller::Waits).count()
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

/// Buffers up to this size are used again; longer ones are given back.
pub(crate) const KEPT_BYTES: usize = 256 * 1024;
const KEPT_RECORDS: usize = 4096;

/// What may wait for a file that takes nothing, beyond the entries whose callers wait themselves.
pub(crate) const MAX_QUEUE_BYTES: usize = 2 * MAX_LINE_BYTES;
