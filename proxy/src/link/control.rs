//! What others may tell a session: cancel, drain, terminate.
//!
//! INVARIANT (own query): a cancel goes upstream only while this client's own statement runs. The canceller is taken
//! away before the connection leaves the session, and a cancel under way keeps it out of the pool.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;
use std::time::Duration;

use parking_lot::Mutex;
use pgmoat_audit::CancelOutcome;
use pgmoat_upstream::Canceller;

/// One a session; the registry of sessions has the other hand on it.
#[derive(Debug, Default)]
pub struct Control {
    state: Mutex<State>,
    /// The client's own statement runs.
    busy: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    waker: Option<Waker>,
    canceller: Option<Canceller>,
    stop: Stop,
    queued: Queued,
    /// A cancel is under way.
    cancelling: bool,
}

/// Whether the session waits for an upstream connection.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Queued {
    #[default]
    No,
    Waits,
    /// It was told not to wait any more.
    Cancelled,
}

/// Whether the session has to end, and when: a later one here comes sooner.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stop {
    /// It goes on.
    #[default]
    No,
    /// As soon as nothing is going on and no transaction is open: the process is shutting down.
    WhenIdle,
    /// At the next end of a statement, in a transaction too: its user is not what it was.
    AtStatement,
    /// Now: the process does not wait any more.
    Now,
}

/// What the session was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Orders {
    pub(super) stop: Stop,
    /// Stop waiting for a connection.
    pub(super) cancel_wait: bool,
    /// A cancel is under way: what comes next would be hit as well.
    pub(super) cancelling: bool,
}

impl Control {
    /// For a new session.
    pub fn new() -> Arc<Control> {
        Arc::new(Control::default())
    }

    /// A CancelRequest with this session's key: cancels the client's own statement, or its wait for a connection;
    /// does nothing where neither is going on. Returns when the cancel socket has closed, with what was done.
    pub async fn cancel(&self) -> CancelOutcome {
        match self.begin_cancel() {
            Begun::Cancel(canceller) => {
                self.carry_out(canceller).await;
                CancelOutcome::Forwarded
            }
            // The one that is under way does it.
            Begun::Already => CancelOutcome::Forwarded,
            Begun::Nothing => {
                let mut state = self.state.lock();
                match state.queued {
                    Queued::No => return CancelOutcome::Idle,
                    Queued::Waits | Queued::Cancelled => state.queued = Queued::Cancelled,
                }
                wake(&mut state);
                CancelOutcome::Forwarded
            }
        }
    }

    /// The process is shutting down: the session ends (57P01) as soon as it is idle.
    pub fn drain(&self) {
        self.stop(Stop::WhenIdle);
    }

    /// The user is gone, or is not what it was: the session ends (57P01) when what runs has ended.
    pub fn retire(&self) {
        self.stop(Stop::AtStatement);
    }

    /// The deadline has passed: what runs is cancelled, the session ends (57P01).
    pub fn terminate(&self) {
        self.stop(Stop::Now);
    }

    /// What the session was told; it is woken when that changes.
    pub(super) fn orders(&self, waker: &Waker) -> Orders {
        let mut state = self.state.lock();
        if !state.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            state.waker = Some(waker.clone());
        }
        let cancel_wait = state.queued == Queued::Cancelled;
        Orders { stop: state.stop, cancel_wait, cancelling: state.cancelling }
    }

    /// Whether the client's own statement runs.
    pub(super) fn set_busy(&self, busy: bool) {
        self.busy.store(busy, Ordering::Release);
    }

    /// A statement of the proxy's own may be sent now: no cancel is under way that would hit it, and none begins while
    /// it runs: a cancel is for the client's own.
    pub(super) fn begin_own_statement(&self) -> bool {
        let state = self.state.lock();
        let may = !state.cancelling;
        if may {
            self.set_busy(false);
        }
        may
    }

    pub(super) fn set_waiting(&self, waiting: bool) {
        self.state.lock().queued = if waiting { Queued::Waits } else { Queued::No };
    }

    pub(super) fn attach(&self, canceller: Canceller) {
        self.state.lock().canceller = Some(canceller);
    }

    pub(super) fn detach(&self) {
        self.set_busy(false);
        self.state.lock().canceller = None;
    }

    /// Cancels what runs, without waiting for it (a role's timeout, a row cap, a client that has gone).
    pub(super) fn cancel_soon(self: &Arc<Self>) {
        // Begun here, so that who gives the connection away sees that it is under way.
        let Begun::Cancel(canceller) = self.begin_cancel() else { return };
        let control = Arc::clone(self);
        tokio::spawn(async move { control.carry_out(canceller).await });
    }

    /// One connection to the server at a time: a storm of requests is one cancel.
    fn begin_cancel(&self) -> Begun {
        let mut state = self.state.lock();
        let running = state.canceller.clone().filter(|_| self.busy.load(Ordering::Acquire));
        match running {
            None => Begun::Nothing,
            Some(_) if state.cancelling => Begun::Already,
            Some(canceller) => {
                state.cancelling = true;
                Begun::Cancel(canceller)
            }
        }
    }

    async fn carry_out(&self, canceller: Canceller) {
        let _under_way = UnderWay(self);
        if let Err(error) = canceller.cancel(CANCEL_LIMIT).await {
            tracing::debug!(%error, "cancel");
        }
    }

    fn stop(&self, when: Stop) {
        let mut state = self.state.lock();
        if when > state.stop {
            state.stop = when;
            wake(&mut state);
        }
    }
}

/// What there is to cancel.
enum Begun {
    Cancel(Canceller),
    Already,
    Nothing,
}

/// A cancel under way; the session goes on when it has ended.
struct UnderWay<'a>(&'a Control);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.cancelling = false;
        wake(&mut state);
    }
}

fn wake(state: &mut State) {
    if let Some(waker) = state.waker.take() {
        waker.wake();
    }
}

/// How long a CancelRequest may take, from connecting to the server's close.
const CANCEL_LIMIT: Duration = Duration::from_secs(5);
