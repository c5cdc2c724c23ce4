//! Why a log cannot be opened. Each is for the operator: what, where, what to do.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::Head;

/// The log is not open, and nothing was changed but what the text says.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process (or another [`Log`](crate::Log) of this one) has it open.
    Locked {
        /// The log.
        path: PathBuf,
    },
    /// Not a regular file.
    NotAFile {
        /// What was named.
        path: PathBuf,
    },
    /// The operating system refused.
    Io {
        /// The file it was about.
        path: PathBuf,
        /// What was tried, as in "cannot open".
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The file does not end as a log of this key does.
    Broken {
        /// The log.
        path: PathBuf,
        /// What is wrong with its last line.
        why: &'static str,
    },
    /// FILE.head does not belong to the log: it names a line that the log does not have, or has otherwise. It
    /// is written after the log was synced, so no crash leaves this behind.
    HeadDiffers {
        /// The log.
        path: PathBuf,
        /// What FILE.head says.
        head: Head,
        /// Where the log ends.
        last: Head,
    },
    /// FILE.head is not `SEQ:HASH`.
    HeadUnreadable {
        /// FILE.head.
        path: PathBuf,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locked { path } => write!(
                f,
                "audit log {} is in use: another process holds its lock; a log has one writer, so give each its own \
                 audit.path",
                path.display()
            ),
            Self::NotAFile { path } => {
                write!(f, "audit log {} is not a regular file; audit.path must name one", path.display())
            }
            Self::Io { path, action, source } => {
                write!(f, "audit log: {action} {}: {source}", path.display())
            }
            Self::Broken { path, why } => write!(
                f,
                "audit log {} cannot be continued: {why}; look at it with `audit verify`, then move it and its .head \
                 file away together to begin a new one",
                path.display()
            ),
            Self::HeadDiffers { path, head, last } => write!(
                f,
                "audit log {} was changed while nobody had it open: its .head file says that it reached line {} with \
                 hash {}, and it ends at line {} with hash {}; keep both files, find out why, then move them away \
                 together to begin a new log",
                path.display(),
                head.seq,
                head.hash,
                last.seq,
                last.hash
            ),
            Self::HeadUnreadable { path } => write!(
                f,
                "{} is not the head of an audit log (SEQ:HASH); run `audit verify` on the log, then remove this file",
                path.display()
            ),
        }
    }
}

impl Error for OpenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Locked { .. }
            | Self::NotAFile { .. }
            | Self::Broken { .. }
            | Self::HeadDiffers { .. }
            | Self::HeadUnreadable { .. } => None,
        }
    }
}
