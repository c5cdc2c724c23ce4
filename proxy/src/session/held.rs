//! Which prepared statements the session's shared connection has: what the server has confirmed, and what was sent and
//! not answered yet, in its order.
//!
//! As with the client's names (see [`super::names`]), a pending change is as good as certain within its batch: if it
//! fails, the server skips what comes after it. Across batches the session waits until the server has spoken.
//!
//! INVARIANT (in order): changes are resolved in the order in which they were sent, since the reply queue is.

use std::collections::VecDeque;
use std::sync::Arc;

use pgmoat_upstream::{Prepared, Statements};

use super::name::UpstreamName;
use super::names::{End, Stamp};

/// The connection's statements.
#[derive(Debug, Default)]
pub(super) struct Held {
    confirmed: Statements,
    /// What the unnamed one was made of, where that was this client's doing on this connection.
    unnamed: Option<Arc<Prepared>>,
    pending: VecDeque<(Stamp, Change)>,
}

/// What a message does to them.
#[derive(Debug)]
pub(super) enum Change {
    Made(UpstreamName, Arc<Prepared>),
    Closed(UpstreamName),
    /// DEALLOCATE ALL, DISCARD ALL.
    AllClosed,
}

/// Whether the connection has a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Yes,
    No,
    /// Something else has its name.
    Other,
    /// That depends on a batch that the server has not answered yet.
    Wait,
}

impl Held {
    pub(super) fn new(confirmed: Statements) -> Self {
        Held { confirmed, ..Held::default() }
    }

    /// What the next user of the connection finds.
    pub(super) fn into_confirmed(self) -> Statements {
        self.confirmed
    }

    pub(super) fn find(&self, name: UpstreamName, prepared: &Arc<Prepared>, batch: u64) -> Holds {
        for (stamp, change) in self.pending.iter().rev() {
            let says = match change {
                Change::Made(made, of) if *made == name => compare(Some(of), prepared),
                Change::Closed(closed) if *closed == name => Holds::No,
                Change::AllClosed if name != UpstreamName::Unnamed => Holds::No,
                Change::Made(..) | Change::Closed(_) | Change::AllClosed => continue,
            };
            return if stamp.batch == batch { says } else { Holds::Wait };
        }
        match name {
            // One of the same content is another client's, or one that the client has lost since.
            UpstreamName::Unnamed => match &self.unnamed {
                Some(unnamed) if Arc::ptr_eq(unnamed, prepared) => Holds::Yes,
                Some(_) | None => Holds::No,
            },
            UpstreamName::Own(number) => compare(self.confirmed.get(number), prepared),
        }
    }

    /// Notes a use.
    pub(super) fn touch(&mut self, name: UpstreamName) {
        if let UpstreamName::Own(number) = name {
            self.confirmed.touch(number);
        }
    }

    /// Statements that have to go so that one more has room.
    pub(super) fn surplus(&self) -> Vec<UpstreamName> {
        let pending = |number: u64| {
            self.pending.iter().any(|(_, change)| match change {
                Change::Made(name, _) | Change::Closed(name) => *name == UpstreamName::Own(number),
                Change::AllClosed => true,
            })
        };
        let coming = self.pending.iter().filter(|(_, change)| matches!(change, Change::Made(..))).count();
        self.confirmed.surplus(coming + 1, pending).into_iter().map(UpstreamName::Own).collect()
    }

    /// Notes that a statement has to be made anew: its result is another by now.
    pub(super) fn outdate(&mut self, name: UpstreamName) {
        match name {
            UpstreamName::Own(number) if self.confirmed.get(number).is_some() => {
                let outdated = Prepared { text: Arc::from(""), types: Arc::from([]), settings: 0 };
                self.confirmed.insert(number, Arc::new(outdated));
            }
            UpstreamName::Own(_) => {}
            UpstreamName::Unnamed => self.unnamed = None,
        }
    }

    /// Notes a change that is being sent.
    pub(super) fn send(&mut self, change: Change, stamp: Stamp) {
        self.pending.push_back((stamp, change));
    }

    /// The oldest pending change has ended.
    pub(super) fn end(&mut self, end: End) {
        let Some((_, change)) = self.pending.pop_front() else { return };
        match (change, end) {
            (Change::Made(UpstreamName::Own(number), prepared), End::Made) => {
                self.confirmed.insert(number, prepared);
            }
            (Change::Made(UpstreamName::Unnamed, prepared), End::Made) => self.unnamed = Some(prepared),
            // A Parse that fails drops the unnamed statement first; one that was skipped does not, and then it is made
            // once more than it had to be.
            (Change::Made(UpstreamName::Unnamed, _), End::Dropped | End::Lost) => self.unnamed = None,
            (Change::Closed(UpstreamName::Own(number)), End::Made) => self.confirmed.remove(number),
            (Change::Closed(UpstreamName::Unnamed), End::Made) => self.unnamed = None,
            (Change::AllClosed, End::Made) => self.confirmed.clear(),
            (
                Change::Made(UpstreamName::Own(_), _) | Change::Closed(_) | Change::AllClosed,
                End::Dropped | End::Lost,
            ) => {}
        }
    }

    /// Whether all that was sent has been answered.
    pub(super) fn is_settled(&self) -> bool {
        self.pending.is_empty()
    }
}

fn compare(known: Option<&Arc<Prepared>>, prepared: &Arc<Prepared>) -> Holds {
    match known {
        None => Holds::No,
        Some(known) if Arc::ptr_eq(known, prepared) || known == prepared => Holds::Yes,
        Some(_) => Holds::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(batch: u64) -> Stamp {
        Stamp { sequence: 0, batch }
    }

    fn prepared(text: &str) -> Arc<Prepared> {
        Arc::new(Prepared { text: text.into(), types: Arc::from([]), settings: 0 })
    }

    const NAME: UpstreamName = UpstreamName::Own(7);

    #[test]
    fn what_was_sent_in_this_batch_is_there_and_in_another_is_waited_for() {
        let mut held = Held::default();
        let text = prepared("a");
        assert_eq!(held.find(NAME, &text, 1), Holds::No);
        held.send(Change::Made(NAME, Arc::clone(&text)), stamp(1));
        assert_eq!(held.find(NAME, &text, 1), Holds::Yes);
        assert_eq!(held.find(NAME, &text, 2), Holds::Wait);
        held.end(End::Dropped);
        assert_eq!(held.find(NAME, &text, 2), Holds::No);
        held.send(Change::Made(NAME, Arc::clone(&text)), stamp(2));
        held.end(End::Made);
        assert_eq!(held.find(NAME, &prepared("a"), 3), Holds::Yes);
        assert_eq!(held.find(NAME, &prepared("b"), 3), Holds::Other);
    }

    /// Known fault C2: a late DEALLOCATE ALL takes what was made before it, and nothing else.
    #[test]
    fn all_closed_is_what_came_before() {
        let mut held = Held::default();
        let text = prepared("a");
        held.send(Change::Made(NAME, Arc::clone(&text)), stamp(1));
        held.end(End::Made);
        held.send(Change::AllClosed, stamp(2));
        assert_eq!(held.find(NAME, &text, 2), Holds::No);
        assert_eq!(held.find(NAME, &text, 3), Holds::Wait);
        held.send(Change::Made(NAME, Arc::clone(&text)), stamp(2));
        held.end(End::Made);
        held.end(End::Made);
        assert_eq!(held.find(NAME, &text, 3), Holds::Yes);
    }

    /// Known fault C12: another client's unnamed statement.
    #[test]
    fn an_unnamed_statement_is_its_clients_alone() {
        let mut held = Held::default();
        let text = prepared("a");
        held.send(Change::Made(UpstreamName::Unnamed, Arc::clone(&text)), stamp(1));
        held.end(End::Made);
        assert_eq!(held.find(UpstreamName::Unnamed, &text, 2), Holds::Yes);
        assert_eq!(held.find(UpstreamName::Unnamed, &prepared("a"), 2), Holds::No);
        let next = Held::new(held.into_confirmed());
        assert_eq!(next.find(UpstreamName::Unnamed, &text, 3), Holds::No);
    }
}
