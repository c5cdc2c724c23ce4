//! Transaction mode: the connection leaves the session as soon as nothing ties the two together.

use std::sync::atomic::Ordering;

use pgmoat_upstream::Quiet;

use super::{Link, Service};
use crate::config::PoolMode;
use crate::session::{Leaving, Loose, Tie};

/// Whether it was told that the session stays on its connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Stays {
    #[default]
    Untold,
    Told,
}

impl Link {
    /// Lets the connection go where it may; true if it went.
    pub(super) fn let_upstream_rest(&mut self) -> bool {
        let shared = self.database.mode == PoolMode::Transaction;
        let served = self.upstream.as_ref().is_some_and(|upstream| upstream.service == Service::Done);
        if !shared || !served || !self.session.is_quiet() || !self.outbox.is_empty() {
            return false;
        }
        match self.session.loose() {
            Ok(loose) => self.let_go(&loose),
            Err(tie) => {
                self.tell(tie);
                false
            }
        }
    }

    fn let_go(&mut self, loose: &Loose) -> bool {
        let Some(mut upstream) = self.upstream.take() else { return false };
        let quiet = self.quiet();
        match upstream.lease.prove_clean(quiet) {
            // A cancel is under way, which would hit the next client: when it has ended this is asked again.
            Err(_) => {
                self.upstream = Some(upstream);
                false
            }
            Ok(proof) => {
                self.control.detach();
                upstream.lease.carried = self.session.detach(loose);
                match loose.leaving() {
                    Leaving::AsItIs => upstream.lease.give_back_as_it_is(proof),
                    Leaving::Reset => drop(tokio::spawn(upstream.lease.give_back(proof))),
                    Leaving::Destroy => drop(upstream),
                }
                true
            }
        }
    }

    /// What is known here of the connection's end.
    pub(super) fn quiet(&self) -> Quiet {
        Quiet {
            status: self.session.status(),
            replies_owed: self.session.owed(),
            unsynced: self.session.is_unsynced(),
            copy: self.session.is_copying(),
            unsent: self.outbox.len(),
        }
    }

    /// Once a session in detail, and once a process for everybody.
    fn tell(&mut self, tie: Tie) {
        if std::mem::replace(&mut self.stays, Stays::Told) == Stays::Told {
            return;
        }
        let database = &*self.database.name;
        let session = self.info.id;
        if self.database.pinned.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::info!(
                database,
                session,
                reason = %tie,
                "a session keeps its connection beyond its transaction; others that do are told of at debug"
            );
        } else {
            tracing::debug!(database, session, reason = %tie, "the session keeps its connection");
        }
    }
}
