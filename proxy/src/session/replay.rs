//! Transaction mode: prepared statements by their content, made again on whatever connection lacks them.
//!
//! A statement's upstream name stands for its text, its declared types, the settings that its meaning depends on and the
//! catalog that it was looked up in, so that clients share it. The unnamed one stays unnamed, and its client's.
//!
//! INVARIANT (let through before): what is replayed is the content of a [`Statement`] in the client's own map, which
//! only the settling of an admitted Parse makes.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use bytes::BytesMut;
use pgmoat_upstream::Prepared;
use pgmoat_upstream::frame::frontend::Object;
use pgmoat_upstream::frame::{EncodeError, Frame, frontend};

use super::held::{Change, Holds};
use super::message::Parse;
use super::name::UpstreamName;
use super::own::{own_close, own_parse};
use super::pass::{Pass, Unjudged};
use super::queue::{Fate, Governed, What};
use super::refusal::Refusal;
use super::refuse::{Refused, Refusing};
use super::step::Answer;
use super::terms::{Statement, Terms};
use super::{Input, Session};

/// A Parse that was let through before, sent once more.
#[derive(Debug)]
pub struct Replay {
    name: UpstreamName,
    prepared: Arc<Prepared>,
}

/// Gives statements their names: numbers that clients cannot foresee.
#[derive(Debug, Clone, Default)]
pub struct Namer(Arc<RandomState>);

/// What a Parse's statement is called upstream, and what stands for it.
#[derive(Debug)]
pub(super) enum Naming {
    /// By its content.
    Content(UpstreamName, Arc<Prepared>),
    /// By a name of its own, since what it means cannot be told; or since nothing is shared.
    Own,
}

impl Replay {
    pub(super) fn of(name: UpstreamName, prepared: Arc<Prepared>) -> Self {
        Replay { name, prepared }
    }

    /// Appends it to what goes upstream.
    pub(super) fn write(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        frontend::parse(&self.name.bytes(), self.prepared.text.as_bytes(), &self.prepared.types, out)
    }
}

impl Namer {
    fn name(&self, prepared: &Prepared, catalog: u64) -> UpstreamName {
        let number = self.0.hash_one((&*prepared.text, &*prepared.types, prepared.settings, catalog));
        // The names of one session alone have 0 there.
        UpstreamName::Own(number | SHARED)
    }
}

impl Session {
    /// Statements are named by their content, and looked up in this catalog.
    pub fn names_by(&mut self, namer: Namer, catalog: u64) {
        if let Some(sharing) = &mut self.sharing {
            (sharing.namer, sharing.catalog) = (namer, catalog);
        }
    }

    /// What the connection has to be told before what is sent next.
    pub fn take_prelude(&mut self) -> Vec<Pass<'static>> {
        self.sharing.as_mut().map(|sharing| std::mem::take(&mut sharing.prelude)).unwrap_or_default()
    }

    /// A statement's name is closed while nothing is owed and no connection is there.
    pub fn forget_statement(&mut self, name: &str) {
        self.statements.forget(name);
    }

    /// Whether a message describes a statement that there is: only the server can.
    pub fn describes_known(&self, frame: Frame<'_>) -> bool {
        match (frame.tag, frame.body()) {
            (b'D', [b'S', name @ .., 0]) => {
                let name = std::str::from_utf8(name).ok().filter(|_| self.is_quiet());
                name.is_some_and(|name| self.statements.guess(name).is_some())
            }
            _ => false,
        }
    }

    /// Refuses a Describe of a statement while nothing is owed.
    pub fn refuse_describe(&mut self, refusal: Refusal, now_us: u64) -> Answer {
        match self.refuse(Refused::Describe(Object::Statement), refusal, now_us) {
            Refusing::Answer(answer) => answer,
            Refusing::Substitute(_) => Answer { error: None, ready: false },
        }
    }

    /// How a Parse's statement is named upstream.
    pub(super) fn naming(&self, parse: &Parse<'_>) -> Naming {
        let Some(sharing) = self.sharing.as_ref().filter(|sharing| !sharing.shadowed) else {
            return Naming::Own;
        };
        let Some(settings) = self.variables.meaning() else { return Naming::Own };
        let prepared = Prepared { text: Arc::from(parse.text), types: Arc::from(&*parse.declared), settings };
        let name = match parse.name {
            "" => UpstreamName::Unnamed,
            _ => sharing.namer.name(&prepared, sharing.catalog),
        };
        Naming::Content(name, Arc::new(prepared))
    }

    /// Whether the connection has a statement; it always has what is not shared.
    pub(super) fn holds(&self, name: UpstreamName, prepared: Option<&Arc<Prepared>>) -> Holds {
        match (&self.sharing, prepared) {
            (Some(sharing), Some(prepared)) => sharing.held.find(name, prepared, self.batch),
            (Some(_) | None, _) => Holds::Yes,
        }
    }

    /// Whether that is still open; or, where the connection lacks it, what it would mean there once what was sent before is
    /// answered.
    pub fn is_open(&self, statement: &Statement) -> bool {
        match self.holds(statement.upstream, statement.prepared.as_ref()) {
            Holds::Wait => true,
            Holds::Yes => false,
            Holds::No | Holds::Other => !self.would_mean_the_same(statement) && self.queue.will_be_answered(),
        }
    }

    /// Whether that is still open of anything that has to be there before this statement runs.
    pub(super) fn is_any_open(&self, terms: &Terms) -> bool {
        let moves = self.shares() && terms.lasting.sets_meaning();
        moves && self.statements.each().any(|statement| self.is_open(statement))
    }

    /// Whether something that a Query may need can be made for it only when what was sent before is answered.
    pub(super) fn is_any_undecided(&self) -> bool {
        self.shares()
            && !self.variables.has_meaning()
            && self.statements.each().any(|statement| self.is_open(statement))
    }

    /// Whether others go on with what a name of the client's stands for.
    pub(super) fn is_shared(&self, object: Object, name: &str) -> bool {
        let shared = |statement: &Arc<Statement>| statement.prepared.is_some();
        object == Object::Statement && self.statements.guess(name).is_some_and(shared)
    }

    /// Sees to it that the connection has a statement when it reads what is sent next. An error is that message's.
    pub(super) fn make_sure(&mut self, statement: &Statement, decision: u64, now_us: u64) {
        let (name, Some(prepared)) = (statement.upstream, &statement.prepared) else { return };
        match self.holds(name, Some(prepared)) {
            Holds::Yes | Holds::Wait => {
                if let Some(sharing) = &mut self.sharing {
                    sharing.held.touch(name);
                }
                return;
            }
            // What stands there, the unnamed one at least, may be another client's: the server has to say that it is gone.
            Holds::Other | Holds::No if !self.would_mean_the_same(statement) => {
                self.close_quietly(name, now_us);
                return;
            }
            Holds::Other => self.close_quietly(name, now_us),
            Holds::No => {}
        }
        self.make_room(name, now_us);
        let replay = Replay { name, prepared: Arc::clone(prepared) };
        self.owe(with_decision(own_parse(), decision), Fate::Quiet, &statement.terms, now_us);
        self.will_hold(Change::Made(name, Arc::clone(prepared)));
        self.prelude(Pass::Replay(replay));
    }

    /// Whether its text, looked up now, would mean what it meant to the client. Where it would not, the server says that
    /// there is no such statement.
    fn would_mean_the_same(&self, statement: &Statement) -> bool {
        let settings = statement.prepared.as_ref().map(|prepared| prepared.settings);
        statement.is_plain()
            || statement.text.is_empty()
            || (settings.is_some() && settings == self.variables.meaning())
    }

    /// What the client has prepared. Behind a statement that moves settings which its meaning depends on, what the
    /// connection lacks of it could not be made alike any more.
    fn prepared(&self) -> Vec<Arc<Statement>> {
        self.statements.each().filter(|each| each.prepared.is_some()).cloned().collect()
    }

    /// Sees to it that the connection has all of that before a statement which may move its meaning, within the batch of
    /// those that come behind it. (Whether it has them is certain: see [`Session::is_any_open`].)
    pub(super) fn make_sure_of_all(&mut self, terms: &Terms, decision: u64, now_us: u64) {
        if self.shares() && terms.lasting.sets_meaning() {
            for statement in self.prepared() {
                self.make_sure(&statement, decision, now_us);
            }
        }
    }

    /// The same for what a Query's text names. Its own error will tell where one of them cannot be made; but where the
    /// server may be skipping to a Sync of the client's, behind a batch that was not ended, there may be no other Sync, and
    /// the error is the Query's.
    pub(super) fn make_sure_of_named(&mut self, terms: &Terms, now_us: u64) {
        let synced = self.input == Input::Synced && self.queue.is_synced() && !self.copy.is_expected();
        let mut made = false;
        // A pool's RESET ALL, which finds nothing to reset, needs none of it; what comes behind waits for it.
        let before = if self.moves_meaning(&terms.lasting) { self.prepared() } else { Vec::new() };
        for statement in terms.needs.iter().cloned().chain(before) {
            let (name, Some(prepared)) = (statement.upstream, &statement.prepared) else { continue };
            // The unnamed one goes with a Query.
            if self.holds(name, Some(prepared)) == Holds::Yes || name == UpstreamName::Unnamed {
                continue;
            }
            self.close_quietly(name, now_us);
            if !self.would_mean_the_same(&statement) {
                continue;
            }
            made = true;
            let replay = Replay { name, prepared: Arc::clone(prepared) };
            let fate = if synced { Fate::Try } else { Fate::Quiet };
            self.owe(own_parse(), fate, &statement.terms, now_us);
            self.will_hold(Change::Made(name, Arc::clone(prepared)));
            self.prelude(Pass::Replay(replay));
        }
        if made && synced {
            // So that a failure does not take the Query along.
            self.owe(What::Sync, Fate::Skip, Governed::Session(self.rules.errors), now_us);
            self.prelude(Pass::Unjudged(Unjudged::SYNC));
            self.batch += 1;
        }
    }

    /// What stands upstream for a name that is taken, so that the server refuses whoever gives it again. (The statement
    /// itself need not be there, and perhaps cannot be made any more.)
    pub fn taken_by(&self, live: &Arc<Statement>) -> Arc<Statement> {
        if live.prepared.is_none() {
            return Arc::clone(live);
        }
        let nothing = Prepared { text: Arc::from(""), types: Arc::from([]), settings: 0 };
        Arc::new(Statement {
            text: Arc::clone(&nothing.text),
            declared: Arc::from([]),
            upstream: UpstreamName::TAKEN,
            terms: Arc::clone(&live.terms),
            generation: live.generation,
            shape: None,
            share: self.keep_text(0),
            prepared: Some(Arc::new(nothing)),
            fixed: None,
        })
    }

    /// The same for a Parse of the client's own, which the connection must not have yet.
    pub(super) fn make_way(&mut self, name: UpstreamName, prepared: &Arc<Prepared>, now_us: u64) {
        match self.holds(name, Some(prepared)) {
            Holds::Yes | Holds::Other if name != UpstreamName::Unnamed => self.close_quietly(name, now_us),
            Holds::Yes | Holds::Other | Holds::No | Holds::Wait => {}
        }
        self.make_room(name, now_us);
    }

    /// Whether the server would answer a Parse of what the connection has by ParseComplete, as far as is certain.
    pub(super) fn would_parse(&self, name: UpstreamName, prepared: &Arc<Prepared>) -> bool {
        name != UpstreamName::Unnamed
            && self.holds(name, Some(prepared)) == Holds::Yes
            && !self.queue.has_clients_batch()
            && self.status != pgmoat_upstream::frame::backend::TransactionStatus::Failed
    }

    /// What was sent last changes what the connection has.
    pub(super) fn will_hold(&mut self, change: Change) {
        let stamp = self.stamp();
        if let Some(sharing) = &mut self.sharing {
            sharing.held.send(change, stamp);
            self.queue.mark_last();
        }
    }

    fn make_room(&mut self, name: UpstreamName, now_us: u64) {
        if name == UpstreamName::Unnamed {
            return;
        }
        let surplus = self.sharing.as_ref().map(|sharing| sharing.held.surplus()).unwrap_or_default();
        for name in surplus {
            self.close_quietly(name, now_us);
        }
    }

    fn close_quietly(&mut self, name: UpstreamName, now_us: u64) {
        self.owe(own_close(), Fate::Quiet, Governed::Session(self.rules.errors), now_us);
        self.will_hold(Change::Closed(name));
        self.prelude(Pass::Close(Object::Statement, name));
    }

    fn prelude(&mut self, pass: Pass<'static>) {
        if let Some(sharing) = &mut self.sharing {
            sharing.prelude.push(pass);
        }
    }
}

fn with_decision(what: What, decision: u64) -> What {
    match what {
        What::Parse { name, change, .. } => What::Parse { name, change, decision },
        other @ (What::Bind { .. }
        | What::Describe { .. }
        | What::Execute { .. }
        | What::Close { .. }
        | What::Query(_)
        | What::Sync
        | What::CopyEnd) => other,
    }
}

/// Set in the numbers of names that sessions share.
const SHARED: u64 = 1 << 63;
