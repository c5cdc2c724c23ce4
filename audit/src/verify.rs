//! Verification: reads a log once, line by line, and says what it found and what it could not exclude.
//!
//! A log may be several files, finished ones and the one in use; they are put into the order of their lines.
//! Memory is bounded by the longest line. Needs no lock: a log may be verified while it is written.

mod breaks;
mod files;
mod outcome;
mod verifier;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

pub use breaks::{Break, Broken};
pub use outcome::{HeadSeen, Outcome, Recoveries, Unreadable, Whole};

use crate::head_file::{self, HeadFound};
use crate::{Head, Key, MAX_LINE_BYTES};
use verifier::{Verifier, line_of};

/// What the reader knows beside the file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expect<'a> {
    /// The log's key. Needed for a log that has one.
    pub key: Option<&'a Key>,
    /// A head that was noted somewhere else, earlier.
    pub head: Option<Head>,
}

/// Verifies a log file, and compares it with FILE.head if there is one.
#[must_use]
pub fn verify_file(path: &Path, expect: &Expect<'_>) -> Outcome {
    verify_files(&[path.to_owned()], expect)
}

/// Verifies a log that is in several files, given in any order, and compares it with FILE.head of the last one if
/// there is one. One file that is given under two names counts once.
#[must_use]
pub fn verify_files(paths: &[PathBuf], expect: &Expect<'_>) -> Outcome {
    match in_order(paths, expect) {
        Ok(outcome) => outcome,
        Err(outcome) => *outcome,
    }
}

/// Verifies a log from a reader.
#[must_use]
pub fn verify_reader(mut log: impl BufRead, expect: &Expect<'_>) -> Outcome {
    let mut verifier = Verifier::new(expect, None);
    match one(&mut verifier, &mut log, Path::new("")) {
        Ok(()) => verifier.end(),
        Err(outcome) => *outcome,
    }
}

fn in_order(paths: &[PathBuf], expect: &Expect<'_>) -> Result<Outcome, Box<Outcome>> {
    let io =
        |path: &Path, error: io::Error| Outcome::Unreadable(Unreadable::Io { file: path.to_owned(), error });
    // The head of the file in use first: while the log is written, the log is always ahead of what was read here. Which
    // file that is shows only from their lines; a finished one has no head of its own.
    let mut heads = Vec::new();
    for path in paths {
        let head_path = head_file::path_for(path);
        match head_file::read(&head_path).map_err(|error| io(&head_path, error))? {
            HeadFound::Absent => {}
            HeadFound::Head(head) => heads.push((path, head)),
            HeadFound::Unreadable => {
                return Err(Box::new(Outcome::Unreadable(Unreadable::HeadFile { file: head_path })));
            }
        }
    }
    let ordered = files::in_order(paths).map_err(|(path, error)| io(path, error))?;
    let beside = ordered.last().and_then(|last| heads.iter().find(|(path, _)| path == last));
    let mut verifier = Verifier::new(expect, beside.map(|(_, head)| *head));
    for (at, path) in ordered.iter().enumerate() {
        let file = File::open(path).map_err(|error| io(path, error))?;
        // As long as it is now: one that is written faster than it is read would never end.
        let now = file.metadata().map_err(|error| io(path, error))?;
        let file = file.take(if now.is_file() { now.len() } else { u64::MAX });
        verifier.begin_file(path, ordered.len() - at - 1);
        one(&mut verifier, &mut BufReader::with_capacity(READ_BYTES, file), path)?;
    }
    Ok(verifier.end())
}

fn one(verifier: &mut Verifier, log: &mut impl BufRead, path: &Path) -> Result<(), Box<Outcome>> {
    let longest = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        if let Err(error) = log.by_ref().take(longest).read_until(b'\n', &mut buffer) {
            return Err(Box::new(Outcome::Unreadable(Unreadable::Io { file: path.to_owned(), error })));
        }
        match line_of(&buffer) {
            Some(line) => verifier.line(line)?,
            None => return verifier.end_file(&buffer),
        }
    }
}

const READ_BYTES: usize = 256 * 1024;
