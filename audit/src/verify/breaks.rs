//! What is wrong with a broken log, and where.

use std::fmt;
use std::path::PathBuf;

use crate::{Head, MAX_LINE_BYTES};

/// A log whose chain does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The file; none where a stream was read.
    pub file: Option<PathBuf>,
    /// The first line that is wrong, 1-based. For a cut tail, the line after the last one.
    pub line: u64,
    /// What is wrong with it.
    pub what: Break,
    /// The last line that is right.
    pub last: Option<Head>,
    /// Files after this one, which were not looked at.
    pub files_left: usize,
}

/// The ways in which a chain breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Break {
    /// There is no whole line.
    Empty,
    /// The line is not in the log's format.
    Malformed(&'static str),
    /// The line is longer than [`MAX_LINE_BYTES`].
    TooLong,
    /// The file does not begin with the `open` line of a file: lines before this one are gone.
    NoOpen,
    /// An `open` line of another file in the middle of this one.
    SecondFile,
    /// The line's hash is not that of its bytes.
    Edited,
    /// The sequence number does not follow.
    Sequence {
        /// The number after the last line's.
        expected: u64,
        /// The line's.
        found: u64,
    },
    /// The line is whole in itself, but was made after another line than the one before it.
    Link,
    /// A line behind the one that finished the file.
    AfterRotation,
    /// A file does not begin where the one before it ends.
    NotNext {
        /// The last line of the file before it.
        last: Head,
        /// The line after which it goes on, as it says itself.
        before: Head,
    },
    /// A head that was given names this line, with another hash.
    HeadDiffers {
        /// The line as the log has it.
        line: Head,
        /// Whether it is FILE.head.
        beside: bool,
    },
    /// A head that was given names a line that is not there any more.
    CutTail {
        /// Where the log ends.
        last: Head,
        /// How far it reached.
        head: Head,
        /// Whether it is FILE.head.
        beside: bool,
    },
    /// A key was given, and the log says that it has none.
    NoKey,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, what, last, files_left } = self;
        match file {
            Some(file) => writeln!(f, "broken at {}:{line}: {what}", file.display())?,
            None => writeln!(f, "broken at line {line}: {what}")?,
        }
        match last {
            Some(last) => writeln!(f, "whole up to sequence number {}: {last}", last.seq)?,
            None => writeln!(f, "no line before it is right")?,
        }
        writeln!(f, "what to do: {}", what.advice())?;
        write!(f, "not checked: line {line} and everything after it")?;
        match files_left {
            0 => Ok(()),
            1 => f.write_str(", and one more file"),
            more => write!(f, ", and {more} more files"),
        }
    }
}

impl Break {
    /// What whoever reads the outcome does next.
    const fn advice(&self) -> &'static str {
        match self {
            Self::Empty => {
                "if this is the log, its lines are gone: look for a copy, and for who can write to the file"
            }
            Self::Malformed(_) | Self::TooLong => {
                "if this file is an audit log, keep it as it is and compare this line with a copy"
            }
            Self::NoOpen => "find the file's beginning: look for a copy, and for who can write to the file",
            Self::SecondFile => "files must not be joined: give each of them as an argument of its own",
            Self::Edited => {
                "keep the file as it is, compare this line with a copy, and find who can write to the file"
            }
            Self::Sequence { .. } | Self::Link => {
                "keep the file as it is, compare the lines around this one with a copy, and find who can write to the file"
            }
            Self::AfterRotation => {
                "keep the file as it is: pgmoat writes nothing behind that line; find who can write to the file"
            }
            Self::NotNext { .. } => {
                "give all files of the log; if these are all, one was removed or cut, and only a copy has its lines"
            }
            Self::HeadDiffers { .. } => {
                "keep both; the head that is kept where the log's writer cannot reach is the one to believe"
            }
            Self::CutTail { .. } => {
                "give all files of the log; if these are all, the lines are gone, and only a copy has them"
            }
            Self::NoKey => {
                "verify without the key; if the log should have one, it was recomputed by somebody without it"
            }
        }
    }
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no whole line, not even the one that opens a file"),
            Self::Malformed(what) => write!(f, "not a line of the log: {what}"),
            Self::TooLong => write!(f, "longer than {MAX_LINE_BYTES} bytes"),
            Self::NoOpen => f.write_str("the file does not begin here: lines before this one were dropped"),
            Self::SecondFile => f.write_str("the first line of another file"),
            Self::Edited => {
                f.write_str("edited: its hash is not that of its bytes (or the key is not the log's)")
            }
            Self::Sequence { expected, found } if found > expected => {
                write!(
                    f,
                    "sequence number {found} where {expected} follows: a line was dropped here, or this one moved up"
                )
            }
            Self::Sequence { expected, found } => {
                write!(
                    f,
                    "sequence number {found} where {expected} follows: a line was inserted, or this one moved down"
                )
            }
            Self::Link => {
                f.write_str("it does not follow the line before it: that one was replaced, or this one was")
            }
            Self::AfterRotation => f.write_str("it stands behind the line that finished the file"),
            Self::NotNext { last, before } if before.seq > last.seq => write!(
                f,
                "gap: it goes on after sequence number {}, and the file before it ends at {}: lines {} to {} are missing",
                before.seq,
                last.seq,
                last.seq.saturating_add(1),
                before.seq
            ),
            Self::NotNext { last, before } if before.seq < last.seq => write!(
                f,
                "overlap: it goes on after sequence number {}, and the file before it ends at {}: the chain has two branches",
                before.seq, last.seq
            ),
            Self::NotNext { last, .. } => write!(
                f,
                "it goes on after another line than the one with sequence number {} in the file before it",
                last.seq
            ),
            Self::HeadDiffers { line, beside } => {
                write!(
                    f,
                    "its hash is {}, and {} says otherwise: the log was recomputed",
                    line.hash,
                    source(*beside)
                )
            }
            Self::CutTail { last, head, beside } => write!(
                f,
                "the log ends at sequence number {}, and {} says that it reached {}: its tail was cut off",
                last.seq,
                source(*beside),
                head.seq
            ),
            Self::NoKey => f.write_str("the log says that it has no key, and one was given"),
        }
    }
}

const fn source(beside: bool) -> &'static str {
    if beside { "the .head file beside it" } else { "the given head" }
}
