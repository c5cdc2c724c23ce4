//! The judgement of a text (contracts 1): limits, parse, then each statement by the rules.

mod effect;
mod named;
mod prepared;
mod session;
mod statement;
mod trace;
mod utility;

use std::sync::Arc;

use crate::resolve::{Constants, World};
use crate::shape::shape;
use crate::{
    Catalog, Code, Denial, Denials, Effect, Explanation, Judged, Judgement, LimitName, Mode, Names, Policy,
    Principal, Rule, SqlState, Verdict, parse,
};
use prepared::Session;
use statement::{Explained, Judge};

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
    let (statements, _) = judge_text(text, mode, principal, policy, catalog, names, None);
    judgement(text, statements, policy, catalog)
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
    let (statements, explained) = judge_text(text, mode, principal, policy, catalog, names, wanted);
    let judgement = judgement(text, statements, policy, catalog);
    let Explained { statements, steps } = explained.unwrap_or_default();
    Explanation { judgement, statements, steps }
}

fn judgement(text: &str, statements: Vec<Judged>, policy: &Policy, catalog: &Catalog) -> Judgement {
    Judgement {
        statements,
        shape: shape(text).fingerprint(),
        policy_version: policy.version(),
        catalog_version: catalog.version(),
    }
}

fn judge_text(
    text: &str,
    mode: Mode<'_>,
    principal: &Principal,
    policy: &Policy,
    catalog: &Catalog,
    names: &dyn Names,
    explained: Option<Explained>,
) -> (Vec<Judged>, Option<Explained>) {
    let Some(role) = policy.role(&principal.role) else {
        return (vec![refused(text, no_role(&principal.role))], explained);
    };
    if role.tenant_bound() != principal.tenant.is_some() {
        return (vec![refused(text, no_tenant(&principal.role))], explained);
    }
    let parsed = match parse::parse(text, &role.limits) {
        Ok(parsed) => parsed,
        Err(denial) => return (vec![refused(text, denial)], explained),
    };
    let mut judge = Judge {
        text,
        mode,
        world: World { policy, catalog, role },
        tenant: principal.tenant.as_deref(),
        constants: Constants::default(),
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
    (judged, judge.explained)
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
