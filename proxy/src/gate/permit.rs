//! The permit: what a message needs to go upstream.

use std::slice;
use std::sync::Arc;

use pgmoat_audit::Written;

use crate::session::{JudgedBytes, Terms, Verdict};

/// A message that may go upstream.
#[derive(Debug)]
pub struct Admitted<'f> {
    entry: Written,
    terms: TermsOf,
    bytes: JudgedBytes<'f>,
    generation: u64,
    shape: Option<u64>,
}

/// The terms of a message's statements.
#[derive(Debug)]
pub(super) enum TermsOf {
    /// There is one, as mostly.
    One(Arc<Terms>),
    /// Each has its own.
    Each(Vec<Arc<Terms>>),
}

impl<'f> Admitted<'f> {
    /// Only the gate makes one: `entry` is in the log.
    pub(super) fn new(
        entry: Written,
        terms: TermsOf,
        bytes: JudgedBytes<'f>,
        generation: u64,
        shape: Option<u64>,
    ) -> Self {
        Admitted { entry, terms, bytes, generation, shape }
    }

    /// What the session has to know.
    pub fn verdict(&self) -> Verdict<'_> {
        Verdict::Admitted {
            terms: match &self.terms {
                TermsOf::One(terms) => slice::from_ref(terms),
                TermsOf::Each(terms) => terms,
            },
            decision: self.entry.seq(),
            generation: self.generation,
            shape: self.shape,
            parsed_anew: matches!(self.bytes, JudgedBytes::Rebind { .. }),
        }
    }

    /// What goes upstream.
    pub(crate) fn bytes(&self) -> &JudgedBytes<'_> {
        &self.bytes
    }

    /// What its bytes wait for before they go.
    pub(crate) fn into_entry(self) -> Written {
        self.entry
    }
}
