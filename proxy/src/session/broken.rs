//! A server that cannot be trusted any more: what it said that does not fit.

use std::fmt;

use pgmoat_upstream::frame::DecodeError;

/// The server said what nobody asked it. The upstream connection cannot be trusted any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// A reply of this kind does not fit what is owed.
    Unasked(u8),
    /// The message is not what its format says.
    Malformed(DecodeError),
    /// The server ran another number of statements than were judged.
    Statements {
        /// Judged.
        judged: usize,
        /// Run.
        ran: usize,
    },
    /// What PostgreSQL says of an output column, and what was judged of it, are not the same.
    Masked {
        /// The output column, from 1.
        output: usize,
    },
    /// Another number of output columns was judged.
    Columns {
        /// Judged.
        judged: usize,
        /// Sent.
        got: usize,
    },
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Unasked(tag) => {
                write!(f, "the server sent a message ({:?}) that fits no request", char::from(*tag))
            }
            Broken::Malformed(error) => write!(f, "the server sent a malformed message: {error}"),
            Broken::Statements { judged, ran } => {
                write!(f, "the server ran {ran} statements of a text in which {judged} were judged")
            }
            Broken::Masked { output } => {
                write!(f, "output column {output} is another than was judged, as to masks")
            }
            Broken::Columns { judged, got } => {
                write!(f, "a result has {got} columns where {judged} were judged")
            }
        }
    }
}

impl std::error::Error for Broken {}

impl From<DecodeError> for Broken {
    fn from(error: DecodeError) -> Self {
        Broken::Malformed(error)
    }
}
