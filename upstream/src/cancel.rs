//! CancelRequest: a connection of its own, over the same TLS policy, closed by the server when the
//! signal has been sent (protocol "Canceling Requests in Progress").
//!
//! INVARIANT (cancel): a cancel that is under way keeps its connection out of the pool, and none can
//! begin once the connection has left its user: a late signal would hit the next user's statement.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use zeroize::Zeroizing;

use crate::connect_error::{ConnectError, Stage};
use crate::frame::frontend;
use crate::open::{Route, open};

/// A backend's process id and its secret. `Debug` hides the secret.
#[derive(Clone, Default)]
pub(crate) struct CancelKey {
    pid: i32,
    key: Zeroizing<Vec<u8>>,
}

impl CancelKey {
    pub(crate) fn new(pid: i32, key: &[u8]) -> Self {
        CancelKey { pid, key: Zeroizing::new(key.to_vec()) }
    }

    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }
}

impl fmt::Debug for CancelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CancelKey({}, …)", self.pid)
    }
}

/// Cancels what runs on one lease's connection. Given to whoever hears the client's cancel request.
#[derive(Clone, Debug)]
pub struct Canceller {
    route: Arc<Route>,
    key: CancelKey,
    gate: Arc<Gate>,
}

impl Canceller {
    pub(crate) fn new(route: Arc<Route>, key: CancelKey, gate: Arc<Gate>) -> Self {
        Canceller { route, key, gate }
    }

    /// Asks the server to cancel, and waits until it has taken the request (it closes then). Whether
    /// anything was cancelled shows on the connection itself.
    ///
    /// # Errors
    ///
    /// [`CancelError::Gone`] if the lease has ended; otherwise what stood in the way.
    pub async fn cancel(&self, limit: Duration) -> Result<(), CancelError> {
        let mut under_way = self.gate.enter().ok_or(CancelError::Gone)?;
        timeout(limit, self.send(&mut under_way)).await.unwrap_or(Err(CancelError::Timeout { limit }))
    }

    async fn send(&self, under_way: &mut UnderWay) -> Result<(), CancelError> {
        if self.key.key.is_empty() {
            return Err(CancelError::NoKey);
        }
        let mut request = BytesMut::new();
        frontend::cancel_request(self.key.pid, &self.key.key, &mut request).map_err(ConnectError::Encode)?;
        let mut stream = open(&self.route, &mut Stage::Tcp).await?;
        under_way.sent = true;
        stream.write_all(&request).await?;
        stream.flush().await?;
        // The server answers nothing; what it closes with (also a reset) does not matter.
        let mut byte = [0];
        match stream.read(&mut byte).await {
            Ok(0) | Err(_) => {
                under_way.sent = false;
                Ok(())
            }
            Ok(_) => Err(CancelError::Answered),
        }
    }
}

/// Counts the cancels that are under way, and closes when the lease ends.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<GateState>,
}

#[derive(Debug)]
enum GateState {
    Open {
        under_way: usize,
    },
    /// A request was sent and nobody saw it taken: it may strike at any time.
    Lost,
    Closed,
}

impl Default for GateState {
    fn default() -> Self {
        GateState::Open { under_way: 0 }
    }
}

impl Gate {
    /// Closes for good, unless a cancel is under way. True if it is closed now.
    pub(crate) fn close_if_quiet(&self) -> bool {
        let mut state = self.state.lock();
        match *state {
            GateState::Open { under_way: 0 } | GateState::Closed => {
                *state = GateState::Closed;
                true
            }
            GateState::Open { .. } | GateState::Lost => false,
        }
    }

    /// Closes for good: the connection is being destroyed.
    pub(crate) fn close(&self) {
        *self.state.lock() = GateState::Closed;
    }

    fn enter(self: &Arc<Self>) -> Option<UnderWay> {
        match &mut *self.state.lock() {
            GateState::Open { under_way } => *under_way += 1,
            GateState::Lost => {}
            GateState::Closed => return None,
        }
        Some(UnderWay { gate: Arc::clone(self), sent: false })
    }
}

struct UnderWay {
    gate: Arc<Gate>,
    /// Sent, and not yet taken.
    sent: bool,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut state = self.gate.state.lock();
        match &mut *state {
            GateState::Open { .. } if self.sent => *state = GateState::Lost,
            GateState::Open { under_way } => *under_way = under_way.saturating_sub(1),
            GateState::Lost | GateState::Closed => {}
        }
    }
}

/// Why a cancel request did not get through.
#[derive(Debug)]
pub enum CancelError {
    /// The lease has ended: there is nothing of this client's to cancel.
    Gone,
    /// The server did not take it in time.
    Timeout {
        /// What it had.
        limit: Duration,
    },
    /// The server gave no key at the login (some poolers do not).
    NoKey,
    /// The server could not be reached.
    Connect(ConnectError),
    /// The network.
    Io(io::Error),
    /// The server answered, which none does.
    Answered,
}

impl fmt::Display for CancelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CancelError::Gone => f.write_str("nothing runs on that connection any more"),
            CancelError::Timeout { limit } => {
                write!(f, "the cancel request was not taken within {} ms", limit.as_millis())
            }
            CancelError::NoKey => f.write_str("the server gave no cancel key"),
            CancelError::Connect(error) => write!(f, "the cancel request was not sent: {error}"),
            CancelError::Io(error) => write!(f, "the cancel request was not sent: {error}"),
            CancelError::Answered => f.write_str("the server answered a cancel request"),
        }
    }
}

impl Error for CancelError {}

impl From<ConnectError> for CancelError {
    fn from(error: ConnectError) -> Self {
        CancelError::Connect(error)
    }
}

impl From<io::Error> for CancelError {
    fn from(error: io::Error) -> Self {
        CancelError::Io(error)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn the_gate_stays_open_while_a_cancel_is_under_way_and_shut_afterwards() {
        let gate = Arc::new(Gate::default());
        let under_way = gate.enter().unwrap();
        assert!(!gate.close_if_quiet());
        drop(under_way);
        assert!(gate.close_if_quiet());
        assert!(gate.enter().is_none());
    }

    #[test]
    fn a_cancel_that_was_given_up_after_it_was_sent_keeps_the_connection_out() {
        let gate = Arc::new(Gate::default());
        let mut under_way = gate.enter().unwrap();
        under_way.sent = true;
        drop(under_way);
        drop(gate.enter());
        assert!(!gate.close_if_quiet());
    }

    #[test]
    fn destroying_does_not_wait_for_cancels() {
        let gate = Arc::new(Gate::default());
        let under_way = gate.enter().unwrap();
        gate.close();
        drop(under_way);
        assert!(gate.enter().is_none());
    }

    /// Known faults E7: a zero-length key was sent.
    #[tokio::test]
    async fn without_a_key_nothing_is_sent() {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let endpoint = crate::Endpoint {
            address: crate::Address::new("127.0.0.1", address.port()),
            tls: crate::TlsPolicy::disable(),
            connect_timeout: Duration::from_secs(5),
            keepalive: None,
        };
        let route = Route { host: 0, endpoint: Arc::new(endpoint), at: Some(address) };
        let canceller = Canceller::new(Arc::new(route), CancelKey::default(), Arc::default());
        assert!(matches!(canceller.cancel(Duration::from_secs(5)).await, Err(CancelError::NoKey)));
        assert!(listener.accept().is_err(), "nobody connected");
        assert!(canceller.gate.close_if_quiet(), "and nothing keeps the connection out of the pool");
    }

    #[test]
    fn debug_hides_the_key() {
        assert_eq!(format!("{:?}", CancelKey::new(7, b"secret")), "CancelKey(7, …)");
    }
}
