//! What is answered, and its JSON form (contracts 6).

use pgmoat_policy::policy::{BoundValue, Format};
use pgmoat_policy::{
    BindCheck, Code, Denial, Explanation, Judgement, Mode, Must, NoNames, Obligations, Reached, Rule,
    SqlState, TextArgument, Verdict, explain,
};
use serde::Serialize;
use serde_json::Value;

use super::basis::Basis;
use super::relations::{self, RelationLine};
use super::request::{Param, Protocol, Request};

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Answer<'r> {
    id: &'r Value,
    pub(crate) policy_version: u64,
    /// Positions are in characters of it.
    text: &'r str,
    pub(crate) outcome: Outcome,
    /// Of each statement; none unless it was asked for.
    pub(crate) reached: Option<Vec<Vec<Reached>>>,
}

/// The verdict.
#[derive(Debug)]
pub(crate) enum Outcome {
    Allowed {
        /// Of every statement.
        obligations: Vec<Obligations>,
        /// The answer lists what is checked at Bind.
        parse: bool,
    },
    /// At least one, the first being the one that the wire answers with.
    Denied(Vec<Refusal>),
}

/// A denial and what it is about.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) denial: Denial,
    /// From 1.
    pub(crate) statement: usize,
    /// `$n`, for a bound value.
    pub(crate) param: Option<u32>,
}

/// Judges a request as the proxy would; `explained` says what the verdict rests on, too, and is never taken from
/// verdicts that were given before.
pub(crate) fn answer<'r>(basis: &Basis<'_>, request: &'r Request<'_>, explained: bool) -> Answer<'r> {
    let mode = match &request.protocol {
        Protocol::Simple => Mode::Simple,
        Protocol::Parse { types } | Protocol::Bind { types, .. } => Mode::Extended { declared: types },
    };
    let Request { sql, principal, .. } = request;
    let (judgement, reached) = if explained {
        let Basis { policy, catalog, .. } = *basis;
        let Explanation { judgement, statements, .. } =
            explain(sql, mode, principal, policy, catalog, &NoNames);
        (judgement, Some(statements))
    } else {
        (basis.judge(sql, mode, principal), None)
    };
    Answer {
        id: &request.id,
        policy_version: judgement.policy_version,
        text: sql,
        outcome: outcome(basis, request, judgement),
        reached,
    }
}

fn outcome(basis: &Basis<'_>, request: &Request<'_>, judgement: Judgement) -> Outcome {
    let denials = denials(&judgement);
    if !denials.is_empty() {
        return Outcome::Denied(denials);
    }
    let several = judgement.statements.len() > 1;
    let obligations: Vec<Obligations> = judgement
        .statements
        .into_iter()
        .filter_map(|judged| match judged.verdict {
            Verdict::Allow(obligations) => Some(obligations),
            Verdict::Deny(_) => None,
        })
        .collect();
    let denied = match &request.protocol {
        Protocol::Simple => Vec::new(),
        Protocol::Parse { .. } | Protocol::Bind { .. } if several => vec![several_commands()],
        Protocol::Parse { .. } => Vec::new(),
        Protocol::Bind { values, .. } => bound(basis, request, values, &obligations),
    };
    if denied.is_empty() {
        let parse = matches!(request.protocol, Protocol::Parse { .. });
        Outcome::Allowed { obligations, parse }
    } else {
        Outcome::Denied(denied)
    }
}

/// The first by rule, then by position; then all others in the order of the text.
fn denials(judgement: &Judgement) -> Vec<Refusal> {
    let Some((number, first)) = judgement.denial() else { return Vec::new() };
    let refusal = |denial: &Denial, statement| Refusal { denial: denial.clone(), statement, param: None };
    let mut all = vec![refusal(first, number)];
    for (statement, judged) in (1..).zip(&judgement.statements) {
        if let Verdict::Deny(denials) = &judged.verdict {
            let others = denials.all().iter().filter(|denial| !std::ptr::eq(*denial, first));
            all.extend(others.map(|denial| refusal(denial, statement)));
        }
    }
    all
}

/// PostgreSQL's own answer to such a Parse.
fn several_commands() -> Refusal {
    let message = "cannot insert multiple commands into a prepared statement";
    let denial = Denial::new(Rule::Syntax, Code::SyntaxError, None, message);
    Refusal { denial: denial.sqlstate(SqlState::SYNTAX_ERROR), statement: 1, param: None }
}

fn bound(
    basis: &Basis<'_>,
    request: &Request<'_>,
    values: &[Param],
    obligations: &[Obligations],
) -> Vec<Refusal> {
    let values: Vec<BoundValue<'_>> = values.iter().map(bound_value).collect();
    let checks = obligations.iter().flat_map(|obligations| &obligations.binds);
    let refused = checks.filter_map(|check| {
        let denial = check.holds(basis.policy, &request.principal, &values).err()?.denial();
        Some(Refusal { denial, statement: 1, param: Some(check.param) })
    });
    refused.collect()
}

fn bound_value(param: &Param) -> BoundValue<'_> {
    match param {
        Param::Null(()) => (None, Format::Text),
        Param::Text(text) => (Some(text.as_bytes()), Format::Text),
        Param::Binary(hex) => (Some(hex.0.as_slice()), Format::Binary),
    }
}

impl Answer<'_> {
    pub(crate) fn allowed(&self) -> bool {
        matches!(self.outcome, Outcome::Allowed { .. })
    }

    /// The code that the wire answers with; none where it is allowed.
    pub(crate) fn code(&self) -> Option<Code> {
        match &self.outcome {
            Outcome::Allowed { .. } => None,
            Outcome::Denied(refusals) => refusals.first().map(|refusal| refusal.denial.code),
        }
    }

    /// Puts one line, without its end, behind `out`; where the verdict was explained, with the denials after the first
    /// and with the relations.
    pub(crate) fn write_json(&self, out: &mut Vec<u8>) {
        let relations = || {
            let reached = self.reached.as_deref()?;
            Some(relations::lines(reached, self.text).collect::<Vec<_>>())
        };
        let written = match &self.outcome {
            Outcome::Allowed { obligations, parse } => {
                let binds = || obligations.iter().flat_map(|obligations| &obligations.binds);
                let line = AllowedLine {
                    id: self.id,
                    allowed: true,
                    binds: parse.then(|| binds().map(BindLine::of).collect()),
                    relations: relations(),
                };
                serde_json::to_writer(out, &line)
            }
            Outcome::Denied(refusals) => {
                let mut lines = refusals.iter().map(|refusal| RefusalLine::of(refusal, self.text));
                let line = DeniedLine {
                    id: self.id,
                    allowed: false,
                    first: lines.next(),
                    policy_version: self.policy_version,
                    others: self.reached.is_some().then(|| lines.collect()),
                    relations: relations(),
                };
                serde_json::to_writer(out, &line)
            }
        };
        // Maps with text keys and plain values have a JSON form, and memory takes it.
        debug_assert!(written.is_ok(), "an answer has a JSON form");
    }
}

#[derive(Serialize)]
struct AllowedLine<'a> {
    id: &'a Value,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    binds: Option<Vec<BindLine<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relations: Option<Vec<RelationLine<'a>>>,
}

#[derive(Serialize)]
struct BindLine<'a> {
    param: u32,
    #[serde(flatten)]
    must: MustLine<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum MustLine<'a> {
    Own { column: &'a str, many: bool },
    Setting { setting: String },
}

#[derive(Serialize)]
struct DeniedLine<'a> {
    id: &'a Value,
    allowed: bool,
    #[serde(flatten)]
    first: Option<RefusalLine<'a>>,
    policy_version: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    others: Option<Vec<RefusalLine<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relations: Option<Vec<RelationLine<'a>>>,
}

#[derive(Serialize)]
struct RefusalLine<'a> {
    code: String,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    statement: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<u32>,
    sqlstate: &'a str,
}

impl BindLine<'_> {
    fn of(check: &BindCheck) -> BindLine<'_> {
        let must = match &check.must {
            Must::Own { class, many, .. } => MustLine::Own { column: &class.column, many: *many },
            Must::Setting { name, .. } => MustLine::Setting {
                setting: match name {
                    TextArgument::Constant(name) => name.to_string(),
                    TextArgument::Bound(param) => format!("${param}"),
                },
            },
        };
        BindLine { param: check.param, must }
    }
}

impl RefusalLine<'_> {
    fn of<'a>(refusal: &'a Refusal, text: &str) -> RefusalLine<'a> {
        let denial = &refusal.denial;
        RefusalLine {
            code: denial.code.to_string(),
            message: &denial.message,
            position: denial.at.and_then(|at| characters(text, at)),
            hint: denial.hint.as_deref(),
            statement: refusal.statement,
            parameter: refusal.param,
            sqlstate: denial.sqlstate.0,
        }
    }
}

/// A byte offset as PostgreSQL's POSITION: characters, from 1.
pub(super) fn characters(text: &str, at: u32) -> Option<usize> {
    let before = text.get(..usize::try_from(at).ok()?)?;
    Some(before.chars().count() + 1)
}
