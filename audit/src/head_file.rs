//! FILE.head: the head of the chain beside the log, for whoever copies it to a place that the log's writer
//! cannot reach.
//!
//! Overwritten in place: one line that only grows, in one sector, so no write leaves less than one head.
//! INVARIANT (the head follows the log): it is written after the lines up to it were synced, so it never
//! names a line that a crash can take away.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::OpenError;
use crate::head::Head;
use crate::log_file::is_same;

/// FILE.head, open for writing.
pub(crate) struct HeadFile {
    path: PathBuf,
    file: Mutex<File>,
}

/// What FILE.head says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadFound {
    /// There is none, or it was made and never written.
    Absent,
    Unreadable,
    Head(Head),
}

/// The name of FILE.head.
pub(crate) fn path_for(log: &Path) -> PathBuf {
    beside(log, ".head")
}

/// `log`'s name with a suffix.
pub(crate) fn beside(log: &Path, suffix: &str) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Reads FILE.head, perhaps while it is overwritten: what two reads in a row agree on.
pub(crate) fn read(path: &Path) -> io::Result<HeadFound> {
    let mut found = read_once(path)?;
    for _ in 0..MAX_READS {
        let again = read_once(path)?;
        if again == found {
            break;
        }
        found = again;
    }
    Ok(found)
}

fn read_once(path: &Path) -> io::Result<HeadFound> {
    let mut text = String::new();
    let parse = |text: &str| text.strip_suffix('\n')?.parse().ok();
    match File::open(path).and_then(|file| file.take(MAX_HEAD_BYTES).read_to_string(&mut text)) {
        Ok(0) => Ok(HeadFound::Absent),
        Ok(_) => Ok(parse(&text).map_or(HeadFound::Unreadable, HeadFound::Head)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(HeadFound::Absent),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(HeadFound::Unreadable),
        Err(error) => Err(error),
    }
}

impl HeadFile {
    /// Opens or makes FILE.head and writes `head`.
    pub(crate) fn open(path: &Path, head: Head) -> Result<Self, OpenError> {
        let made = || -> io::Result<Self> {
            let head_file = Self { path: path.to_owned(), file: Mutex::new(open(path)?) };
            head_file.write(head)?;
            Ok(head_file)
        };
        made().map_err(|source| OpenError::Io { path: path.to_owned(), action: "cannot write", source })
    }

    pub(crate) fn write(&self, head: Head) -> io::Result<()> {
        let mut file = self.file.lock();
        let named = fs::metadata(&self.path);
        if !named.is_ok_and(|named| file.metadata().is_ok_and(|open| is_same(&named, &open))) {
            // It was removed or moved away.
            *file = open(&self.path)?;
        }
        file.write_all_at(format!("{head}\n").as_bytes(), 0)?;
        file.sync_data()
    }
}

fn open(path: &Path) -> io::Result<File> {
    // Not truncated: until it is written, what it held stays the better head.
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// A sequence number, a colon, a hash, a newline, and some.
const MAX_HEAD_BYTES: u64 = 128;

/// The writer comes once in milliseconds, a read takes microseconds.
const MAX_READS: usize = 8;
