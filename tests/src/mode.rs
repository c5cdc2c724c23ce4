//! The ways from a client to PostgreSQL: the same test runs on each.

use std::fmt;

/// Directly, or through the proxy with one of its pools' modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// No proxy between them.
    Direct,
    /// A client keeps its connection.
    Session,
    /// A client keeps its connection for a transaction.
    Transaction,
}

impl Mode {
    /// The pools' modes that are built.
    pub const PROXIED: &'static [Self] = &[Self::Session, Self::Transaction];

    /// The text of `pool` for so many connections, without braces.
    #[must_use]
    pub fn pool(self, size: usize) -> String {
        format!("mode: {self}, size: {size}, wait_timeout_ms: {WAIT_TIMEOUT_MS}")
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Direct => "direct",
            Self::Session => "session",
            Self::Transaction => "transaction",
        })
    }
}

/// Longer than any right answer takes: tests wait for each other's connections.
const WAIT_TIMEOUT_MS: u32 = 20_000;
