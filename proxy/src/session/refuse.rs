//! How a message is refused: by an answer, or by another message in its place (wire 2, contracts 3).
//!
//! While nothing is owed, nothing unsynced was sent and no transaction is open, the proxy answers, and forgets what
//! PostgreSQL would forget. Otherwise a message that must fail goes upstream in the refused one's place: so the
//! server itself gives the right order, the skip to Sync, the rollback and the true status byte.

use std::sync::Arc;

use pgmoat_upstream::frame::frontend::Object;

use super::name::UpstreamName;
use super::names::End;
use super::pass::{Pass, Poison};
use super::queue::{Change, Fate, What};
use super::refusal::Refusal;
use super::settle::Settled;
use super::step::{Answer, Step};
use super::{Input, Session};

/// Which message is refused.
#[derive(Debug, Clone, Copy)]
pub(super) enum Refused<'n> {
    Query,
    /// A Query whose text cannot be read: PostgreSQL fails before it touches anything.
    MalformedQuery,
    /// A Sync with something in it: it ends the batch, and fails it.
    MalformedSync,
    FunctionCall,
    /// Under this name.
    Parse(&'n str),
    /// A Parse that PostgreSQL would refuse before it looks at the name.
    UnknownParse,
    /// A Bind of this portal name, by its values or terms.
    Bind(&'n str),
    /// A Bind that PostgreSQL would refuse before it looks at the portal.
    UnknownBind,
    Describe(Object),
    Execute,
}

/// How it is refused.
#[derive(Debug)]
pub(super) enum Refusing {
    Substitute(Poison),
    Answer(Answer),
}

impl From<Refusing> for Step<'static> {
    fn from(refusing: Refusing) -> Self {
        match refusing {
            Refusing::Substitute(poison) => Step::Forward(Pass::Poison(poison)),
            Refusing::Answer(answer) => Step::Answer(answer),
        }
    }
}

impl From<Refusing> for Settled {
    fn from(refusing: Refusing) -> Self {
        match refusing {
            Refusing::Substitute(poison) => Settled::Substitute(Pass::Poison(poison)),
            Refusing::Answer(answer) => Settled::Answer(answer),
        }
    }
}

impl Session {
    pub(super) fn refuse(&mut self, refused: Refused<'_>, refusal: Refusal, now_us: u64) -> Refusing {
        // What reaches this while a batch is refused here is its Sync.
        if self.is_quiet() || self.input == Input::Refused {
            return Refusing::Answer(self.answer(refused, refusal));
        }
        let (what, poison) = self.substitute(refused, &refusal);
        let ends_batch = matches!(what, What::Query(_) | What::Sync);
        self.owe(what, Fate::Replace(Box::new(refusal)), self.rules.errors, now_us);
        if ends_batch {
            self.input = Input::Synced;
            self.batch += 1;
        } else {
            self.input = Input::Unsynced;
        }
        Refusing::Substitute(poison)
    }

    fn answer(&mut self, refused: Refused<'_>, refusal: Refusal) -> Answer {
        let ready = match refused {
            Refused::Query | Refused::MalformedQuery | Refused::FunctionCall => true,
            Refused::MalformedSync => {
                self.input = Input::Synced;
                true
            }
            Refused::Parse(_)
            | Refused::UnknownParse
            | Refused::Bind(_)
            | Refused::UnknownBind
            | Refused::Describe(_)
            | Refused::Execute => {
                self.input = Input::Refused;
                false
            }
        };
        if matches!(refused, Refused::Query | Refused::Parse("")) {
            self.statements.forget_unnamed();
        }
        // Outside a transaction there is no portal: an error has ended the one that it was in.
        self.portals.clear(|portal| portal.hold);
        Answer { error: Some(refusal), ready }
    }

    fn substitute(&mut self, refused: Refused<'_>, refusal: &Refusal) -> (What, Poison) {
        match refused {
            Refused::Query | Refused::FunctionCall => {
                let script = self.script(&[], 0);
                (What::Query(script), Poison::Query(refusal.poison()))
            }
            Refused::MalformedQuery => {
                (What::Query(Box::default()), Poison::MalformedQuery(refusal.poison()))
            }
            Refused::MalformedSync => (What::Sync, Poison::MalformedSync),
            Refused::Parse(name) => {
                let key = self.statements.key(name);
                // The poison goes under no name: the server then drops the unnamed statement, but only the refusal
                // of an unnamed one makes the client lose it.
                let change = name.is_empty().then(|| self.loses_statement(&key));
                let upstream = if name.is_empty() { UpstreamName::Unnamed } else { self.own_name() };
                let what = What::Parse { name: key, change, decision: 0 };
                (what, Poison::Parse(refusal.poison(), upstream))
            }
            Refused::UnknownParse => {
                let what = What::Parse { name: Arc::from(""), change: None, decision: 0 };
                (what, Poison::Parse(refusal.poison(), self.own_name()))
            }
            Refused::Bind(portal) => {
                let key = self.portals.key(portal);
                // PostgreSQL's own unnamed portal goes at the start of any Bind; the substitute's fails before that.
                let change = portal.is_empty().then(|| {
                    let stamp = self.stamp();
                    self.portals.change(&key, stamp, None);
                    Change { on_error: End::Made }
                });
                let what = What::Bind { portal: key, statement: Arc::from(""), change, decision: 0 };
                (what, Poison::Bind(refusal.impossible_name()))
            }
            Refused::UnknownBind => {
                let what =
                    What::Bind { portal: Arc::from(""), statement: Arc::from(""), change: None, decision: 0 };
                (what, Poison::Bind(refusal.impossible_name()))
            }
            Refused::Describe(object) => {
                let what = What::Describe { object, name: Arc::from(""), parameters_seen: false };
                (what, Poison::Describe(object, refusal.impossible_name()))
            }
            Refused::Execute => {
                let what = What::Execute { name: Arc::from(""), portal: None };
                (what, Poison::Execute(refusal.impossible_name()))
            }
        }
    }

    fn loses_statement(&mut self, key: &Arc<str>) -> Change {
        let stamp = self.stamp();
        self.statements.change(key, stamp, None);
        Change { on_error: End::Made }
    }

    /// A name for what is the proxy's own, or must fail, so that it does not touch the unnamed statement.
    pub fn own_name(&mut self) -> UpstreamName {
        self.numbers.fresh().unwrap_or(UpstreamName::Unnamed)
    }
}
