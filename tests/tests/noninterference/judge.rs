//! The judge under test, asked in process.

use pgmoat_policy::{Judgement, Mode, NoNames, Verdict, judge};

use crate::bound::Bound;
use crate::tree::Written;
use crate::worlds::{Known, Universe};

/// What the judge says of a statement with its bound values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ruling {
    Allowed,
    /// The first denial's code.
    Denied(String),
}

/// The judge, for both universes.
#[derive(Debug)]
pub(crate) struct Court(Vec<Known>);

impl Court {
    pub(crate) fn new(known: Vec<Known>) -> Self {
        Self(known)
    }

    pub(crate) fn known(&self, universe: Universe) -> &Known {
        &self.0[universe as usize]
    }

    pub(crate) fn rule(&self, written: &Written, universe: Universe) -> Ruling {
        let Known { policy, principal, .. } = &self.0[universe as usize];
        let judgement = self.judgement(written, universe);
        if let Some((_, denial)) = judgement.denial() {
            return Ruling::Denied(denial.code.to_string());
        }
        let bytes: Vec<_> = written.values.iter().map(|value| (value.bytes(), value.format())).collect();
        let values: Vec<_> = bytes.iter().map(|(bytes, format)| (bytes.as_deref(), *format)).collect();
        for judged in &judgement.statements {
            let Verdict::Allow(obligations) = &judged.verdict else { continue };
            // What is masked is compared in the clear: our own rows are the same in every world.
            assert!(obligations.rows.is_none(), "the policy cuts no rows");
            for check in &obligations.binds {
                if check.holds(policy, principal, &values).is_err() {
                    return Ruling::Denied("bind".to_owned());
                }
            }
        }
        Ruling::Allowed
    }

    /// The first denial's words.
    pub(crate) fn reason(&self, written: &Written, universe: Universe) -> String {
        let judgement = self.judgement(written, universe);
        judgement.denial().map(|(_, denial)| denial.message.clone()).unwrap_or_default()
    }

    fn judgement(&self, written: &Written, universe: Universe) -> Judgement {
        let Known { policy, catalog, principal } = &self.0[universe as usize];
        let declared: Vec<u32> = written.values.iter().map(Bound::oid).collect();
        let mode = match written.values.is_empty() {
            true => Mode::Simple,
            false => Mode::Extended { declared: &declared },
        };
        judge(&written.sql, mode, principal, policy, catalog, &NoNames)
    }
}
