//! A connection while one client has it.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;

use super::Shared;
use super::clean::{CleanProof, NotClean, Quiet};
use crate::cancel::{Canceller, Gate};
use crate::connection::Connection;
use crate::exchange::ask;
use crate::frame::backend::TransactionStatus;

/// A leased connection. Dropped, it is destroyed: that is what happens to it in a panic, after an
/// error, when its client is gone in the middle of something. It goes back with
/// [`give_back`](Lease::give_back) only.
#[derive(Debug)]
pub struct Lease {
    connection: Connection,
    // Dropped after the connection: its place is free only when the socket is closed.
    term: Term,
}

/// The time for which it is leased; its end is seen here, whatever way it comes.
#[derive(Debug)]
struct Term {
    number: u64,
    gate: Arc<Gate>,
    pool: Arc<Shared>,
    end: End,
    _permit: OwnedSemaphorePermit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Destroyed,
    GivenBack,
}

impl Lease {
    pub(super) fn new(
        number: u64,
        connection: Connection,
        pool: Arc<Shared>,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        let term = Term { number, gate: Arc::default(), pool, end: End::Destroyed, _permit: permit };
        Lease { connection, term }
    }

    /// For whoever may cancel what this client runs. Works until the lease ends.
    pub fn canceller(&self) -> Canceller {
        let key = self.connection.cancel_key.clone();
        Canceller::new(Arc::clone(&self.term.pool.endpoint), key, Arc::clone(&self.term.gate))
    }

    /// The proof that [`give_back`](Lease::give_back) takes, from what the session knows and from
    /// what is known here: nothing unread, no cancel under way. No cancel can begin afterwards.
    ///
    /// # Errors
    ///
    /// What is left over. Drop the lease then, or clean up and ask again.
    pub fn prove_clean(&mut self, quiet: Quiet) -> Result<CleanProof, NotClean> {
        quiet.check()?;
        if !self.connection.incoming.is_empty() {
            return Err(NotClean::Unread);
        }
        if !self.term.gate.close_if_quiet() {
            return Err(NotClean::Cancel);
        }
        Ok(CleanProof { lease: self.term.number })
    }

    /// Resets the connection (DISCARD ALL) and puts it to rest. If the reset fails, or the proof is
    /// another lease's, the connection is destroyed.
    pub async fn give_back(self, proof: CleanProof) {
        let Lease { mut connection, mut term } = self;
        if proof.lease != term.number {
            return;
        }
        if reset(&mut connection, term.pool.config.reset_timeout).await {
            term.end = End::GivenBack;
            term.pool.rest(connection);
        }
    }
}

/// Session mode: settings (back to the start-up packet's), prepared statements, cursors, temporary
/// tables, LISTEN, advisory locks, sequences' last values. True if all is as after the login.
async fn reset(connection: &mut Connection, limit: Duration) -> bool {
    match ask(connection, "DISCARD ALL", RESET_CAP_BYTES, limit).await {
        Ok(answer) => {
            answer.tags == ["DISCARD ALL"]
                && answer.status == TransactionStatus::Idle
                && connection.incoming.is_empty()
        }
        Err(error) => {
            tracing::debug!(pid = connection.backend_pid(), %error, "reset failed, connection is closed");
            false
        }
    }
}

/// A tag, a status, and ParameterStatus for whatever moved back.
const RESET_CAP_BYTES: usize = 64 << 10;

impl Deref for Lease {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

impl Drop for Term {
    fn drop(&mut self) {
        self.gate.close();
        match self.end {
            End::Destroyed => drop(self.pool.counts.destroyed.fetch_add(1, Ordering::Relaxed)),
            End::GivenBack => {}
        }
    }
}
