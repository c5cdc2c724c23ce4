//! How a session ends: what the client is told, and whether the upstream connection may be used again.

use std::future::poll_fn;
use std::task::{Context, Poll};
use std::time::Duration;

use pgmoat_upstream::{CleanProof, Lease, PinMoved};
use tokio::io::AsyncWriteExt as _;
use tokio::time::{Instant, sleep_until, timeout};

use super::audience::Audience;
use super::control::Stop;
use super::take::Opaque;
use super::{Ending, FAREWELL_LIMIT, Link, SPILL_BYTES_MAX};
use crate::session::Refusal;
use crate::session::error::write_error;

/// Why a session is over.
#[derive(Debug)]
pub(super) enum End {
    /// The client said so.
    Terminated,
    /// The client's socket has ended.
    ClientGone,
    /// The client sent what is no message.
    Malformed(String),
    /// The server sent what nobody asked for.
    Broken(String),
    /// The server ended the session, and said so.
    UpstreamSaidGoodbye,
    /// The upstream connection has ended.
    UpstreamGone,
    /// A setting that parser and server must agree on has moved.
    PinMoved(PinMoved),
    /// There was no upstream connection for something that could not be refused any more.
    NoUpstream(Box<Refusal>),
    /// No catalog was read yet.
    NoRules,
    /// What waited for its audit entry to be durable can never go.
    Unaudited,
    /// The process is shutting down.
    ShutDown,
    /// The user is gone, or is not what it was.
    Retired,
    /// The client has left a transaction open for too long.
    IdleInTransaction,
    /// The client has done nothing for too long.
    Idle,
    /// The client does not take what there is for it.
    Stalled,
    /// A fault of the proxy's own.
    Internal,
}

impl Link {
    /// Says good-bye and lets the upstream connection go.
    pub(super) async fn finish(mut self: Box<Self>, end: End) -> Ending {
        if let End::Malformed(_) = end {
            // What was asked before it is answered before it is told.
            self.drain_upstream(FAREWELL_LIMIT).await;
        }
        let reason = self.farewell(&end);
        let trusted = match end {
            End::Terminated => {
                // As PostgreSQL: what was asked before the good-bye is answered.
                self.audience.becomes(Audience::Parts);
                self.drain_upstream(FINISH_LIMIT).await;
                self.cancel_and_drain().await;
                true
            }
            End::ClientGone
            | End::ShutDown
            | End::Retired
            | End::IdleInTransaction
            | End::Idle
            | End::Stalled
            | End::Malformed(_) => {
                self.close_client().await;
                self.cancel_and_drain().await;
                true
            }
            End::Broken(_)
            | End::UpstreamSaidGoodbye
            | End::UpstreamGone
            | End::PinMoved(_)
            | End::NoUpstream(_)
            | End::NoRules
            | End::Unaudited
            | End::Internal => false,
        };
        // The place in the pool does not wait for a client that reads slowly.
        let given_back = self.release(trusted);
        tokio::join!(self.close_client(), async {
            if let Some((lease, proof)) = given_back {
                lease.give_back(proof).await;
            }
        });
        Ending { reason, statements: self.statements, denied: self.denied }
    }

    /// What the client is told, and what the end is called in the audit log.
    fn farewell(&mut self, end: &End) -> &'static str {
        match end {
            End::Terminated => "terminate",
            End::ClientGone => "eof",
            End::Malformed(what) if self.session.takes_copy_data() => {
                // As PostgreSQL: the COPY fails, and what follows cannot be told from its data.
                let failed = Refusal::plain("08P01", what.as_str(), "malformed");
                write_error(&failed.fields(), &mut self.to_client);
                self.say_fatal("08P01", "terminating connection because protocol synchronization was lost");
                "protocol_violation"
            }
            End::Malformed(what) => {
                self.say_fatal("08P01", what);
                "protocol_violation"
            }
            End::Broken(what) => {
                tracing::error!(session = self.info.id, what, "the upstream connection is destroyed");
                self.say_fatal("08P01", "protocol synchronization with the upstream server was lost");
                "upstream_broken"
            }
            End::UpstreamSaidGoodbye => "upstream_ended",
            End::UpstreamGone => {
                self.say_fatal("08006", "the upstream server closed the connection unexpectedly");
                "upstream_gone"
            }
            End::PinMoved(moved) => {
                tracing::error!(session = self.info.id, %moved, "a pinned setting has moved");
                self.say_fatal("08P01", "a setting that pgmoat relies on was changed; the session is ended");
                "pin_moved"
            }
            End::NoUpstream(refusal) => {
                let (sqlstate, message) = (refusal.sqlstate, refusal.message.clone());
                self.say_fatal(sqlstate, &message);
                "no_upstream"
            }
            End::NoRules => {
                self.say_fatal("57P03", "the database cannot be reached yet; pgmoat tries again by itself");
                "no_upstream"
            }
            End::Unaudited => {
                self.say_fatal("58030", "the audit log could not be synced, so nothing more is let through");
                "unaudited"
            }
            End::ShutDown => {
                self.say_fatal("57P01", "terminating connection due to administrator command");
                "shutdown"
            }
            End::Retired => {
                self.say_fatal("57P01", "terminating connection due to administrator command");
                "user_changed"
            }
            End::IdleInTransaction => {
                self.say_fatal("25P03", "terminating connection due to idle-in-transaction timeout");
                "idle_in_transaction_timeout"
            }
            End::Idle => {
                self.say_fatal("57P05", "terminating connection due to idle-session timeout");
                "idle_session_timeout"
            }
            End::Stalled => {
                // Nothing reaches it; what waits for it would only be waited for again.
                self.audience.becomes(Audience::Deaf);
                "client_write_timeout"
            }
            End::Internal => {
                tracing::error!(session = self.info.id, "internal fault; the session is ended");
                self.say_fatal("XX000", "internal fault; the session is ended");
                "internal"
            }
        }
    }

    /// Cancels what still runs and waits for its end. The client gets nothing more of it.
    async fn cancel_and_drain(&mut self) {
        if self.session.owed() == 0 {
            return;
        }
        self.audience.becomes(Audience::Deaf);
        // A request that comes before the server has begun the statement is in vain, and it would run on.
        let deadline = Instant::now() + DRAIN_LIMIT;
        let mut patience = CANCEL_AGAIN;
        while Instant::now() < deadline {
            self.control.set_busy(self.session.is_running());
            self.control.cancel_soon();
            if self.drain_upstream(patience.min(deadline - Instant::now())).await == Drained::Whole {
                return;
            }
            patience *= 2;
        }
    }

    /// Whether the server waits for data of the client's, or has the start of a message. The rest will never come, so
    /// neither will the end of what runs.
    fn waits_for_client(&self) -> bool {
        let copies_in = self.session.is_copying() && self.session.takes_copy_data();
        copies_in || matches!(self.opaque, Opaque::Forward(_))
    }

    /// Lets what was sent upstream come to its end, as PostgreSQL does with what it has read. A batch without a Sync
    /// is answered by a Flush, which commits nothing: what it has left open goes with the connection, at once.
    async fn drain_upstream(&mut self, limit: Duration) -> Drained {
        if self.session.owed() > 0 && self.session.is_unsynced() && !self.waits_for_client() {
            self.outbox.ask_for_replies();
        }
        self.tick();
        self.timer.run(self.session.owed() > 0, false, self.now());
        let mut sleep = Box::pin(sleep_until(Instant::now() + limit));
        poll_fn(|cx| match sleep.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Drained::InPart),
            Poll::Pending => self.poll_drain(cx).map(|()| Drained::Whole),
        })
        .await
    }

    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut told = self.control.orders(cx.waker()).stop != Stop::Now;
        loop {
            let orders = self.control.orders(cx.waker());
            let quiet = self.session.owed() == 0 && self.outbox.is_empty() && !orders.cancelling;
            if self.upstream.is_none() || quiet || self.waits_for_client() {
                return Poll::Ready(());
            }
            self.watch_statement(cx);
            if !std::mem::replace(&mut told, true) {
                // The process is shutting down: what runs is not waited for.
                self.control.cancel_soon();
            }
            if self.poll_write_client(cx).is_err() {
                self.audience.becomes(Audience::Deaf);
                self.to_client.clear();
            }
            let wrote = self.poll_write_server(cx);
            let full = self.to_client.len() >= SPILL_BYTES_MAX;
            let read = if full { Ok(false) } else { self.poll_server(cx) };
            match (wrote, read) {
                (Ok(wrote), Ok(read)) if wrote || read => {}
                (Ok(_), Ok(_)) => return Poll::Pending,
                (Err(_), _) | (_, Err(_)) => {
                    // What is left can only be destroyed.
                    self.upstream = None;
                    return Poll::Ready(());
                }
            }
        }
    }

    /// Gives the client what is left for it, and the end of the stream. It gets nothing afterwards.
    async fn close_client(&mut self) {
        if self.audience == Audience::Gone {
            return;
        }
        let flush = poll_fn(|cx| {
            while self.audience.hears() && !self.to_client.is_empty() {
                match self.poll_write_client(cx) {
                    Ok(true) => {}
                    Ok(false) => return Poll::Pending,
                    Err(_) => return Poll::Ready(()),
                }
            }
            Poll::Ready(())
        });
        // Whoever does not take its last bytes in time does not get them; nothing is left to be told to anybody.
        let _ = timeout(FAREWELL_LIMIT, flush).await;
        let _ = timeout(FAREWELL_LIMIT, self.client.shutdown()).await;
        self.audience = Audience::Gone;
    }

    /// Takes the connection away: to be given back if nothing of this session is left on it, else it is destroyed.
    fn release(&mut self, trusted: bool) -> Option<(Lease, CleanProof)> {
        let quiet = self.quiet();
        self.tick();
        let done = self.session.abandon();
        self.log_done(&done);
        self.control.detach();
        let spoilt = self.session.has_spoilt();
        let mut upstream = self.upstream.take().filter(|_| trusted && !spoilt)?;
        match upstream.lease.prove_clean(quiet) {
            Ok(proof) => Some((upstream.lease, proof)),
            Err(reason) => {
                tracing::debug!(session = self.info.id, %reason, "the upstream connection is destroyed");
                None
            }
        }
    }
}

/// How far the server's answers were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Drained {
    /// To their end, or the connection's, or to where nothing more can come.
    Whole,
    /// Until it took too long.
    InPart,
}

/// How long statements that were sent before a good-bye may still run.
const FINISH_LIMIT: Duration = Duration::from_secs(60);
/// How long a cancelled statement may take to end.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);
/// How long the first cancel is waited for before another is sent; then twice as long, and so on.
const CANCEL_AGAIN: Duration = Duration::from_millis(50);
