//! Cost as work grows: one thing at a time, all else held.

mod verdict;
mod wire;

use crate::calibration::Calibration;
use crate::curve::Curve;
use crate::deep::deep;
use crate::error::BenchError;
use crate::load::Until;
use crate::plan::Plan;
use crate::row::Row;
use crate::site::Site;

pub(crate) use wire::MOST_CLIENTS;

/// Rows, and the curves that they make.
pub(crate) struct Grown {
    pub(crate) rows: Vec<Row>,
    pub(crate) curves: Vec<Curve>,
}

/// Measures every curve.
pub(crate) async fn run(
    plan: &Plan,
    site: &Site,
    calibration: &mut Calibration,
) -> Result<Grown, BenchError> {
    calibration.measure();
    let size = Size::of(plan);
    let mut grown = deep(move || verdict::run(size)).await??;
    calibration.measure();
    grown.extend(wire::run(size, site).await?);
    calibration.measure();
    Ok(grown)
}

impl Grown {
    fn new() -> Self {
        Self { rows: Vec::new(), curves: Vec::new() }
    }

    fn extend(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.curves.extend(other.curves);
    }
}

/// How far, and how often.
#[derive(Debug, Clone, Copy)]
struct Size {
    rounds: u32,
    /// Requests of a turn; none: as long as the suite finds right.
    requests: Option<u64>,
    /// The largest step of each series.
    largest: u64,
}

impl Size {
    fn of(plan: &Plan) -> Self {
        let (rounds, largest) = if plan.small { (3, 10_000) } else { (6, u64::MAX) };
        match plan.turn {
            Until::Elapsed(_) => Self { rounds, requests: None, largest },
            Until::Requests(requests) => Self { rounds: 1, requests: Some(requests), largest: 1000 },
        }
    }

    /// The steps that are asked for.
    fn steps(self, all: &[u64]) -> impl Iterator<Item = u64> {
        all.iter().copied().filter(move |step| *step <= self.largest)
    }
}
