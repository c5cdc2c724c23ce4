//! Whether the open transaction keeps its first snapshot and has changed rows itself. Then it may see, under one unique
//! key, a row that somebody else has deleted since beside its own new one, and what is proven by unique keys is not.

use super::lasting::{Lasting, Snapshots};

/// What was sent so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Snapshot {
    /// This transaction may keep its snapshot.
    kept: bool,
    /// Each one may.
    always_kept: bool,
    /// It may have changed rows.
    changed: bool,
}

impl Snapshot {
    /// The server's transactions, or the client's by what it set at start-up, may keep their snapshots.
    pub fn always_keep(&mut self) {
        self.always_kept = true;
    }

    /// A statement is being sent.
    pub fn sent(&mut self, lasting: &Lasting) {
        match lasting.snapshots {
            Snapshots::Unmoved => {}
            Snapshots::Kept => self.kept = true,
            Snapshots::AlwaysKept => self.always_kept = true,
        }
        self.changed |= lasting.changes;
    }

    /// No transaction is open, and nothing is under way.
    pub(super) fn ended(&mut self) {
        (self.kept, self.changed) = (false, false);
    }

    /// Whether a unique key may stand for two rows.
    pub fn doubles_keys(self) -> bool {
        self.changed && (self.kept || self.always_kept)
    }
}
