//! From the client to the server: whole messages, handled in place.

use std::task::{Context, Poll};

use bytes::Buf;

use super::audience::Backlog;
use super::end::End;
use super::relay::Took;
use super::{Link, scratch};

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
            // It is not read on, but the client's end is seen when the wait is over.
            Backlog::ForReply => return Ok(Took::Moved(false)),
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

    /// Keeps what was not used, and looks at what has happened.
    fn taken(
        &mut self,
        taken: Result<(usize, bool), End>,
        keep: impl FnOnce(&mut Self, usize),
    ) -> Result<Took, End> {
        let (used, attach) = taken?;
        keep(self, used);
        self.handle_events()?;
        Ok(if attach { Took::Attach } else { Took::Moved(true) })
    }
}
