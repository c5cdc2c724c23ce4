//! HTTP for operators and programs, on a listener of its own: health, figures, verdicts (contracts 6).
//!
//! Whoever asks for verdicts or figures shows a token, unless the configuration says otherwise (on loopback alone).
//! Verdicts are the proxy's own: the rules in force, the same judge, the verdicts by shape that sessions share.
//!
//! INVARIANT (entered before it is said): an answer to `/v1/verify` leaves when its line is in the audit log as the log
//! promises; the end of a batch likewise, and a batch whose line is not taken has no end.
//! INVARIANT (nothing told): what is answered without a token names nothing of the configuration; figures have labels of
//! roles, databases, verdicts and codes alone.

mod batch;
mod body;
mod caller;
mod judge;
mod lines;
mod listen;
mod metrics;
mod paced;
mod ready;
mod refused;
mod routes;
mod seats;
mod tally;
mod threads;
mod token;
mod verify;

use std::sync::Arc;

use tokio::sync::{Semaphore, SemaphorePermit};

pub(crate) use listen::bind;
pub(crate) use threads::start;
pub(crate) use token::{Tokens, make_token};

use crate::config::{self, AdminLimits};
use crate::server::Front;
use ready::AuditTrial;
use refused::Refused;

/// What every request has at hand.
pub(crate) struct Admin {
    front: Arc<Front>,
    require_token: bool,
    limits: AdminLimits,
    places: Semaphore,
    audit: AuditTrial,
}

impl Admin {
    /// Of a configuration.
    pub(crate) fn new(config: &config::Admin, front: Arc<Front>) -> Arc<Admin> {
        Arc::new(Admin {
            front,
            require_token: config.require_token,
            limits: config.limits,
            places: Semaphore::new(config.limits.requests),
            audit: AuditTrial::default(),
        })
    }

    /// A place among the requests for verdicts.
    ///
    /// # Errors
    /// There is none: it is for the client to come again.
    fn place(&self) -> Result<SemaphorePermit<'_>, Refused> {
        self.places.try_acquire().map_err(|_| Refused::busy())
    }
}
