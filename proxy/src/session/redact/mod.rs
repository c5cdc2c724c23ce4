//! Errors and notices without values (policy 3.9).
//!
//! PostgreSQL may evaluate an expression on another tenant's row before it evaluates the tenant equality, and its
//! message then carries the value. So what goes to a tenant-bound principal is built anew: severity, SQLSTATE,
//! position, the names of objects in reach, and a text. The original text stays only if it is on the list of [`kept`];
//! else it is built of names in reach, or is the one fixed text for its SQLSTATE.

mod kept;
mod named;
mod texts;

use pgmoat_policy::ErrorPosture;
use pgmoat_upstream::frame::Fields;

use super::edit::{Edit, back};
use super::sight::Sight;

pub(super) use kept::is_analysis;

/// What is known of an error beside its fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct About<'a> {
    /// What becomes of it.
    pub(super) errors: ErrorPosture,
    /// It answers a Parse: no row was looked at.
    pub(super) answers_parse: bool,
    /// What the principal may see; nothing where that is not known.
    pub(super) sight: Option<&'a Sight>,
}

/// An error as the client may read it. `edits`: where the text that was sent differs from the client's.
pub(super) fn error<'e>(
    fields: &Fields,
    about: About<'_>,
    edits: impl IntoIterator<Item = &'e Edit>,
) -> Fields {
    let mut read = fields.clone();
    match about.errors {
        ErrorPosture::Pass => {}
        ErrorPosture::Redact | ErrorPosture::Deny => rebuild(fields, about, &mut read),
    }
    let position = read.text(b'P').map(str::parse);
    match position {
        None => {}
        Some(Ok(position)) => read.set(b'P', back(position, edits).to_string()),
        Some(Err(_)) => read.remove(b'P'),
    }
    read
}

fn rebuild(fields: &Fields, about: About<'_>, read: &mut Fields) {
    let sqlstate = fields.sqlstate();
    let named = named::Named::of(fields, about.sight);
    read.retain(|field| matches!(field.code, b'S' | b'V' | b'C' | b'P') || named.keeps(field.code));
    let message = fields.message().unwrap_or_default();
    let analysed = about.answers_parse || fields.get(b'P').is_some();
    let keeps = sqlstate.is_some_and(|sqlstate| {
        kept::is_constant(sqlstate, message) || (analysed && kept::is_analysis(sqlstate))
    });
    // The message stands behind the SQLSTATE, as PostgreSQL writes it.
    let names: Vec<_> =
        read.iter().filter(|field| !matches!(field.code, b'S' | b'V' | b'C')).cloned().collect();
    read.retain(|field| matches!(field.code, b'S' | b'V' | b'C'));
    match (keeps, sqlstate) {
        (true, _) => read.set(b'M', message.to_owned()),
        (false, Some(sqlstate)) => match named.message(sqlstate, message) {
            Some(built) => read.set(b'M', built),
            None => read.set(b'M', texts::text(sqlstate)),
        },
        (false, None) => read.set(b'M', texts::UNKNOWN),
    }
    for field in names {
        read.set(field.code, field.value);
    }
}

/// A notice as the client may read it; none where nothing is left of it. `scoped`: a statement over tenants' rows has
/// caused it, so that their number alone would tell something.
pub(super) fn notice(fields: Fields, errors: ErrorPosture, scoped: bool) -> Option<Fields> {
    match errors {
        ErrorPosture::Pass => Some(fields),
        ErrorPosture::Redact | ErrorPosture::Deny if scoped => None,
        ErrorPosture::Redact | ErrorPosture::Deny => {
            if matches!(fields.severity(), Some("DEBUG" | "LOG") | None) {
                return None;
            }
            let sqlstate = fields.sqlstate()?;
            let message = fields.message().unwrap_or_default();
            // A notice is its text; where there is none for its SQLSTATE, it says nothing.
            let text = match kept::is_constant(sqlstate, message) {
                true => message.to_owned(),
                false => texts::exact(sqlstate)?.to_owned(),
            };
            let mut read = fields;
            read.retain(|field| matches!(field.code, b'S' | b'V' | b'C'));
            read.set(b'M', text);
            Some(read)
        }
    }
}

#[cfg(test)]
mod tests;
