//! Opening a log: lock, look at the end, move away what a crash tore, go on with the chain.
//!
//! Nothing is changed before the file was recognised as a log of the given key and FILE.head agreed.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::appender::Span;
use crate::chain::{BEFORE_SEQ, Chain};
use crate::digest::Digest;
use crate::head::Head;
use crate::head_file::{self, HeadFile, HeadFound};
use crate::log_file::LogFile;
use crate::render::{Line, Open, Recovered, VERSION};
use crate::tail::{self, Tail, TailError};
use crate::{Kind, Micros, OpenError, Options, envelope, fresh, rotate};

/// A log that is locked, whole and has its `open` line.
pub(crate) struct Started {
    pub(crate) log_file: LogFile,
    pub(crate) head_file: HeadFile,
    pub(crate) chain: Chain,
    pub(crate) span: Span,
    /// The sequence number of the `open` line.
    pub(crate) opened: u64,
    /// The line before it.
    pub(crate) after: Option<Head>,
    pub(crate) resumed: bool,
    /// The length of the torn line.
    pub(crate) torn_bytes: u64,
}

/// The last whole line of a file.
struct Last {
    head: Head,
    /// The name that a `rotate` line gives the file.
    finished: Option<String>,
}

pub(crate) fn start(options: &Options, now: Micros) -> Result<Started, OpenError> {
    let path = &options.path;
    let digest = Digest::new(options.key.as_ref());
    let mut file = open_locked(path)?;
    let mut tail = read_tail(path, &file)?;
    let mut last = last_line(path, &tail, &digest)?;
    // A finished file's rotation is ended first: nothing is written behind its last line.
    if let Some(Last { head, finished: Some(name) }) = &last
        && rotate::adopt(path, name, *head, &digest).map_err(io_error(path, INTERRUPTED))?
    {
        file = open_locked(path)?;
        tail = read_tail(path, &file)?;
        last = last_line(path, &tail, &digest)?;
    }
    let head_path = head_file::path_for(path);
    let found = head_file::read(&head_path).map_err(io_error(&head_path, "cannot read"))?;
    let head = match (last.as_ref().map(|last| last.head), found) {
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

    let finished = last.as_ref().and_then(|last| last.finished.as_deref());
    let resumed = tail.line.is_some() && finished.is_none();
    let after = (head.seq > 0).then_some(head);
    let mut lines = Vec::new();
    let key = digest.key_id().map(ToOwned::to_owned);
    let open = Open { resumed, after, key: key.as_deref(), durability: options.durability, version: VERSION };
    let mut chain = Chain::after(head, digest);
    seal(&mut chain, &mut lines, now, &Line::Open(open));
    let opened = chain.head().seq;
    if torn_bytes > 0 {
        seal(&mut chain, &mut lines, now, &Line::Recovered(Recovered { bytes: torn_bytes }));
    }
    let first = if resumed { first_time(&file).unwrap_or(now) } else { now };
    let span = Span { first, last: now, opening_seq: if resumed { 0 } else { chain.head().seq } };
    let log_file = match finished {
        Some(name) => {
            let next = rotate::complete(path, name, &lines).map_err(io_error(path, INTERRUPTED))?;
            LogFile::new(path.clone(), next, u64::try_from(lines.len()).unwrap_or(u64::MAX))
        }
        None => go_on(path, &file, tail.end, &lines)?,
    };
    let head_file = HeadFile::open(&head_path, chain.head())?;
    fresh::sync_folder(path).map_err(io_error(fresh::folder_of(path), "cannot sync"))?;
    Ok(Started { log_file, head_file, chain, span, opened, after, resumed, torn_bytes })
}

/// Writes the first lines of this opening behind the file's last one.
fn go_on(path: &Path, file: &Arc<File>, end: u64, lines: &[u8]) -> Result<LogFile, OpenError> {
    let mut log_file = LogFile::new(path.to_owned(), Arc::clone(file), end);
    log_file.append(lines).map_err(|fault| OpenError::Io {
        path: path.to_owned(),
        action: "cannot write",
        source: fault.errno().map_or_else(|| io::Error::other(fault), io::Error::from_raw_os_error),
    })?;
    file.sync_all().map_err(io_error(path, "cannot sync"))?;
    Ok(log_file)
}

fn open_locked(path: &Path) -> Result<Arc<File>, OpenError> {
    // A pipe without a reader would block, and is no log.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(OpenError::NotAFile { path: path.to_owned() });
    }
    match fresh::open_locked(path).map_err(io_error(path, "cannot open"))? {
        Some(file) => Ok(Arc::new(file)),
        None => Err(OpenError::Locked { path: path.to_owned() }),
    }
}

/// The time of a file's first line.
fn first_time(file: &File) -> Option<Micros> {
    let mut start = vec![0; FIRST_LINE_BYTES];
    let read = file.read_at(&mut start, 0).ok()?;
    let line = start.get(..read)?.split(|byte| *byte == b'\n').next()?;
    Micros::parse(envelope::parse(line).ok()?.time)
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

/// The file's last whole line.
fn last_line(path: &Path, tail: &Tail, digest: &Digest) -> Result<Option<Last>, OpenError> {
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
    let head = Head { seq: last.seq, hash: last.hash };
    if last.kind != Kind::Rotate {
        return Ok(Some(Last { head, finished: None }));
    }
    let fields: Option<Value> = serde_json::from_slice(line).ok();
    let finished = fields.as_ref().and_then(|fields| fields.get("file")?.as_str()).map(ToOwned::to_owned);
    if finished.is_none() {
        return Err(broken(path, "its last line is a rotation to no file"));
    }
    Ok(Some(Last { head, finished }))
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
    fresh::sync_folder(path).map_err(io_error(fresh::folder_of(path), "cannot sync"))?;
    file.set_len(tail.end).map_err(io_error(path, "cannot cut a torn last line off"))?;
    Ok(u64::try_from(tail.torn.len()).unwrap_or(u64::MAX))
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

const INTERRUPTED: &str = "cannot end the rotation, which a crash has interrupted, of";

/// An `open` line is shorter.
const FIRST_LINE_BYTES: usize = 4 * 1024;
