//! Syncs that a client sends behind what copies in, before the end of its data. Inside a copy the server ignores a Sync;
//! where the copy has failed before, it answers. Which of both it was the ErrorResponse does not tell: the server may have
//! read on before it found the fault, or have found it (a view, a trigger) before it read anything.
//!
//! So it is asked, once the copy has failed: `Sync, Close (of what does not exist), Sync`. As many ReadyForQuery as come
//! before CloseComplete, less one, are the client's. What the client sends next waits for that. Behind an Execute the
//! server skips to a Sync; where none of the client's was left for that, the proxy's has ended it, and the client's
//! messages up to its own are dropped here.

use pgmoat_upstream::frame::Frame;

use super::broken::Broken;
use super::own::own_close;
use super::queue::{Fate, What};
use super::reply::Relay;
use super::terms::After;
use super::{Input, Session};

/// How many Syncs the server may have answered.
#[derive(Debug)]
pub(super) struct Doubt {
    server: Server,
    most: usize,
    /// ReadyForQuery so far, with that of the proxy's own Sync.
    seen: usize,
}

/// What it does with the client's messages behind a copy that has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Server {
    /// It reads the next one: the copy was a Query's.
    Reads,
    /// It skips to a Sync: the copy was an Execute's.
    Skips,
}

impl Session {
    /// A Sync behind what copies in, as far as the client has said.
    pub(super) fn sync_in_copy(&mut self, now_us: u64) -> bool {
        let copies = |entry: &super::Entry| match &entry.what {
            What::Query(script) => script.terms.iter().any(|terms| matches!(terms.after, After::CopiedIn)),
            What::Execute { portal: Some(portal), .. } => matches!(portal.terms.after, After::CopiedIn),
            What::Execute { portal: None, .. }
            | What::Parse { .. }
            | What::Bind { .. }
            | What::Describe { .. }
            | What::Close { .. }
            | What::Sync
            | What::CopyEnd => false,
        };
        if !self.takes_copy_data() || !self.queue.last_statement().is_some_and(copies) {
            return false;
        }
        self.input = Input::Synced;
        self.owe(What::Sync, Fate::Perhaps, self.rules.errors, now_us);
        self.batch += 1;
        true
    }

    /// Whether this message has to wait until it is known what became of such Syncs.
    pub(super) fn is_in_doubt(&self, frame: Frame<'_>) -> bool {
        let of_copy = match frame.tag {
            b'd' | b'c' | b'f' | b'H' | b'X' => true,
            b'S' => self.takes_copy_data(),
            // The copy goes on, and ends with this message: PostgreSQL says so, and ends the session.
            _ => self.ignores_sync(),
        };
        let may_skip = matches!(self.doubt, Some(Doubt { server: Server::Skips, .. }));
        (self.queue.has_perhaps() || may_skip) && !of_copy
    }

    /// Whether what the client sends next waits for the end of an Execute's copy, whose data has ended.
    pub fn awaits_copy_end(&self) -> bool {
        let ended = self.queue.last().is_some_and(|entry| matches!(entry.what, What::CopyEnd));
        let last = self.queue.last_statement().map(|entry| &entry.what);
        ended && self.queue.has_perhaps() && matches!(last, Some(What::Execute { .. }))
    }

    /// What copied in has ended: asks what became of the Syncs behind it.
    pub(super) fn clear_doubt(&mut self, server: Server) -> Result<(), Broken> {
        let most = self.queue.take_perhaps();
        if most == 0 {
            return Ok(());
        }
        if self.owed() > 0 || self.input != Input::Synced {
            return Err(Broken::Unasked(b'Z'));
        }
        for what in [What::Sync, own_close(), What::Sync] {
            self.owe(what, Fate::Skip, self.rules.errors, 0);
            self.batch += 1;
        }
        self.doubt = Some(Doubt { server, most, seen: 0 });
        self.events.count_syncs = true;
        Ok(())
    }

    /// A ReadyForQuery while they are counted.
    pub(super) fn count_sync(&mut self) -> Option<Result<Relay, Broken>> {
        let doubt = self.doubt.as_mut()?;
        doubt.seen += 1;
        Some(match doubt.seen {
            // One of them is the proxy's own; they are all alike, since nothing runs in between.
            1 => Ok(Relay::Nothing),
            seen if seen <= doubt.most + 1 => Ok(Relay::Same),
            _ => Err(Broken::Unasked(b'Z')),
        })
    }

    /// CloseComplete: no more of them come.
    pub(super) fn end_doubt(&mut self) -> Result<(), Broken> {
        match self.doubt.take() {
            None => Ok(()),
            Some(Doubt { seen: 0, .. }) => Err(Broken::Unasked(b'3')),
            Some(Doubt { server, seen, .. }) => {
                self.queue.pop();
                if (server, seen) == (Server::Skips, 1) {
                    // The proxy's own has ended it. The client knows of none.
                    self.input = Input::Skipping;
                }
                Ok(())
            }
        }
    }
}
