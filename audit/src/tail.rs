//! The end of a log file: its last whole line, and what a crash left after it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::MAX_LINE_BYTES;

/// How a file ends.
pub(crate) struct Tail {
    /// The last whole line, without its newline.
    pub(crate) line: Option<Vec<u8>>,
    /// Where that line ends, its newline included: the length that the file should have.
    pub(crate) end: u64,
    /// What follows: a line that was not finished.
    pub(crate) torn: Vec<u8>,
}

/// What stands in the way of knowing.
pub(crate) enum TailError {
    Io(io::Error),
    /// No newline within the length of a line.
    LineTooLong,
}

pub(crate) fn read(file: &File, len: u64) -> Result<Tail, TailError> {
    let end = after_newline_before(file, len)?;
    let torn = range(file, end, len)?;
    let Some(before_newline) = end.checked_sub(1) else {
        return Ok(Tail { line: None, end, torn });
    };
    let start = after_newline_before(file, before_newline)?;
    let line = range(file, start, before_newline)?;
    Ok(Tail { line: Some(line), end, torn })
}

/// The offset after the last newline that lies before `end`; 0 where there is none.
fn after_newline_before(file: &File, end: u64) -> Result<u64, TailError> {
    let longest = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX);
    let floor = end.saturating_sub(longest);
    let mut upper = end;
    while upper > floor {
        let lower = upper.saturating_sub(CHUNK_BYTES).max(floor);
        let chunk = range(file, lower, upper)?;
        if let Some(at) = chunk.iter().rposition(|&byte| byte == b'\n') {
            return Ok(lower.saturating_add(u64::try_from(at).unwrap_or(u64::MAX)).saturating_add(1));
        }
        upper = lower;
    }
    if floor == 0 { Ok(0) } else { Err(TailError::LineTooLong) }
}

fn range(file: &File, start: u64, end: u64) -> Result<Vec<u8>, TailError> {
    let length = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX).min(MAX_LINE_BYTES);
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, start).map_err(TailError::Io)?;
    Ok(bytes)
}

const CHUNK_BYTES: u64 = 64 * 1024;

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

    use super::*;

    fn tail_of(content: &[u8]) -> Result<Tail, TailError> {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, content).unwrap();
        read(&file, u64::try_from(content.len()).unwrap())
    }

    #[test]
    fn the_last_line_and_the_torn_one_are_found_whatever_their_lengths() {
        let long = vec![b'x'; 3 * usize::try_from(CHUNK_BYTES).unwrap() + 7];
        for line in [&b""[..], b"a", &long] {
            for torn in [&b""[..], b"b", &long] {
                for before in [&b""[..], b"c\n", b"\n"] {
                    let content = [before, line, b"\n", torn].concat();
                    let Ok(tail) = tail_of(&content) else { panic!("no tail") };
                    assert_eq!(tail.line.as_deref(), Some(line));
                    assert_eq!(tail.torn, torn);
                    assert_eq!(tail.end, u64::try_from(content.len() - torn.len()).unwrap());
                }
            }
        }
    }

    #[test]
    fn a_file_without_a_newline_has_no_line() {
        for content in [&b""[..], b"torn"] {
            let Ok(tail) = tail_of(content) else { panic!("no tail") };
            assert_eq!((tail.line, tail.end, tail.torn), (None, 0, content.to_vec()));
        }
    }

    #[test]
    fn the_search_is_bounded_by_the_longest_line() {
        let mut content = b"\n".to_vec();
        content.resize(MAX_LINE_BYTES + 2, b'x');
        assert!(matches!(tail_of(&content), Err(TailError::LineTooLong)));
        content.push(b'\n');
        assert!(matches!(tail_of(&content), Err(TailError::LineTooLong)));
    }
}
