//! Why a run ends early or badly.

use std::fmt;
use std::io;
use std::process::ExitCode;

use pgmoat_lab::LabError;

use crate::client::ServerError;

/// A reason, told so that the reader can act on it.
#[derive(Debug)]
pub(crate) enum BenchError {
    /// The options make no sense.
    Usage(String),
    /// A server could not be started or prepared.
    Lab(LabError),
    /// The operating system, or the other end of a connection.
    Io { doing: String, source: io::Error },
    /// A login that a server refuses.
    Login { user: String, error: ServerError },
    /// What is measured does not do what it should: then its speed is of no interest.
    Wrong(String),
    /// All is right, and slower than it was.
    Slower(String),
    /// A signal.
    Interrupted,
}

impl BenchError {
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Slower(_) => ExitCode::from(3),
            Self::Interrupted => ExitCode::from(130),
            Self::Lab(_) | Self::Io { .. } | Self::Login { .. } | Self::Wrong(_) => ExitCode::FAILURE,
        }
    }
}

impl From<LabError> for BenchError {
    fn from(error: LabError) -> Self {
        Self::Lab(error)
    }
}

impl fmt::Display for BenchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) => write!(f, "{text} (see --help)"),
            Self::Lab(error) => error.fmt(f),
            Self::Io { doing, source } => write!(f, "{doing}: {source}"),
            Self::Login { user, error } => write!(f, "{user} cannot log in: {error}"),
            Self::Wrong(what) | Self::Slower(what) => f.write_str(what),
            Self::Interrupted => f.write_str("interrupted; everything that was started is stopped"),
        }
    }
}

impl std::error::Error for BenchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Lab(error) => Some(error),
            Self::Io { source, .. } => Some(source),
            Self::Usage(_) | Self::Login { .. } | Self::Wrong(_) | Self::Slower(_) | Self::Interrupted => {
                None
            }
        }
    }
}
