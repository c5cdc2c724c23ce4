//! The audit entry of a decision.

use pgmoat_audit::{AppendError, Decision, Entry, Parameter, Parameters, Phase, Protocol, Verdict, Written};
use pgmoat_policy::Fingerprint;
use pgmoat_policy::policy::Format;
use pgmoat_policy::shape::shape;

use super::Gate;
use crate::clock;
use crate::session::{Ask, Bind, Refusal};
use crate::shared::AuditedParameters;

/// What a decision is about.
pub(super) struct Entered<'a> {
    phase: Phase,
    text: Option<&'a str>,
    pub(super) shape: Option<u64>,
    bind: Option<&'a Bind<'a>>,
}

impl<'a> Entered<'a> {
    pub(super) fn text(phase: Phase, text: &'a str, shape: Fingerprint) -> Self {
        Entered { phase, text: Some(text), shape: Some(shape.number()), bind: None }
    }

    pub(super) fn bind(text: &'a str, shape: Option<u64>, bind: &'a Bind<'a>) -> Self {
        Entered { phase: Phase::Bind, text: repeated(text), shape, bind: Some(bind) }
    }

    pub(super) fn execute(text: &'a str, shape: Option<u64>) -> Self {
        Entered { phase: Phase::Execute, text: repeated(text), shape, bind: None }
    }

    /// A message whose judgement is not at hand.
    pub(super) fn ask(ask: &'a Ask<'a>) -> Self {
        let text = |phase, text| {
            let shape = shape(text).fingerprint().number();
            Entered { phase, text: Some(text), shape: Some(shape), bind: None }
        };
        match ask {
            Ask::Query { text: query, .. } => text(Phase::Query, query),
            Ask::Parse { parse, .. } => text(Phase::Parse, parse.text),
            Ask::Bind { bind, statement, .. } => Self::bind(&statement.text, statement.shape, bind),
            Ask::Execute { portal, .. } => Self::execute(&portal.statement.text, portal.statement.shape),
            Ask::FunctionCall => Self::nothing(Phase::Query),
        }
    }

    pub(super) fn nothing(phase: Phase) -> Self {
        Entered { phase, text: None, shape: None, bind: None }
    }
}

impl Gate<'_> {
    /// Has the decision written; with a refusal, a denial.
    pub(super) fn enter(
        &self,
        entered: &Entered<'_>,
        refusal: Option<&Refusal>,
    ) -> Result<Written, AppendError> {
        let audited = self.shared.audited;
        let values: Vec<Parameter<'_>>;
        let hash: String;
        let parameters = match (entered.bind, audited.parameters) {
            (None, _) | (Some(_), AuditedParameters::None) => Parameters::None,
            (Some(bind), AuditedParameters::Full) => {
                values = bind.values().map(parameter).collect();
                Parameters::Full(&values)
            }
            (Some(bind), AuditedParameters::Hash) => {
                hash = self.shared.audit.fingerprint(&in_one(bind)).to_string();
                Parameters::Hash(&hash)
            }
        };
        let principal = &self.info.principal;
        let decision = Decision {
            session: self.info.id,
            user: &self.info.user,
            role: &principal.role,
            tenant: principal.tenant.as_deref(),
            database: self.database,
            client: self.client,
            backend: self.backend,
            protocol: match entered.phase {
                Phase::Query => Protocol::Simple,
                Phase::Parse | Phase::Bind | Phase::Execute => Protocol::Extended,
            },
            phase: entered.phase,
            statement: entered.text.filter(|_| audited.text).map(|text| shortened(text, refusal.is_some())),
            shape: entered.shape,
            verdict: if refusal.is_some() { Verdict::Deny } else { Verdict::Allow },
            code: refusal.map(|refusal| &*refusal.label),
            position: refusal.and_then(|refusal| refusal.position).and_then(|at| u64::try_from(at).ok()),
            message: refusal.map(|refusal| &*refusal.message),
            parameters,
            policy: self.rules.policy.version(),
            catalog: Some(&self.rules.catalog_version),
        };
        let written = self.shared.audit.write(clock::now(), &Entry::Decision(decision));
        self.info.counts.decided(match &written {
            Ok(_) => decision.code,
            Err(_) => Some("audit_unavailable"),
        });
        written
    }
}

/// A prepared text, which the log has from its Parse. A few bytes of Bind may not cost a long line each time: where
/// the text is long its shape names it.
fn repeated(text: &str) -> Option<&str> {
    (text.len() <= REPEATED_TEXT_BYTES_MAX).then_some(text)
}

/// A refused text may be of any length; what is let through is within the role's limit and is kept whole.
fn shortened(text: &str, refused: bool) -> &str {
    if !refused || text.len() <= REFUSED_TEXT_BYTES_MAX {
        return text;
    }
    let end = (0..=REFUSED_TEXT_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

fn parameter((value, format): (Option<&[u8]>, Format)) -> Parameter<'_> {
    match (value, format) {
        (None, _) => Parameter::Null,
        (Some(bytes), Format::Binary) => Parameter::Binary(bytes),
        (Some(bytes), Format::Text) => {
            str::from_utf8(bytes).map_or(Parameter::Binary(bytes), Parameter::Text)
        }
    }
}

/// Every value behind its length; NULL is the length -1. So no two Binds look alike that are not.
fn in_one(bind: &Bind<'_>) -> Vec<u8> {
    let mut all = Vec::new();
    for (value, _) in bind.values() {
        let length = value.map_or(-1, |value| i64::try_from(value.len()).unwrap_or(i64::MAX));
        all.extend_from_slice(&length.to_be_bytes());
        all.extend_from_slice(value.unwrap_or_default());
    }
    all
}

/// The longest text that is written again with each Bind and Execute.
const REPEATED_TEXT_BYTES_MAX: usize = 1 << 10;
/// How much of a refused text the audit log keeps.
const REFUSED_TEXT_BYTES_MAX: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_not_written_again_with_each_bind() {
        let (short, long) = ("x".repeat(REPEATED_TEXT_BYTES_MAX), "x".repeat(REPEATED_TEXT_BYTES_MAX + 1));
        assert_eq!(Entered::execute(&short, Some(1)).text, Some(short.as_str()));
        let entered = Entered::execute(&long, Some(1));
        assert_eq!((entered.text, entered.shape), (None, Some(1)));
    }
}
