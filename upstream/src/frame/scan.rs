//! Relaying without looking: message boundaries in a chunk of the server's bytes, found in place.
//!
//! A relay reads into one buffer, lets the [`Scanner`] walk over it, and writes the block up to
//! where the scanner came in one go. DataRow and CopyData are opaque: nothing but their five header
//! bytes is looked at, and a body may go on in the next chunk (and the next), so memory does not
//! grow with the size of a row. Every other message is given whole, since the session has to match
//! it to its reply queue; those are capped ([`Phase::ServerSession`]).
//!
//! INVARIANT (scan): whatever way the stream is cut into chunks, the same messages are reported.

use super::header::{Frame, FrameError, Header};
use super::phase::Phase;

/// The walk's only memory from chunk to chunk: the opaque body that is not finished.
#[derive(Debug, Default)]
pub struct Scanner {
    open: Option<OpenBody>,
}

#[derive(Clone, Copy, Debug)]
struct OpenBody {
    tag: u8,
    left: usize,
}

/// What stands at the start of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Opaque messages of one kind, one after the other, perhaps begun earlier, perhaps unfinished.
    Run(Run),
    /// One whole message of any other kind.
    Whole(Frame<'a>),
    /// Nothing can be said before at least this many more bytes are there.
    More {
        /// Bytes that are missing, at least 1.
        missing: usize,
    },
}

/// A stretch of DataRow or CopyData messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// `D` or `d`.
    pub tag: u8,
    /// Bytes of the chunk that belong to it.
    pub bytes: usize,
    /// Messages whose header lies in it. (One that began in an earlier chunk was counted there.)
    pub begun: u64,
    /// The last message goes on in the next chunk.
    pub open: bool,
}

impl Scanner {
    /// A scanner that stands between two messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// True in the middle of an opaque message: the next bytes belong to its body.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// What stands at the start of `chunk`. The caller goes on behind it: `chunk` must begin there
    /// on the next call. In one [`Run`] at most `limit` messages begin, for those who count rows. (0 only
    /// goes to the end of an unfinished one; where there is none it counts as 1.)
    ///
    /// # Errors
    ///
    /// A header that no server sends in a session. The connection is of no use then.
    pub fn next<'a>(&mut self, chunk: &'a [u8], limit: u64) -> Result<Piece<'a>, FrameError> {
        if let Some(body) = self.open {
            return Ok(match chunk.len() {
                0 => Piece::More { missing: 1 },
                _ => Piece::Run(self.run(body.tag, chunk, limit)),
            });
        }
        let Some(header) = super::peek(chunk, Phase::ServerSession)? else {
            return Ok(Piece::More { missing: Header::BYTES - chunk.len() });
        };
        if is_opaque(header.tag) {
            return Ok(Piece::Run(self.run(header.tag, chunk, limit)));
        }
        Ok(match chunk.get(..header.total()) {
            Some(bytes) => Piece::Whole(Frame { tag: header.tag, bytes }),
            None => Piece::More { missing: header.total() - chunk.len() },
        })
    }

    fn run(&mut self, tag: u8, chunk: &[u8], limit: u64) -> Run {
        let mut at = self.open.take().map_or(0, |body| self.advance(body.tag, body.left, chunk.len()));
        let limit = if at > 0 { limit } else { limit.max(1) };
        let mut begun = 0;
        while self.open.is_none() && begun < limit {
            // Another tag, a bad header or a piece of one: left to the next call.
            let Some(header) = chunk.get(at..).and_then(|rest| rest.first_chunk()) else { break };
            let Ok(header) = Header::parse(*header, Phase::ServerSession) else { break };
            if header.tag != tag {
                break;
            }
            begun += 1;
            at += self.advance(tag, header.total(), chunk.len() - at);
        }
        Run { tag, bytes: at, begun, open: self.open.is_some() }
    }

    /// Goes over a message of which `wanted` bytes are to come and `there` are there; returns how
    /// many of them are its own.
    fn advance(&mut self, tag: u8, wanted: usize, there: usize) -> usize {
        if wanted <= there {
            return wanted;
        }
        self.open = Some(OpenBody { tag, left: wanted - there });
        there
    }
}

/// Messages that nobody decodes. (Masks and row caps look at them through the slices of a run.)
fn is_opaque(tag: u8) -> bool {
    matches!(tag, b'D' | b'd')
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
