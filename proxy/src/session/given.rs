//! Transaction mode: ParseComplete of the proxy's own, for what the connection has already, in its place among the
//! server's replies.

use std::sync::Arc;

use bytes::BytesMut;
use pgmoat_upstream::frame::Frame;

use super::broken::Broken;
use super::name::UpstreamName;
use super::names::End;
use super::queue::{Entry, Fate, What};
use super::reply::Relay;
use super::settle::Settled;
use super::terms::Terms;
use super::{Input, Session};

/// When the client is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// Nothing comes before it.
    Now,
    /// After the replies that are owed.
    InQueue,
}

impl Session {
    /// Takes one message that is no row.
    ///
    /// # Errors
    /// It fits nothing that is owed: the session ends with 08P01 and the upstream connection is destroyed.
    pub fn reply(&mut self, frame: Frame<'_>, out: &mut BytesMut) -> Result<Relay, Broken> {
        let relay = self.matched(frame, out)?;
        if !self.queue.gives() {
            return Ok(relay);
        }
        match relay {
            Relay::Same | Relay::After => out.extend_from_slice(frame.bytes),
            Relay::Instead | Relay::Nothing => {}
        }
        while self.queue.gives() {
            if let Some(Entry { what: What::Parse { name, .. }, .. }) = self.queue.pop() {
                self.statements.end(&name, End::Made);
                out.extend_from_slice(PARSE_COMPLETE);
            }
        }
        Ok(Relay::Instead)
    }

    /// Answers a Parse of what the connection has, in its place.
    pub(super) fn give(
        &mut self,
        what: What,
        key: &Arc<str>,
        upstream: UpstreamName,
        terms: &Arc<Terms>,
        now_us: u64,
    ) -> Settled {
        if let Some(sharing) = &mut self.sharing {
            sharing.held.touch(upstream);
        }
        // It has its place in the queue for a moment at the least, as all that a batch begins with.
        let given = if self.queue.is_empty() { Given::Now } else { Given::InQueue };
        self.owe(what, Fate::Given, terms, now_us);
        self.input = Input::Unsynced;
        if given == Given::Now {
            self.queue.pop();
            self.statements.end(key, End::Made);
        }
        Settled::Given(given)
    }
}

/// ParseComplete.
pub const PARSE_COMPLETE: &[u8] = b"1\0\0\0\x04";
