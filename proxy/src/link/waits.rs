//! How long a session stands still for its client's sake (wire 5): locks, connections and memory are held meanwhile.
//!
//! PostgreSQL's own timeouts do not help: a batch without its Sync is active to it, and a client could change them.

use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use super::Link;
use super::end::End;
use crate::session::Move;

/// What is waited for, and since when.
#[derive(Debug, Default)]
pub(super) struct Waits {
    now: Option<(Wait, Instant)>,
    /// What the client had asked then.
    asked: u64,
    sleep: Option<Pin<Box<Sleep>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// The client takes what there is for it.
    ToBeRead,
    /// It ends what it has open.
    Inside,
    /// It goes on with its batch, or what runs in it ends.
    InBatch,
    /// It says something.
    Idle,
}

impl Link {
    /// Nothing moves any more: whether that has lasted too long. `moved` and `taken` say whether anything did since
    /// the last time, and whether the client took something.
    pub(super) fn watch_waits(&mut self, cx: &mut Context<'_>, moved: bool, taken: bool) -> Result<(), End> {
        let Some((wait, limit)) = self.waited_for() else {
            self.waits.now = None;
            return Ok(());
        };
        let asked = std::mem::replace(&mut self.waits.asked, self.session.asked());
        let goes_on = match wait {
            Wait::ToBeRead => !taken,
            // Its data is what a copy waits for.
            Wait::Inside | Wait::InBatch if self.session.is_copying() => !moved,
            // As PostgreSQL's clock: a message that is never whole, or asks nothing, does not put it off.
            Wait::Inside | Wait::InBatch | Wait::Idle => asked == self.session.asked(),
        };
        let since = match self.waits.now {
            Some((same, since)) if same == wait && goes_on => since,
            Some(_) | None => self.now(),
        };
        self.waits.now = Some((wait, since));
        // A limit so long that the clock ends before it is none.
        let Some(deadline) = since.checked_add(limit) else { return Ok(()) };
        if !self.waits.has_passed(cx, deadline) {
            return Ok(());
        }
        match wait {
            Wait::ToBeRead => Err(End::Stalled),
            Wait::Inside => Err(End::IdleInTransaction),
            Wait::Idle => Err(End::Idle),
            Wait::InBatch => {
                // Asked, the server answers as soon as nothing runs: then the client alone is waited for.
                self.outbox.ask_for_replies();
                self.waits.now = None;
                cx.waker().wake_by_ref();
                Ok(())
            }
        }
    }

    fn waited_for(&self) -> Option<(Wait, Duration)> {
        let limits = &self.shared.patience;
        if !self.to_client.is_empty() && self.audience.hears() {
            return Some((Wait::ToBeRead, limits.client_write));
        }
        match self.session.whose_move() {
            Move::Servers => None,
            Move::Clients => limits.idle.map(|limit| (Wait::Idle, limit)),
            Move::ClientsInside => limits.in_transaction.map(|limit| (Wait::Inside, limit)),
            Move::ClientsOrServers => limits.in_transaction.map(|limit| (Wait::InBatch, limit)),
        }
    }
}

impl Waits {
    /// Whether it is so late; else the task is woken then, or before.
    fn has_passed(&mut self, cx: &mut Context<'_>, deadline: Instant) -> bool {
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        // The runtime's timer is only set again when it has fired or is too late.
        if sleep.deadline() > deadline {
            sleep.as_mut().reset(deadline);
        }
        while sleep.as_mut().poll(cx).is_ready() {
            if Instant::now() >= deadline {
                self.sleep = None;
                return true;
            }
            sleep.as_mut().reset(deadline);
        }
        false
    }
}
