//! What statements do to the client's names and settings: noted when they are sent, done when they have run.

use std::sync::Arc;

use pgmoat_upstream::frame::backend::TransactionStatus;

use super::held;
use super::name::UpstreamName;
use super::names::End;
use super::queue::Script;
use super::terms::{After, Terms};
use super::{Block, Session};

impl Session {
    /// A statement is being sent: what it may do to names is pending from now on.
    pub(super) fn begin_effects(&mut self, terms: &Terms) {
        self.snapshot.sent(&terms.lasting);
        self.leaves(&terms.lasting);
        match &terms.after {
            After::Prepared { name, statement } => {
                let stamp = self.stamp();
                self.statements.change(name, stamp, statement.clone());
            }
            After::Declared { name, portal } => {
                let stamp = self.stamp();
                self.portals.change(name, stamp, Some(Arc::clone(portal)));
            }
            After::DeallocatedAll | After::DiscardedAll => {
                self.holds_less(held::Change::AllClosed);
                let stamp = self.stamp();
                self.statements.clear_later(stamp);
            }
            After::Deallocated(name) => {
                // What the text names, whatever the client's name stands for by now.
                let named = terms.names.iter().find(|named| named.name == *name);
                let upstream = named.map_or(UpstreamName::NEVER_GIVEN, |named| named.upstream);
                self.holds_less(held::Change::Closed(upstream));
                let stamp = self.stamp();
                self.statements.change(name, stamp, None);
            }
            After::Closed(name) => {
                let stamp = self.stamp();
                self.portals.change(name, stamp, None);
            }
            After::CopiedIn => self.copy.expect(),
            After::Nothing | After::Fetched { .. } | After::ClosedAll | After::CatalogChanged => {}
        }
        if matches!(terms.after, After::ClosedAll | After::DiscardedAll) {
            let stamp = self.stamp();
            self.portals.clear_later(stamp);
        }
    }

    fn holds_less(&mut self, change: held::Change) {
        let stamp = self.stamp();
        if let Some(sharing) = &mut self.sharing {
            sharing.held.send(change, stamp);
        }
    }

    /// What was sent about the connection's statements has ended.
    pub(super) fn hold_ended(&mut self, end: End) {
        if let Some(sharing) = &mut self.sharing {
            sharing.held.end(end);
        }
    }

    /// It has run, or not.
    pub(super) fn end_effects(&mut self, terms: &Terms, end: End) {
        self.has_left(&terms.lasting);
        if matches!(terms.after, After::Deallocated(_) | After::DeallocatedAll | After::DiscardedAll) {
            self.hold_ended(end);
        }
        match &terms.after {
            After::DeallocatedAll => self.statements.end_clear(end),
            After::ClosedAll => self.portals.end_clear(end),
            After::DiscardedAll => {
                self.statements.end_clear(end);
                self.portals.end_clear(end);
            }
            After::Prepared { name, .. } | After::Deallocated(name) => self.statements.end(name, end),
            After::Declared { name, .. } | After::Closed(name) => self.portals.end(name, end),
            After::CopiedIn => self.copy.finish(),
            After::Nothing | After::Fetched { .. } | After::CatalogChanged => {}
        }
        self.events.catalog |= end == End::Made && matches!(terms.after, After::CatalogChanged);
    }

    /// A Query has ended: `ran` says whether the server saw it at all.
    pub(super) fn end_script(&mut self, script: &Script, ran: bool) {
        if script.forgets {
            let end = if ran { End::Made } else { End::Dropped };
            self.statements.end("", end);
            self.portals.end("", end);
        }
        for (number, terms) in script.terms.iter().enumerate() {
            let end = if ran && number < script.ended { End::Made } else { End::Dropped };
            self.end_effects(&Arc::clone(terms), end);
        }
    }

    /// What a command tag says about the transaction.
    pub(super) fn note_tag(&mut self, tag: &str) {
        match tag {
            "BEGIN" | "START TRANSACTION" => self.block = Block::Begun,
            "COMMIT" => self.block = Block::Ended,
            // To a savepoint as well: then the block goes on, but it has not failed.
            "ROLLBACK" => {
                self.block =
                    if self.status == TransactionStatus::Failed { Block::Begun } else { Block::Ended };
            }
            _ => {}
        }
    }
}
