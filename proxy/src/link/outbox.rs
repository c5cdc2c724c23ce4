//! What goes upstream: the one buffer, and every way into it.
//!
//! INVARIANT (one writer): nothing but what is named here can be put in, each way takes its own kind of permit, and a
//! judged message comes in by its [`Admitted`] alone, which is used up by it.
//! INVARIANT (entered first): a judged message leaves only when its audit entry is as durable as the log promises.
//! Under `fsync` it waits here, with all that comes behind it, so that the statements of many sessions share one sync
//! and none of them holds a thread.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, BytesMut};
use pgmoat_audit::{AppendError, Log, Written};
use pgmoat_upstream::frame::{EncodeError, Header, frontend};
use tokio::io::AsyncWrite;

use crate::gate::Admitted;
use crate::session::{OwnNames, Pass, UpstreamName};

/// Messages that upstream has not taken yet.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: BytesMut,
    /// How many of them may go.
    free: usize,
    /// So many of them wait for this entry.
    waits: Option<(usize, Written)>,
    /// All of them wait for this one, the last that came in.
    newest: Option<Written>,
    /// TLS may hold back what was written.
    unflushed: bool,
    /// A copy of what came in since it was asked for.
    kept: Option<Vec<u8>>,
}

/// A statement of the proxy's own, about settings.
#[derive(Debug)]
pub(super) struct OwnStatement(String);

/// The rest of a CopyData message that is handed through as it comes.
#[derive(Debug)]
pub(super) struct CopyRest(usize);

impl Outbox {
    /// Takes a judged message. Nothing else does.
    pub(super) fn judged(&mut self, admitted: Admitted<'_>) -> Result<(), EncodeError> {
        let from = self.bytes.len();
        admitted.bytes().write(&mut self.bytes)?;
        self.copy_from(from);
        self.newest = Some(admitted.into_entry());
        Ok(())
    }

    /// Takes a message that holds nothing to judge.
    pub(super) fn pass(&mut self, pass: &Pass<'_>) -> Result<(), EncodeError> {
        let from = self.bytes.len();
        pass.write(&mut self.bytes)?;
        self.copy_from(from);
        Ok(())
    }

    /// Keeps a copy of what comes in from now on.
    pub(super) fn keep(&mut self) {
        self.kept = Some(Vec::new());
    }

    /// Whether what came in since is kept.
    pub(super) fn keeps(&self) -> bool {
        self.kept.is_some()
    }

    /// Keeps nothing any more.
    pub(super) fn forget(&mut self) {
        self.kept = None;
    }

    /// Takes what was kept once more, which the server has thrown away as it stands, behind these messages.
    pub(super) fn again(&mut self, before: &[Pass<'_>]) -> Result<(), EncodeError> {
        let kept = self.kept.take().unwrap_or_default();
        before.iter().try_for_each(|pass| pass.write(&mut self.bytes))?;
        self.bytes.extend_from_slice(&kept);
        Ok(())
    }

    fn copy_from(&mut self, from: usize) {
        let Some(kept) = &mut self.kept else { return };
        kept.extend_from_slice(self.bytes.get(from..).unwrap_or_default());
        if kept.len() > KEPT_BYTES_MAX {
            self.kept = None;
        }
    }

    /// Takes a statement of the proxy's own, as [`crate::session::Session::inject`] expects its replies.
    pub(super) fn own(&mut self, own: &OwnStatement, names: OwnNames) -> Result<(), EncodeError> {
        let (statement, portal) = (names.statement.bytes(), names.portal.bytes());
        frontend::parse(&statement, own.0.as_bytes(), &[], &mut self.bytes)?;
        frontend::bind(&portal, &statement, &[], &[], &[], &mut self.bytes)?;
        frontend::execute(&portal, 0, &mut self.bytes)?;
        frontend::close(frontend::Object::Statement, &statement, &mut self.bytes)?;
        frontend::sync(&mut self.bytes);
        Ok(())
    }

    /// Takes what makes the server say how many Syncs it has answered: Sync, Close of what nobody has, Sync.
    pub(super) fn count_syncs(&mut self) -> Result<(), EncodeError> {
        frontend::sync(&mut self.bytes);
        let nobody = UpstreamName::NEVER_GIVEN.bytes();
        frontend::close(frontend::Object::Statement, &nobody, &mut self.bytes)?;
        frontend::sync(&mut self.bytes);
        Ok(())
    }

    /// Takes a Flush.
    pub(super) fn ask_for_replies(&mut self) {
        let from = self.bytes.len();
        frontend::flush(&mut self.bytes);
        self.copy_from(from);
    }

    /// Takes the beginning of a CopyData message whose end is not there yet; none if it is another message's.
    pub(super) fn copy(&mut self, header: Header, begin: &[u8]) -> Option<CopyRest> {
        let rest = header.total().checked_sub(begin.len()).filter(|_| header.tag == b'd')?;
        self.kept = None;
        self.bytes.extend_from_slice(begin);
        Some(CopyRest(rest))
    }

    /// Takes what belongs to that message; how much it was.
    pub(super) fn copy_on(&mut self, rest: &mut CopyRest, bytes: &[u8]) -> usize {
        let part = bytes.get(..rest.0).unwrap_or(bytes);
        self.bytes.extend_from_slice(part);
        rest.0 -= part.len();
        part.len()
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Drops everything.
    pub(super) fn clear(&mut self) {
        *self = Outbox { bytes: std::mem::take(&mut self.bytes), ..Outbox::default() };
        self.bytes.clear();
    }

    /// Gives back the room of an empty buffer that has become larger than this, in bytes.
    pub(super) fn shrink(&mut self, kept_bytes: usize) {
        if self.bytes.is_empty() && self.bytes.capacity() > kept_bytes {
            self.bytes = BytesMut::new();
        }
    }

    /// Writes what may go; true if anything was written. The outer error is the log's: what waits for it must never
    /// go. The inner one is the connection's.
    pub(super) fn poll_write<S: AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
        cx: &mut Context<'_>,
        log: &Log,
    ) -> Result<io::Result<bool>, AppendError> {
        self.release(cx, log)?;
        Ok(self.write(stream, cx))
    }

    fn release(&mut self, cx: &Context<'_>, log: &Log) -> Result<(), AppendError> {
        loop {
            // One entry after the other, so that a client that never pauses is not held back by its newest for ever.
            let Some((bytes, entry)) =
                self.waits.take().or_else(|| Some((self.bytes.len(), self.newest.take()?)))
            else {
                self.free = self.bytes.len();
                return Ok(());
            };
            match log.poll_receipt(&entry, cx) {
                Poll::Ready(receipt) => {
                    let _receipt = receipt?;
                    self.free = bytes;
                }
                Poll::Pending => {
                    self.waits = Some((bytes, entry));
                    return Ok(());
                }
            }
        }
    }

    fn write<S: AsyncWrite + Unpin>(&mut self, stream: &mut S, cx: &mut Context<'_>) -> io::Result<bool> {
        let mut moved = false;
        while let Some(free) = self.bytes.get(..self.free).filter(|free| !free.is_empty()) {
            match Pin::new(&mut *stream).poll_write(cx, free) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(count)) => {
                    self.bytes.advance(count);
                    self.free -= count;
                    if let Some((waiting, _)) = &mut self.waits {
                        *waiting -= count;
                    }
                    (moved, self.unflushed) = (true, true);
                }
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => return Ok(moved),
            }
        }
        if self.unflushed {
            // On TCP this does nothing; TLS may hold back the last record.
            match Pin::new(stream).poll_flush(cx) {
                Poll::Ready(Ok(())) => self.unflushed = false,
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => {}
            }
        }
        Ok(moved)
    }
}

impl OwnStatement {
    /// Sets these, to their defaults where there is no value; none where there is nothing to set.
    pub(super) fn set<'a>(
        settings: impl Iterator<Item = (&'a str, Option<&'a str>)>,
    ) -> Option<OwnStatement> {
        let call = |(name, value): (&str, Option<&str>)| {
            let value = value.map_or_else(|| "NULL".to_owned(), literal);
            format!("pg_catalog.set_config({}, {value}, false)", literal(name))
        };
        let calls: Vec<String> = settings.map(call).collect();
        (!calls.is_empty()).then(|| OwnStatement(format!("SELECT {}", calls.join(", "))))
    }

    /// Makes the server forget its prepared statements, and look those inside functions up anew.
    pub(super) fn discard_plans() -> [OwnStatement; 2] {
        ["DEALLOCATE ALL", "DISCARD PLANS"].map(|text| OwnStatement(text.to_owned()))
    }

    /// Makes currval and lastval forget what others have drawn.
    pub(super) fn discard_sequences() -> OwnStatement {
        OwnStatement("DISCARD SEQUENCES".to_owned())
    }
}

impl CopyRest {
    /// Whether all of it has come.
    pub(super) fn has_ended(&self) -> bool {
        self.0 == 0
    }
}

/// A string constant; standard_conforming_strings is pinned on.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The longest batch that can be sent again, in bytes.
const KEPT_BYTES_MAX: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_literals_whatever_they_hold() {
        let given = [("a'b", Some("'; DROP TABLE t; --\\")), ("c", Some("")), ("d", None)];
        let set = OwnStatement::set(given.into_iter());
        let expected = "SELECT pg_catalog.set_config('a''b', '''; DROP TABLE t; --\\', false), \
                        pg_catalog.set_config('c', '', false), pg_catalog.set_config('d', NULL, false)";
        assert_eq!(set.map(|set| set.0).as_deref(), Some(expected));
        assert!(OwnStatement::set(std::iter::empty()).is_none());
    }
}
