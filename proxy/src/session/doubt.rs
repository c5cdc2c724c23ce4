//! Syncs that a client sends behind the data of a Query's copy-in, without its end. Inside a copy the server ignores a
//! Sync; where the copy has failed before, it answers. Which of both it was the ErrorResponse does not tell: the server
//! may have read on before it found the fault.
//!
//! So it is asked, once the copy has failed: `Sync, Close (of what does not exist), Sync`. As many ReadyForQuery as come
//! before CloseComplete, less one, are the client's. What the client sends next waits for that.

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
    most: usize,
    /// ReadyForQuery so far, with that of the proxy's own Sync.
    seen: usize,
}

impl Session {
    /// A Sync behind a Query that copies in, as far as the client has said.
    pub(super) fn sync_in_copy(&mut self, now_us: u64) -> bool {
        let copies = |entry: &super::Entry| {
            let What::Query(script) = &entry.what else { return false };
            script.terms.iter().any(|terms| matches!(terms.after, After::CopiedIn))
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
        self.queue.has_perhaps() && !of_copy
    }

    /// A Query has ended: asks what became of the Syncs behind its copy.
    pub(super) fn clear_doubt(&mut self) -> Result<(), Broken> {
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
        self.doubt = Some(Doubt { most, seen: 0 });
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
            Some(_) => {
                self.queue.pop();
                Ok(())
            }
        }
    }
}
