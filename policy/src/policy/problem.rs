//! What is wrong with a file, where, and what to do.

use std::fmt;
use std::sync::Arc;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file as it was named to us.
    pub file: Arc<str>,
    /// From 1; 0 where the file as a whole is meant.
    pub line: usize,
    /// From 1, in characters; 0 where the file as a whole is meant.
    pub column: usize,
    /// The YAML path, as in `roles.app.limits.rows`; empty at the top.
    pub path: String,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The file is not taken.
    Error,
    /// The file is taken.
    Warning,
}

/// Something wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// How bad.
    pub severity: Severity,
    /// Where.
    pub place: Place,
    /// What: one sentence, lower case, no full stop. Never a secret's value.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Problem {
    /// An error.
    pub fn error(place: Place, message: impl Into<String>) -> Problem {
        Problem { severity: Severity::Error, place, message: message.into(), help: None }
    }

    /// A warning.
    pub fn warning(place: Place, message: impl Into<String>) -> Problem {
        Problem { severity: Severity::Warning, place, message: message.into(), help: None }
    }

    /// The same with what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }

    /// Whether it keeps the file from being taken.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Names in a sentence: the first of them, and how many more there are.
pub fn listed(names: &[String]) -> String {
    match names.split_at_checked(NAMES_SHOWN) {
        Some((shown, rest)) if !rest.is_empty() => format!("{} and {} more", shown.join(", "), rest.len()),
        Some(_) | None => names.join(", "),
    }
}

const NAMES_SHOWN: usize = 8;

/// `policy.yaml:17:5: roles.app.statments: unknown key`, and the help on a line of its own.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        match self.severity {
            Severity::Error => {}
            Severity::Warning => f.write_str("warning: ")?,
        }
        if !self.place.path.is_empty() {
            write!(f, "{}: ", self.place.path)?;
        }
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

/// `policy.yaml:17:5`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}:{}", self.file, self.column),
        }
    }
}
