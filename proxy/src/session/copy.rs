//! COPY: whose data is taken, and which Syncs do not count (wire 2).
//!
//! Outside a copy-in the server ignores CopyData, CopyDone and CopyFail; here they are dropped, so that data of a
//! failed copy never meets another statement. Inside one it ignores Sync and Flush.

use pgmoat_policy::ErrorPosture;

use super::Session;
use super::queue::{Fate, What};

/// What is known of copies.
#[derive(Debug, Default)]
pub(super) struct CopyState {
    /// Statements that copy in, sent and not ended.
    expected: usize,
    /// How many of them the client has ended its data for.
    closed: usize,
    /// What the server does now.
    now: Now,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Now {
    #[default]
    Nothing,
    In,
    Out,
}

impl CopyState {
    pub(super) fn expect(&mut self) {
        self.expected += 1;
    }

    pub(super) fn finish(&mut self) {
        self.expected = self.expected.saturating_sub(1);
        self.closed = self.closed.saturating_sub(1);
    }

    /// Whether a statement that copies in has not ended: the server may ignore a Sync.
    pub(super) fn is_expected(&self) -> bool {
        self.expected > 0
    }

    pub(super) fn is_active(&self) -> bool {
        self.now != Now::Nothing
    }

    pub(super) fn is_in(&self) -> bool {
        self.now == Now::In
    }

    pub(super) fn is_out(&self) -> bool {
        self.now == Now::Out
    }

    pub(super) fn begin_out(&mut self) {
        self.now = Now::Out;
    }

    /// The statement at the head of the queue has ended.
    pub(super) fn end(&mut self) {
        self.now = Now::Nothing;
    }

    fn is_open(&self) -> bool {
        self.expected > self.closed
    }
}

impl Session {
    /// Whether CopyData of the client's belongs to a copy-in that goes on or is to come.
    pub fn takes_copy_data(&self) -> bool {
        self.copy.is_open()
    }

    /// The client has ended its data.
    pub(super) fn end_copy_in(&mut self, now_us: u64) {
        self.copy.closed += 1;
        self.owe(What::CopyEnd, Fate::Skip, ErrorPosture::Redact, now_us);
    }

    /// Whether a Sync that comes now is read inside a copy-in: the one that goes on, whatever is to come behind it.
    pub(super) fn ignores_sync(&self) -> bool {
        self.copy.now == Now::In && self.copy.closed == 0
    }

    /// The server asks for data. True where a statement was let through that copies in.
    pub(super) fn begin_copy_in(&mut self) -> bool {
        if self.copy.expected == 0 {
            return false;
        }
        self.copy.now = Now::In;
        true
    }
}
