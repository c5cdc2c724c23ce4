//! A role's timeout: the proxy's own clock (contracts 7), since a setting could be changed by the client.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// Runs while a statement does. The runtime's timer is only set again when it has fired or is too late, so that
/// a statement costs no timer.
#[derive(Debug, Default)]
pub(super) struct Timer {
    limit: Option<Duration>,
    deadline: Option<Instant>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Timer {
    /// How long a statement may run.
    pub(super) fn limit(&mut self, limit: Option<Duration>) {
        self.limit = limit;
        if limit.is_none() {
            (self.deadline, self.sleep) = (None, None);
        }
    }

    /// A statement runs, or not; `again` where another one may have begun since the last call.
    pub(super) fn run(&mut self, busy: bool, again: bool, now: Instant) {
        let Some(limit) = self.limit else { return };
        if !busy {
            self.deadline = None;
        } else if again || self.deadline.is_none() {
            self.deadline = now.checked_add(limit);
        }
    }

    /// Ready when the statement has run for too long; then again after a pause, while it still runs.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.deadline else { return Poll::Pending };
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if sleep.deadline() > deadline {
            sleep.as_mut().reset(deadline);
        }
        while sleep.as_mut().poll(cx).is_ready() {
            if Instant::now() >= deadline {
                // A cancel may come too early or get lost: it is tried again.
                self.deadline = Instant::now().checked_add(AGAIN);
                self.sleep = None;
                return Poll::Ready(());
            }
            sleep.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

/// Between two cancels of one statement.
const AGAIN: Duration = Duration::from_secs(1);
