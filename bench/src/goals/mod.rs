//! What was wanted beside what was measured. A goal that is missed is told, and does not fail the run.
//!
//! Ratios and additions are taken round by round (`beside.rs`). Where PgBouncer ran in both modes, the better one
//! counts. What has no peer in the same run is *not measured*, which is never *met*; neither is a promise of a suite that
//! has no row for it.

mod measure;
mod promise;
#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::arguments::Suite;
use crate::row::Row;
use measure::Measured;

pub(crate) use promise::Promise;

/// One goal.
#[derive(Debug, Serialize)]
pub(crate) struct Goal {
    pub(crate) promise: Promise,
    /// The row that tells of it.
    pub(crate) row: String,
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}

/// Whether it is met.
#[derive(Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(crate) enum Outcome {
    Met(Figure),
    Missed(Figure),
    NotMeasured { why: String },
}

/// What was measured, and its bound.
#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    pub(crate) measured: f64,
    pub(crate) unit: &'static str,
    pub(crate) wanted: Wanted,
    /// The peer in the same run.
    pub(crate) beside: String,
}

/// The bound of a goal.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wanted {
    AtMost(f64),
    AtLeast(f64),
}

/// The goals that the rows of these suites tell of, in the promises' order.
pub(crate) fn goals(rows: &[Row], suites: &[Suite]) -> Vec<Goal> {
    let mut goals = Vec::new();
    for promise in Promise::ALL.into_iter().filter(|promise| suites.contains(&promise.suite())) {
        let before = goals.len();
        let told = rows.iter().filter(|row| Promise::of(row) == Some(promise));
        goals.extend(told.map(|row| Goal {
            promise,
            row: format!("{}, {}", row.suite, row.name),
            outcome: Outcome::of(Measured { own: row, rows }.figure(promise)),
        }));
        if goals.len() == before {
            let why = "no row of this run tells of it".to_owned();
            goals.push(Goal {
                promise,
                row: promise.suite().name().to_owned(),
                outcome: Outcome::NotMeasured { why },
            });
        }
    }
    goals
}

impl Goal {
    /// How far it is from its bound: 1 is just there, more is worse, and nothing is worse than not measured.
    pub(crate) fn strain(&self) -> f64 {
        match &self.outcome {
            Outcome::NotMeasured { .. } => f64::INFINITY,
            Outcome::Met(figure) => figure.strain().min(1.0),
            Outcome::Missed(figure) => figure.strain().max(1.0),
        }
    }
}

impl Outcome {
    fn of(figure: Result<Figure, String>) -> Self {
        match figure {
            Ok(figure) if figure.is_within() => Self::Met(figure),
            Ok(figure) => Self::Missed(figure),
            Err(why) => Self::NotMeasured { why },
        }
    }
}

impl Figure {
    /// False of what is no number.
    fn is_within(&self) -> bool {
        match self.wanted {
            Wanted::AtMost(bound) => self.measured <= bound,
            Wanted::AtLeast(bound) => self.measured >= bound,
        }
    }

    /// The measured part of the bound; of a bound that is none or less there is none.
    fn strain(&self) -> f64 {
        let strain = match self.wanted {
            Wanted::AtMost(bound) => self.measured / bound,
            Wanted::AtLeast(bound) => bound / self.measured,
        };
        if strain.is_finite() && strain >= 0.0 { strain } else { 1.0 }
    }
}
