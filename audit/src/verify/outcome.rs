//! What verification found, as a value and as text whose last line says what was not excluded.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::Broken;
use crate::Head;

/// The result of verification.
#[derive(Debug)]
pub enum Outcome {
    /// Every line is right and follows the one before it.
    Whole(Whole),
    /// It does not hold.
    Broken(Broken),
    /// It could not be checked.
    Unreadable(Unreadable),
}

/// A log whose chain holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// In how many files it is.
    pub files: usize,
    /// How many whole lines there are, over all files.
    pub lines: u64,
    /// The line before the first file's first one, in an earlier file; sequence number 0 for none.
    pub before: Head,
    /// The last line.
    pub last: Head,
    /// Whether that line says that another file goes on.
    pub finished: bool,
    /// Whether the hashes were made with the key that was given.
    pub keyed: bool,
    /// The head that was given.
    pub given: HeadSeen,
    /// FILE.head.
    pub beside: HeadSeen,
    /// Torn lines that were moved away after a crash.
    pub recoveries: Recoveries,
    /// Bytes after the last whole line: a crash that was not recovered from yet, or a write that is going on.
    pub unfinished_bytes: u64,
}

/// Where a head from elsewhere was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadSeen {
    /// There was none.
    NotGiven,
    /// At this line (or at the last one before the file), and it agrees.
    At(Head),
    /// Nowhere: it is about a line of an earlier file.
    Before(Head),
}

/// `recovered` lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recoveries {
    /// How many.
    pub count: u64,
    /// The number of the last one's line in its file.
    pub last_line: u64,
    /// How many bytes it moved to FILE.torn.
    pub last_bytes: u64,
}

/// Why a log could not be checked.
#[derive(Debug)]
#[non_exhaustive]
pub enum Unreadable {
    /// The system refused.
    Io {
        /// The file it was about.
        file: PathBuf,
        /// What it said.
        error: io::Error,
    },
    /// The log has a key, and none was given.
    NeedsKey,
    /// The log has another key.
    OtherKey {
        /// The identifier that the log names.
        named: String,
    },
    /// FILE.head is not `SEQ:HASH`.
    HeadFile {
        /// FILE.head.
        file: PathBuf,
    },
}

impl Outcome {
    /// The exit status of `audit verify`: 0 whole, 1 broken, 2 unreadable.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Whole(_) => 0,
            Self::Broken(_) => 1,
            Self::Unreadable(_) => 2,
        }
    }
}

impl Whole {
    /// What could have happened all the same; each completes "not excluded: that …".
    #[must_use]
    pub fn not_excluded(&self) -> Vec<String> {
        let last = self.last.seq;
        let mut open = Vec::new();
        match self.given {
            HeadSeen::At(head) => {
                open.push(format!(
                    "lines that were written after the given head ({}) were cut off after {last}",
                    head.seq
                ));
                if !self.keyed && head.seq < last {
                    open.push(format!(
                        "lines {} to {last} were recomputed without a key",
                        head.seq.saturating_add(1)
                    ));
                }
            }
            HeadSeen::NotGiven | HeadSeen::Before(_) => {
                open.push(format!(
                    "lines after {last} were cut off (compare with a head kept elsewhere: --head SEQ:HASH)"
                ));
                if !self.keyed {
                    open.push("the whole chain was recomputed (the log has no key)".to_owned());
                }
            }
        }
        if let HeadSeen::Before(head) = self.given {
            open.push(format!(
                "the given head ({}) is contradicted: its line is in an earlier file",
                head.seq
            ));
        }
        if self.before.seq > 0 {
            open.push(format!(
                "lines up to {} were changed: they are in earlier files (give all files of the log)",
                self.before.seq
            ));
        }
        open
    }
}

impl Recoveries {
    pub(crate) const fn add(&mut self, line: u64, bytes: u64) {
        *self = Self { count: self.count.saturating_add(1), last_line: line, last_bytes: bytes };
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(whole) => whole.fmt(f),
            Self::Broken(broken) => broken.fmt(f),
            Self::Unreadable(why) => why.fmt(f),
        }
    }
}

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.before.seq.saturating_add(1);
        write!(f, "whole: {} lines, sequence numbers {first} to {}", self.lines, self.last.seq)?;
        match self.files {
            0 | 1 => writeln!(f)?,
            files => writeln!(f, ", in {files} files")?,
        }
        writeln!(f, "head: {}", self.last)?;
        if self.before.seq > 0 {
            writeln!(f, "follows: {}, the last line of an earlier file", self.before)?;
        }
        if self.finished {
            writeln!(f, "rotated: the last line says that another file goes on after it")?;
        }
        if self.recoveries.count > 0 {
            let Recoveries { count, last_line, last_bytes } = self.recoveries;
            writeln!(
                f,
                "recovered: {count} times a line that a crash tore was moved to the .torn file, last at line \
                 {last_line} ({last_bytes} bytes)"
            )?;
        }
        if self.unfinished_bytes > 0 {
            writeln!(
                f,
                "unfinished: {} bytes after the last line, torn by a crash or just being written",
                self.unfinished_bytes
            )?;
        }
        if let HeadSeen::At(head) = self.beside {
            writeln!(f, "the .head file agrees at sequence number {}", head.seq)?;
        }
        if let HeadSeen::At(head) = self.given {
            writeln!(f, "the given head agrees at sequence number {}", head.seq)?;
        }
        write!(f, "not excluded: that {}", self.not_excluded().join("; that "))
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { file, error } => writeln!(f, "unreadable: {}: {error}", file.display())?,
            Self::NeedsKey => {
                writeln!(f, "unreadable: the log's hashes are made with a key: give it (--key-file)")?
            }
            Self::OtherKey { named } => {
                writeln!(f, "unreadable: the key is not the log's, which names {}", named.escape_debug())?;
            }
            Self::HeadFile { file } => writeln!(
                f,
                "unreadable: {} is not SEQ:HASH; keep it, move it away, and give a head that was noted elsewhere (--head)",
                file.display()
            )?,
        }
        write!(f, "not excluded: anything; nothing was checked")
    }
}
