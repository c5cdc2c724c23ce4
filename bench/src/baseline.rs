//! Comparison with an earlier run: a gated row may not grow by more than a fraction.
//!
//! A time is the p50 of its best round: other people's load makes rounds worse and never better. It is compared in two
//! ways, and has fallen behind where both say so: divided by the machine's calibration, and by its peer's in the same
//! rounds (the parser, where it is a verdict; a direct connection, where it goes through a proxy). What slows the
//! machine slows both; what slows one thread's turn, its peer's too. Bytes have no machine. Counts are exact: they have a bound of their own, and falling behind in them is a
//! fault that no second try mends.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::calibration;
use crate::error::BenchError;
use crate::report::Report;
use crate::row::{Row, Unit};
use crate::target::Target;

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
/// [`BenchError::Wrong`] with every row that is missing, or has more bytes or counts; [`BenchError::Slower`] where
/// nothing but times fell behind.
pub(crate) fn compare(former: &Baseline, report: &Report, max_regress: f64) -> Result<(), BenchError> {
    let (faults, mut times) = regressions(&former.rows, &report.rows, max_regress);
    if faults.is_empty() && times.is_empty() {
        return Ok(());
    }
    if faults.is_empty() {
        return Err(BenchError::Slower(times.join("\n")));
    }
    times.splice(0..0, faults);
    Err(BenchError::Wrong(times.join("\n")))
}

/// What is behind for certain, and which times are.
fn regressions(former: &[Row], now: &[Row], max_regress: f64) -> (Vec<String>, Vec<String>) {
    let Some(machine) = calibration::score(now).zip(calibration::score(former)).map(|(now, then)| now / then)
    else {
        return (vec!["one of the two runs has no calibration".to_owned()], Vec::new());
    };
    let (mut faults, mut times) = (Vec::new(), Vec::new());
    for then in former.iter().filter(|row| row.gate) {
        let row = format!("{}, {}", then.suite, then.name);
        let Some(own) = now.iter().find(|row| is_same(row, then)) else {
            if suite_was_run(now, then) {
                faults.push(format!("{row}: the baseline has it, this run has not"));
            }
            continue;
        };
        match own.unit {
            Unit::Nanoseconds => times.extend(slower((own, now), (then, former), machine, max_regress)),
            Unit::Bytes => faults.extend(more(own, then, "bytes", max_regress)),
            Unit::Count => faults.extend(more(own, then, "counted", COUNT_REGRESS)),
        }
    }
    (faults, times)
}

fn slower(
    (own, now): (&Row, &[Row]),
    (then, former): (&Row, &[Row]),
    machine: f64,
    bound: f64,
) -> Option<String> {
    let calibrated = comparable(own) / comparable(then) / machine - 1.0;
    let peers = peer(own, now).zip(peer(then, former));
    let beside = peers.map(|(peer_now, peer_then)| {
        let (now, then) = (comparable(own) / comparable(peer_now), comparable(then) / comparable(peer_then));
        (now / then - 1.0, format!(", {now:.2} × of {}'s, {then:.2} × in the baseline", peer_now.target))
    });
    let (growth, words) = match beside {
        Some((growth, words)) if growth < calibrated => (growth, words),
        Some((_, words)) => (calibrated, words),
        None => (calibrated, String::new()),
    };
    (growth > bound).then(|| {
        format!(
            "{}, {}: p50 {:.1} µs, in the baseline {:.1} µs on a machine ×{machine:.2} as fast{words}: grew by {:.0} %, \
             the bound is {:.0} %",
            own.suite,
            own.name,
            best(own) as f64 / 1000.0,
            best(then) as f64 / 1000.0,
            growth * 100.0,
            bound * 100.0
        )
    })
}

fn more(own: &Row, then: &Row, unit: &str, bound: f64) -> Option<String> {
    let most = then.p50 as f64 * (1.0 + bound);
    (own.p50 as f64 > most).then(|| {
        format!(
            "{}, {}: {} {unit}, in the baseline {}: the bound is {most:.0}",
            own.suite, own.name, own.p50, then.p50
        )
    })
}

/// What took turns with a row at the same work, and has nothing of pgmoat's in it.
fn peer<'a>(row: &Row, rows: &'a [Row]) -> Option<&'a Row> {
    // The parser's row stands under the name of the verdict without a cache.
    let name =
        row.name.strip_suffix("/warm").map_or_else(|| row.name.clone(), |start| format!("{start}/cold"));
    let beside = |target| move |row: &&Row| row.target == target;
    let alike = || rows.iter().filter(|peer| peer.suite == row.suite && peer.name == name);
    PEERS.into_iter().find_map(|target| alike().find(beside(target)))
}

fn is_same(row: &Row, other: &Row) -> bool {
    row.suite == other.suite && row.name == other.name && row.target == other.target
}

/// A run of some suites only is compared in those.
fn suite_was_run(now: &[Row], then: &Row) -> bool {
    now.iter().any(|row| row.suite == then.suite)
}

/// In ns.
fn comparable(row: &Row) -> f64 {
    best(row).max(SMALLEST_NS) as f64
}

fn best(row: &Row) -> u64 {
    row.p50_of_rounds.iter().copied().min().unwrap_or(row.p50)
}

/// Below this the clock and the caches decide.
const SMALLEST_NS: u64 = 5000;
const PEERS: [Target; 4] = [Target::Parser, Target::Direct, Target::Healthz, Target::Spawn];
/// Of a count: a library's new version may allocate once more.
const COUNT_REGRESS: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::percentile::Summary;

    fn row(suite: &str, target: Target, unit: Unit, p50: u64) -> Row {
        let summary = Summary { samples: 1, p50, p90: p50, p99: p50, p99_9: p50, max: p50, mean: p50 as f64 };
        let mut row = Row::new(suite, "x/cold".to_owned(), target, unit, summary);
        row.gate = target == Target::Pgmoat;
        row
    }

    fn run(machine: u64, pgmoat: u64, parser: u64) -> Vec<Row> {
        vec![
            row("calibration", Target::Host, Unit::Nanoseconds, machine),
            row("library", Target::Pgmoat, Unit::Nanoseconds, pgmoat),
            row("library", Target::Parser, Unit::Nanoseconds, parser),
        ]
    }

    fn times(former: &[Row], now: &[Row], bound: f64) -> usize {
        let (faults, times) = regressions(former, now, bound);
        assert!(faults.is_empty(), "{faults:?}");
        times.len()
    }

    #[test]
    fn growth_beyond_the_fraction_is_found_in_gated_rows_alone() {
        let former = run(1000, 100_000, 80_000);
        assert_eq!(times(&former, &run(1000, 124_000, 80_000), 0.25), 0);
        assert_eq!(times(&former, &run(1000, 126_000, 80_000), 0.25), 1);
        assert_eq!(times(&former, &run(1000, 90_000, 800_000), 0.25), 0);
    }

    #[test]
    fn a_slower_machine_is_no_regression() {
        let former = run(1000, 100_000, 80_000);
        assert_eq!(times(&former, &run(2000, 200_000, 160_000), 0.1), 0);
        assert_eq!(times(&former, &run(500, 100_000, 80_000), 0.1), 0);
        assert_eq!(times(&former, &run(500, 100_000, 40_000), 0.1), 1);
    }

    #[test]
    fn what_slows_the_peer_as_well_is_the_machine() {
        let former = run(1000, 100_000, 80_000);
        assert_eq!(times(&former, &run(1000, 300_000, 240_000), 0.1), 0);
        let without_peer = |run: Vec<Row>| -> Vec<Row> {
            run.into_iter().filter(|row| row.target != Target::Parser).collect()
        };
        assert_eq!(times(&without_peer(former), &without_peer(run(1000, 300_000, 240_000)), 0.1), 1);
    }

    #[test]
    fn a_round_that_was_disturbed_is_none() {
        let former = run(1000, 100_000, 80_000);
        let mut now = run(1000, 300_000, 80_000);
        assert_eq!(times(&former, &now, 0.1), 1);
        now.iter_mut().for_each(|row| row.p50_of_rounds = vec![row.p50, row.p50.min(100_000)]);
        assert_eq!(times(&former, &now, 0.1), 0);
    }

    #[test]
    fn a_few_nanoseconds_more_are_none() {
        let former = run(1000, 1000, 80_000);
        assert_eq!(times(&former, &run(1000, 4900, 80_000), 0.1), 0);
    }

    #[test]
    fn a_row_that_vanished_is_a_fault() {
        let former = run(1000, 100_000, 80_000);
        let mut now = run(1000, 100_000, 80_000);
        now.retain(|row| !row.gate);
        assert_eq!(
            regressions(&former, &now, 0.1).0,
            ["library, x/cold: the baseline has it, this run has not"]
        );
    }

    #[test]
    fn counts_have_a_bound_of_their_own_and_nothing_may_come_of_none() {
        let with = |unit, p50| {
            let mut run = run(1000, 1, 1);
            run.push(row("idle", Target::Pgmoat, unit, p50));
            run
        };
        let faults = |unit, then, now| regressions(&with(unit, then), &with(unit, now), 1.0).0;
        assert_eq!(faults(Unit::Count, 100, 110).len(), 0);
        assert_eq!(
            faults(Unit::Count, 100, 111),
            ["idle, x/cold: 111 counted, in the baseline 100: the bound is 110"]
        );
        assert_eq!(faults(Unit::Count, 0, 1).len(), 1);
        assert_eq!(faults(Unit::Bytes, 10_000, 20_000).len(), 0);
        assert_eq!(faults(Unit::Bytes, 10_000, 20_001).len(), 1);
    }
}
