//! The proof that nothing of its last user is left under way on a connection.

use std::error::Error;
use std::fmt;

use crate::frame::backend::TransactionStatus;

/// What the session that had the connection knows about its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quiet {
    /// The last ReadyForQuery.
    pub status: TransactionStatus,
    /// Entries in the reply queue: answers that the server owes.
    pub replies_owed: usize,
    /// Something was sent after the last Sync.
    pub unsynced: bool,
    /// A COPY is under way.
    pub copy: bool,
    /// Bytes that were meant for the server and not yet written.
    pub unsent: usize,
}

/// Says that one lease's connection may be used again. Made by [`Lease::prove_clean`] alone.
///
/// [`Lease::prove_clean`]: super::Lease::prove_clean
#[derive(Debug, PartialEq, Eq)]
pub struct CleanProof {
    pub(super) lease: u64,
}

/// Why a connection cannot go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotClean {
    /// A transaction is open.
    Transaction,
    /// The server owes answers.
    RepliesOwed,
    /// The server waits for a Sync.
    Unsynced,
    /// A COPY is under way.
    Copy,
    /// Bytes for the server were not written, perhaps half a message.
    Unsent,
    /// Bytes of the server were not looked at.
    Unread,
    /// A cancel request is under way, or may be.
    Cancel,
}

impl Quiet {
    pub(super) fn check(self) -> Result<(), NotClean> {
        let Quiet { status, replies_owed, unsynced, copy, unsent } = self;
        if status != TransactionStatus::Idle {
            Err(NotClean::Transaction)
        } else if replies_owed > 0 {
            Err(NotClean::RepliesOwed)
        } else if unsynced {
            Err(NotClean::Unsynced)
        } else if copy {
            Err(NotClean::Copy)
        } else if unsent > 0 {
            Err(NotClean::Unsent)
        } else {
            Ok(())
        }
    }
}

impl fmt::Display for NotClean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotClean::Transaction => "a transaction is open",
            NotClean::RepliesOwed => "the server owes answers",
            NotClean::Unsynced => "the server waits for a Sync",
            NotClean::Copy => "a COPY is under way",
            NotClean::Unsent => "a message was not sent to its end",
            NotClean::Unread => "there are bytes that nobody has read",
            NotClean::Cancel => "a cancel request is under way",
        })
    }
}

impl Error for NotClean {}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAN: Quiet =
        Quiet { status: TransactionStatus::Idle, replies_owed: 0, unsynced: false, copy: false, unsent: 0 };

    #[test]
    fn every_single_remainder_refuses() {
        assert_eq!(CLEAN.check(), Ok(()));
        for (quiet, reason) in [
            (Quiet { status: TransactionStatus::InTransaction, ..CLEAN }, NotClean::Transaction),
            (Quiet { status: TransactionStatus::Failed, ..CLEAN }, NotClean::Transaction),
            (Quiet { replies_owed: 1, ..CLEAN }, NotClean::RepliesOwed),
            (Quiet { unsynced: true, ..CLEAN }, NotClean::Unsynced),
            (Quiet { copy: true, ..CLEAN }, NotClean::Copy),
            (Quiet { unsent: 1, ..CLEAN }, NotClean::Unsent),
        ] {
            assert_eq!(quiet.check(), Err(reason));
        }
    }
}
