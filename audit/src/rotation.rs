//! When a file is full, and the name that it then gets.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Fault, Micros};

/// When a file is finished and the next one begun. None of both: never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rotation {
    /// As soon as it is at least so long. It is looked at once in a sync interval, so a file may be longer by
    /// what is written in one.
    pub bytes: Option<u64>,
    /// As soon as its last line is written so long after its first one, by the lines' own times.
    pub age: Option<Duration>,
}

impl Rotation {
    pub(crate) fn is_due(&self, len: u64, first: Micros, last: Micros) -> bool {
        let age = Duration::from_micros(last.0.saturating_sub(first.0));
        self.bytes.is_some_and(|bytes| len >= bytes) || self.age.is_some_and(|limit| age >= limit)
    }
}

/// A file that is due for rotation and stays in use, or one that follows it and has not got its name yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RotateError {
    /// What was tried, as in "cannot rename".
    pub action: &'static str,
    /// The file it was about.
    pub path: PathBuf,
    /// What the system said.
    pub fault: Fault,
}

impl fmt::Display for RotateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "audit log: {} {}: {}; the log goes on, and rotation is tried again",
            self.action,
            self.path.display(),
            self.fault
        )
    }
}

impl Error for RotateError {}

/// What a finished file is called: `audit.2025-10-09T08-53-20.42.jsonl` for `audit.jsonl` whose last line has the
/// number 42 and this time. No two lines of a chain have one number, so no two files have one name.
pub(crate) fn finished_name(log: &Path, time: Micros, seq: u64) -> String {
    let stem = log.file_stem().unwrap_or_default().to_string_lossy();
    let time = time.to_string().replace(':', "-");
    // Without the fraction and the zone, which is always UTC.
    let time = time.get(..SECONDS_CHARACTERS).unwrap_or(&time);
    match log.extension() {
        Some(extension) => format!("{stem}.{time}.{seq}.{}", extension.to_string_lossy()),
        None => format!("{stem}.{time}.{seq}"),
    }
}

/// `2025-10-09T08-53-20`
const SECONDS_CHARACTERS: usize = 19;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_file_is_named_by_its_last_line() {
        let named = |log: &str| finished_name(Path::new(log), Micros(1_760_000_000_000_000), 42);
        assert_eq!(named("/var/log/audit.jsonl"), "audit.2025-10-09T08-53-20.42.jsonl");
        assert_eq!(named("audit"), "audit.2025-10-09T08-53-20.42");
        assert_eq!(named("a.b.jsonl"), "a.b.2025-10-09T08-53-20.42.jsonl");
    }

    #[test]
    fn a_file_is_due_by_size_or_by_age() {
        let rotation = Rotation { bytes: Some(100), age: Some(Duration::from_secs(1)) };
        assert!(!rotation.is_due(99, Micros(5), Micros(1_000_004)));
        assert!(rotation.is_due(100, Micros(5), Micros(5)));
        assert!(rotation.is_due(0, Micros(5), Micros(1_000_005)));
        // A clock that went back makes nothing old.
        assert!(!rotation.is_due(0, Micros(5_000_000), Micros(0)));
        assert!(!Rotation::default().is_due(u64::MAX, Micros(0), Micros(u64::MAX)));
    }
}
