//! One client's session as a pure state machine: no sockets, no clock (wire 1 to 3).
//!
//! ```text
//! client frame ──step──► Judge ─(gate)─ settle ─► Forward │ Substitute │ Answer
//!                   └──► Forward │ Answer │ Ignore │ Wait
//! upstream frame ─reply─► the client gets it as it is, something else, or nothing
//! ```
//!
//! It knows what was sent and what is owed for it (the reply queue), what the client's names stand for, and how far
//! the client is from its last Sync. Whoever drives it moves the bytes.
//!
//! INVARIANT (one queue): whatever the client gets is either the reply to the head of the queue, or asynchronous by
//! the protocol, or the proxy's own answer while nothing is owed.
//! INVARIANT (fail closed): what does not fit the queue is an error that ends the session and its upstream
//! connection.

#![deny(clippy::wildcard_enum_match_arm)]

mod account;
mod ask;
mod broken;
mod copy;
mod date_style;
mod doubt;
mod edit;
mod effects;
pub mod error;
mod events;
mod failure;
mod given;
mod held;
mod lasting;
mod mask;
mod message;
mod name;
mod names;
mod own;
mod pass;
mod pins;
mod promise;
mod queue;
mod redact;
mod refusal;
mod refuse;
mod rename;
mod replay;
mod reply;
mod retry;
mod room;
mod rows;
mod rules;
mod settings;
mod settle;
mod sharing;
mod sight;
mod snapshot;
mod step;
mod tag;
mod terms;
mod turn;
mod variables;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use pgmoat_policy::{ErrorPosture, Names as PolicyNames, Prepared};
use pgmoat_upstream::frame::backend::TransactionStatus;

pub use account::Share;
pub use ask::{Ask, JudgedBytes};
pub use broken::Broken;
pub use edit::Edit;
pub use events::{Done, Events, Reached};
pub use given::{Given, PARSE_COMPLETE};
pub use lasting::{Assignment, Lasting, Leaving, Pin, PinSet, SettingText, Snapshots, TransactionStep};
pub use mask::Masks;
pub use message::{Bind, Parse};
pub use name::{NameBytes, UpstreamName};
pub use names::Found;
pub use own::OwnNames;
pub use pass::{Pass, Poison};
pub use refusal::{InFailed, Place, Refusal, characters};
pub use replay::{Namer, Replay};
pub use reply::Relay;
pub use room::SessionLimits;
pub use settle::{Settled, Verdict};
pub use sharing::{Loose, Tie};
pub use sight::Sight;
pub use snapshot::Snapshot;
pub use step::{Answer, Step};
pub use tag::Tag;
pub use terms::{After, Allowance, Counter, Named, Portal, Statement, Terms};
pub use turn::Move;
pub use variables::Change;

use account::Account;
use copy::CopyState;
use doubt::Doubt;
use mask::RowMasker;
use name::Numbers;
use names::{Names, Reach, Stamp};
use pins::Pins;
use queue::{Entry, Fate, Governed, Holding, Queue, Script, What};
use rows::RowFlow;
use rules::InForce;
use sharing::{Implicit, Sharing};
use variables::Variables;

/// A session.
#[derive(Debug)]
pub struct Session {
    queue: Queue,
    input: Input,
    /// What the last ReadyForQuery said.
    status: TransactionStatus,
    /// What tags since then say about it: the server is in a transaction block, or out of a failed one.
    block: Block,
    statements: Names<Statement>,
    /// The texts of everything prepared that is still referred to.
    texts: Account,
    /// How many prepared statements are not made again elsewhere.
    fixed: Account,
    portals: Names<Portal>,
    numbers: Numbers,
    /// Counts changes of names.
    sequence: u64,
    /// Counts Syncs and Queries.
    batch: u64,
    /// Counts messages that ask for something.
    asked: u64,
    copy: CopyState,
    /// Syncs are being counted that may have been read inside a copy.
    doubt: Option<Doubt>,
    rules: InForce,
    limits: SessionLimits,
    /// Replies up to the next ReadyForQuery are dropped: the client has been told of an error already.
    told: bool,
    /// What becomes of the rows that come.
    rows: RowFlow,
    /// Where masks are in a row.
    masker: RowMasker,
    /// A role's timeout has passed for what runs.
    timed_out: bool,
    /// The client's settings, and what its connection has of them.
    variables: Variables,
    /// Whether an implicit transaction stays.
    implicit: Implicit,
    /// Whether unique keys are unique to its transaction.
    snapshot: Snapshot,
    /// What it leaves on its connection.
    pins: Pins,
    /// Custom settings that upstream connections start with.
    declared: Arc<BTreeSet<Box<str>>>,
    /// Its part of shared connections; none where a connection is its own.
    sharing: Option<Box<Sharing>>,
    /// The last Query's, for the next one.
    spare: Option<Box<Script>>,
    events: Events,
}

/// Where the client is in its own stream of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    /// Nothing was sent since the last Sync or Query.
    Synced,
    /// A batch was begun.
    Unsynced,
    /// A message of the batch was refused without upstream: the rest is dropped, the Sync answered here.
    Refused,
    /// The server skips to the next Sync: what comes before it is dropped here already.
    Skipping,
}

/// The transaction, as command tags since the last ReadyForQuery tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    AsReady,
    Begun,
    Ended,
}

impl Session {
    /// A session that has just logged in. `number` is unique among living sessions; `errors` is for errors that
    /// belong to no statement.
    pub fn new(number: u32, errors: ErrorPosture, limits: SessionLimits) -> Self {
        Session {
            queue: Queue::default(),
            input: Input::Synced,
            status: TransactionStatus::Idle,
            block: Block::AsReady,
            statements: Names::new(Reach::Named),
            texts: Account::default(),
            fixed: Account::default(),
            portals: Names::new(Reach::Every),
            numbers: Numbers::new(number),
            sequence: 0,
            batch: 0,
            asked: 0,
            copy: CopyState::default(),
            doubt: None,
            rules: InForce::new(errors),
            limits,
            told: false,
            rows: RowFlow::default(),
            masker: RowMasker::default(),
            timed_out: false,
            variables: Variables::new([]),
            implicit: Implicit::default(),
            snapshot: Snapshot::default(),
            pins: Pins::default(),
            declared: Arc::default(),
            sharing: None,
            spare: None,
            events: Events::default(),
        }
    }

    /// What its open transaction sees by.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot
    }

    /// What has happened since the last time.
    pub fn events(&mut self) -> &mut Events {
        &mut self.events
    }

    /// Messages that owe a reply.
    pub fn owed(&self) -> usize {
        self.queue.len()
    }

    /// Batches whose ReadyForQuery is owed.
    pub fn batches_owed(&self) -> usize {
        self.queue.batches()
    }

    /// The client's own statement runs: a cancel would hit it, and not one of the proxy's.
    pub fn is_running(&mut self) -> bool {
        matches!(
            self.queue.head(),
            Some(Entry { fate: Fate::Forward | Fate::Quiet | Fate::Perhaps | Fate::Replace(_), .. })
        )
    }

    /// Nothing is owed, nothing unsynced was sent, no transaction is open: refusals are answered here, and the
    /// upstream connection could go.
    pub fn is_quiet(&self) -> bool {
        self.queue.is_empty() && self.input == Input::Synced && self.status == TransactionStatus::Idle
    }

    /// Whether the client has begun a batch and not ended it.
    pub fn is_unsynced(&self) -> bool {
        self.input != Input::Synced
    }

    /// What the last ReadyForQuery said.
    pub fn status(&self) -> TransactionStatus {
        self.status
    }

    /// Whether a COPY is going on.
    pub fn is_copying(&self) -> bool {
        self.copy.is_active()
    }

    /// Whether the server is inside a transaction that has failed, as far as its answers tell.
    pub fn has_failed(&self) -> bool {
        self.status == TransactionStatus::Failed && self.block == Block::AsReady
    }

    /// Notes that what runs has run for longer than the role may.
    pub fn time_out(&mut self) {
        self.timed_out = !self.queue.is_empty();
    }

    /// What a name in a text stands for: statements.
    pub fn named_statement(&self, name: &str) -> Found<Statement> {
        self.statements.find_certain(name, self.batch)
    }

    /// What a name in a text stands for: portals and cursors.
    pub fn named_portal(&self, name: &str) -> Found<Portal> {
        self.portals.find_certain(name, self.batch)
    }

    /// Notes a text that is kept.
    pub fn keep_text(&self, bytes: usize) -> Share {
        self.texts.take(bytes)
    }

    /// Notes a prepared statement that is not made again elsewhere, for as long as there is anything of it.
    pub fn keep_fixed(&self) -> Share {
        self.fixed.take(1)
    }

    /// Gives back memory that an idle session does not need.
    pub fn rest(&mut self) {
        self.queue.shrink();
        self.masker.rest();
        self.events.rest();
    }

    fn owe(&mut self, what: What, fate: Fate, governed: impl Into<Governed>, now_us: u64) {
        let (errors, terms) = match governed.into() {
            Governed::Terms(terms) => (terms.errors, Some(terms)),
            Governed::Session(errors) => (errors, None),
        };
        let entry = Entry { what, fate, errors, terms, sent_us: now_us, holding: Holding::Same };
        self.note_opening(&entry);
        self.queue.push(entry);
    }

    fn stamp(&mut self) -> Stamp {
        self.sequence += 1;
        Stamp { sequence: self.sequence, batch: self.batch }
    }

    fn in_block(&self) -> bool {
        match self.block {
            Block::AsReady => self.status != TransactionStatus::Idle,
            Block::Begun => true,
            Block::Ended => false,
        }
    }
}

/// What SQL may say with the client's names: wire and SQL share one name space.
impl PolicyNames for Session {
    fn prepared(&self, name: &str) -> Option<Prepared> {
        let statement = self.statements.guess(name)?;
        Some(Prepared { text: Arc::clone(&statement.text), declared: Arc::clone(&statement.declared) })
    }

    fn cursor(&self, name: &str) -> bool {
        self.portals.guess(name).is_some()
    }
}
