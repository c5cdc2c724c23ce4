//! Transaction mode: a statement whose result has changed is prepared anew and bound once more, where nobody can tell.
//!
//! After an ALTER TABLE the server refuses each Bind of a statement from before (0A000) until it is parsed again. Another
//! client may have altered the table, or prepared the statement. Where the Bind (or the Describe) is the first message
//! behind a Sync that does anything, and no transaction is open, the server has done nothing for the batch: it is sent
//! again behind a new Parse, once. A Close of a statement does nothing, nor does a Parse of what the connection has,
//! which the proxy answers: so a client that parses anew gets a new plan, as on a direct connection.

use std::sync::Arc;

use pgmoat_upstream::Prepared;
use pgmoat_upstream::frame::Fields;
use pgmoat_upstream::frame::backend::TransactionStatus;
use pgmoat_upstream::frame::frontend::Object;

use super::held::Change;
use super::name::UpstreamName;
use super::own::{own_close, own_parse};
use super::pass::{Pass, Unjudged};
use super::queue::{Fate, Governed, Holding, What};
use super::replay::Replay;
use super::terms::Statement;
use super::{Entry, Input, Session};

/// Whether the batch that is under way can be sent again.
#[derive(Debug, Default)]
pub(super) enum Retry {
    /// It cannot.
    #[default]
    No,
    /// The message that it begins with is about to be sent.
    Begins(UpstreamName, Arc<Prepared>),
    /// It begins with a use of this, which the server has not answered yet.
    Used(UpstreamName, Arc<Prepared>),
}

impl Session {
    /// Whether what is sent has to be kept, since it may have to be sent again.
    pub fn may_retry(&self) -> bool {
        self.sharing.as_ref().is_some_and(|sharing| !matches!(sharing.retry, Retry::No))
    }

    /// Whether what is sent from now on has to be kept for that; asked once.
    pub fn begins_retry(&mut self) -> bool {
        let Some(sharing) = &mut self.sharing else { return false };
        let (retry, begins) = match std::mem::take(&mut sharing.retry) {
            Retry::Begins(name, prepared) => (Retry::Used(name, prepared), true),
            same @ (Retry::No | Retry::Used(..)) => (same, false),
        };
        sharing.retry = retry;
        begins
    }

    /// What is sent could not be kept.
    pub fn cannot_retry(&mut self) {
        if let Some(sharing) = &mut self.sharing {
            sharing.retry = Retry::No;
        }
    }

    /// Something is being sent: whether the batch has still done nothing behind it.
    pub(super) fn note_opening(&mut self, entry: &Entry) {
        let begins = self.input == Input::Synced;
        let Some(sharing) = &mut self.sharing else { return };
        if !matches!(entry.fate, Fate::Skip) {
            sharing.opening = entry.does_nothing() && (begins || sharing.opening);
        }
    }

    /// A Bind or a Describe is being sent.
    pub(super) fn note_use(&mut self, statement: &Statement) {
        let outside = self.status == TransactionStatus::Idle;
        let (begins, does_nothing) = (self.input == Input::Synced, self.queue.does_nothing());
        let Some(sharing) = &mut self.sharing else { return };
        if !(does_nothing && (begins || sharing.opening)) {
            return;
        }
        sharing.retry = match (&statement.prepared, statement.upstream) {
            (Some(prepared), name @ UpstreamName::Own(_)) if outside => {
                Retry::Begins(name, Arc::clone(prepared))
            }
            (Some(_) | None, UpstreamName::Own(_) | UpstreamName::Unnamed) => Retry::No,
        };
    }

    /// An error of the server's; true if the client hears nothing of it, since the batch is sent again.
    pub(super) fn retries(&mut self, fields: &Fields) -> bool {
        let stale = fields.sqlstate() == Some("0A000") && fields.get(b'R') == Some(REVALIDATES);
        let syncs = self.queue.batches();
        let whole = syncs == 0 || (syncs == 1 && self.queue.ends_synced());
        let uses = matches!(
            self.queue.head(),
            Some(Entry {
                what: What::Bind { .. } | What::Describe { object: Object::Statement, .. },
                fate: Fate::Forward,
                ..
            })
        );
        let Some(sharing) = &mut self.sharing else { return false };
        let retry = std::mem::take(&mut sharing.retry);
        let Retry::Used(name, prepared) = retry else {
            self.note_stale(stale);
            return false;
        };
        if !(stale && whole && uses && sharing.held.is_settled()) {
            self.note_stale(stale);
            return false;
        }
        let batch: Vec<Entry> = self.queue.drain().collect();
        let mut passes = Vec::new();
        if syncs == 0 {
            // The server skips to a Sync that only the client would send; nothing of its batch has run.
            passes.push(Pass::Unjudged(Unjudged::SYNC));
        }
        let session = || Governed::Session(self.rules.errors);
        let (sync, close, parse) = (session(), session(), session());
        self.owe(What::Sync, Fate::Skip, sync, 0);
        self.owe(own_close(), Fate::Quiet, close, 0);
        self.will_hold(Change::Closed(name));
        passes.push(Pass::Close(Object::Statement, name));
        self.owe(own_parse(), Fate::Quiet, parse, 0);
        self.will_hold(Change::Made(name, Arc::clone(&prepared)));
        passes.push(Pass::Replay(Replay::of(name, prepared)));
        batch.into_iter().for_each(|entry| self.queue.push(entry));
        self.events.again = Some(passes);
        true
    }

    /// The statement whose use has failed is parsed anew when it is used next.
    fn note_stale(&mut self, stale: bool) {
        if !stale {
            return;
        }
        let statement = match self.queue.head() {
            Some(Entry {
                what:
                    What::Bind { statement: name, .. } | What::Describe { object: Object::Statement, name, .. },
                holding: Holding::Same,
                ..
            }) => {
                let named = self.statements.guess(&Arc::clone(name)).cloned();
                named.filter(|statement| statement.prepared.is_some())
            }
            Some(_) | None => None,
        };
        if let (Some(statement), Some(sharing)) = (statement, &mut self.sharing) {
            sharing.held.outdate(statement.upstream);
        }
    }
}

/// The function of the server's that finds that a statement's result has changed.
const REVALIDATES: &[u8] = b"RevalidateCachedQuery";
