//! The body of a batch, cut into chunks of whole lines. Pure.

use std::mem;

use crate::config::AdminLimits;

/// What stands in the place of a line.
pub(super) enum Fault {
    /// The line is over a bound.
    Line(String),
    /// There is no line.
    Body(&'static str),
}

/// Whole lines, and what of the next one there is.
pub(super) struct Lines {
    chunk: Chunk,
    /// The bytes of the line that is still open.
    open_bytes: usize,
    taken_bytes: usize,
    limits: AdminLimits,
}

/// Some lines of the body.
#[derive(Default)]
pub(super) struct Chunk {
    /// The number of its first line.
    first: usize,
    bytes: Vec<u8>,
    /// Where lines end, their newline left out.
    ends: Vec<usize>,
    /// What stands in the place of the line after them.
    pub(super) fault: Option<Fault>,
}

impl Lines {
    pub(super) fn new(limits: AdminLimits) -> Lines {
        let chunk = Chunk { first: 1, ..Chunk::default() };
        Lines { chunk, open_bytes: 0, taken_bytes: 0, limits }
    }

    /// Takes bytes up to the end of a line, or of what there is; gives the rest.
    ///
    /// # Errors
    /// A bound is reached.
    pub(super) fn take<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], String> {
        let at = bytes.iter().position(|byte| *byte == b'\n');
        let (line, rest) = bytes.split_at(at.unwrap_or(bytes.len()));
        let limits = self.limits;
        self.taken_bytes = self.taken_bytes.saturating_add(line.len() + usize::from(at.is_some()));
        if self.taken_bytes > limits.batch_bytes {
            return Err(format!("the batch is longer than {} bytes", limits.batch_bytes));
        }
        if self.open_bytes.saturating_add(line.len()) > limits.request_bytes {
            return Err(format!("longer than {} bytes", limits.request_bytes));
        }
        if self.chunk.next() > limits.batch_lines {
            return Err(format!("the batch has more than {} lines", limits.batch_lines));
        }
        self.chunk.bytes.extend_from_slice(line);
        self.open_bytes += line.len();
        if at.is_some() {
            self.close();
        }
        Ok(rest.get(usize::from(at.is_some())..).unwrap_or_default())
    }

    fn close(&mut self) {
        self.chunk.ends.push(self.chunk.bytes.len());
        self.open_bytes = 0;
    }

    /// The body has ended: its last line needs no newline.
    pub(super) fn end(&mut self) {
        if self.open_bytes > 0 {
            self.close();
        }
    }

    /// No more of the body is taken.
    pub(super) fn break_off(&mut self, fault: Fault) {
        self.chunk.bytes.truncate(self.chunk.bytes.len() - self.open_bytes);
        self.open_bytes = 0;
        self.chunk.fault = Some(fault);
    }

    pub(super) fn has_whole_lines(&self) -> bool {
        !self.chunk.ends.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.chunk.ends.len() >= CHUNK_LINES
            || (self.has_whole_lines() && self.chunk.bytes.len() >= CHUNK_BYTES)
    }

    /// The whole lines; what is open stays. None where there is nothing to answer.
    pub(super) fn chunk(&mut self) -> Option<Chunk> {
        if self.chunk.ends.is_empty() && self.chunk.fault.is_none() {
            return None;
        }
        let open = self.chunk.bytes.split_off(self.chunk.bytes.len() - self.open_bytes);
        let next = Chunk { first: self.chunk.next(), bytes: open, ..Chunk::default() };
        Some(mem::replace(&mut self.chunk, next))
    }
}

impl Chunk {
    /// Its lines with their numbers.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let lines =
            starts.zip(&self.ends).map(|(start, end)| self.bytes.get(start..*end).unwrap_or_default());
        (self.first..).zip(lines)
    }

    /// The number of the line after them.
    pub(super) fn next(&self) -> usize {
        self.first.saturating_add(self.ends.len())
    }
}

/// Lines of a chunk at most.
const CHUNK_LINES: usize = 64;
/// The same in bytes, if there is a whole line.
const CHUNK_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

    use std::time::Duration;

    use super::*;

    const LIMITS: AdminLimits = AdminLimits {
        connections: 1,
        requests: 1,
        request_bytes: 10,
        batch_bytes: 40,
        batch_lines: 6,
        patience: Duration::from_secs(1),
        unauthenticated: Duration::from_secs(1),
    };

    /// The lines of a body that comes in pieces of that many bytes, and why there are no more.
    fn cut(body: &str, piece: usize) -> (Vec<(usize, String)>, Option<String>) {
        let mut lines = Lines::new(LIMITS);
        let (mut all, mut fault) = (Vec::new(), None);
        let mut keep = |chunk: Option<Chunk>| {
            let Some(chunk) = chunk else { return };
            all.extend(
                chunk.lines().map(|(number, line)| (number, String::from_utf8(line.to_vec()).unwrap())),
            );
            match &chunk.fault {
                Some(Fault::Line(text)) => fault = Some(format!("{}: {text}", chunk.next())),
                Some(Fault::Body(text)) => panic!("{text}"),
                None => {}
            }
        };
        'body: for piece in body.as_bytes().chunks(piece) {
            let mut rest = piece;
            while !rest.is_empty() {
                match lines.take(rest) {
                    Ok(more) => rest = more,
                    Err(text) => {
                        lines.break_off(Fault::Line(text));
                        break 'body;
                    }
                }
            }
            keep(lines.chunk());
        }
        lines.end();
        keep(lines.chunk());
        assert!(lines.chunk().is_none());
        (all, fault)
    }

    #[test]
    fn lines_are_the_same_however_the_body_comes() {
        for (body, expected, fault) in [
            ("", &[][..], None),
            ("\n", &[""], None),
            ("a\n\nb", &["a", "", "b"], None),
            ("a\r\nb\n", &["a\r", "b"], None),
            ("0123456789\nx", &["0123456789", "x"], None),
            ("a\n0123456789a\nb", &["a"], Some("2: longer than 10 bytes")),
            ("1\n2\n3\n4\n5\n6\n", &["1", "2", "3", "4", "5", "6"], None),
            (
                "1\n2\n3\n4\n5\n6\n7",
                &["1", "2", "3", "4", "5", "6"],
                Some("7: the batch has more than 6 lines"),
            ),
            ("012345678\n012345678\n012345678\n012345678\n", &["012345678"; 4], None),
            (
                "012345678\n012345678\n012345678\n012345678\nx",
                &["012345678"; 4],
                Some("5: the batch is longer than 40 bytes"),
            ),
        ] {
            for piece in 1..=body.len().max(1) {
                let (lines, broken) = cut(body, piece);
                let numbered: Vec<(usize, String)> =
                    (1..).zip(expected.iter().map(ToString::to_string)).collect();
                assert_eq!(lines, numbered, "{body:?} by {piece}");
                assert_eq!(broken.as_deref(), fault, "{body:?} by {piece}");
            }
        }
    }
}
