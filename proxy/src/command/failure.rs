//! How a command ends, by whose fault.

use std::io;
use std::io::Write as _;
use std::process::ExitCode;

use pgmoat_policy::policy::Problem;

use super::problems;

/// How a command ended that did what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// Done, or yes.
    Yes,
    /// No: denied, broken.
    No,
    /// It could not be told, for the input's fault.
    Unusable,
}

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(super) enum Failure {
    /// The command line, or a file that it names, asks for what cannot be.
    Usage(String),
    /// Files with problems.
    Problems(Vec<Problem>),
    /// The system or a server.
    Failed(String),
    /// Standard output.
    Output(io::Error),
}

impl Exit {
    pub(super) fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Exit::Yes => 0,
            Exit::No => 1,
            Exit::Unusable => 2,
        })
    }
}

impl Failure {
    /// Says it on standard error.
    pub(super) fn tell(self) -> ExitCode {
        let (text, exit) = match self {
            // Who stops reading has seen enough: `pgmoat … | head`.
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return Exit::Yes.code();
            }
            Failure::Output(error) => (format!("standard output: {error}"), Exit::No),
            Failure::Failed(text) => (text, Exit::No),
            Failure::Usage(text) => (text, Exit::Unusable),
            Failure::Problems(problems) => {
                problems::tell(&problems);
                return Exit::Unusable.code();
            }
        };
        // There is nowhere to say that standard error is gone.
        let _ = writeln!(io::stderr().lock(), "pgmoat: {text}");
        exit.code()
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}
