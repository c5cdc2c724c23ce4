//! The files of a log in the order of their lines.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::envelope;

/// Each file once, by the sequence number of its first line. A file without one stands where it was given, behind the
/// others: verification says what is wrong with it.
pub(super) fn in_order(paths: &[PathBuf]) -> Result<Vec<&PathBuf>, (&PathBuf, io::Error)> {
    let mut files: Vec<(Identity, u64, &PathBuf)> = Vec::with_capacity(paths.len());
    for path in paths {
        let (identity, first) = look(path).map_err(|error| (path, error))?;
        if identity.is_none() || !files.iter().any(|(known, ..)| *known == identity) {
            files.push((identity, first, path));
        }
    }
    files.sort_by_key(|(_, first, _)| *first);
    Ok(files.into_iter().map(|(.., path)| path).collect())
}

/// Device and number. What is no regular file is never another one's second name.
type Identity = Option<(u64, u64)>;

fn look(path: &PathBuf) -> io::Result<(Identity, u64)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        // A pipe could be read once only.
        return Ok((None, u64::MAX));
    }
    let mut line = Vec::new();
    BufReader::new(file).take(FIRST_LINE_BYTES).read_until(b'\n', &mut line)?;
    let line = line.strip_suffix(b"\n").unwrap_or(&line);
    let first = envelope::parse(line).map_or(u64::MAX, |envelope| envelope.seq);
    Ok((Some((metadata.dev(), metadata.ino())), first))
}

/// An `open` line is shorter.
const FIRST_LINE_BYTES: u64 = 4 * 1024;
