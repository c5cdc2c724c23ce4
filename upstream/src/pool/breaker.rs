//! Whether the server is thought to be up.

use std::sync::Arc;

use crate::connect_error::ConnectError;

/// Open means: down, nobody but the one who retries may try.
#[derive(Debug, Default)]
pub(super) enum Breaker {
    #[default]
    Closed,
    Open {
        last: Arc<ConnectError>,
    },
}

impl Breaker {
    /// Why the server is thought to be down, if it is.
    pub(super) fn last_error(&self) -> Option<Arc<ConnectError>> {
        match self {
            Breaker::Closed => None,
            Breaker::Open { last } => Some(Arc::clone(last)),
        }
    }

    /// Down, for this reason. True if it was thought to be up: the caller starts the one who retries.
    pub(super) fn open(&mut self, error: Arc<ConnectError>) -> bool {
        let first = matches!(self, Breaker::Closed);
        *self = Breaker::Open { last: error };
        first
    }

    /// Still down, for this reason; false if somebody has reached it meanwhile.
    pub(super) fn renew(&mut self, error: Arc<ConnectError>) -> bool {
        match self {
            Breaker::Closed => false,
            Breaker::Open { last } => {
                *last = error;
                true
            }
        }
    }

    /// Up again.
    pub(super) fn close(&mut self) {
        *self = Breaker::Closed;
    }
}
