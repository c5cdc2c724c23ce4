//! The file that lines are appended to: all of a write, or none of it.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Fault;

/// An open log file under its name.
pub(crate) struct LogFile {
    path: PathBuf,
    file: Arc<File>,
    /// Where its last whole line ends.
    len: u64,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    /// It ends at `len`.
    Whole,
    /// A failed write left bytes behind `len` and cutting them off failed too.
    Surplus,
    /// What is open is not the log any more, or not as it was written. Nothing goes in.
    Lost(Fault),
}

impl LogFile {
    /// `file` is open for appending and ends at `len` with a whole line.
    pub(crate) const fn new(path: PathBuf, file: Arc<File>, len: u64) -> Self {
        Self { path, file, len, state: State::Whole }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file has got another name.
    pub(crate) fn is_named(&mut self, path: &Path) {
        path.clone_into(&mut self.path);
    }

    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    pub(crate) const fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Whether a new file has to be begun before anything can be written.
    pub(crate) const fn is_lost(&self) -> bool {
        matches!(self.state, State::Lost(_))
    }

    /// Writes whole lines.
    ///
    /// INVARIANT (the file stays whole): after an error nothing of `lines` stays; where cutting it off fails,
    /// nothing else is written until that succeeds.
    /// INVARIANT (what was taken can be found): the lines stand at their place in a file that has a name.
    pub(crate) fn append(&mut self, lines: &[u8]) -> Result<(), Fault> {
        match self.state {
            State::Whole => {}
            State::Surplus => self.cut()?,
            State::Lost(fault) => return Err(fault),
        }
        let written = (&*self.file).write_all(lines).and_then(|()| self.file.metadata());
        match written {
            Ok(metadata) => {
                let end = self.len.saturating_add(u64::try_from(lines.len()).unwrap_or(u64::MAX));
                self.expect_end(&metadata, end)?;
                self.len = end;
                Ok(())
            }
            Err(error) => {
                self.state = State::Surplus;
                // The write's error is the one to tell; a cut that fails is tried again before the next
                // write.
                let _ = self.cut();
                Err(Fault::from(&error))
            }
        }
    }

    /// Takes back what was written behind `len`.
    pub(crate) fn retract(&mut self, len: u64) {
        self.len = len;
        self.state = State::Surplus;
        // Tried again before the next write.
        let _ = self.cut();
    }

    /// Of a file that is lost: whether its name is free for another one, or an empty file's.
    pub(crate) fn still_in_the_way(&self) -> Result<(), Fault> {
        let State::Lost(fault) = self.state else { return Ok(()) };
        match (fs::metadata(&self.path), self.file.metadata()) {
            (Ok(named), Ok(open)) if is_same(&named, &open) => Err(fault),
            (_, _) => Ok(()),
        }
    }

    /// Looks whether the log's name is still this file's: one that was moved away still takes lines, but a
    /// new one has to be begun.
    pub(crate) fn look(&mut self) {
        if !matches!(self.state, State::Whole) {
            return;
        }
        let lost = match (fs::metadata(&self.path), self.file.metadata()) {
            (Ok(named), Ok(open)) if is_same(&named, &open) => return,
            (Ok(_), Ok(_)) => Fault::Replaced,
            (Err(error), _) if error.kind() == io::ErrorKind::NotFound => Fault::Removed,
            // Nothing is known; lines still go in.
            (Err(_), _) | (_, Err(_)) => return,
        };
        self.state = State::Lost(lost);
    }

    fn cut(&mut self) -> Result<(), Fault> {
        let metadata = self.file.metadata().map_err(|error| Fault::from(&error))?;
        // Cutting a file that is shorter would fill it up with zeros.
        self.expect_end(&metadata, metadata.len().max(self.len))?;
        self.file.set_len(self.len).map_err(|error| Fault::from(&error))?;
        self.state = State::Whole;
        Ok(())
    }

    fn expect_end(&mut self, metadata: &Metadata, end: u64) -> Result<(), Fault> {
        let fault = match (metadata.nlink(), metadata.len() == end) {
            (0, _) => Fault::Removed,
            (_, true) => return Ok(()),
            (_, false) => Fault::Changed,
        };
        self.state = State::Lost(fault);
        Err(fault)
    }
}

/// Whether two looks were at the same file.
pub(crate) fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}
