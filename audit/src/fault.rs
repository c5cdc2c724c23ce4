//! What stood in the way of a write, in a form that can be handed to everybody whose entry shared it.

use std::error::Error;
use std::fmt;
use std::io;

/// Why a file did not take lines. `io::Error` cannot be copied, and one failed write fails all entries in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The operating system's error, as in errno(3).
    System(i32),
    /// The file has no name any more, or was moved away, and no new one could be begun in its place.
    Removed,
    /// Another file, which is not empty, has the log's name.
    Replaced,
    /// The file does not end where its last line does: somebody else has cut it or written to it.
    Changed,
}

impl Fault {
    /// The error number, where it is the system's own.
    #[must_use]
    pub const fn errno(self) -> Option<i32> {
        match self {
            Self::System(errno) => Some(errno),
            Self::Removed | Self::Replaced | Self::Changed => None,
        }
    }
}

impl From<&io::Error> for Fault {
    /// An error that is not the system's own (a write that took nothing) counts as EIO.
    fn from(error: &io::Error) -> Self {
        Self::System(error.raw_os_error().unwrap_or(EIO))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(errno) => io::Error::from_raw_os_error(*errno).fmt(f),
            Self::Removed => f.write_str("it was removed or moved away, and a new one could not be begun"),
            Self::Replaced => f.write_str(
                "another file has its name; move that one away, then a new file that goes on with the chain is begun",
            ),
            Self::Changed => f.write_str(
                "somebody else has cut it or written to it; keep it as evidence under another name, then a new file that \
                 goes on with the chain is begun",
            ),
        }
    }
}

impl Error for Fault {}

const EIO: i32 = 5;
