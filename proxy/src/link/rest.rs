//! Transaction mode: the connection leaves the session as soon as nothing ties the two together.

use pgmoat_upstream::Quiet;

use super::{Link, Service};
use crate::config::PoolMode;
use crate::session::{Leaving, Loose, Tie};
use crate::ties::Tied;

/// Whether the session stays on its connection.
#[derive(Debug, Default)]
pub(super) enum Stays {
    /// It never did.
    #[default]
    No,
    /// It does, and that was told.
    Yes(Tied),
    /// It did, and need not be told of again.
    Did,
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
        // What the link was given and the whole answer may have come in one burst.
        self.tell_settings();
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
                if let Stays::Yes(_) = self.stays {
                    self.stays = Stays::Did;
                }
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

    /// Counts it; tells of it once a session in detail, and once a process for everybody.
    fn tell(&mut self, tie: Tie) {
        if matches!(&self.stays, Stays::Yes(tied) if tied.tie() == tie) {
            return;
        }
        let ties = &self.database.ties;
        let first = ties.counts().all(|count| count.ever == 0);
        let before = std::mem::replace(&mut self.stays, Stays::Yes(ties.hold(tie)));
        let (database, session) = (&*self.database.name, self.info.id);
        match before {
            Stays::Yes(_) | Stays::Did => {}
            Stays::No if first => tracing::info!(
                database,
                session,
                reason = %tie,
                "a session keeps its connection beyond its transaction; others that do are told of at debug"
            ),
            Stays::No => {
                tracing::debug!(database, session, reason = %tie, "the session keeps its connection")
            }
        }
    }
}
