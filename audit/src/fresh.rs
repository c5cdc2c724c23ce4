//! A file of a chain's own, made while the chain goes on: empty, locked, with its first line, synced.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Fault;
use crate::head_file::beside;
use crate::log_file::is_same;

/// Opens a log for appending and takes its lock.
///
/// # Errors
/// Outer: the system's. Inner: somebody else has it, or what has the name now is another file.
pub(crate) fn open_locked(path: &Path) -> io::Result<Option<File>> {
    // Appending, so that the file may be made append-only (chattr +a) and a second writer could not
    // overwrite.
    let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // Its writer may have given it away, and its name to another, between the two.
    let is_named =
        fs::metadata(path).is_ok_and(|named| file.metadata().is_ok_and(|open| is_same(&named, &open)));
    Ok(is_named.then_some(file))
}

/// Begins a file under the log's own name, which must be free or an empty file's.
pub(crate) fn in_place(path: &Path, lines: &[u8]) -> Result<Arc<File>, Fault> {
    let file = open_locked(path).map_err(|error| Fault::from(&error))?.ok_or(Fault::Replaced)?;
    if file.metadata().map_err(|error| Fault::from(&error))?.len() > 0 {
        return Err(Fault::Replaced);
    }
    let begun = (&file).write_all(lines).and_then(|()| file.sync_all()).and_then(|()| sync_folder(path));
    if let Err(error) = begun {
        // So that the next try finds it empty.
        let _ = file.set_len(0);
        return Err(Fault::from(&error));
    }
    Ok(Arc::new(file))
}

/// A file that waits beside the log to take its name.
pub(crate) struct Beside {
    path: PathBuf,
    file: Arc<File>,
}

impl Beside {
    /// Makes FILE.new, empty and under a durable name. What an earlier crash has left there was never part of the log.
    pub(crate) fn make(log: &Path) -> io::Result<Self> {
        let path = beside(log, ".new");
        remove(&path)?;
        let file = OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).open(&path)?;
        let fresh = Self { path, file: Arc::new(file) };
        let locked = fresh.file.try_lock().map_err(io::Error::from);
        match locked.and_then(|()| fresh.file.sync_all()).and_then(|()| sync_folder(log)) {
            Ok(()) => Ok(fresh),
            Err(error) => {
                fresh.discard();
                Err(error)
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) const fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Gives it the log's name, in one step.
    pub(crate) fn install(&self, log: &Path) -> io::Result<()> {
        fs::rename(&self.path, log)
    }

    pub(crate) fn discard(self) {
        // The next one removes it first.
        let _ = remove(&self.path);
    }
}

/// A new name is durable when its folder is.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder_of(path)).and_then(|folder| folder.sync_all())
}

/// Where a file is.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
