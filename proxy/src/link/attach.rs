//! Getting an upstream connection, while the client is still listened to.

use std::future::Future as _;
use std::future::poll_fn;
use std::task::{Context, Poll};
use std::time::Duration;

use pgmoat_upstream::frame::{Frame, Scanner};
use pgmoat_upstream::{Carried, CheckoutError, Lease};
use tokio::time::Instant;

use super::audience::Backlog;
use super::control::Stop;
use super::end::End;
use super::named::APPLICATION_NAME;
use super::outbox::OwnStatement;
use super::{Link, READY, Service, Setup, Upstream, WAITING_BYTES_MAX, scratch};
use crate::config::PoolMode;
use crate::session::{Change, Refusal};

impl Link {
    /// Waits for a connection. Without one, the statement that needed it is refused, and the session goes on.
    pub(super) async fn attach(&mut self) -> Result<(), End> {
        let pool = match self.database.pools.of(&self.info.principal) {
            Ok(pool) => pool,
            Err(error) => {
                tracing::error!(session = self.info.id, %error, "no upstream connection can be made for this tenant");
                return Err(End::Internal);
            }
        };
        let mut checkout = Box::pin(async move { pool.checkout(Instant::now() + CHECKOUT_LIMIT).await });
        self.control.set_waiting(true);
        let mut told = false;
        let got = poll_fn(|cx| match checkout.as_mut().poll(cx) {
            Poll::Ready(Ok(lease)) => Poll::Ready(Ok(Ok(lease))),
            Poll::Ready(Err(error)) => Poll::Ready(Ok(Err(refusal(&error)))),
            Poll::Pending => {
                if !std::mem::replace(&mut told, true) {
                    tracing::debug!(session = self.info.id, "waits for an upstream connection");
                }
                self.poll_waiting(cx)
            }
        })
        .await;
        self.control.set_waiting(false);
        drop(checkout);
        match got? {
            Ok(lease) => {
                self.backlog = Backlog::Ready;
                self.attached(lease)
            }
            Err(refusal) if self.outbox.is_empty() => {
                self.no_backend = Some(refusal);
                self.backlog = Backlog::Ready;
                Ok(())
            }
            // Something is on its way that was let through already.
            Err(refusal) => Err(End::NoUpstream(Box::new(refusal))),
        }
    }

    /// The client may go, or cancel, while it waits.
    fn poll_waiting(&mut self, cx: &mut Context<'_>) -> Poll<Result<Result<Lease, Refusal>, End>> {
        let orders = self.control.orders(cx.waker());
        match orders.stop {
            Stop::No | Stop::WhenIdle => {}
            Stop::AtStatement => return Poll::Ready(Err(End::Retired)),
            Stop::Now => return Poll::Ready(Err(End::ShutDown)),
        }
        if orders.cancel_wait {
            let message = "canceling statement due to user request";
            return Poll::Ready(Ok(Err(Refusal::plain("57014", message, "cancelled"))));
        }
        if self.from_client.len() >= WAITING_BYTES_MAX {
            return Poll::Pending;
        }
        scratch::with(|scratch| match scratch::poll_fill(&mut self.client, cx, scratch) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok([]) | Err(_)) => Poll::Ready(Err(End::ClientGone)),
            Poll::Ready(Ok(bytes)) => {
                self.from_client.extend_from_slice(bytes);
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        })
    }

    fn attached(&mut self, mut lease: Lease) -> Result<(), End> {
        self.control.attach(lease.canceller());
        let carried = std::mem::take(&mut lease.carried);
        self.upstream = Some(Box::new(Upstream { lease, scanner: Scanner::new(), service: Service::Due }));
        // Whatever needed no statement was answered here, so the settings are the first thing that is sent.
        if self.session.owed() > 0 || !self.outbox.is_empty() {
            return Err(End::Internal);
        }
        self.link(carried)
    }

    /// What a connection lacks of the client's is given; what it has of others', who had it before, goes.
    fn link(&mut self, carried: Carried) -> Result<(), End> {
        let changes = self.session.attach(carried, &self.info.settings);
        if self.session.forgets_sequences() {
            self.inject(&OwnStatement::discard_sequences())?;
        }
        if self.session.forgets_plans() {
            OwnStatement::discard_plans().iter().try_for_each(|statement| self.inject(statement))?;
        }
        self.give(&changes)
    }

    /// Gives upstream these settings.
    fn give(&mut self, changes: &[Change]) -> Result<(), End> {
        if self.database.mode == PoolMode::Transaction {
            self.told.is_due();
            // No server refuses a name.
            let only_named = changes.iter().all(|(name, _)| **name == *APPLICATION_NAME);
            self.setup = if only_named { Setup::Flows } else { Setup::Waits };
        }
        let changes = changes.iter().map(|(name, value)| (&**name, value.as_deref()));
        OwnStatement::set(changes).map_or(Ok(()), |statement| self.inject(&statement))
    }

    fn inject(&mut self, statement: &OwnStatement) -> Result<(), End> {
        let names = self.session.inject(self.now_us);
        self.outbox.own(statement, names).map_err(|_| End::Internal)
    }

    /// Whether the client's messages have to wait: its start-up settings are being given, or are about to be. Where
    /// upstream refuses one of them, nothing of the client's has run without it.
    pub(super) fn waits_for_settings(&mut self) -> bool {
        let waits = self.setup == Setup::Waits && self.session.is_being_set_up();
        waits || self.session.loses_settings()
    }

    /// Takes a connection before a text is judged, which would have to be judged again with one: where one is at rest and
    /// nobody waits. A refusal gives it back at once. True if there is one now.
    pub(super) fn takes_one_first(&mut self, frame: Frame<'_>) -> Result<bool, End> {
        let needs_one = matches!(frame.tag, b'Q' | b'P' | b'B') && self.session.is_quiet();
        if !needs_one || self.upstream.is_some() || self.no_backend.is_some() {
            return Ok(false);
        }
        if self.database.mode != PoolMode::Transaction {
            return Ok(false);
        }
        let pool = self.database.pools.of(&self.info.principal);
        match pool.ok().and_then(|pool| pool.checkout_resting()) {
            Some(lease) => self.attached(lease).map(|()| true),
            None => Ok(false),
        }
    }

    /// Answers what needs no upstream connection, while there is none and nothing is owed: a Sync, and the Close of
    /// what cannot exist. True if it was one of these.
    pub(super) fn answer_alone(&mut self, frame: Frame<'_>) -> bool {
        if self.upstream.is_some() || !self.session.is_quiet() {
            return false;
        }
        let answer = match (frame.tag, frame.body()) {
            (b'S', []) => READY,
            (b'C', [object @ (b'S' | b'P'), name @ .., 0]) if !name.contains(&0) => {
                let Ok(name) = std::str::from_utf8(name) else { return false };
                if *object == b'S' {
                    self.session.forget_statement(name);
                }
                CLOSE_COMPLETE
            }
            _ => return false,
        };
        self.session.note_asked();
        self.to_client.extend_from_slice(answer);
        true
    }

    /// Gives upstream again what it has lost of the client's start-up settings; true if there was something.
    pub(super) fn give_back_settings(&mut self) -> Result<bool, End> {
        if !self.session.owes_settings() || !self.control.begin_own_statement() {
            return Ok(false);
        }
        let changes = self.session.give_missing();
        self.give(&changes)?;
        Ok(true)
    }
}

fn refusal(error: &CheckoutError) -> Refusal {
    match error {
        CheckoutError::WaitTimeout => {
            let hint = "the pool is in use; try again, or ask the operator for a larger pool.size".to_owned();
            let message = "no upstream connection became free in time";
            Refusal { hint: Some(hint), ..Refusal::plain("53300", message, "pool") }
        }
        // The reason (addresses, users) is for the operator's log.
        CheckoutError::Down(_) | CheckoutError::Connect(_) => {
            tracing::warn!(%error, "no upstream connection");
            Refusal::plain("57P03", "the upstream database cannot be reached", "upstream")
        }
        CheckoutError::Closed => Refusal::plain("57P03", "pgmoat is shutting down", "upstream"),
    }
}

/// The pool has its own limit for waiting; this one is a last resort.
const CHECKOUT_LIMIT: Duration = Duration::from_secs(3_600);
/// CloseComplete.
const CLOSE_COMPLETE: &[u8] = b"3\0\0\0\x04";
