//! Finishing a file and going on in the next, so that each moment of it may be the last and nobody's entry waits for a
//! disk.
//!
//! The next file is made beside the log (FILE.new), empty. Then, with the appender held and by writes alone: the log gets
//! its second name, the `rotate` line is its last, the next file gets its first one, and all others follow in there.
//! With the appender free again both are synced, the log first, and only then FILE.new takes the log's name, in one
//! step. So there is always a log under its name, and it is whole. What a crash leaves behind: before the `rotate` line,
//! a second name of the same file; after it, a finished log and perhaps FILE.new with the lines that follow, and then
//! the rotation is ended when the log is opened ([`adopt`], [`complete`]).

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::appender::Appender;
use crate::digest::Digest;
use crate::fresh::{self, Beside, folder_of};
use crate::head_file::beside;
use crate::inner::Inner;
use crate::log_file::{LogFile, is_same};
use crate::render::{Line, Rotate};
use crate::rotation::finished_name;
use crate::{Change, Fault, Head, Kind, RotateError, Rotation, envelope};

/// A rotation under way: entries go to the next file, which has not got the log's name yet.
pub(crate) struct Turned {
    next: Beside,
    /// The next file's first line.
    first: Head,
    /// The finished file.
    file: PathBuf,
    /// Its last line.
    head: Head,
}

impl Inner {
    /// Rotates if the file is due for it, or goes on with the rotation under way; false where that failed. For one
    /// thread alone.
    pub(crate) fn rotate_if_due(&self, under_way: &mut Option<Turned>) -> bool {
        if self.rotation == Rotation::default() {
            return true;
        }
        let rotated = match under_way.take().map_or_else(|| self.turn(), |turned| Ok(Some(turned))) {
            Ok(None) => return true,
            Ok(Some(turned)) => match self.name(&turned) {
                Ok(()) => Ok(turned),
                Err(error) => {
                    *under_way = Some(turned);
                    Err(error)
                }
            },
            Err(error) => Err(error),
        };
        match &rotated {
            Ok(Turned { file, head, .. }) => {
                self.lag.rotates();
                self.watch.tell(&Change::Rotated { file, head: *head });
            }
            Err(error) => self.lag.does_not_rotate(&self.watch, error),
        }
        rotated.is_ok()
    }

    /// Begins a rotation; none where there is nothing to rotate.
    fn turn(&self) -> Result<Option<Turned>, RotateError> {
        if !self.appender.lock().is_due(&self.rotation) {
            return Ok(None);
        }
        let next = Beside::make(&self.path).map_err(refused("cannot make a new file for", &self.path))?;
        let turned = {
            let mut appender = self.appender.lock();
            self.emptied(&mut appender).map(|mut pending| {
                let turned = appender.turn_to(&next);
                pending.next_seq = appender.head().seq.saturating_add(1);
                turned
            })
        };
        match turned {
            Some(Ok((file, head, first))) => Ok(Some(Turned { next, first, file, head })),
            Some(Err(error)) => {
                next.discard();
                Err(error)
            }
            None => {
                next.discard();
                Ok(None)
            }
        }
    }

    /// Makes both files durable and gives the next one the log's name.
    fn name(&self, Turned { next, first, .. }: &Turned) -> Result<(), RotateError> {
        let unsynced = |fault| RotateError { action: "cannot finish", path: self.path.clone(), fault };
        self.durable.reach(first.seq).map_err(unsynced)?;
        next.install(&self.path).map_err(refused("cannot rename the new file to", &self.path))?;
        self.appender.lock().file.is_named(&self.path);
        // Without it a power cut may take the new name away: then opening the log gives it again.
        let _ = fresh::sync_folder(&self.path);
        Ok(())
    }
}

impl Appender {
    /// Whether the file has become too long or too old. One that nothing was written to stays.
    fn is_due(&self, rotation: &Rotation) -> bool {
        let has_more = self.chain.head().seq > self.span.opening_seq;
        has_more && !self.file.is_lost() && rotation.is_due(self.file.len(), self.span.first, self.span.last)
    }

    /// Finishes the file and goes on in the next one: the finished one's name and last line, the next one's first line.
    /// After an error the log goes on in the same file.
    fn turn_to(&mut self, next: &Beside) -> Result<(PathBuf, Head, Head), RotateError> {
        let log = self.file.path().to_owned();
        let (before, time, len) = (self.chain.head(), self.span.last, self.file.len());
        let name = finished_name(&log, time, before.seq.saturating_add(1));
        let finished = folder_of(&log).join(&name);
        let (mut last_line, mut first_line) = (Vec::new(), Vec::new());
        self.seal(&mut last_line, time, &Line::Rotate(Rotate { file: &name }));
        let head = self.chain.head();
        self.seal_open(&mut first_line, time);
        if let Err(error) = self.write_turn(&finished, &last_line, next, &first_line) {
            self.chain.rewind(before);
            if self.file.len() > len {
                self.file.retract(len);
            }
            return Err(error);
        }
        let first = self.chain.head();
        self.durable.go_on_with(Arc::clone(next.file()), first.seq);
        let bytes = u64::try_from(first_line.len()).unwrap_or(u64::MAX);
        self.go_on_in(LogFile::new(next.path().to_owned(), Arc::clone(next.file()), bytes), time);
        Ok((finished, head, first))
    }

    fn write_turn(
        &mut self,
        finished: &Path,
        last_line: &[u8],
        next: &Beside,
        first_line: &[u8],
    ) -> Result<(), RotateError> {
        let log = self.file.path().to_owned();
        fs::hard_link(&log, finished).map_err(refused("cannot give the finished file its name", finished))?;
        let written = self.file.append(last_line).and_then(|()| {
            let mut next: &File = next.file();
            next.write_all(first_line).map_err(|error| Fault::from(&error))
        });
        written.map_err(|fault| {
            let _ = fs::remove_file(finished);
            RotateError { action: "cannot finish", path: log, fault }
        })
    }
}

/// Ends a rotation that a crash has interrupted behind the first line of FILE.new, if there is that line: `log`'s last
/// line is `head` and says that it was to be `name`. True if the log is FILE.new now.
///
/// Whatever else FILE.new holds was promised to nobody: the log is synced before it.
pub(crate) fn adopt(log: &Path, name: &str, head: Head, digest: &Digest) -> io::Result<bool> {
    let path = beside(log, ".new");
    let Ok(next) = File::open(&path) else { return Ok(false) };
    let mut first = Vec::new();
    BufReader::new(&next).take(FIRST_LINE_BYTES).read_until(b'\n', &mut first)?;
    let first = first.strip_suffix(b"\n").and_then(|line| envelope::parse(line).ok());
    let follows = first.is_some_and(|line| {
        line.kind == Kind::Open
            && (Some(line.seq), line.prev) == (head.seq.checked_add(1), head.hash)
            && digest.of(line.hashed) == line.hash
    });
    if !follows {
        return Ok(false);
    }
    give_name(log, name)?;
    next.sync_all()?;
    fs::rename(&path, log)?;
    fresh::sync_folder(log)?;
    Ok(true)
}

/// Ends a rotation that a crash has interrupted before that: the next file's first line is `first_line`.
pub(crate) fn complete(log: &Path, name: &str, first_line: &[u8]) -> io::Result<Arc<File>> {
    give_name(log, name)?;
    let next = Beside::make(log)?;
    let mut file: &File = next.file();
    let begun = file.write_all(first_line).and_then(|()| file.sync_all()).and_then(|()| next.install(log));
    if let Err(error) = begun {
        next.discard();
        return Err(error);
    }
    fresh::sync_folder(log)?;
    Ok(Arc::clone(next.file()))
}

/// Gives a finished log its name, if it has not got it.
fn give_name(log: &Path, name: &str) -> io::Result<()> {
    if name.contains('/') || matches!(name, "" | "." | "..") {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "its last line names no file"));
    }
    let finished = folder_of(log).join(name);
    match fs::hard_link(log, &finished) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if is_same(&fs::metadata(log)?, &fs::metadata(&finished)?) { Ok(()) } else { Err(error) }
        }
        linked => linked,
    }
}

/// An `open` line is shorter.
const FIRST_LINE_BYTES: u64 = 4 * 1024;

fn refused(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RotateError + use<> {
    let path = path.to_owned();
    move |error| RotateError { action, path, fault: Fault::from(&error) }
}
