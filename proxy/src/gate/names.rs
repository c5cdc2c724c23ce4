//! The one change that is ever made to a judged text: a client's name becomes the upstream one (contracts 2).

use pgmoat_policy::{Code, Denial, Judgement, NameSpace, NameUse, Rule, SqlState};

use super::{Denied, denied};
use crate::session::{Session, UpstreamName};

/// The text with every name token replaced; none where there is nothing to replace.
///
/// # Errors
/// A name that the client does not have, with its statement's number: PostgreSQL's own 26000 or 34000.
pub(super) fn edited(
    text: &str,
    judgement: &Judgement,
    session: &Session,
) -> Result<Option<String>, Box<Denied>> {
    let mut out = String::new();
    let mut from = 0;
    for (number, judged) in (1..).zip(&judgement.statements) {
        for name in &judged.names {
            let upstream = upstream(name, session).ok_or_else(|| denied(number, unknown(name)))?;
            let before = text.get(from..name.span.start).ok_or_else(|| denied(number, misplaced(name)))?;
            out.push_str(before);
            out.push_str(&upstream.to_string());
            from = name.span.end;
        }
    }
    if from == 0 {
        return Ok(None);
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Ok(Some(out))
}

fn upstream(name: &NameUse, session: &Session) -> Option<UpstreamName> {
    match name.space {
        NameSpace::Statement => session.upstream_statement(&name.name),
        NameSpace::Cursor => session.upstream_portal(&name.name),
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
