//! A hash-chained log of decisions: line format, chain, durability, verification.
//!
//! One JSON object a line, each line's hash taken over its own bytes and the hash of the line before it, so
//! that an edited, dropped, inserted or swapped line is found with its number. The crate knows entries of
//! strings and integers, a file and a chain; it does not know what SQL means.
//!
//! * [`Log`] writes: one process, one file, one lock. An append that returns `Ok` keeps the promise of its
//!   [`Durability`]; one that returns `Err` left nothing behind, and what it was to permit must be denied.
//! * [`verify`] reads: streaming, in memory bounded by the longest line, and says what it could not exclude.
//!
//! INVARIANT (no permit without an entry): a [`Receipt`] has private fields and is made in one place, after
//! the entry was taken.
//! INVARIANT (the file stays whole): a failed write is cut back before the next one, or nothing is written.

mod append_error;
mod appender;
mod bell;
mod chain;
mod digest;
mod durability;
mod durable;
mod entry;
mod envelope;
mod fault;
mod fresh;
pub mod fuzzing;
mod hash;
mod head;
mod head_file;
mod inner;
mod json;
mod key;
mod kind;
mod log;
mod log_file;
mod micros;
mod open_error;
mod opening;
mod queue;
mod render;
mod rotate;
mod rotation;
mod syncer;
mod tail;
#[cfg(test)]
mod tests;
mod verify;
mod watch;

pub use append_error::AppendError;
pub use durability::{Durability, UnknownDurability};
pub use entry::{
    Cancel, CancelOutcome, Catalog, Completion, Decision, Entry, Executed, Login, LoginFailed, Logout,
    Parameter, Parameters, Phase, Protocol, Reload, Verdict, Verify,
};
pub use fault::Fault;
pub use hash::Hash;
pub use head::{BadHead, Head};
pub use key::{Key, KeyError};
pub use kind::Kind;
pub use log::{Log, LogStats, Opened, Options, Receipt, Written};
pub use micros::Micros;
pub use open_error::OpenError;
pub use rotation::{RotateError, Rotation};
pub use verify::{
    Break, Broken, Expect, HeadSeen, Outcome, Recoveries, Unreadable, Whole, verify_file, verify_files,
    verify_reader,
};
pub use watch::{Change, SLOW_SYNC, Watch};

/// The longest line that is written or read, its newline included. PostgreSQL text that becomes longer than
/// this when escaped is for the caller to shorten: [`AppendError::TooLong`].
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
