//! The judge under test, asked in process.

use std::sync::Arc;

use pgmoat_policy::shape::shape;
use pgmoat_policy::{Judgement, Mode, NoNames, Verdict, Verdicts, judge};

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
pub(crate) struct Court {
    known: Vec<Known>,
    /// The same judge through its cache, as the proxy asks it.
    kept: Vec<Verdicts>,
}

impl Court {
    pub(crate) fn new(known: Vec<Known>) -> Self {
        let kept = known
            .iter()
            .map(|Known { policy, catalog, .. }| {
                Verdicts::new(Arc::clone(policy), Arc::clone(catalog), KEPT_BYTES)
            })
            .collect();
        Self { known, kept }
    }

    pub(crate) fn known(&self, universe: Universe) -> &Known {
        &self.known[universe as usize]
    }

    /// The cached verdict is the fresh one's; asked of every fourth shape, for time's sake.
    pub(crate) fn agrees(&self, written: &Written, universe: Universe) -> bool {
        if !shape(&written.sql).fingerprint().number().is_multiple_of(SAMPLED) {
            return true;
        }
        let declared: Vec<u32> = written.values.iter().map(Bound::oid).collect();
        let Known { principal, .. } = self.known(universe);
        let kept =
            self.kept[universe as usize].judge(&written.sql, mode(written, &declared), principal, &NoNames);
        format!("{kept:?}") == format!("{:?}", self.judgement(written, universe))
    }

    pub(crate) fn rule(&self, written: &Written, universe: Universe) -> Ruling {
        let Known { policy, principal, .. } = &self.known[universe as usize];
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
        let Known { policy, catalog, principal } = &self.known[universe as usize];
        let declared: Vec<u32> = written.values.iter().map(Bound::oid).collect();
        judge(&written.sql, mode(written, &declared), principal, policy, catalog, &NoNames)
    }
}

fn mode<'a>(written: &Written, declared: &'a [u32]) -> Mode<'a> {
    match written.values.is_empty() {
        true => Mode::Simple,
        false => Mode::Extended { declared },
    }
}

/// One shape of so many is asked of the cache, too.
const SAMPLED: u64 = 4;
const KEPT_BYTES: u64 = 64 << 20;
