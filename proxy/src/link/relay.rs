//! The loop: whatever of four directions can move, moves.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, BytesMut};
use pgmoat_audit::{Completion, Entry, Executed};
use tokio::io::AsyncWrite;

use super::control::Stop;
use super::end::End;
use super::{
    IDLE_BUFFER_BYTES_MAX, Link, OWED_MAX, SPILL_BYTES_MAX, TO_CLIENT_BYTES_MAX, TO_SERVER_BYTES_MAX, Turn,
};
use crate::clock;
use crate::session::{Done, Move, Pass, Reached, Tag};

impl Link {
    /// Moves bytes until nothing moves any more.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Turn> {
        match self.poll_relay(cx) {
            Poll::Ready(Ok(turn)) => Poll::Ready(turn),
            Poll::Ready(Err(end)) => Poll::Ready(Turn::End(end)),
            Poll::Pending => Poll::Pending,
        }
    }

    fn poll_relay(&mut self, cx: &mut Context<'_>) -> Poll<Result<Turn, End>> {
        let (mut any_moved, mut any_taken) = (false, false);
        loop {
            let orders = self.control.orders(cx.waker());
            if orders.stop == Stop::Now {
                return Poll::Ready(Err(End::ShutDown));
            }
            let taken = self.poll_write_client(cx)?;
            let mut moved = taken | self.poll_write_server(cx)?;
            moved |= self.give_back_settings()?;
            self.tell_settings();
            if self.upstream.is_none() && !self.outbox.is_empty() {
                return Poll::Ready(Ok(Turn::Attach));
            }
            if self.to_client.len() < SPILL_BYTES_MAX {
                moved |= self.poll_server(cx)?;
            }
            // Before the client's next message is taken: whoever waits has come first.
            moved |= self.let_upstream_rest();
            if self.takes_from_client() && !orders.cancelling && orders.stop != Stop::AtStatement {
                match self.poll_client(cx)? {
                    Took::Attach => return Poll::Ready(Ok(Turn::Attach)),
                    Took::Moved(true) => {
                        moved = true;
                        // At once, and not in the next round, which then finds nothing more to do.
                        self.poll_write_server(cx)?;
                    }
                    Took::Moved(false) => {}
                }
            } else {
                moved |= self.look_for_end(cx)?;
            }
            moved |= self.let_upstream_rest();
            let busy = self.watch_statement(cx);
            match orders.stop {
                Stop::No | Stop::Now => {}
                Stop::WhenIdle if busy || !self.session.is_quiet() => {}
                Stop::WhenIdle => return Poll::Ready(Err(End::ShutDown)),
                Stop::AtStatement if self.session.whose_move() == Move::Servers => {}
                Stop::AtStatement => return Poll::Ready(Err(End::Retired)),
            }
            (any_moved, any_taken) = (any_moved | moved, any_taken | taken);
            if !moved {
                if !any_moved {
                    // Nothing has come that would have set the clock.
                    self.tick();
                }
                self.watch_waits(cx, any_moved, any_taken)?;
                self.shrink();
                let (owed, now) = (self.session.owed() > 0, self.now());
                self.spin.rest(cx, any_moved, owed, now);
                return Poll::Pending;
            }
        }
    }

    /// Says to those who may cancel whether the client's own statement runs, and cancels it when it has run too long.
    pub(super) fn watch_statement(&mut self, cx: &mut Context<'_>) -> bool {
        let busy = self.session.is_running();
        self.control.set_busy(busy);
        if self.timer.poll(cx).is_ready() && busy {
            self.session.time_out();
            self.control.cancel_soon();
        }
        busy
    }

    fn takes_from_client(&mut self) -> bool {
        !self.waits_for_settings()
            && self.outbox.len() < TO_SERVER_BYTES_MAX
            && self.to_client.len() < TO_CLIENT_BYTES_MAX
            && self.session.owed() < OWED_MAX
    }

    pub(super) fn poll_write_client(&mut self, cx: &mut Context<'_>) -> Result<bool, End> {
        if !self.audience.hears() {
            self.to_client.clear();
            return Ok(false);
        }
        write(&mut self.client, cx, &mut self.to_client, &mut self.flush_client).map_err(|_| End::ClientGone)
    }

    pub(super) fn poll_write_server(&mut self, cx: &mut Context<'_>) -> Result<bool, End> {
        let Some(upstream) = &mut self.upstream else { return Ok(false) };
        let written = self.outbox.poll_write(&mut upstream.lease.stream, cx, &self.shared.audit);
        // What the server said before it went comes first: its read finds the end.
        Ok(written.map_err(|_| End::Unaudited)?.unwrap_or_else(|_| {
            self.outbox.clear();
            false
        }))
    }

    /// What has happened in the session that is no reply.
    pub(super) fn handle_events(&mut self) -> Result<(), End> {
        let events = self.session.events();
        let mut done = std::mem::take(&mut events.done);
        let (cancel, ended) = (std::mem::take(&mut events.cancel), events.ended);
        let (fail, again) = (events.fail.take(), events.again.take());
        let count_syncs = std::mem::take(&mut events.count_syncs);
        let (catalog, next) = (std::mem::take(&mut events.catalog), std::mem::take(&mut events.next));
        let (errors, notices) = (std::mem::take(&mut events.errors), std::mem::take(&mut events.notices));
        self.count(errors, notices);
        self.log_done(&done);
        done.clear();
        // Its memory is for the next.
        self.session.events().done = done;
        if cancel {
            self.control.cancel_soon();
        }
        if catalog {
            self.database.suspect_catalog();
        }
        if let Some(before) = again {
            self.outbox.again(&before).map_err(|_| End::Internal)?;
        }
        if let Some(poison) = fail {
            self.outbox.pass(&Pass::Poison(poison)).map_err(|_| End::Internal)?;
        }
        if count_syncs {
            self.outbox.count_syncs().map_err(|_| End::Internal)?;
        }
        self.timer.run(self.session.owed() > 0, next, self.now());
        if ended { Err(End::UpstreamSaidGoodbye) } else { Ok(()) }
    }

    pub(super) fn log_done(&self, all: &[Done]) {
        for done in all {
            let entry = Entry::Completion(Completion {
                of: done.of,
                executed: match done.reached {
                    Reached::Ran => Executed::Yes,
                    Reached::Not => Executed::No,
                    Reached::Unknown => Executed::Unknown,
                },
                tag: done.tag.as_ref().map(Tag::as_str),
                sqlstate: done.sqlstate.as_deref(),
                rows: done.rows,
                duration_us: self.now_us.saturating_sub(done.sent_us),
            });
            self.shared.counts.duration.add_us(self.now_us.saturating_sub(done.sent_us));
            if let Err(error) = self.shared.audit.append_unawaited(clock::now(), &entry) {
                tracing::debug!(%error, "a completion was not audited");
            }
        }
    }

    /// Gives back what an idle session does not need.
    fn shrink(&mut self) {
        if self.session.owed() > 0 {
            return;
        }
        self.outbox.shrink(IDLE_BUFFER_BYTES_MAX);
        for buffer in [&mut self.from_client, &mut self.to_client] {
            if buffer.is_empty() && buffer.capacity() > IDLE_BUFFER_BYTES_MAX {
                *buffer = BytesMut::new();
            }
        }
        self.session.rest();
    }
}

/// What came of reading the client.
pub(super) enum Took {
    /// Whether anything moved.
    Moved(bool),
    /// A statement needs an upstream connection.
    Attach,
}

/// Writes what there is; true if anything was written.
fn write<S: AsyncWrite + Unpin>(
    stream: &mut S,
    cx: &mut Context<'_>,
    buffer: &mut BytesMut,
    flush: &mut bool,
) -> io::Result<bool> {
    let mut moved = false;
    while !buffer.is_empty() {
        match Pin::new(&mut *stream).poll_write(cx, buffer) {
            Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
            Poll::Ready(Ok(count)) => {
                buffer.advance(count);
                (moved, *flush) = (true, true);
            }
            Poll::Ready(Err(error)) => return Err(error),
            Poll::Pending => return Ok(moved),
        }
    }
    if *flush {
        // On TCP this does nothing; TLS may hold back the last record.
        match Pin::new(stream).poll_flush(cx) {
            Poll::Ready(Ok(())) => *flush = false,
            Poll::Ready(Err(error)) => return Err(error),
            Poll::Pending => {}
        }
    }
    Ok(moved)
}
