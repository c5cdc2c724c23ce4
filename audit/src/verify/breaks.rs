//! What is wrong with a broken log, and where.

use std::fmt;

use crate::{Head, MAX_LINE_BYTES};

/// A log whose chain does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The first line that is wrong, 1-based. For a cut tail, the line after the last one.
    pub line: u64,
    /// What is wrong with it.
    pub what: Break,
    /// The last line that is right.
    pub last: Option<Head>,
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
        writeln!(f, "broken at line {}: {}", self.line, self.what)?;
        match self.last {
            Some(last) => writeln!(f, "whole up to line {}: {last}", self.line.saturating_sub(1))?,
            None => writeln!(f, "no line before it")?,
        }
        write!(f, "not checked: line {} and everything after it", self.line)
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
