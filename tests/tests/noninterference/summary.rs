//! What a run has seen.

use std::collections::BTreeMap;

use crate::generate::Statement;
use crate::judge::Ruling;
use crate::verdict::Outcome;

/// Counts, which workers add up.
#[derive(Debug, Default, Clone)]
pub(crate) struct Summary {
    pub(crate) generated: u64,
    pub(crate) allowed: u64,
    pub(crate) same: u64,
    pub(crate) unfinished: u64,
    pub(crate) different: u64,
    /// Allowed statements of the fallible stream whose errors differ, by SQLSTATEs.
    pub(crate) errors: BTreeMap<String, u64>,
    /// Allowed statements that PostgreSQL refuses, by SQLSTATE.
    pub(crate) invalid: BTreeMap<String, u64>,
    /// Allowed statements by what they are made of.
    pub(crate) constructs: BTreeMap<&'static str, u64>,
    /// Denied statements by the first code.
    pub(crate) denied: BTreeMap<String, u64>,
}

impl Summary {
    pub(crate) fn ruled(&mut self, statement: &Statement, ruling: &Ruling) {
        self.generated += 1;
        match ruling {
            Ruling::Allowed => {
                self.allowed += 1;
                for construct in &statement.constructs {
                    *self.constructs.entry(construct).or_default() += 1;
                }
            }
            Ruling::Denied(code) => *self.denied.entry(code.clone()).or_default() += 1,
        }
    }

    pub(crate) fn compared(&mut self, statement: &Statement, outcome: &Outcome) {
        match outcome {
            Outcome::Same => self.same += 1,
            Outcome::Invalid(code) => *self.invalid.entry(code.clone()).or_default() += 1,
            Outcome::Error(codes) if statement.fallible => *self.errors.entry(codes.clone()).or_default() += 1,
            Outcome::Error(_) | Outcome::Different(_) => self.different += 1,
            Outcome::Unfinished => self.unfinished += 1,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.generated += other.generated;
        self.allowed += other.allowed;
        self.same += other.same;
        self.unfinished += other.unfinished;
        self.different += other.different;
        for (to, from) in [
            (&mut self.errors, &other.errors),
            (&mut self.invalid, &other.invalid),
            (&mut self.denied, &other.denied),
        ] {
            for (key, count) in from {
                *to.entry(key.clone()).or_default() += count;
            }
        }
        for (key, count) in &other.constructs {
            *self.constructs.entry(key).or_default() += count;
        }
    }
}
