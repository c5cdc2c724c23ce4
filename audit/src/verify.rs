//! Verification: reads a log once, line by line, and says what it found and what it could not exclude.
//!
//! Memory is bounded by the longest line. Needs no lock: a log may be verified while it is written.

mod breaks;
mod outcome;
mod verifier;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

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
    // FILE.head first: while the log is written, the log is always ahead of what was read here.
    let beside = match head_file::read(&head_file::path_for(path)) {
        Ok(HeadFound::Absent) => None,
        Ok(HeadFound::Head(head)) => Some(head),
        Ok(HeadFound::Unreadable) => return Outcome::Unreadable(Unreadable::HeadFile),
        Err(error) => return Outcome::Unreadable(Unreadable::Io(error)),
    };
    match File::open(path) {
        Ok(file) => verify(&mut BufReader::with_capacity(READ_BYTES, file), expect, beside),
        Err(error) => Outcome::Unreadable(Unreadable::Io(error)),
    }
}

/// Verifies a log from a reader.
#[must_use]
pub fn verify_reader(mut log: impl BufRead, expect: &Expect<'_>) -> Outcome {
    verify(&mut log, expect, None)
}

fn verify(log: &mut impl BufRead, expect: &Expect<'_>, beside: Option<Head>) -> Outcome {
    let mut verifier = Verifier::new(expect, beside);
    let longest = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        if let Err(error) = log.by_ref().take(longest).read_until(b'\n', &mut buffer) {
            return Outcome::Unreadable(Unreadable::Io(error));
        }
        match line_of(&buffer) {
            Some(line) => {
                if let Err(outcome) = verifier.line(line) {
                    return *outcome;
                }
            }
            None => return verifier.end(&buffer),
        }
    }
}

const READ_BYTES: usize = 256 * 1024;
