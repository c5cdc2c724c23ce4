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
mod edit;
mod effects;
pub mod error;
mod failure;
mod mask;
mod message;
mod name;
mod names;
mod pass;
mod queue;
mod redact;
mod refusal;
mod refuse;
mod reply;
mod room;
mod rows;
mod settle;
mod sight;
mod step;
mod terms;
mod turn;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use pgmoat_policy::{ErrorPosture, Names as PolicyNames, Prepared};
use pgmoat_upstream::frame::backend::TransactionStatus;

pub use account::Share;
pub use ask::{Ask, JudgedBytes};
pub use broken::Broken;
pub use edit::Edit;
pub use mask::Masks;
pub use message::{Bind, Parse};
pub use name::{NameBytes, UpstreamName};
pub use names::Found;
pub use pass::{Pass, Poison};
pub use refusal::{InFailed, Place, Refusal, characters};
pub use reply::Relay;
pub use settle::{Settled, Verdict};
pub use sight::Sight;
pub use step::{Answer, Step};
pub use terms::{After, Allowance, Counter, Portal, Statement, Terms};
pub use turn::Move;

use account::Account;
use copy::CopyState;
use mask::RowMasker;
use name::Numbers;
use names::{Names, Reach, Stamp};
use queue::{Entry, Fate, Governed, Queue, What};

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
    portals: Names<Portal>,
    numbers: Numbers,
    /// Counts changes of names.
    sequence: u64,
    /// Counts Syncs and Queries.
    batch: u64,
    copy: CopyState,
    /// The rules in force.
    generation: u64,
    /// What becomes of errors that belong to no statement.
    errors: ErrorPosture,
    /// What the principal may see of the database.
    sight: Option<Arc<Sight>>,
    /// Too many errors: nothing about tenants' rows goes on unasked.
    spent: bool,
    limits: SessionLimits,
    /// Replies up to the next ReadyForQuery are dropped: the client has been told of an error already.
    told: bool,
    /// A row that was begun is being dropped.
    dropping: bool,
    /// Where masks are in a row.
    masker: RowMasker,
    /// A role's timeout has passed for what runs.
    timed_out: bool,
    /// The client's start-up settings that upstream has lost.
    lost: Lost,
    /// Something was sent that may make it lose them.
    letting_go: bool,
    /// Rows delivered by the Execute at the head.
    rows_now: u64,
    events: Events,
}

/// What a session may hold and send.
#[derive(Debug, Clone, Copy)]
pub struct SessionLimits {
    /// Named statements.
    pub statements: usize,
    /// The texts of all statements that are still referred to, in bytes: unnamed, pending and closed ones too.
    pub statement_bytes: usize,
    /// Named portals.
    pub portals: usize,
    /// The longest message that is taken, in bytes.
    pub message_bytes: usize,
    /// Surplus rows of a cut result that are read before the statement is cancelled (contracts 7).
    pub drain_rows: u64,
}

impl Default for SessionLimits {
    fn default() -> Self {
        SessionLimits {
            statements: 1_000,
            statement_bytes: 16 << 20,
            portals: 1_000,
            message_bytes: 64 << 20,
            drain_rows: 100_000,
        }
    }
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

/// Start-up settings to be given to upstream again once it is outside a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Lost {
    None,
    These(Vec<Box<str>>),
    All,
}

/// What has happened that is not a reply.
#[derive(Debug, Default)]
pub struct Events {
    /// Statements that have ended, for the audit log.
    pub done: Vec<Done>,
    /// What runs has to be cancelled.
    pub cancel: bool,
    /// The server has ended the session; the client was told.
    pub ended: bool,
    /// The catalog may have changed.
    pub catalog: bool,
    /// Upstream has to fail what is open: send this.
    pub fail: Option<Poison>,
    /// Upstream has lost these start-up settings (empty: all of them).
    pub lost: Option<Vec<Box<str>>>,
    /// A statement or a batch has ended: what runs now has all of its time.
    pub next: bool,
    /// Errors that count against the error budget (policy 3.9).
    pub errors: u32,
    /// Notices that were dropped, since they would tell of other tenants' rows.
    pub notices: u32,
}

/// How a statement that was let through ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The audit entry of its decision.
    pub of: u64,
    /// How far it came.
    pub reached: Reached,
    /// Its command tag.
    pub tag: Option<Box<str>>,
    /// Its error.
    pub sqlstate: Option<Box<str>>,
    /// Rows that the client got.
    pub rows: u64,
    /// When its message was sent, on the link's clock.
    pub sent_us: u64,
}

/// Whether PostgreSQL ran a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// It did.
    Ran,
    /// It never came to that.
    Not,
    /// Upstream went away.
    Unknown,
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
            portals: Names::new(Reach::Every),
            numbers: Numbers::new(number),
            sequence: 0,
            batch: 0,
            copy: CopyState::default(),
            generation: 0,
            errors,
            sight: None,
            spent: false,
            limits,
            told: false,
            dropping: false,
            masker: RowMasker::default(),
            timed_out: false,
            lost: Lost::None,
            letting_go: false,
            rows_now: 0,
            events: Events::default(),
        }
    }

    /// Says which rules are in force, and what becomes of errors that belong to no statement.
    pub fn judged_by(&mut self, generation: u64, errors: ErrorPosture) {
        (self.generation, self.errors) = (generation, errors);
    }

    /// Says what the principal may see of the database.
    pub fn sees(&mut self, sight: Arc<Sight>) {
        self.sight = Some(sight);
    }

    /// Says whether the principal's error budget is spent: then portals that were bound before are judged again.
    pub fn budget_is_spent(&mut self, spent: bool) {
        self.spent = spent;
    }

    /// What becomes of errors that belong to no statement.
    pub fn default_errors(&self) -> ErrorPosture {
        self.errors
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
        matches!(self.queue.head(), Some(Entry { fate: Fate::Forward | Fate::Replace(_), .. }))
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

    /// A Query of the proxy's own is being sent, whose replies the client does not see.
    pub fn inject(&mut self, now_us: u64) {
        self.owe(What::Query(Box::default()), Fate::Skip, self.errors, now_us);
        self.batch += 1;
    }

    /// A Query of the proxy's own runs, and nothing of the client's may run before it has ended.
    pub fn is_being_set_up(&mut self) -> bool {
        matches!(self.queue.head(), Some(Entry { fate: Fate::Skip, what: What::Query(_), .. }))
    }

    /// Settings of the client's are lost, or may be by what was sent, and not given again yet.
    pub fn is_letting_go(&self) -> bool {
        self.letting_go || self.lost != Lost::None || self.events.lost.is_some()
    }

    /// What was sent may make upstream lose the client's start-up settings, and will end without another message of
    /// the client's: they can be given again before the next one.
    pub fn loses_settings(&self) -> bool {
        self.events.lost.is_some()
            || (self.is_letting_go() && self.queue.ends_synced() && !self.takes_copy_data())
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

    /// Gives back memory that an idle session does not need.
    pub fn rest(&mut self) {
        self.queue.shrink();
        self.masker.rest();
        self.events.done = Vec::new();
    }

    fn owe(&mut self, what: What, fate: Fate, governed: impl Into<Governed>, now_us: u64) {
        let (errors, terms) = match governed.into() {
            Governed::Terms(terms) => (terms.errors, Some(terms)),
            Governed::Session(errors) => (errors, None),
        };
        self.queue.push(Entry { what, fate, errors, terms, sent_us: now_us });
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
