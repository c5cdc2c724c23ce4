//! Finishing a file and going on in the next, so that each moment of it may be the last.
//!
//! The next file is made complete beside the log (FILE.new), the log gets its second name, the `rotate` line is its
//! last, and only then FILE.new takes the log's name, in one step. So there is always a log under its name, and it
//! is whole. What a crash leaves behind: before the `rotate` line, a second name of the same file; after it, a
//! finished log, whose rotation [`complete`] ends when it is opened.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::appender::Appender;
use crate::fresh::{self, Beside, folder_of};
use crate::log_file::{LogFile, is_same};
use crate::render::{Line, Rotate};
use crate::rotation::finished_name;
use crate::{Fault, Head, RotateError, Rotation};

/// A finished file.
pub(crate) struct Finished {
    pub(crate) file: PathBuf,
    pub(crate) head: Head,
}

impl Appender {
    /// Whether the file has become too long or too old. One that nothing was written to stays.
    pub(crate) fn is_due(&self, rotation: &Rotation) -> bool {
        let has_more = self.chain.head().seq > self.span.opening_seq;
        has_more && !self.file.is_lost() && rotation.is_due(self.file.len(), self.span.first, self.span.last)
    }

    /// Finishes the file, and goes on in a new one. After an error the log goes on in the same file.
    pub(crate) fn rotate(&mut self) -> Result<Finished, RotateError> {
        let log = self.file.path().to_owned();
        let (before, time, len) = (self.chain.head(), self.span.last, self.file.len());
        let name = finished_name(&log, time, before.seq.saturating_add(1));
        let finished = folder_of(&log).join(&name);
        let (mut last_line, mut first_line) = (Vec::new(), Vec::new());
        self.seal(&mut last_line, time, &Line::Rotate(Rotate { file: &name }));
        let head = self.chain.head();
        self.seal_open(&mut first_line, time);
        match self.exchange(&log, &finished, &last_line, &first_line) {
            Ok(next) => {
                let len = u64::try_from(first_line.len()).unwrap_or(u64::MAX);
                self.go_on_in(LogFile::new(log, next, len), time);
                Ok(Finished { file: finished, head })
            }
            Err(error) => {
                self.chain.rewind(before);
                if self.file.len() > len {
                    self.file.retract(len);
                }
                Err(error)
            }
        }
    }

    fn exchange(
        &mut self,
        log: &Path,
        finished: &Path,
        last_line: &[u8],
        first_line: &[u8],
    ) -> Result<Arc<fs::File>, RotateError> {
        let next = Beside::make(log, first_line).map_err(refused("cannot make a new file for", log))?;
        if let Err(error) = fs::hard_link(log, finished) {
            next.discard();
            return Err(refused("cannot give the finished file its name", finished)(error));
        }
        // The finished file has to be durable before its name is given away.
        if let Err(fault) = self.file.append(last_line).and_then(|()| self.durable.sync_now()) {
            next.discard();
            let _ = fs::remove_file(finished);
            return Err(RotateError { action: "cannot finish", path: log.to_owned(), fault });
        }
        let installed = next.install(log).map_err(|(next, error)| {
            next.discard();
            let _ = fs::remove_file(finished);
            refused("cannot rename the new file to", log)(error)
        })?;
        // A fault is final, and shows at the next entry.
        let _ = self.durable.go_on_with(Arc::clone(&installed), self.chain.head().seq);
        // Without it a power cut may take the new name away: then the finished log is there under its old one.
        let _ = fresh::sync_folder(log);
        Ok(installed)
    }
}

/// Ends a rotation that a crash has interrupted: `log`'s last line says that it was to be `name`. The next file's
/// first line is `first_line`.
pub(crate) fn complete(log: &Path, name: &str, first_line: &[u8]) -> io::Result<Arc<fs::File>> {
    if name.contains('/') || matches!(name, "" | "." | "..") {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "its last line names no file"));
    }
    let finished = folder_of(log).join(name);
    match fs::hard_link(log, &finished) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if !is_same(&fs::metadata(log)?, &fs::metadata(&finished)?) {
                return Err(error);
            }
        }
        linked => linked?,
    }
    let next = Beside::make(log, first_line)?;
    let file = next.install(log).map_err(|(next, error)| {
        next.discard();
        error
    })?;
    fresh::sync_folder(log)?;
    Ok(file)
}

fn refused(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RotateError + use<> {
    let path = path.to_owned();
    move |error| RotateError { action, path, fault: Fault::from(&error) }
}
