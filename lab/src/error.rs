//! What can go wrong with the lab, told so that the reader can act on it.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::Output;

/// A failure of the lab itself (never of what is tested on it).
#[derive(Debug)]
pub enum LabError {
    /// No PostgreSQL server programs on this machine.
    NoPostgres {
        /// The places that were looked at, in order.
        looked: Vec<String>,
    },
    /// A program of PostgreSQL (or the proxy) ended with an error.
    Failed {
        /// The program's name.
        program: String,
        /// Its exit status and what it said, the end of it.
        said: String,
    },
    /// A process did not become ready in time, or ended before it was.
    NotReady {
        /// The process.
        program: String,
        /// The end of its log.
        log: String,
    },
    /// The operating system refused something.
    Io {
        /// What was being done.
        doing: String,
        /// The refusal.
        source: io::Error,
    },
    /// The machine or the call lacks something, in words.
    Unusable(String),
}

impl LabError {
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }

    pub(crate) fn failed(program: impl Into<String>, output: &Output) -> Self {
        let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
        let text = String::from_utf8_lossy(&text);
        Self::Failed { program: program.into(), said: format!("{}\n{}", output.status, end_of(&text)) }
    }

    pub(crate) fn not_ready(program: &str, log: &str) -> Self {
        Self::NotReady { program: program.to_owned(), log: end_of(log).to_owned() }
    }

    pub(crate) fn no_postgres(looked: &[PathBuf]) -> Self {
        Self::NoPostgres { looked: looked.iter().map(|path| path.display().to_string()).collect() }
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPostgres { looked } => write!(
                f,
                "no PostgreSQL server found (looked in {}); install it (Debian: apt-get install postgresql) or set \
                 PGMOAT_PG_BIN to the folder that has initdb and postgres",
                looked.join(", ")
            ),
            Self::Failed { program, said } => write!(f, "{program} failed: {said}"),
            Self::NotReady { program, log } => {
                write!(f, "{program} did not become ready; the end of its log:\n{log}")
            }
            Self::Io { doing, source } => write!(f, "{doing}: {source}"),
            Self::Unusable(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for LabError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::NoPostgres { .. } | Self::Failed { .. } | Self::NotReady { .. } | Self::Unusable(_) => None,
        }
    }
}

/// The last part of a text, cut at a line.
fn end_of(text: &str) -> &str {
    let text = text.trim_end();
    let from = text.len().saturating_sub(SHOWN_BYTES);
    match text.char_indices().find(|(at, c)| *at >= from && (from == 0 || *c == '\n')) {
        Some((at, _)) => text.get(at..).unwrap_or(text),
        None => text,
    }
}

const SHOWN_BYTES: usize = 4096;
