//! What the gate has said about a message, carried out (hop 3).

use std::sync::Arc;

use super::ask::Ask;
use super::given::Given;
use super::lasting::{Lasting, Leaving};
use super::pass::Pass;
use super::promise::AsAdmitted;
use super::queue::{Fate, Script, What};
use super::refusal::Refusal;
use super::refuse::Refused;
use super::step::Answer;
use super::terms::Terms;
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
    Given(Given),
}

impl Session {
    /// Takes the gate's word on a message.
    pub fn settle(&mut self, ask: &Ask<'_>, verdict: Verdict<'_>, now_us: u64) -> Settled {
        let (terms, admitted) = match verdict {
            Verdict::Refused(refusal) => return self.refuse(refused(ask), refusal, now_us).into(),
            Verdict::Admitted { terms, decision, generation, shape, parsed_anew } => {
                (terms, AsAdmitted { decision, generation, shape, parsed_anew })
            }
        };
        let Some(first) = terms.first().cloned() else {
            let refusal = Refusal::plain("XX000", "a statement was admitted without terms", "internal");
            return self.refuse(refused(ask), refusal, now_us).into();
        };
        match ask {
            Ask::Query { .. } => {
                if self.is_unsynced() {
                    // PostgreSQL 18 is idle behind the Sync that follows, by its word, and its transaction is open still:
                    // whoever had the connection next would be in it. A DISCARD ALL fails there.
                    self.pins.sent(&Lasting { leaving: Leaving::Reset, ..Lasting::default() });
                }
                terms.iter().for_each(|terms| self.make_sure_of_named(terms, now_us));
                let script = self.script(terms, admitted.decision);
                terms.iter().for_each(|terms| self.begin_effects(terms));
                self.owe(What::Query(script), Fate::Forward, &first, now_us);
                self.input = Input::Synced;
                self.batch += 1;
            }
            Ask::Parse { .. } => return self.parse_admitted(ask, &first, &admitted, now_us),
            Ask::Bind { bind, statement, portal } => {
                self.bind_admitted((bind, statement, *portal), &first, &admitted, now_us);
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

    /// A Query's statements. If there is an unnamed statement or portal, the Query makes it go.
    pub(super) fn script(&mut self, terms: &[Arc<Terms>], decision: u64) -> Box<Script> {
        let forgets = !(self.statements.unnamed_is_free() && self.portals.unnamed_is_free());
        if forgets {
            let (key, stamp) = (Arc::from(""), self.stamp());
            self.statements.change(&key, stamp, None);
            self.portals.change(&key, stamp, None);
        }
        let mut script = self.spare.take().unwrap_or_default();
        script.terms.extend_from_slice(terms);
        (script.decision, script.forgets) = (decision, forgets);
        script
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
