//! Why an entry was not taken. Whatever the reason: what waited for it is denied.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use crate::{Fault, MAX_LINE_BYTES};

/// The entry is not in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AppendError {
    /// The file does not take it (a full disk, a quota). The file was cut back to its last whole line; the
    /// next append tries again.
    Write {
        /// The log.
        path: PathBuf,
        /// What write(2) said.
        fault: Fault,
    },
    /// fdatasync(2) failed once. What the kernel then holds is unknown, and asking again may get a false yes,
    /// so nothing is taken until the log is opened anew.
    Sync {
        /// The log.
        path: PathBuf,
        /// What fdatasync(2) said.
        fault: Fault,
    },
    /// The line would be longer than [`MAX_LINE_BYTES`].
    TooLong {
        /// The entry's own part of the line.
        bytes: usize,
    },
    /// Too much is queued: the file has not taken anything for long.
    QueueFull {
        /// The log.
        path: PathBuf,
    },
    /// The log was closed.
    Closed,
}

impl fmt::Display for AppendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write { path, fault } => {
                write!(
                    f,
                    "audit log {} takes no entry: {fault}; it is tried again with each statement",
                    path.display()
                )
            }
            Self::Sync { path, fault } => write!(
                f,
                "audit log {} could not be synced: {fault}; check the disk, then restart: nothing is taken until then",
                path.display()
            ),
            Self::TooLong { bytes } => {
                write!(
                    f,
                    "an audit entry of {bytes} bytes is longer than a line may be ({MAX_LINE_BYTES} bytes)"
                )
            }
            Self::QueueFull { path } => {
                write!(f, "audit log {} has not been writable for long and its queue is full", path.display())
            }
            Self::Closed => f.write_str("the audit log was closed"),
        }
    }
}

impl Error for AppendError {}
