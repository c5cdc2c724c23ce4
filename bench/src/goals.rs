//! What was wanted beside what was measured. A goal that is missed is told, and does not fail the run.

use serde::Serialize;

use crate::percentile::median;
use crate::row::Row;
use crate::target::Target;

/// One goal.
#[derive(Debug, Serialize)]
pub(crate) struct Goal {
    pub(crate) what: String,
    pub(crate) unit: &'static str,
    pub(crate) measured: f64,
    pub(crate) wanted: Wanted,
    pub(crate) met: bool,
}

/// The bound of a goal.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wanted {
    AtMost(f64),
    AtLeast(f64),
}

/// The goals that these rows can tell something about. Where PgBouncer ran in both modes, the better one counts.
pub(crate) fn goals(rows: &[Row]) -> Vec<Goal> {
    rows.iter().filter(|row| row.target == Target::Pgmoat).filter_map(|row| goal(row, rows)).collect()
}

fn goal(row: &Row, rows: &[Row]) -> Option<Goal> {
    let peers = || rows.iter().filter(|peer| peer.suite == row.suite && peer.name == row.name);
    let bouncers = || peers().filter(|peer| peer.target.is_pgbouncer());
    let name = &row.name;
    if row.suite == "idle" {
        let what = format!("{name}: memory for each client");
        return Some(Goal::new(what, "bytes", row.p50 as f64, Wanted::AtMost(IDLE_CLIENT_BYTES)));
    }
    if name.ends_with("/1") {
        let direct = peers().find(|peer| peer.target == Target::Direct)?;
        let added = |row: &Row| added_us(row, direct);
        let peer = bouncers().filter_map(added).min_by(f64::total_cmp)?;
        let what = format!("{name}: added to direct p50, beside PgBouncer's");
        return Some(Goal::new(what, "µs", added(row)?, Wanted::AtMost(peer)));
    }
    let peer = bouncers().max_by(|a, b| total(a).total_cmp(&total(b)))?;
    let pairs = row.throughput_of_rounds.iter().zip(&peer.throughput_of_rounds);
    let ratio = median(pairs.map(|(own, other)| own / other).collect())?;
    let what = format!("{name}: throughput, of PgBouncer's in the same round");
    Some(Goal::new(what, "×", ratio, Wanted::AtLeast(1.0)))
}

/// What a proxy adds to a direct connection's p50 in the same round, in the middle over the rounds, in µs.
fn added_us(row: &Row, direct: &Row) -> Option<f64> {
    let pairs = row.p50_of_rounds.iter().zip(&direct.p50_of_rounds);
    median(pairs.map(|(own, direct)| (*own as f64 - *direct as f64) / 1000.0).collect())
}

fn total(row: &Row) -> f64 {
    row.throughput_per_s.unwrap_or_default()
}

impl Goal {
    fn new(what: String, unit: &'static str, measured: f64, wanted: Wanted) -> Self {
        let met = match wanted {
            Wanted::AtMost(bound) => measured <= bound,
            Wanted::AtLeast(bound) => measured >= bound,
        };
        Self { what, unit, measured, wanted, met }
    }
}

/// Beside its upstream connection.
const IDLE_CLIENT_BYTES: f64 = 20_000.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::percentile::Summary;
    use crate::row::Unit;

    fn row(name: &str, target: Target, p50: u64, rounds: &[f64]) -> Row {
        let summary = Summary { samples: 1, p50, p90: p50, p99: p50, p99_9: p50, max: p50, mean: p50 as f64 };
        let mut row = Row::new("proxy", name.to_owned(), target, Unit::Nanoseconds, summary);
        row.throughput_per_s = Some(rounds.iter().sum::<f64>() / rounds.len() as f64);
        row.throughput_of_rounds = rounds.to_vec();
        row.p50_of_rounds = vec![p50];
        row
    }

    #[test]
    fn the_addition_is_compared_with_the_better_pgbouncer_s() {
        let rows = [
            row("q/simple/1", Target::Direct, 80_000, &[1.0]),
            row("q/simple/1", Target::PgbouncerSession, 95_000, &[1.0]),
            row("q/simple/1", Target::PgbouncerTransaction, 94_000, &[1.0]),
            row("q/simple/1", Target::Pgmoat, 94_500, &[1.0]),
        ];
        let goals = goals(&rows);
        assert_eq!(goals.len(), 1);
        assert!(goals.iter().all(|goal| !goal.met && (goal.measured - 14.5).abs() < 1e-9));
    }

    #[test]
    fn throughput_is_compared_round_by_round() {
        let rows = [
            row("q/simple/32", Target::PgbouncerSession, 1, &[10.0, 10.0, 10.0]),
            row("q/simple/32", Target::PgbouncerTransaction, 1, &[20.0, 20.0, 80.0]),
            row("q/simple/32", Target::Pgmoat, 1, &[22.0, 22.0, 40.0]),
        ];
        assert!(goals(&rows).iter().all(|goal| goal.met && (goal.measured - 1.1).abs() < 1e-9));
    }

    #[test]
    fn without_a_pgbouncer_there_is_nothing_to_compare_with() {
        let rows =
            [row("q/simple/1", Target::Direct, 1, &[1.0]), row("q/simple/1", Target::Pgmoat, 2, &[1.0])];
        assert!(goals(&rows).is_empty());
    }
}
