//! Comparison with an earlier run: a gated p50 may not grow by more than a fraction.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::calibration;
use crate::error::BenchError;
use crate::report::Report;
use crate::row::{Row, Unit};

/// What is read of an earlier report.
#[derive(Debug, Deserialize)]
pub(crate) struct Baseline {
    rows: Vec<Row>,
}

/// Reads an earlier report.
///
/// # Errors
///
/// [`BenchError::Usage`]: no such file, or not a report.
pub(crate) fn read(path: &Path) -> Result<Baseline, BenchError> {
    let unreadable = |error: String| BenchError::Usage(format!("--baseline {}: {error}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    let baseline: Baseline = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
    match calibration::score(&baseline.rows) {
        Some(_) => Ok(baseline),
        None => Err(unreadable("it has no calibration".to_owned())),
    }
}

/// Compares a run with an earlier one.
///
/// # Errors
///
/// [`BenchError::Wrong`] with every row that fell behind or is missing.
pub(crate) fn compare(former: &Baseline, report: &Report, max_regress: f64) -> Result<(), BenchError> {
    let faults = regressions(&former.rows, &report.rows, max_regress);
    if faults.is_empty() { Ok(()) } else { Err(BenchError::Wrong(faults.join("\n"))) }
}

fn regressions(former: &[Row], now: &[Row], max_regress: f64) -> Vec<String> {
    let Some(machine) = calibration::score(now).zip(calibration::score(former)).map(|(now, then)| now / then)
    else {
        return vec!["one of the two runs has no calibration".to_owned()];
    };
    let gated = former.iter().filter(|row| row.gate);
    let fault = |then: &Row| {
        let same = |row: &&Row| row.suite == then.suite && row.name == then.name && row.target == then.target;
        let Some(now) = now.iter().find(same) else {
            return suite_was_run(now, then).then(|| format!("{}: measured then, not now", then.name));
        };
        let machine = match now.unit {
            Unit::Nanoseconds => machine,
            Unit::Bytes => 1.0,
        };
        let growth = comparable(now) / comparable(then) / machine - 1.0;
        (growth > max_regress).then(|| {
            let (name, percent) = (&now.name, growth * 100.0);
            format!("{name}: p50 grew by {percent:.0} % ({} → {}, machine ×{machine:.2})", then.p50, now.p50)
        })
    };
    gated.filter_map(fault).collect()
}

/// A run of some suites only is compared in those.
fn suite_was_run(now: &[Row], then: &Row) -> bool {
    now.iter().any(|row| row.suite == then.suite)
}

/// Below this the clock and the caches decide.
fn comparable(row: &Row) -> f64 {
    match row.unit {
        Unit::Nanoseconds => row.p50.max(SMALLEST_NS) as f64,
        Unit::Bytes => row.p50.max(1) as f64,
    }
}

const SMALLEST_NS: u64 = 5000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::percentile::Summary;
    use crate::target::Target;

    fn run(machine: u64, pgmoat: u64, direct: u64) -> Vec<Row> {
        let row = |suite: &str, target, p50: u64| {
            let summary =
                Summary { samples: 1, p50, p90: p50, p99: p50, p99_9: p50, max: p50, mean: p50 as f64 };
            let mut row = Row::new(suite, "x".to_owned(), target, Unit::Nanoseconds, summary);
            row.gate = target == Target::Pgmoat;
            row
        };
        vec![
            row("calibration", Target::Host, machine),
            row("proxy", Target::Pgmoat, pgmoat),
            row("proxy", Target::Direct, direct),
        ]
    }

    #[test]
    fn growth_beyond_the_fraction_is_found_in_gated_rows_alone() {
        let former = run(1000, 100_000, 80_000);
        assert!(regressions(&former, &run(1000, 124_000, 800_000), 0.25).is_empty());
        assert_eq!(regressions(&former, &run(1000, 126_000, 80_000), 0.25).len(), 1);
    }

    #[test]
    fn a_slower_machine_is_no_regression() {
        let former = run(1000, 100_000, 80_000);
        assert!(regressions(&former, &run(2000, 200_000, 160_000), 0.1).is_empty());
        assert_eq!(regressions(&former, &run(500, 100_000, 80_000), 0.1).len(), 1);
    }

    #[test]
    fn a_few_nanoseconds_more_are_none() {
        let former = run(1000, 1000, 80_000);
        assert!(regressions(&former, &run(1000, 4900, 80_000), 0.1).is_empty());
    }

    #[test]
    fn a_row_that_vanished_is_a_regression() {
        let former = run(1000, 100_000, 80_000);
        let mut now = run(1000, 100_000, 80_000);
        now.retain(|row| !row.gate);
        assert_eq!(regressions(&former, &now, 0.1).len(), 1);
    }
}
