//! From the client to the server: whole messages, handled in place.

use std::task::{Context, Poll};

use bytes::Buf;

use super::audience::Backlog;
use super::end::End;
use super::relay::Took;
use super::{Link, WAITING_BYTES_MAX, scratch};

impl Link {
    /// Reads the client once, or goes on with what it sent before.
    pub(super) fn poll_client(&mut self, cx: &mut Context<'_>) -> Result<Took, End> {
        match self.backlog {
            Backlog::Incomplete => {}
            Backlog::Ready => {
                self.backlog = Backlog::Incomplete;
                self.tick();
                let mut input = std::mem::take(&mut self.from_client);
                let taken = self.take_all(&input);
                return self.taken(taken, |link, used| {
                    input.advance(used);
                    link.from_client = input;
                });
            }
            Backlog::ForReply => return self.look_for_end(cx).map(Took::Moved),
        }
        scratch::with(|scratch| {
            let bytes = match scratch::poll_fill(&mut self.client, cx, scratch) {
                Poll::Pending => return Ok(Took::Moved(false)),
                Poll::Ready(Ok([]) | Err(_)) => return Err(End::ClientGone),
                Poll::Ready(Ok(bytes)) => bytes,
            };
            self.tick();
            if self.from_client.is_empty() {
                let taken = self.take_all(bytes);
                return self.taken(taken, |link, used| {
                    link.from_client.extend_from_slice(bytes.get(used..).unwrap_or_default());
                });
            }
            let mut input = std::mem::take(&mut self.from_client);
            input.extend_from_slice(bytes);
            let taken = self.take_all(&input);
            self.taken(taken, |link, used| {
                input.advance(used);
                link.from_client = input;
            })
        })
    }

    /// Sees the client's end while none of its messages can be taken (wire 6, wire 8). What it sends meanwhile is kept,
    /// up to a bound, behind which an end is seen when they can be taken again.
    pub(super) fn look_for_end(&mut self, cx: &mut Context<'_>) -> Result<bool, End> {
        if self.from_client.len() >= WAITING_BYTES_MAX {
            return Ok(false);
        }
        scratch::with(|scratch| match scratch::poll_fill(&mut self.client, cx, scratch) {
            Poll::Pending => Ok(false),
            // As PostgreSQL: what was asked before a good-bye is done, whether or not anybody still listens.
            Poll::Ready(Ok([]) | Err(_)) if self.from_client.ends_with(GOOD_BYE) => Ok(false),
            Poll::Ready(Ok([]) | Err(_)) => Err(End::ClientGone),
            Poll::Ready(Ok(bytes)) => {
                self.from_client.extend_from_slice(bytes);
                if self.backlog == Backlog::Incomplete {
                    self.backlog = Backlog::Ready;
                }
                Ok(true)
            }
        })
    }

    /// Keeps what was not used, and looks at what has happened.
    fn taken(
        &mut self,
        taken: Result<(usize, bool), End>,
        keep: impl FnOnce(&mut Self, usize),
    ) -> Result<Took, End> {
        let (used, attach) = taken?;
        keep(self, used);
        self.handle_events()?;
        self.note_admission();
        Ok(if attach { Took::Attach } else { Took::Moved(true) })
    }
}

/// Terminate.
const GOOD_BYE: &[u8] = b"X\0\0\0\x04";
