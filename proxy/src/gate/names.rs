//! The one change that is ever made to a judged text: a client's name becomes the upstream one (contracts 2). Wire and
//! SQL share one name space, so what a statement does to a name is noted here as part of its terms.
//!
//! Names go along with the text: what it prepares, declares and drops is known to what follows in it.
//!
//! A prepared text may name what is not there yet, as on a direct connection: it gets a name that nothing was ever given,
//! and is looked up anew when it is bound.

use std::collections::HashMap;
use std::sync::Arc;

use pgmoat_policy::{
    Code, Denial, Denials, Effect, Judged, Judgement, Mode, NameSpace, NameUse, Rule, SqlState, Verdict,
};

use super::{Denied, Gate, denied, obligations};
use crate::session::{
    After, Counter, Found, Named, Portal, Refusal, Session, Statement, Terms, UpstreamName,
};

/// Why names cannot be replaced.
pub(super) enum Unresolved {
    /// A name that the client does not have, with its statement's number: PostgreSQL's own 26000 or 34000.
    Denied(Box<Denied>),
    /// The session has too many names.
    Full(Box<Refusal>),
}

/// Whether a name in the text stands for something that the server has still to decide on.
pub(super) fn are_open(judgement: &Judgement, session: &Session) -> bool {
    let mut names = judgement.statements.iter().flat_map(|judged| &judged.names);
    names.any(|name| match name.space {
        NameSpace::Statement => match session.named_statement(&name.name) {
            Found::Wait => true,
            Found::Is(statement) => session.is_open(&statement),
            Found::Nothing => false,
        },
        NameSpace::Cursor => matches!(session.named_portal(&name.name), Found::Wait),
    })
}

/// The text with every name token replaced; none where there is nothing to replace. What statements do to names goes
/// into their terms, of which there is one each.
/// `before`: what names were replaced by when this text was sent first; those that it gives itself stay.
pub(super) fn resolve(
    text: &str,
    judgement: &Judgement,
    gate: &Gate<'_>,
    session: &mut Session,
    terms: &mut [Terms],
    (mode, before): (Mode<'_>, &[Named]),
) -> Result<Option<String>, Unresolved> {
    let mut names = Names {
        text,
        gate,
        session,
        before,
        later: !matches!(mode, Mode::Simple) && looks_up(judgement).is_some(),
        statements: HashMap::new(),
        cursors: HashMap::new(),
        statements_dropped: false,
        cursors_dropped: false,
    };
    let (mut out, mut from) = (String::new(), 0);
    for (number, (judged, terms)) in (1..).zip(judgement.statements.iter().zip(terms)) {
        let deny = |denial| Unresolved::Denied(denied(number, denial));
        for name in &judged.names {
            let upstream = match name.space {
                NameSpace::Statement => names.statement(name, judged, terms),
                NameSpace::Cursor => names.cursor(name, judged, terms),
            };
            let upstream = upstream.map_err(|fault| match fault {
                Fault::Denial(denial) => deny(*denial),
                Fault::Full(refusal) => Unresolved::Full(refusal),
            })?;
            let before = text.get(from..name.span.start).ok_or_else(|| deny(misplaced(name)))?;
            out.push_str(before);
            out.push_str(&upstream.to_string());
            terms.names.push(Named { space: name.space, name: Arc::from(&*name.name), upstream });
            from = name.span.end;
        }
        names.go_along(judged);
    }
    if from == 0 {
        return Ok(None);
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Ok(Some(out))
}

/// The one statement of a prepared text that is about names alone, which PostgreSQL looks up when it runs.
fn looks_up(judgement: &Judgement) -> Option<&Judged> {
    let [judged] = judgement.statements.as_slice() else { return None };
    let only_names = matches!(
        judged.effect,
        Effect::Execute { .. }
            | Effect::Fetch { .. }
            | Effect::Deallocate { .. }
            | Effect::CloseCursor { name: Some(_) }
    );
    only_names.then_some(judged)
}

/// The same, where it is refused for one reason alone: it names what is not there, and may come to be.
pub(super) fn found_later(judgement: &Judgement) -> Option<&Judged> {
    let is_unknown = |denials: &Denials| denials.all().iter().all(|denial| denial.code == Code::NameUnknown);
    looks_up(judgement)
        .filter(|judged| matches!(&judged.verdict, Verdict::Deny(denials) if is_unknown(denials)))
}

enum Fault {
    Denial(Box<Denial>),
    Full(Box<Refusal>),
}

impl From<Denial> for Fault {
    fn from(denial: Denial) -> Self {
        Fault::Denial(Box::new(denial))
    }
}

/// The client's names, with what the text has done to them so far.
struct Names<'a> {
    text: &'a str,
    gate: &'a Gate<'a>,
    session: &'a mut Session,
    before: &'a [Named],
    /// What is not there may come to be.
    later: bool,
    statements: HashMap<Box<str>, Option<UpstreamName>>,
    cursors: HashMap<Box<str>, Option<Arc<Portal>>>,
    statements_dropped: bool,
    cursors_dropped: bool,
}

impl Names<'_> {
    fn statement(
        &mut self,
        name: &NameUse,
        judged: &Judged,
        terms: &mut Terms,
    ) -> Result<UpstreamName, Fault> {
        let known = match self.statements.get(&name.name) {
            Some(known) => *known,
            None if self.statements_dropped => None,
            None => match self.session.named_statement(&name.name) {
                Found::Is(live) => {
                    let gives = matches!(judged.effect, Effect::Prepare { .. });
                    let statement = if gives { self.session.taken_by(&live) } else { live };
                    terms.needs.extend(statement.prepared.is_some().then(|| Arc::clone(&statement)));
                    terms.reads |= matches!(judged.effect, Effect::Execute { .. })
                        && obligations::only_reads(&statement.text);
                    terms.lasting.changes &= !terms.reads;
                    Some(statement.upstream)
                }
                Found::Nothing | Found::Wait => None,
            },
        };
        let Effect::Prepare { body, declared, .. } = &judged.effect else {
            return match known {
                None if self.later => Ok(UpstreamName::NEVER_GIVEN),
                known => known.ok_or_else(|| unknown(name).into()),
            };
        };
        let key = Arc::from(&*name.name);
        if let Some(taken) = known {
            // The server will say so (42P05).
            terms.after = After::Prepared { name: key, statement: None };
            return Ok(taken);
        }
        let body = self.text.get(body.clone()).ok_or_else(|| misplaced(name))?;
        let free = self.session.name_statement(body.len(), self.statements.len()).map_err(Fault::Full)?;
        let upstream = self.given_before(name).unwrap_or(free);
        // PREPARE's own terms say what its body may do, but not with which values: each Bind judges it anew.
        let judged_anew = Arc::new(obligations::nothing(terms.errors));
        let statement = Statement {
            text: Arc::from(body),
            declared: Arc::from(&**declared),
            upstream,
            terms: judged_anew,
            generation: NEVER,
            shape: None,
            share: self.session.keep_text(body.len()),
            prepared: None,
            fixed: Some(self.session.keep_fixed()),
        };
        terms.after = After::Prepared { name: key, statement: Some(Arc::new(statement)) };
        self.statements.insert(name.name.clone(), Some(upstream));
        Ok(upstream)
    }

    fn cursor(&mut self, name: &NameUse, judged: &Judged, terms: &mut Terms) -> Result<UpstreamName, Fault> {
        let known = match self.cursors.get(&name.name) {
            Some(known) => known.clone(),
            None if self.cursors_dropped => None,
            None => match self.session.named_portal(&name.name) {
                Found::Is(portal) => Some(portal),
                Found::Nothing | Found::Wait => None,
            },
        };
        if let Effect::Declare { hold, .. } = &judged.effect {
            // A taken name goes up as it is: the server knows better whether its portal is still there (42P03).
            let upstream = match known {
                Some(open) => open.upstream,
                None => {
                    let free = self.session.name_portal(self.cursors.len()).map_err(Fault::Full)?;
                    self.given_before(name).unwrap_or(free)
                }
            };
            let portal = Arc::new(self.declared(judged, upstream, *hold, terms));
            terms.after = After::Declared { name: Arc::from(&*name.name), portal: Arc::clone(&portal) };
            self.cursors.insert(name.name.clone(), Some(portal));
            return Ok(upstream);
        }
        let portal = match known {
            None if self.later => return Ok(UpstreamName::NEVER_GIVEN),
            known => known.ok_or_else(|| unknown(name))?,
        };
        let upstream = portal.upstream;
        if matches!(judged.effect, Effect::Fetch { .. }) {
            if let (Err(denied), _) = self.gate.still_holds(&portal, self.session) {
                let at = u32::try_from(name.span.start).ok();
                return Err(Denial { at, ..denied.denial }.into());
            }
            terms.scoped |= portal.terms.scoped;
            terms.after = After::Fetched { portal };
        }
        Ok(upstream)
    }

    /// What a name that the text gives was replaced by when it was sent first.
    fn given_before(&self, name: &NameUse) -> Option<UpstreamName> {
        let named = self.before.iter().find(|named| named.space == name.space && *named.name == *name.name);
        named.map(|named| named.upstream).filter(|upstream| *upstream != UpstreamName::NEVER_GIVEN)
    }

    /// A cursor: its rows are subject to what DECLARE was let through with.
    fn declared(&mut self, judged: &Judged, upstream: UpstreamName, hold: bool, terms: &Terms) -> Portal {
        let text = self.text.get(judged.span.clone()).unwrap_or_default();
        let own = Arc::new(Terms { after: After::Nothing, ..terms.clone() });
        let statement = Statement {
            text: Arc::from(text),
            declared: Arc::from([]),
            upstream: UpstreamName::Unnamed,
            terms: Arc::clone(&own),
            generation: self.gate.rules.generation,
            shape: None,
            share: self.session.keep_text(text.len()),
            prepared: None,
            fixed: None,
        };
        Portal {
            statement: Arc::new(statement),
            upstream,
            terms: own,
            generation: self.gate.rules.generation,
            decision: 0,
            hold,
            rows: Counter::default(),
        }
    }

    fn go_along(&mut self, judged: &Judged) {
        let (statements, cursors) = match &judged.effect {
            Effect::Deallocate { name } => {
                self.statements.insert(name.clone(), None);
                (false, false)
            }
            Effect::CloseCursor { name: Some(name) } => {
                self.cursors.insert(name.clone(), None);
                (false, false)
            }
            Effect::DeallocateAll => (true, false),
            Effect::CloseCursor { name: None } => (false, true),
            Effect::DiscardAll => (true, true),
            Effect::None
            | Effect::Settings(_)
            | Effect::ResetAll
            | Effect::Prepare { .. }
            | Effect::Execute { .. }
            | Effect::Declare { .. }
            | Effect::Fetch { .. }
            | Effect::TempTable
            | Effect::Listen
            | Effect::AdvisoryLock
            | Effect::Transaction(_)
            | Effect::CopyIn
            | Effect::CopyOut { .. }
            | Effect::Discard
            | Effect::Ddl => (false, false),
        };
        if statements {
            self.statements.clear();
            self.statements_dropped = true;
        }
        if cursors {
            self.cursors.clear();
            self.cursors_dropped = true;
        }
    }
}

fn unknown(name: &NameUse) -> Denial {
    let NameUse { name: text, space, .. } = name;
    let (sqlstate, message) = match space {
        NameSpace::Statement => {
            (SqlState::INVALID_STATEMENT_NAME, format!("prepared statement \"{text}\" does not exist"))
        }
        NameSpace::Cursor => (SqlState::INVALID_CURSOR_NAME, format!("cursor \"{text}\" does not exist")),
    };
    // As PostgreSQL: no position.
    Denial::new(Rule::Kind, Code::NameUnknown, None, message).sqlstate(sqlstate)
}

/// Spans come in the order of the text, inside it; anything else is a fault, and a fault denies.
fn misplaced(name: &NameUse) -> Denial {
    let at = u32::try_from(name.span.start).ok();
    Denial::new(Rule::Kind, Code::Unsupported, at, format!("the name \"{}\" cannot be replaced", name.name))
}

/// No rules have this number: what has it is judged by those in force.
const NEVER: u64 = 0;
