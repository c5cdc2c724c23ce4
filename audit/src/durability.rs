//! What an append that has returned survives.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// The promise that an append keeps before it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Queued only; written within the interval. A kill of the process loses what was queued.
    None,
    /// write(2) has returned: survives a kill of the process, not a power cut.
    Os,
    /// As `Os`, and fdatasync(2) at least once an interval, not waited for.
    Batched,
    /// fdatasync(2) has returned; appends that come together share one.
    Fsync,
}

impl Durability {
    /// As in configuration and in `open` lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Os => "os",
            Self::Batched => "batched",
            Self::Fsync => "fsync",
        }
    }
}

impl FromStr for Durability {
    type Err = UnknownDurability;

    fn from_str(name: &str) -> Result<Self, UnknownDurability> {
        [Self::None, Self::Os, Self::Batched, Self::Fsync]
            .into_iter()
            .find(|durability| durability.name() == name)
            .ok_or(UnknownDurability)
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no durability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownDurability;

impl fmt::Display for UnknownDurability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("audit durability is one of none, os, batched, fsync")
    }
}

impl Error for UnknownDurability {}
