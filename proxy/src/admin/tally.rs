//! What a request came to, and its line in the audit log.

use std::future::poll_fn;
use std::sync::Arc;

use pgmoat_audit::{Entry, Verify};

use super::Admin;
use super::caller::Caller;
use super::refused::Refused;
use crate::clock;
use crate::shared::{Database, Rules};

/// Verdicts of one request.
#[derive(Default)]
pub(super) struct Tally {
    count: u64,
    allowed: u64,
    denied: u64,
    about: About,
}

/// The database that they are about.
#[derive(Default)]
enum About {
    #[default]
    Nothing,
    One(Arc<Database>, Arc<Rules>),
    Several,
}

impl Tally {
    /// Of a request without a verdict.
    pub(super) fn of_nothing() -> Tally {
        Tally { count: 1, ..Tally::default() }
    }

    pub(super) fn judged(&mut self, database: &Arc<Database>, rules: &Arc<Rules>, allowed: bool) {
        self.count += 1;
        match allowed {
            true => self.allowed += 1,
            false => self.denied += 1,
        }
        match &mut self.about {
            // The rules are the same: a request has one basis.
            About::One(known, _) if Arc::ptr_eq(known, database) => {}
            About::Nothing => self.about = About::One(Arc::clone(database), Arc::clone(rules)),
            About::One(..) | About::Several => self.about = About::Several,
        }
    }

    pub(super) fn unreadable(&mut self) {
        self.count += 1;
    }

    /// With another one of the same request.
    pub(super) fn and(&mut self, more: Tally) {
        self.count += more.count;
        self.allowed += more.allowed;
        self.denied += more.denied;
        self.about = match (std::mem::take(&mut self.about), more.about) {
            (about, About::Nothing) | (About::Nothing, about) => about,
            (About::One(one, rules), About::One(other, _)) if Arc::ptr_eq(&one, &other) => {
                About::One(one, rules)
            }
            (About::One(..) | About::Several, About::One(..) | About::Several) => About::Several,
        };
    }
}

impl Admin {
    /// Enters a request; returns when what it asked for may be said.
    ///
    /// # Errors
    /// The log does not take it: then nothing may.
    pub(super) async fn enter(&self, caller: &Caller, tally: &Tally) -> Result<(), Refused> {
        let Tally { count, allowed, denied, about } = tally;
        let one = match about {
            About::One(database, rules) => Some((database, rules)),
            About::Nothing | About::Several => None,
        };
        let verify = Verify {
            token: caller.token.as_deref(),
            client: &caller.client.name,
            database: one.map(|(database, _)| &*database.name),
            count: *count,
            allowed: *allowed,
            denied: *denied,
            policy: one.map(|(_, rules)| rules.policy.version()),
            catalog: one.map(|(_, rules)| &*rules.catalog_version),
        };
        let (audit, counts) = (&self.front.shared.audit, &self.front.shared.counts);
        let written = audit.write(clock::now(), &Entry::Verify(verify)).map_err(|_| Refused::unaudited())?;
        let receipt = poll_fn(|cx| audit.poll_receipt(&written, cx)).await;
        let _receipt = receipt.map_err(|_| Refused::unaudited())?;
        counts.verified_allowed.add(*allowed);
        counts.verified_denied.add(*denied);
        counts.verified_unreadable.add(count - allowed - denied);
        Ok(())
    }
}
