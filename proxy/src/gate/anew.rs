//! What was judged by other rules than those in force is judged again: a statement at Bind, a portal at Execute, a
//! cursor at FETCH.

use std::sync::Arc;

use pgmoat_policy::{Denial, Effect, Judgement, Mode};

use super::{Denied, Gate, denied, obligations};
use crate::session::{Portal, Session, Statement, Terms};

/// A prepared statement's terms under the rules in force, and its shape.
pub(super) struct Renewed {
    pub(super) terms: Result<Arc<Terms>, Box<Denied>>,
    pub(super) shape: Option<u64>,
}

impl Gate<'_> {
    /// The terms of a statement under the rules in force.
    pub(super) fn renewed(&self, statement: &Statement, session: &Session) -> Renewed {
        if statement.generation == self.rules.generation {
            return Renewed { terms: Ok(Arc::clone(&statement.terms)), shape: statement.shape };
        }
        let mode = Mode::Extended { declared: &statement.declared };
        let judgement = self.judge(&statement.text, mode, session);
        let first = |all: Vec<Terms>| match all.into_iter().next() {
            Some(first) if first.edits.is_empty() || only_declares(&judgement) => Ok(Arc::new(first)),
            // What the names stand for by now may be something else than what was sent upstream.
            Some(_) => Err(denied(1, renamed())),
            None => Err(denied(1, obligations::unsupported("a text without a statement"))),
        };
        let terms = self.terms(&judgement, &statement.text, false, session).and_then(first);
        Renewed { terms, shape: Some(judgement.shape.number()) }
    }

    /// Whether a portal's or cursor's rows may still leave as they did when it was opened, and its text's shape.
    pub(super) fn still_holds(
        &self,
        portal: &Portal,
        session: &Session,
    ) -> (Result<(), Box<Denied>>, Option<u64>) {
        if portal.generation == self.rules.generation {
            return (Ok(()), portal.statement.shape);
        }
        let Renewed { terms, shape } = self.renewed(&portal.statement, session);
        (terms.and_then(|terms| Self::same_rows(portal, &terms)), shape)
    }

    /// A portal's rows go through the masks and the count of its own terms, and its values are gone: whether they are
    /// still the session's own cannot be asked again.
    fn same_rows(portal: &Portal, terms: &Terms) -> Result<(), Box<Denied>> {
        if terms.binds.is_empty() && terms.masks == portal.terms.masks {
            return Ok(());
        }
        let message = "the policy or the catalog has changed since this portal or cursor was opened";
        Err(denied(
            1,
            obligations::unsupported(message).hint("bind the parameters, or declare the cursor, again"),
        ))
    }
}

/// The one name in a DECLARE is the cursor's own: what it selects is named in full.
fn only_declares(judgement: &Judgement) -> bool {
    matches!(judgement.statements.as_slice(), [judged]
        if judged.names.len() == 1 && matches!(judged.effect, Effect::Declare { .. }))
}

fn renamed() -> Denial {
    obligations::unsupported("the policy or the catalog has changed since this text with names was bound")
        .hint("bind it again")
}
