//! Opening a log: lock, look at the end, move away what a crash tore, go on with the chain.
//!
//! Nothing is changed before the file was recognised as a log of the given key and FILE.head agreed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::chain::{BEFORE_SEQ, Chain};
use crate::digest::Digest;
use crate::head::Head;
use crate::head_file::{self, HeadFile, HeadFound};
use crate::log_file::LogFile;
use crate::render::{Line, Open, Recovered};
use crate::tail::{self, Tail, TailError};
use crate::{Micros, OpenError, Options, envelope};

/// A log that is locked, whole and has its `open` line.
pub(crate) struct Started {
    /// The lock is the open file's, and goes when the last handle does.
    pub(crate) file: Arc<File>,
    pub(crate) log_file: LogFile,
    pub(crate) head_file: HeadFile,
    pub(crate) chain: Chain,
    /// The sequence number of the `open` line.
    pub(crate) opened: u64,
    /// The line before it.
    pub(crate) after: Option<Head>,
    pub(crate) resumed: bool,
    /// The length of the torn line.
    pub(crate) torn_bytes: u64,
}

pub(crate) fn start(options: &Options, now: Micros) -> Result<Started, OpenError> {
    let path = &options.path;
    let digest = Digest::new(options.key.as_ref());
    let file = open_locked(path)?;
    let tail = read_tail(path, &file)?;
    let head_path = head_file::path_for(path);
    let found = head_file::read(&head_path).map_err(io_error(&head_path, "cannot read"))?;
    let head = match (last_line(path, &tail, &digest)?, found) {
        (_, HeadFound::Unreadable) => return Err(OpenError::HeadUnreadable { path: head_path }),
        (Some(last), HeadFound::Head(head))
            if head.seq > last.seq || head.seq == last.seq && head != last =>
        {
            return Err(OpenError::HeadDiffers { path: path.clone(), head, last });
        }
        (Some(last), HeadFound::Head(_) | HeadFound::Absent) => last,
        // A new file after one that was moved away goes on with that one's chain.
        (None, HeadFound::Head(head)) => head,
        (None, HeadFound::Absent) => Head::GENESIS,
    };
    let torn_bytes = move_torn(path, &file, &tail)?;

    let resumed = tail.line.is_some();
    let after = (head.seq > 0).then_some(head);
    let mut lines = Vec::new();
    let key = digest.key_id().map(ToOwned::to_owned);
    let version = env!("CARGO_PKG_VERSION");
    let open = Open { resumed, after, key: key.as_deref(), durability: options.durability, version };
    let mut chain = Chain::after(head, digest);
    seal(&mut chain, &mut lines, now, &Line::Open(open));
    let opened = chain.head().seq;
    if torn_bytes > 0 {
        seal(&mut chain, &mut lines, now, &Line::Recovered(Recovered { bytes: torn_bytes }));
    }
    let mut log_file = LogFile::new(Arc::clone(&file), tail.end);
    log_file.append(&lines).map_err(|fault| OpenError::Io {
        path: path.clone(),
        action: "cannot write",
        source: io::Error::from_raw_os_error(fault.errno()),
    })?;
    file.sync_all().map_err(io_error(path, "cannot sync"))?;
    let head_file = HeadFile::open(&head_path, chain.head())?;
    sync_folder(path)?;
    Ok(Started { file, log_file, head_file, chain, opened, after, resumed, torn_bytes })
}

fn open_locked(path: &Path) -> Result<Arc<File>, OpenError> {
    // Appending, so that the file may be made append-only (chattr +a) and a second writer could not
    // overwrite.
    let mut how = OpenOptions::new();
    how.read(true).append(true).create(true).mode(0o600);
    // A pipe without a reader would block, and is no log.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(OpenError::NotAFile { path: path.to_owned() });
    }
    let file = how.open(path).map_err(io_error(path, "cannot open"))?;
    match file.try_lock() {
        Ok(()) => Ok(Arc::new(file)),
        Err(TryLockError::WouldBlock) => Err(OpenError::Locked { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(io_error(path, "cannot lock")(source)),
    }
}

fn read_tail(path: &Path, file: &File) -> Result<Tail, OpenError> {
    let len = file.metadata().map_err(io_error(path, "cannot read"))?.len();
    let tail = tail::read(file, len).map_err(|error| match error {
        TailError::Io(source) => io_error(path, "cannot read")(source),
        TailError::LineTooLong => broken(path, "its last line is longer than a line may be"),
    })?;
    // Some other file that audit.path names by mistake must not be emptied as "torn".
    let begins = tail.torn.iter().zip(BEFORE_SEQ).all(|(byte, expected)| byte == expected);
    if tail.line.is_none() && !begins {
        return Err(broken(path, "it does not begin as an audit log does"));
    }
    Ok(tail)
}

/// The head of the chain as the file's last whole line has it.
fn last_line(path: &Path, tail: &Tail, digest: &Digest) -> Result<Option<Head>, OpenError> {
    let Some(line) = &tail.line else {
        return Ok(None);
    };
    let last =
        envelope::parse(line).map_err(|_| broken(path, "its last line is not a line of an audit log"))?;
    if digest.of(last.hashed) != last.hash {
        return Err(broken(
            path,
            "the hash of its last line is not right: it was changed, or audit.key is another one",
        ));
    }
    Ok(Some(Head { seq: last.seq, hash: last.hash }))
}

/// Copies the torn line to FILE.torn, then cuts it off; its length. A crash in between repeats it, and loses
/// nothing.
fn move_torn(path: &Path, file: &File, tail: &Tail) -> Result<u64, OpenError> {
    if tail.torn.is_empty() {
        return Ok(0);
    }
    let torn_path = head_file::beside(path, ".torn");
    let copy = || -> io::Result<()> {
        let mut torn_file = OpenOptions::new().append(true).create(true).mode(0o600).open(&torn_path)?;
        torn_file.write_all(&tail.torn)?;
        torn_file.write_all(b"\n")?;
        torn_file.sync_all()
    };
    copy().map_err(io_error(&torn_path, "cannot move a torn last line to"))?;
    sync_folder(path)?;
    file.set_len(tail.end).map_err(io_error(path, "cannot cut a torn last line off"))?;
    Ok(u64::try_from(tail.torn.len()).unwrap_or(u64::MAX))
}

/// A new file is durable when its folder is.
fn sync_folder(path: &Path) -> Result<(), OpenError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io_error(folder, "cannot sync"))
}

fn seal(chain: &mut Chain, lines: &mut Vec<u8>, now: Micros, line: &Line<'_>) {
    let mut body = Vec::new();
    line.render(&mut body);
    chain.seal(lines, now, line.kind(), &body);
}

fn broken(path: &Path, why: &'static str) -> OpenError {
    OpenError::Broken { path: path.to_owned(), why }
}

fn io_error(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> OpenError + use<> {
    let path = PathBuf::from(path);
    move |source| OpenError::Io { path, action, source }
}
