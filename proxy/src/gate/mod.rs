//! Whether a message may go upstream (hop 2): judgement, obligations, audit, and only then the permit.
//!
//! INVARIANT (one way): [`Admitted`] has private fields and is made in one place, from the audit entry that was written.
//! The one function that takes a judged message on its way upstream uses it up, and lets the bytes go when the entry is
//! as durable as the log promises.
//! INVARIANT (fail closed): an obligation that is not executed here is a denial `unsupported`; an audit log that
//! takes no entry is a denial.
//!
//! Verdicts come from the rules' own cache by shape ([`pgmoat_policy::Verdicts`]): of a statement that differs from one
//! judged before in plain constants alone, nothing is parsed, its terms are there, and nothing is allocated for it.

#![deny(clippy::wildcard_enum_match_arm)]

mod anew;
mod bound;
mod budget;
mod entry;
mod lasting;
mod names;
mod obligations;
mod permit;

use std::sync::Arc;
use std::time::Instant;

use pgmoat_audit::Phase;
use pgmoat_policy::{
    Code, Denial, Effect, Given, Judged, Judgement, Kept, LimitName, Mode, Recent, Rule, TransactionEffect,
    Verdict as PolicyVerdict,
};

use crate::budget::Budget;
use crate::session::{Ask, JudgedBytes, Named, Place, Refusal, Session, Terms};
use crate::shared::{Rules, SessionInfo, Shared};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use entry::Entered;
use names::Unresolved;
pub use permit::Admitted;
use permit::TermsOf;

/// The gate, as one session sees it for one message.
pub struct Gate<'a> {
    /// Where decisions are entered.
    pub shared: &'a Shared,
    /// What is judged by.
    pub rules: &'a Rules,
    /// Who asks.
    pub info: &'a SessionInfo,
    /// The database's name.
    pub database: &'a str,
    /// The client's address, as the audit log writes it.
    pub client: &'a str,
    /// The upstream connection's process number, where there is one.
    pub backend: Option<i32>,
    /// The errors of the principal, where they are counted.
    pub budget: Option<&'a Budget>,
    /// When it is.
    pub now: Instant,
}

/// What is made of a verdict once, for every text that it serves: the statement's terms, or why it has none.
pub type Made = Result<Arc<Terms>, Box<Denial>>;

/// What the gate says.
#[derive(Debug)]
pub enum Outcome<'f> {
    /// It may pass.
    Admitted(Admitted<'f>),
    /// It may not.
    Refused(Refusal),
    /// That depends on names that the server has still to decide on: ask again when it has said something.
    NeedsReply,
    /// It may, but there is no upstream connection, whose number belongs into the audit entry: ask again with one.
    NeedsBackend,
}

/// A denial and its statement's number.
struct Denied {
    number: usize,
    denial: Denial,
}

/// A text that may pass, with the names in it looked up.
struct LookedUp {
    terms: Vec<Terms>,
    /// What is sent in its place, if there is a name in it.
    edited: Option<String>,
}

fn denied(number: usize, denial: Denial) -> Box<Denied> {
    Box::new(Denied { number, denial })
}

impl<'a> Gate<'a> {
    /// Judges a message and enters the decision. `recent`: the verdicts that the session was given last.
    pub fn admit<'f>(&self, ask: &Ask<'f>, session: &mut Session, recent: &mut Recent<Made>) -> Outcome<'f> {
        match ask {
            Ask::Query { text, frame } => {
                let bytes =
                    |edited: Option<String>| edited.map_or(JudgedBytes::Exact(frame), JudgedBytes::Query);
                self.text(text, Mode::Simple, Phase::Query, session, recent, bytes)
            }
            Ask::Parse { parse, upstream, edited, .. } => {
                let mode = Mode::Extended { declared: &parse.declared };
                let bytes = |text: Option<String>| match text {
                    Some(text) => JudgedBytes::ParseText(*edited, text, parse.types),
                    None => JudgedBytes::Parse(*upstream, parse.rest),
                };
                self.text(parse.text, mode, Phase::Parse, session, recent, bytes)
            }
            Ask::Bind { bind, statement, portal, .. } => self.bind(bind, statement, *portal, session),
            Ask::Execute { portal, max_rows, .. } => self.execute(portal, *max_rows, session),
            Ask::FunctionCall => {
                let denial = obligations::unsupported("function calls by protocol are not allowed")
                    .hint("call the function in a SELECT");
                self.refuse(&Entered::nothing(Phase::Query), &denial, Place::Execute)
            }
        }
    }

    /// Enters that a message which might pass is refused all the same, since there is no upstream connection or no room
    /// for it.
    pub fn refuse_unserved(&self, ask: &Ask<'_>, refusal: Refusal) -> Refusal {
        self.entered(&Entered::ask(ask), refusal)
    }

    /// Refuses a text that was not collected, since it is longer than any that may pass.
    pub fn refuse_oversized<'f>(&self, ask: &Ask<'f>, bytes: usize) -> Outcome<'f> {
        let phase = match ask {
            Ask::Parse { .. } => Phase::Parse,
            Ask::Query { .. } | Ask::Bind { .. } | Ask::Execute { .. } | Ask::FunctionCall => Phase::Query,
        };
        let limit = LimitName::StatementBytes;
        let role = self.rules.policy.role(&self.info.principal.role);
        let max = role.map_or(0, |role| role.limits.get(limit));
        let message = format!("a message of {bytes} bytes is over the limit of {max} bytes for a statement");
        let denial = Denial::new(Rule::LimitsBeforeParse, Code::Limit(limit), None, message);
        self.refuse(&Entered::nothing(phase), &denial, Place::Statement(1, ""))
    }

    fn text<'f>(
        &self,
        text: &str,
        mode: Mode<'_>,
        phase: Phase,
        session: &mut Session,
        recent: &mut Recent<Made>,
        bytes: impl FnOnce(Option<String>) -> JudgedBytes<'f>,
    ) -> Outcome<'f> {
        let simple = matches!(mode, Mode::Simple);
        let principal = &self.info.principal;
        let given = aside(text.len(), || self.rules.verdicts.give(recent, text, mode, principal, session));
        let judgement = match given {
            Given::Fresh(judgement) => judgement,
            Given::Kept(kept) => match kept.made(|kept| self.make(kept, simple, session.shares())) {
                Ok(terms) => {
                    let entered = Entered::text(phase, text, kept.judgement().shape);
                    if let Some(denial) = self.not_now(terms, session.snapshot()) {
                        return self.refuse(&entered, &denial, Place::Statement(1, text));
                    }
                    let terms = TermsOf::One(obligations::of_text(terms, text));
                    return self.permit(&entered, terms, || bytes(None));
                }
                Err(_) => kept.judgement_of(text),
            },
        };
        if names::are_open(&judgement, session) {
            return Outcome::NeedsReply;
        }
        let entered = Entered::text(phase, text, judgement.shape);
        let LookedUp { terms, edited } = match self.look_up(&judgement, text, mode, session, &[]) {
            Ok(looked_up) => looked_up,
            Err(unresolved) => return self.refuse_unresolved(&entered, unresolved, text),
        };
        // A cursor that was opened before the budget was spent.
        let mut snapshot = session.snapshot();
        for (number, terms) in (1..).zip(&terms) {
            if let Some(denial) = self.not_now(terms, snapshot) {
                return self.refuse(&entered, &denial, Place::Statement(number, text));
            }
            snapshot.sent(&terms.lasting);
        }
        let terms = TermsOf::Each(terms.into_iter().map(Arc::new).collect());
        self.permit(&entered, terms, || bytes(edited))
    }

    /// The terms of all texts that a verdict serves; no constant of theirs is looked at.
    fn make(&self, kept: &Kept<Made>, simple: bool, shares: bool) -> Made {
        match kept.judgement().statements.as_slice() {
            [judged] => self.terms_of(judged, kept.skeleton(), simple, shares).map(Arc::new),
            _ => Err(Box::new(obligations::unsupported("a verdict on one statement"))),
        }
    }

    /// The terms of a text's statements, with the names in it looked up.
    fn look_up(
        &self,
        judgement: &Judgement,
        text: &str,
        mode: Mode<'_>,
        session: &mut Session,
        before: &[Named],
    ) -> Result<LookedUp, Unresolved> {
        let mut terms =
            self.terms(judgement, text, matches!(mode, Mode::Simple), session).map_err(Unresolved::Denied)?;
        let edited = names::resolve(text, judgement, self, session, &mut terms, (mode, before))?;
        Ok(LookedUp { terms, edited })
    }

    fn refuse_unresolved<'f>(
        &self,
        entered: &Entered<'_>,
        unresolved: Unresolved,
        text: &str,
    ) -> Outcome<'f> {
        match unresolved {
            Unresolved::Full(refusal) => Outcome::Refused(self.entered(entered, *refusal)),
            Unresolved::Denied(denied) => {
                let Denied { number, denial } = *denied;
                self.refuse(entered, &denial, Place::Statement(number, text))
            }
        }
    }

    fn judge(&self, text: &str, mode: Mode<'_>, session: &Session) -> Judgement {
        self.rules.verdicts.judge(text, mode, &self.info.principal, session)
    }

    /// The terms of every statement, or the first denial with its statement's number.
    fn terms(
        &self,
        judgement: &Judgement,
        text: &str,
        simple: bool,
        session: &Session,
    ) -> Result<Vec<Terms>, Box<Denied>> {
        if let Some((number, denial)) = judgement.denial() {
            if session.has_failed() && ends_transaction(judgement) {
                let lasting = judgement.statements.iter().map(lasting::lasting).next().unwrap_or_default();
                return Ok(vec![Terms { lasting, ..obligations::nothing(session.default_errors()) }]);
            }
            if let Some(judged) = names::found_later(judgement).filter(|_| !simple) {
                return Ok(vec![obligations::unresolved(judged, text, session.default_errors())]);
            }
            return Err(denied(number, denial.clone()));
        }
        if judgement.statements.is_empty() || (!simple && judgement.statements.len() > 1) {
            return Err(denied(1, obligations::unsupported("a prepared text has one statement")));
        }
        let mut all = Vec::with_capacity(judgement.statements.len());
        for (number, judged) in (1..).zip(&judgement.statements) {
            let terms = self.terms_of(judged, text, simple, session.shares());
            all.push(terms.map_err(|denial| denied(number, *denial))?);
        }
        Ok(all)
    }

    /// `shares`: the session's connection is shared, as all of its database's are.
    fn terms_of(
        &self,
        judged: &Judged,
        text: &str,
        simple: bool,
        shares: bool,
    ) -> Result<Terms, Box<Denial>> {
        if shares {
            obligations::keeps_to_itself(judged)?;
        }
        obligations::terms(judged, text, simple, self.info.principal.tenant.is_some())
    }

    /// Enters an allowed decision and makes the permit.
    fn permit<'f>(
        &self,
        entered: &Entered<'_>,
        terms: TermsOf,
        bytes: impl FnOnce() -> JudgedBytes<'f>,
    ) -> Outcome<'f> {
        if self.backend.is_none() {
            return Outcome::NeedsBackend;
        }
        match self.enter(entered, None) {
            Ok(entry) => {
                let generation = self.rules.generation;
                Outcome::Admitted(Admitted::new(entry, terms, bytes(), generation, entered.shape))
            }
            Err(error) => {
                // The log has told so itself, once.
                tracing::debug!(%error, "a statement is refused for want of an audit entry");
                Outcome::Refused(unaudited())
            }
        }
    }

    fn refuse<'f>(&self, entered: &Entered<'_>, denial: &Denial, place: Place<'_>) -> Outcome<'f> {
        let refusal = Refusal::denied(denial, self.rules.policy.version(), place);
        Outcome::Refused(self.entered(entered, refusal))
    }

    /// The refusal, when it has been entered; else the one that says that it cannot be.
    fn entered(&self, entered: &Entered<'_>, refusal: Refusal) -> Refusal {
        match self.enter(entered, Some(&refusal)) {
            Ok(_) => refusal,
            Err(error) => {
                tracing::debug!(%error, "a refusal was not audited");
                unaudited()
            }
        }
    }
}

/// Judging a long text takes milliseconds: meanwhile another thread serves the sessions of this one.
fn aside<T>(text_bytes: usize, judge: impl FnOnce() -> T) -> T {
    let is_shared =
        || Handle::try_current().is_ok_and(|it| it.runtime_flavor() == RuntimeFlavor::MultiThread);
    if text_bytes >= LONG_TEXT_BYTES && is_shared() { block_in_place(judge) } else { judge() }
}

/// COMMIT, ROLLBACK and ROLLBACK TO end a failed transaction, whatever the role's kinds (contracts 3).
fn ends_transaction(judgement: &Judgement) -> bool {
    judgement.statements.iter().all(|judged| {
        let by_kind_only = match &judged.verdict {
            PolicyVerdict::Allow(_) => true,
            PolicyVerdict::Deny(denials) => denials.all().iter().all(|denial| denial.rule == Rule::Kind),
        };
        let ends = matches!(
            judged.effect,
            Effect::Transaction(
                TransactionEffect::Commit | TransactionEffect::Rollback | TransactionEffect::RollbackTo
            )
        );
        by_kind_only && ends
    }) && judgement.statements.len() == 1
}

/// What a client reads while the audit log takes nothing. The log's path and fault are for the operator.
fn unaudited() -> Refusal {
    let message = "the audit log takes no entry, so no statement is let through";
    Refusal {
        detail: Some("code: audit_unavailable".to_owned()),
        hint: Some(
            "it is tried again with each statement; the operator finds the reason in pgmoat's log".to_owned(),
        ),
        ..Refusal::plain("58030", message, "audit_unavailable")
    }
}

/// A text of which every byte is new to the cache takes about half a millisecond from here on.
const LONG_TEXT_BYTES: usize = 4 << 10;
