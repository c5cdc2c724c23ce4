//! A connection while one client has it.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::clean::{CleanProof, NotClean, Quiet};
use super::places::Place;
use super::shared::{Pooled, Shared};
use super::stats::Cause;
use crate::attributes::Fit;
use crate::cancel::{Canceller, Gate};
use crate::carried::Carried;
use crate::connection::Connection;
use crate::exchange::ask;
use crate::frame::backend::TransactionStatus;

/// A leased connection. Dropped, it is destroyed: that is what happens to it in a panic, after an
/// error, when its client is gone in the middle of something. It goes back with
/// [`give_back`](Lease::give_back) and [`give_back_as_it_is`](Lease::give_back_as_it_is) only.
#[derive(Debug)]
pub struct Lease {
    pooled: Pooled,
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
    _place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Destroyed(Cause),
    /// The pool has it, and has counted what becomes of it.
    GivenBack,
}

impl Lease {
    pub(super) fn new(pooled: Pooled, place: Place, pool: Arc<Shared>) -> Self {
        let number = pool.counts.leases.fetch_add(1, Ordering::Relaxed);
        pool.leased.fetch_add(1, Ordering::AcqRel);
        let end = End::Destroyed(Cause::Dropped);
        let term = Term { number, gate: Arc::default(), pool, end, _place: place };
        Lease { pooled, term }
    }

    /// For whoever may cancel what this client runs. Works until the lease ends.
    pub fn canceller(&self) -> Canceller {
        let Connection { route, cancel_key, .. } = &*self.pooled.connection;
        Canceller::new(Arc::clone(route), cancel_key.clone(), Arc::clone(&self.term.gate))
    }

    /// The proof that [`give_back`](Lease::give_back) takes, from what the session knows and from
    /// what is known here: nothing unread, no cancel under way. No cancel can begin afterwards.
    ///
    /// # Errors
    ///
    /// What is left over. Drop the lease then, or clean up and ask again.
    pub fn prove_clean(&mut self, quiet: Quiet) -> Result<CleanProof, NotClean> {
        quiet.check()?;
        if !self.pooled.connection.incoming.is_empty() {
            return Err(NotClean::Unread);
        }
        if !self.term.gate.close_if_quiet() {
            return Err(NotClean::Cancel);
        }
        Ok(CleanProof { lease: self.term.number })
    }

    /// Resets the connection (DISCARD ALL) and puts it to rest, with nothing [`Carried`]. If the reset fails, or the proof
    /// is another lease's, the connection is destroyed.
    pub async fn give_back(mut self, proof: CleanProof) {
        if proof.lease != self.term.number {
            return self.destroy(Cause::Mistaken);
        }
        if !reset(&mut self.pooled.connection, self.term.pool.config.reset_timeout).await {
            return self.destroy(Cause::Reset);
        }
        self.pooled.connection.carried = Carried::default();
        match self.term.pool.target.attributes.fit(self.pooled.connection.parameters()) {
            Fit::Wanted | Fit::SecondChoice => self.rest(),
            Fit::No(_) => self.destroy(Cause::Moved),
        }
    }

    /// Puts the connection to rest as it is, with what it [`Carried`]: the next user has to know what that means. If the
    /// proof is another lease's, the connection is destroyed.
    pub fn give_back_as_it_is(self, proof: CleanProof) {
        match proof.lease == self.term.number {
            true => self.rest(),
            false => self.destroy(Cause::Mistaken),
        }
    }

    /// Closes the connection, for a cause that is counted.
    pub fn destroy(mut self, cause: Cause) {
        self.term.end = End::Destroyed(cause);
    }

    fn rest(self) {
        let Lease { pooled, mut term } = self;
        term.end = End::GivenBack;
        term.pool.rest(pooled);
    }
}

/// Session mode: settings (back to the start-up packet's), prepared statements, cursors, temporary
/// tables, LISTEN, advisory locks, sequences' last values. True if all is as after the login.
///
/// Settings come first, alone: under a statement_timeout of the last client's DISCARD ALL could take too long and say nothing
/// of it, and the server would cancel the statement behind it, which is the next client's; and under its
/// default_transaction_deferrable it could wait for others' transactions.
async fn reset(connection: &mut Connection, limit: Duration) -> bool {
    for (sql, tag) in [("RESET ALL", "RESET"), ("DISCARD ALL", "DISCARD ALL")] {
        match ask(connection, sql, RESET_CAP_BYTES, limit).await {
            Ok(answer) if answer.tags == [tag] && answer.status == TransactionStatus::Idle => {}
            Ok(_) => return false,
            Err(error) => {
                tracing::debug!(pid = connection.backend_pid(), %error, "reset failed, connection is closed");
                return false;
            }
        }
    }
    connection.incoming.is_empty()
}

/// A tag, a status, and ParameterStatus for whatever moved back.
const RESET_CAP_BYTES: usize = 64 << 10;

impl Deref for Lease {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.pooled.connection
    }
}

impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.pooled.connection
    }
}

impl Drop for Term {
    fn drop(&mut self) {
        self.gate.close();
        match self.end {
            End::Destroyed(cause) => self.pool.counts.destroyed(cause),
            End::GivenBack => {}
        }
        if self.pool.leased.fetch_sub(1, Ordering::AcqRel) == 1 {
            // Whoever waits for one that is leased waits for nothing now.
            self.pool.slots.tell_all();
        }
    }
}
