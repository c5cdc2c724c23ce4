//! The reply queue: one entry for every message that owes a reply, in the order in which they were sent (wire 1).

use std::collections::VecDeque;
use std::sync::Arc;

use pgmoat_policy::ErrorPosture;
use pgmoat_upstream::frame::frontend::Object;

use super::names::End;
use super::refusal::Refusal;
use super::tag::Tag;
use super::terms::{Counter, Portal, Terms};

/// One message that owes a reply.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) what: What,
    pub(super) fate: Fate,
    /// What becomes of an error.
    pub(super) errors: ErrorPosture,
    /// The terms of the statement that it is about; a Query has its own list.
    pub(super) terms: Option<Arc<Terms>>,
    /// When it was sent, on the link's clock.
    pub(super) sent_us: u64,
    /// What it does to the connection's statements.
    pub(super) holding: Holding,
}

/// Whether a message changes what the connection has of statements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Holding {
    #[default]
    Same,
    /// The oldest pending change of [`super::held::Held`] is its.
    Changes,
}

impl Entry {
    /// A message of the proxy's own, of whose replies the client gets nothing.
    pub(super) fn is_own(&mut self) -> bool {
        matches!(self.fate, Fate::Skip) && !matches!(self.what, What::CopyEnd)
    }

    /// Whether a batch that begins with it has done nothing by it.
    pub(super) fn does_nothing(&self) -> bool {
        let closes = matches!(self.what, What::Close { object: Object::Statement, .. });
        matches!(self.fate, Fate::Given) || (closes && matches!(self.fate, Fate::Forward))
    }

    /// The terms of the statement that it runs: of a Query the one whose turn it is.
    pub(super) fn running(&self) -> Option<&Arc<Terms>> {
        match &self.what {
            What::Query(script) => script.current(),
            What::Execute { portal, .. } => portal.as_ref().map(|portal| &portal.terms),
            What::Parse { .. }
            | What::Bind { .. }
            | What::Describe { .. }
            | What::Close { .. }
            | What::Sync
            | What::CopyEnd => None,
        }
    }

    fn is_perhaps(&self) -> bool {
        matches!(self.fate, Fate::Perhaps)
    }
}

/// What a reply is subject to.
#[derive(Debug)]
pub(super) enum Governed {
    /// A statement's terms.
    Terms(Arc<Terms>),
    /// What holds for all that belongs to no statement.
    Session(ErrorPosture),
}

impl From<&Arc<Terms>> for Governed {
    fn from(terms: &Arc<Terms>) -> Self {
        Governed::Terms(Arc::clone(terms))
    }
}

impl From<ErrorPosture> for Governed {
    fn from(errors: ErrorPosture) -> Self {
        Governed::Session(errors)
    }
}

/// Which message it was.
#[derive(Debug)]
pub(super) enum What {
    Parse {
        name: Arc<str>,
        change: Option<Change>,
        decision: u64,
    },
    Bind {
        portal: Arc<str>,
        statement: Arc<str>,
        change: Option<Change>,
        decision: u64,
    },
    Describe {
        object: Object,
        name: Arc<str>,
        parameters_seen: bool,
    },
    Execute {
        name: Arc<str>,
        portal: Option<Arc<Portal>>,
    },
    Close {
        object: Object,
        name: Arc<str>,
    },
    Query(Box<Script>),
    Sync,
    /// Owes nothing: where a copy-in that was still to begin ends in the client's stream.
    CopyEnd,
}

/// A pending change of the entry's name: what an error does to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) on_error: End,
}

/// What becomes of the reply.
#[derive(Debug)]
pub(super) enum Fate {
    /// The client gets it.
    Forward,
    /// The proxy's own message: the client gets nothing.
    Skip,
    /// The proxy's own message among the client's: its success is not shown, its error is the client's.
    Quiet,
    /// The proxy's own message: whether it succeeds or fails is not shown, since what follows it will tell.
    Try,
    /// Owes nothing: the client gets ParseComplete in its place.
    Given,
    /// A Sync behind what copies in: inside the copy the server ignores it, and that alone knows whether it was.
    Perhaps,
    /// The proxy's own message that fails the transaction: its error is dropped, its ReadyForQuery is the client's.
    Fail,
    /// It must be an error, whose fields are swapped.
    Replace(Box<Refusal>),
}

/// The statements of a Query, and how far it has come.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) terms: Vec<Arc<Terms>>,
    /// How many of them have ended.
    pub(super) ended: usize,
    /// The rows of the one that runs.
    pub(super) rows: Counter,
    /// The last command tag.
    pub(super) tag: Option<Tag>,
    /// The error that ended it.
    pub(super) sqlstate: Option<Box<str>>,
    pub(super) decision: u64,
    /// It makes the unnamed statement and portal go.
    pub(super) forgets: bool,
}

impl Script {
    /// Whether what runs, or all of it where nothing runs any more, is about tenants' rows.
    pub(super) fn is_scoped(&self) -> bool {
        self.current().map_or_else(|| self.terms.iter().any(|terms| terms.scoped), |terms| terms.scoped)
    }

    /// The same without anything in it, to be used again; none where it would take much memory.
    pub(super) fn spare(mut self: Box<Self>) -> Option<Box<Script>> {
        let mut terms = std::mem::take(&mut self.terms);
        terms.clear();
        (terms.capacity() <= SPARE_TERMS_MAX).then(|| {
            *self = Script { terms, ..Script::default() };
            self
        })
    }

    /// The terms of the statement that runs.
    pub(super) fn current(&self) -> Option<&Arc<Terms>> {
        self.terms.get(self.ended)
    }
}

/// The queue.
#[derive(Debug, Default)]
pub(super) struct Queue(VecDeque<Entry>);

impl Queue {
    pub(super) fn push(&mut self, entry: Entry) {
        self.0.push_back(entry);
    }

    /// What was sent last changes what the connection has of statements.
    pub(super) fn mark_last(&mut self) {
        if let Some(entry) = self.0.back_mut() {
            entry.holding = Holding::Changes;
        }
    }

    /// Whether there is nothing among them that does anything: Closes of statements, and what is not sent at all.
    pub(super) fn does_nothing(&self) -> bool {
        self.0.iter().all(|entry| matches!(entry.fate, Fate::Skip) || entry.does_nothing())
    }

    /// Whether the server cannot be skipping to a Sync behind what was sent last.
    pub(super) fn is_synced(&self) -> bool {
        let last = self.0.iter().rev().find(|entry| !matches!(entry.what, What::Query(_) | What::CopyEnd));
        last.is_none_or(|entry| matches!(entry.what, What::Sync))
    }

    /// Whether an earlier batch of the client's is among them.
    pub(super) fn has_clients_batch(&self) -> bool {
        let ends = |entry: &&Entry| matches!(entry.what, What::Query(_) | What::Sync);
        self.0.iter().filter(ends).any(|entry| !matches!(entry.fate, Fate::Skip))
    }

    /// Whether the client is to be given something now.
    pub(super) fn gives(&self) -> bool {
        matches!(self.0.front(), Some(Entry { fate: Fate::Given, .. }))
    }

    /// The entry that was pushed last.
    pub(super) fn last(&self) -> Option<&Entry> {
        self.0.back()
    }

    /// Whether the server will say something without the client's saying more.
    pub(super) fn will_be_answered(&self) -> bool {
        self.0.iter().any(|entry| matches!(entry.what, What::Sync | What::Query(_)))
    }

    /// Messages that owe a reply, or mark a place among those that do.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Syncs and Queries among them: each ends a batch, in which one message may fail.
    pub(super) fn batches(&self) -> usize {
        self.0.iter().filter(|entry| matches!(entry.what, What::Query(_) | What::Sync)).count()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entry that the next reply belongs to.
    pub(super) fn head(&mut self) -> Option<&mut Entry> {
        self.0.front_mut()
    }

    /// Takes the head away, and the marks behind it, which say something only behind a copy-in.
    pub(super) fn pop(&mut self) -> Option<Entry> {
        let entry = self.0.pop_front();
        while matches!(self.0.front(), Some(Entry { what: What::CopyEnd, .. })) {
            self.0.pop_front();
        }
        entry
    }

    /// Whether the head is a Sync, which ends an error's reach.
    pub(super) fn at_sync(&self) -> bool {
        matches!(self.0.front(), Some(Entry { what: What::Sync, .. }))
    }

    /// Whether what was sent last is a Sync or a Query: the server answers all of it without being sent more, but for
    /// a copy's data. A Sync that it ignored inside a copy is none.
    pub(super) fn ends_synced(&self) -> bool {
        let last = self.0.iter().rev().find(|entry| !matches!(entry.what, What::CopyEnd));
        last.is_some_and(|entry| matches!(entry.what, What::Sync | What::Query(_)))
    }

    /// What was sent last, but for what belongs to a copy-in.
    pub(super) fn last_statement(&self) -> Option<&Entry> {
        self.0.iter().rev().find(|entry| !matches!(entry.what, What::CopyEnd) && !entry.is_perhaps())
    }

    /// Whether a Sync is there that the server may ignore.
    pub(super) fn has_perhaps(&self) -> bool {
        self.0.iter().any(Entry::is_perhaps)
    }

    /// What is at the head has failed, and no copy-in was begun: each Sync directly behind it, or behind what the server
    /// skips for it, counts. (Those behind a later Query are that one's.)
    pub(super) fn count_perhaps(&mut self) {
        // Behind a Query that has failed it skips nothing.
        let skips = self.0.front().is_some_and(|head| !matches!(head.what, What::Sync | What::Query(_)));
        let skipped = |entry: &&mut Entry| skips && !matches!(entry.what, What::Sync | What::Query(_));
        for entry in self.0.iter_mut().skip(1).skip_while(skipped).take_while(|entry| entry.is_perhaps()) {
            entry.fate = Fate::Forward;
        }
    }

    /// A copy-in of what is at the head is done: the Syncs inside it were ignored. True if there were any.
    pub(super) fn ignore_perhaps(&mut self) -> bool {
        let before = self.0.len();
        while self.0.get(1).is_some_and(Entry::is_perhaps) {
            self.0.remove(1);
        }
        let ignored = self.0.len() != before;
        if matches!(self.0.get(1), Some(Entry { what: What::CopyEnd, .. })) {
            self.0.remove(1);
        }
        ignored
    }

    /// What copied in has ended: takes away the Syncs of which it is not known whether they were ignored.
    pub(super) fn take_perhaps(&mut self) -> usize {
        let before = self.0.len();
        if !self.0.front().is_some_and(Entry::is_perhaps) {
            return 0;
        }
        while self.0.front().is_some_and(Entry::is_perhaps) {
            self.0.pop_front();
        }
        let taken = before - self.0.len();
        while matches!(self.0.front(), Some(Entry { what: What::CopyEnd, .. })) {
            self.0.pop_front();
        }
        taken
    }

    /// Everything, for the end of a session.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Entry> {
        self.0.drain(..)
    }

    /// Gives memory back that a long pipeline needed.
    pub(super) fn shrink(&mut self) {
        if self.0.is_empty() && self.0.capacity() > IDLE_ENTRIES_MAX {
            self.0 = VecDeque::new();
        }
    }
}

/// Room for a spare Query's statements.
const SPARE_TERMS_MAX: usize = 4;
/// Room in an idle session's queue that is kept.
const IDLE_ENTRIES_MAX: usize = 16;
