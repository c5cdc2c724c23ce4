//! Input cut into chunks of whole lines: what a read gave, up to its last line end.

use std::io::{self, Read};

/// Lines that follow one another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    /// The number of the first one, from 1.
    pub(super) first: u64,
    pub(super) text: Text,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Text {
    /// With their ends; the input's last line may have none.
    Lines(Vec<u8>),
    /// One line of which nothing was kept.
    TooLong,
}

/// An input in chunks.
#[derive(Debug)]
pub(super) struct Chunks<R> {
    input: R,
    /// The beginning of a line.
    begun: Vec<u8>,
    next: u64,
    max_line_bytes: usize,
}

impl Chunk {
    pub(super) fn bytes(&self) -> usize {
        match &self.text {
            Text::Lines(lines) => lines.len(),
            Text::TooLong => 0,
        }
    }
}

impl<R: Read> Chunks<R> {
    pub(super) fn new(input: R) -> Chunks<R> {
        Chunks { input, begun: Vec::new(), next: 1, max_line_bytes: MAX_LINE_BYTES }
    }

    /// The next lines, as soon as one is whole; none at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Chunk>> {
        loop {
            let looked_at = self.begun.len();
            if self.read()? == 0 {
                let rest = std::mem::take(&mut self.begun);
                return Ok((!rest.is_empty()).then(|| self.chunk(Text::Lines(rest), 1)));
            }
            let new = self.begun.get(looked_at..).unwrap_or_default();
            let Some(last) = new.iter().rposition(|byte| *byte == b'\n') else {
                if self.begun.len() > self.max_line_bytes {
                    self.skip_line()?;
                    return Ok(Some(self.chunk(Text::TooLong, 1)));
                }
                continue;
            };
            let lines = new.iter().filter(|byte| **byte == b'\n').count();
            let rest = self.begun.split_off(looked_at + last + 1);
            let lines_text = std::mem::replace(&mut self.begun, rest);
            return Ok(Some(self.chunk(Text::Lines(lines_text), lines)));
        }
    }

    fn chunk(&mut self, text: Text, lines: usize) -> Chunk {
        let first = self.next;
        self.next += u64::try_from(lines).unwrap_or(u64::MAX);
        Chunk { first, text }
    }

    /// One read(2), behind what is begun.
    fn read(&mut self) -> io::Result<usize> {
        let begun = self.begun.len();
        self.begun.resize(begun + READ_BYTES, 0);
        let read = loop {
            match self.input.read(self.begun.get_mut(begun..).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.begun.truncate(begun + read.as_ref().map_or(0, |count| *count));
        read
    }

    /// Up to the end of the line that is begun; what follows it stays.
    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            self.begun.clear();
            if self.read()? == 0 {
                return Ok(());
            }
            if let Some(end) = self.begun.iter().position(|byte| *byte == b'\n') {
                self.begun.drain(..=end);
                return Ok(());
            }
        }
    }
}

/// The longest line: above every limit on statements, in any escaping.
pub(super) const MAX_LINE_BYTES: usize = 256 << 20;
/// What a pipe holds.
const READ_BYTES: usize = 64 << 10;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    /// Gives its pieces, one a read.
    struct Pieces(Vec<&'static [u8]>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let piece = self.0.remove(0);
            buffer.get_mut(..piece.len()).unwrap().copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    fn chunks(pieces: &[&'static [u8]], max_line_bytes: usize) -> Vec<Chunk> {
        let mut chunks = Chunks { max_line_bytes, ..Chunks::new(Pieces(pieces.to_vec())) };
        std::iter::from_fn(|| chunks.next().unwrap()).collect()
    }

    fn lines(first: u64, text: &[u8]) -> Chunk {
        Chunk { first, text: Text::Lines(text.to_vec()) }
    }

    #[test]
    fn a_chunk_is_what_was_read_up_to_its_last_line_end() {
        assert_eq!(
            chunks(&[b"a\n", b"b\nc\nd", b"d", b"d\ne\n", b"f"], 100),
            [lines(1, b"a\n"), lines(2, b"b\nc\n"), lines(4, b"ddd\ne\n"), lines(6, b"f")]
        );
        assert_eq!(chunks(&[b"\n\n", b"x"], 100), [lines(1, b"\n\n"), lines(3, b"x")]);
        assert_eq!(chunks(&[], 100), []);
    }

    #[test]
    fn of_a_line_that_is_too_long_nothing_is_kept_but_its_number() {
        let too_long = |first| Chunk { first, text: Text::TooLong };
        assert_eq!(
            chunks(&[b"a\nlong", b"longlong", b"long\nb\n", b"c\n"], 8),
            [lines(1, b"a\n"), too_long(2), lines(3, b"b\nc\n")]
        );
        assert_eq!(chunks(&[b"longlonglong", b"long"], 8), [too_long(1)]);
    }
}
