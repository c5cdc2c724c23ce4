//! What the gate has said about a message, carried out (hop 3).

use std::sync::Arc;

use super::ask::Ask;
use super::held;
use super::name::UpstreamName;
use super::names::End;
use super::own::{own_close, own_parse};
use super::pass::Pass;
use super::queue::{Change, Fate, Script, What};
use super::refusal::Refusal;
use super::refuse::Refused;
use super::step::{Answer, parse_change};
use super::terms::{Counter, Portal, Statement, Terms};
use super::{Input, Session};

/// What the gate has said.
#[derive(Debug)]
pub enum Verdict<'a> {
    /// It may pass, under these terms (one a statement) and by this audit entry.
    Admitted {
        /// The terms.
        terms: &'a [Arc<Terms>],
        /// The entry's sequence number.
        decision: u64,
        /// The rules that it was judged by.
        generation: u64,
        /// The text's shape, as the audit log names it.
        shape: Option<u64>,
        /// A Bind's text goes up once more before it, under a name of the proxy's own that is closed behind it.
        parsed_anew: bool,
    },
    /// It may not.
    Refused(Refusal),
}

/// What is to be done.
#[derive(Debug)]
pub enum Settled {
    /// Send what was admitted.
    Forward,
    /// Send this instead.
    Substitute(Pass<'static>),
    /// Send this to the client.
    Answer(Answer),
    /// Send nothing: the connection has it already. The client is told by ParseComplete.
    Given(Place),
}

/// When the client is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Nothing comes before it.
    Now,
    /// After the replies that are owed.
    InQueue,
}

impl Session {
    /// Takes the gate's word on a message.
    pub fn settle(&mut self, ask: &Ask<'_>, verdict: Verdict<'_>, now_us: u64) -> Settled {
        let (terms, decision, generation, shape, parsed_anew) = match verdict {
            Verdict::Refused(refusal) => return self.refuse(refused(ask), refusal, now_us).into(),
            Verdict::Admitted { terms, decision, generation, shape, parsed_anew } => {
                (terms, decision, generation, shape, parsed_anew)
            }
        };
        let Some(first) = terms.first().cloned() else {
            let refusal = Refusal::plain("XX000", "a statement was admitted without terms", "internal");
            return self.refuse(refused(ask), refusal, now_us).into();
        };
        match ask {
            Ask::Query { .. } => {
                terms.iter().for_each(|terms| self.make_sure_of_named(terms, now_us));
                let script = self.script(terms.to_vec(), decision);
                terms.iter().for_each(|terms| self.begin_effects(terms));
                self.owe(What::Query(Box::new(script)), Fate::Forward, &first, now_us);
                self.input = Input::Synced;
                self.batch += 1;
            }
            Ask::Parse { parse, upstream, edited, prepared, taken } => {
                let as_it_came = first.names.is_empty();
                let upstream = if as_it_came { *upstream } else { *edited };
                let prepared = prepared.as_ref().filter(|_| as_it_came).map(Arc::clone);
                let text = prepared.as_ref().map_or_else(|| parse.text.into(), |same| Arc::clone(&same.text));
                let statement = Statement {
                    text,
                    declared: Arc::from(&*parse.declared),
                    upstream,
                    terms: Arc::clone(&first),
                    generation,
                    shape,
                    share: self.keep_text(parse.text.len()),
                    fixed: prepared.is_none().then(|| self.keep_fixed()),
                    prepared: prepared.clone(),
                };
                let (key, stamp) = (self.statements.key(parse.name), self.stamp());
                // A live name's Parse must fail. What comes behind it in the batch finds no name at all, so that it
                // cannot meet the wrong text even if the server should let that Parse pass.
                let to = taken.is_none().then(|| Arc::new(statement));
                let change = match taken {
                    Some(_) => Change { on_error: End::Dropped },
                    None => parse_change(parse.name),
                };
                let given = prepared.as_ref().is_some_and(|prepared| self.would_parse(upstream, prepared));
                match (taken, &prepared) {
                    (Some(live), _) => self.make_sure(live, decision, now_us),
                    (None, Some(prepared)) if !given => self.make_way(upstream, prepared, now_us),
                    (None, Some(_) | None) => {}
                }
                self.statements.change(&key, stamp, to);
                let what = What::Parse { name: Arc::clone(&key), change: Some(change), decision };
                if given {
                    return self.give(what, &key, upstream, &first, now_us);
                }
                self.owe_batch(what, &first, now_us);
                if let Some(prepared) = prepared {
                    self.will_hold(held::Change::Made(upstream, prepared));
                }
            }
            Ask::Bind { bind, statement, portal } => {
                self.note_bind(statement);
                self.make_sure(statement, decision, now_us);
                first.needs.iter().for_each(|named| self.make_sure(named, decision, now_us));
                let made = Portal {
                    statement: Arc::clone(statement),
                    upstream: *portal,
                    terms: Arc::clone(&first),
                    generation,
                    decision,
                    hold: false,
                    rows: Counter::default(),
                };
                let (key, stamp) = (self.portals.key(bind.portal), self.stamp());
                // An open portal's Bind goes up under the same name. The server knows better whether it is still there
                // (ROLLBACK TO and COMMIT drop portals): either it refuses, or this is what the name stands for.
                self.portals.change(&key, stamp, Some(Arc::new(made)));
                let change = Some(Change { on_error: End::Dropped });
                let statement = self.statements.key(bind.statement);
                if parsed_anew {
                    self.owe(own_parse(), Fate::Quiet, &first, now_us);
                }
                self.owe_batch(What::Bind { portal: key, statement, change, decision }, &first, now_us);
                if parsed_anew {
                    self.owe(own_close(), Fate::Quiet, &first, now_us);
                }
            }
            Ask::Execute { name, portal, .. } => {
                // What goes upstream is what the gate admitted; only the bookkeeping is done here.
                self.run(name, portal, now_us);
            }
            Ask::FunctionCall => {
                let refusal =
                    Refusal::plain("42501", "function calls by protocol are not allowed", "unsupported");
                return self.refuse(Refused::FunctionCall, refusal, now_us).into();
            }
        }
        Settled::Forward
    }

    /// Answers a Parse of what the connection has, in its place.
    fn give(
        &mut self,
        what: What,
        key: &Arc<str>,
        upstream: UpstreamName,
        terms: &Arc<Terms>,
        now_us: u64,
    ) -> Settled {
        if let Some(sharing) = &mut self.sharing {
            sharing.held.touch(upstream);
        }
        self.input = Input::Unsynced;
        if self.queue.is_empty() {
            self.statements.end(key, End::Made);
            return Settled::Given(Place::Now);
        }
        self.owe(what, Fate::Given, terms, now_us);
        Settled::Given(Place::InQueue)
    }

    /// A Query's statements. If there is an unnamed statement or portal, the Query makes it go.
    pub(super) fn script(&mut self, terms: Vec<Arc<Terms>>, decision: u64) -> Script {
        let forgets = !(self.statements.unnamed_is_free() && self.portals.unnamed_is_free());
        if forgets {
            let (key, stamp) = (Arc::from(""), self.stamp());
            self.statements.change(&key, stamp, None);
            self.portals.change(&key, stamp, None);
        }
        Script { terms, decision, forgets, ..Script::default() }
    }

    fn owe_batch(&mut self, what: What, terms: &Arc<Terms>, now_us: u64) {
        self.owe(what, Fate::Forward, terms, now_us);
        self.input = Input::Unsynced;
    }
}

fn refused<'a>(ask: &'a Ask<'_>) -> Refused<'a> {
    match ask {
        Ask::Query { .. } => Refused::Query,
        Ask::Parse { parse, .. } => Refused::Parse(parse.name),
        Ask::Bind { bind, .. } => Refused::Bind(bind.portal),
        Ask::Execute { .. } => Refused::Execute,
        Ask::FunctionCall => Refused::FunctionCall,
    }
}
