//! An operating system's error that can be handed to everybody whose entry shared the write.

use std::error::Error;
use std::fmt;
use std::io;

/// An error number. `io::Error` cannot be copied, and one failed write fails all entries in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault(i32);

impl Fault {
    /// The error number, as in errno(3).
    #[must_use]
    pub const fn errno(self) -> i32 {
        self.0
    }

    pub(crate) const fn from_errno(errno: i32) -> Self {
        Self(errno)
    }
}

impl From<&io::Error> for Fault {
    /// An error that is not the system's own (a write that took nothing) counts as EIO.
    fn from(error: &io::Error) -> Self {
        Self(error.raw_os_error().unwrap_or(EIO))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        io::Error::from_raw_os_error(self.0).fmt(f)
    }
}

impl Error for Fault {}

const EIO: i32 = 5;
