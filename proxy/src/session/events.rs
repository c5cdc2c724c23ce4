//! What happens in a session beside its replies: for the audit log, and for the link to do.

use super::pass::{Pass, Poison};
use super::tag::Tag;

/// What has happened that is not a reply.
#[derive(Debug, Default)]
pub struct Events {
    /// Statements that have ended, for the audit log.
    pub done: Vec<Done>,
    /// What runs has to be cancelled.
    pub cancel: bool,
    /// The server has ended the session; the client was told.
    pub ended: bool,
    /// The catalog may have changed.
    pub catalog: bool,
    /// Upstream has to fail what is open: send this.
    pub fail: Option<Poison>,
    /// What was kept has to be sent again, behind these.
    pub again: Option<Vec<Pass<'static>>>,
    /// The Syncs that the server answers have to be counted: send Sync, Close, Sync.
    pub count_syncs: bool,
    /// A statement or a batch has ended: what runs now has all of its time.
    pub next: bool,
    /// Errors that count against the error budget (policy 3.9).
    pub errors: u32,
    /// Notices that were dropped, since they would tell of other tenants' rows.
    pub notices: u32,
}

impl Events {
    /// A statement has ended.
    pub(super) fn has_ended(&mut self, done: Done) {
        if self.done.capacity() == 0 {
            // Mostly it is one at a time, and that much an idle session keeps.
            self.done.reserve_exact(1);
        }
        self.done.push(done);
    }

    /// Gives back what a long pipeline needed.
    pub(super) fn rest(&mut self) {
        if self.done.is_empty() && self.done.capacity() > 1 {
            self.done = Vec::new();
        }
    }
}

/// How a statement that was let through ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The audit entry of its decision.
    pub of: u64,
    /// How far it came.
    pub reached: Reached,
    /// Its command tag.
    pub tag: Option<Tag>,
    /// Its error.
    pub sqlstate: Option<Box<str>>,
    /// Rows that the client got.
    pub rows: u64,
    /// When its message was sent, on the link's clock.
    pub sent_us: u64,
}

/// Whether PostgreSQL ran a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// It did.
    Ran,
    /// It never came to that.
    Not,
    /// Upstream went away.
    Unknown,
}
