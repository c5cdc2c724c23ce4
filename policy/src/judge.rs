//! The judgement of a text (contracts 1): limits, parse, then each statement by the rules.

mod effect;
mod named;
mod prepared;
mod session;
mod statement;
mod trace;
mod utility;

use std::sync::Arc;

use crate::constant::Constants;
use crate::resolve::World;
use crate::shape::{Slot, shape};
use crate::{
    Catalog, Code, Denial, Denials, Effect, Explanation, Fingerprint, Judged, Judgement, LimitName, Mode,
    Names, Policy, Principal, Rule, SqlState, Verdict, parse,
};
use prepared::Session;
use statement::{Explained, Judge};
pub use trace::renews_snapshot;

/// Judges a text. Every statement in it is judged, in order; names that it prepares or declares
/// are known to what follows.
///
/// The thread needs a stack of [`crate::STACK_BYTES`].
pub fn judge(
    text: &str,
    mode: Mode<'_>,
    principal: &Principal,
    policy: &Policy,
    catalog: &Catalog,
    names: &dyn Names,
) -> Judgement {
    let request = Request { text, mode, principal, policy, catalog, names };
    let statements = request.judge(&[], &Constants::default()).statements;
    request.judgement(statements, shape(text).fingerprint())
}

/// The same, with what the proof rests on.
pub(crate) fn judge_explained(
    text: &str,
    mode: Mode<'_>,
    principal: &Principal,
    policy: &Policy,
    catalog: &Catalog,
    names: &dyn Names,
) -> Explanation {
    let wanted = Some(Explained::default());
    let request = Request { text, mode, principal, policy, catalog, names };
    let Answer { statements, explained, .. } = request.judge_all(&[], &Constants::default(), wanted);
    let judgement = request.judgement(statements, shape(text).fingerprint());
    let Explained { statements, steps } = explained.unwrap_or_default();
    Explanation { judgement, statements, steps }
}

/// What is judged, and by what.
pub(crate) struct Request<'r> {
    pub(crate) text: &'r str,
    pub(crate) mode: Mode<'r>,
    pub(crate) principal: &'r Principal,
    pub(crate) policy: &'r Policy,
    pub(crate) catalog: &'r Catalog,
    pub(crate) names: &'r dyn Names,
}

/// The statements' judgements.
pub(crate) struct Answer {
    pub(crate) statements: Vec<Judged>,
    /// Which of the plain constants stand as such in the only statement; none where there are more, or
    /// where the verdict depends on the client's names.
    pub(crate) slots: Option<Vec<u32>>,
    explained: Option<Explained>,
}

impl Answer {
    fn refused(text: &str, denial: Denial, explained: Option<Explained>) -> Answer {
        Answer { statements: vec![refused(text, denial)], slots: None, explained }
    }
}

impl Request<'_> {
    /// Judges every statement. `slots`: the text's plain constants, where what is asked of them is
    /// kept.
    pub(crate) fn judge(&self, slots: &[Slot], constants: &Constants) -> Answer {
        self.judge_all(slots, constants, None)
    }

    fn judge_all(&self, slots: &[Slot], constants: &Constants, explained: Option<Explained>) -> Answer {
        let Request { text, mode, principal, policy, catalog, names } = *self;
        let Some(role) = policy.role(&principal.role) else {
            return Answer::refused(text, no_role(&principal.role), explained);
        };
        if role.tenant_bound() != principal.tenant.is_some() {
            return Answer::refused(text, no_tenant(&principal.role), explained);
        }
        let mut parsed = match parse::parse_shaped(text, slots, &role.limits) {
            Ok(parsed) => parsed,
            Err(denial) => return Answer::refused(text, denial, explained),
        };
        let mut judge = Judge {
            text,
            mode,
            world: World { policy, catalog, role, constants },
            tenant: principal.tenant.as_deref(),
            session: Session::new(names),
            explained,
        };
        let mut judged: Vec<Judged> = parsed.iter().map(|statement| judge.statement(statement)).collect();
        if let Some(denial) = too_many(parsed.len(), role.limits.get(LimitName::Statements)) {
            deny_first(&mut judged, denial);
        }
        if let (Mode::Extended { .. }, true) = (mode, parsed.len() > 1) {
            deny_first(&mut judged, several_in_extended());
        }
        let slots = match parsed.as_mut_slice() {
            [only] if !judge.session.was_asked() => Some(std::mem::take(&mut only.slots)),
            _ => None,
        };
        Answer { statements: judged, slots, explained: judge.explained }
    }

    /// The whole text's.
    pub(crate) fn judgement(&self, statements: Vec<Judged>, shape: Fingerprint) -> Judgement {
        let (policy_version, catalog_version) = (self.policy.version(), self.catalog.version());
        Judgement { statements, shape, policy_version, catalog_version }
    }
}

/// A text that was not read any further.
fn refused(text: &str, denial: Denial) -> Judged {
    Judged {
        span: 0..text.len(),
        kind: None,
        effect: Effect::None,
        names: Vec::new(),
        verdict: Verdict::Deny(Denials::one(denial)),
    }
}

/// Adds a reason that is the whole text's to its first statement.
fn deny_first(judged: &mut [Judged], denial: Denial) {
    let Some(first) = judged.first_mut() else { return };
    let mut all = vec![denial];
    if let Verdict::Deny(denials) = &first.verdict {
        all.extend(denials.all().iter().cloned());
    }
    if let Some(denials) = Denials::new(all) {
        first.verdict = Verdict::Deny(denials);
    }
}

fn no_role(name: &Arc<str>) -> Denial {
    Denial::new(
        Rule::LimitsBeforeParse,
        Code::StatementNotAllowed,
        None,
        format!("role \"{name}\" is not in the policy"),
    )
}

fn no_tenant(name: &Arc<str>) -> Denial {
    Denial::new(
        Rule::LimitsBeforeParse,
        Code::StatementNotAllowed,
        None,
        format!("the principal does not fit role \"{name}\": a tenant is missing or too much"),
    )
}

fn too_many(count: usize, limit: usize) -> Option<Denial> {
    (count > limit).then(|| {
        Denial::new(
            Rule::LimitsAfterParse,
            Code::Limit(LimitName::Statements),
            None,
            format!("the message has {count} statements, the limit is {limit}"),
        )
    })
}

fn several_in_extended() -> Denial {
    Denial::new(
        Rule::Syntax,
        Code::SyntaxError,
        None,
        "cannot insert multiple commands into a prepared statement",
    )
    .sqlstate(SqlState::SYNTAX_ERROR)
}
