//! What was wanted beside what was measured. A goal that is missed is told, and does not fail the run.
//!
//! Ratios and additions are taken round by round, and the one in the middle counts: what disturbs the machine then
//! hits both sides. Where PgBouncer ran in both modes, the better one counts.

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
    /// The peer in the same run.
    pub(crate) beside: String,
    pub(crate) met: bool,
}

/// The bound of a goal.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wanted {
    AtMost(f64),
    AtLeast(f64),
}

/// The goals that these rows can tell something about.
pub(crate) fn goals(rows: &[Row]) -> Vec<Goal> {
    rows.iter().filter(|row| row.target == Target::Pgmoat).filter_map(|row| goal(row, rows)).collect()
}

fn goal(own: &Row, rows: &[Row]) -> Option<Goal> {
    let all = Rows { own, rows };
    let parts: Vec<&str> = own.name.split('/').collect();
    match (own.suite.as_str(), parts.as_slice()) {
        ("proxy", ["t1_point" | "tenant_point", _, "1"]) => all.one_client(),
        ("proxy", [query, protocol, "32"]) if protocol.ends_with(NEW_LITERAL) => {
            all.new_literal(query, protocol)
        }
        ("proxy", [_, _, "32"]) | ("pool", _) => all.many_clients(),
        ("proxy", ["range_100", ..]) => all.added("added to direct p50", "µs", 25.0, 1000.0),
        ("proxy", ["rows_1000000"]) => all.added("added for each row", "µs", 0.1, 1000.0 * 1e6),
        ("proxy", ["rows_1000000", "memory"]) => all.constant_memory(),
        ("proxy", ["denial", ..]) => all.denial(),
        ("masking", [_, "masked"]) => all.added("added to direct p50", "ms", 2.0, 1e6),
        ("library", [tier, "cold"]) if tier.starts_with('t') => all.cold(),
        ("library", ["t1_point", "warm"]) => all.warm(1.0),
        ("library", ["t5_report", "warm"]) => all.warm(4.0),
        ("cli", ["batch_warm", "jobs_2"]) => all.verdicts_a_second(200_000.0, "batch_warm/jobs_1"),
        ("cli", ["batch_cold", "jobs_2"]) => all.verdicts_a_second(25_000.0, "batch_cold/jobs_1"),
        ("cli", ["one_shot"]) => all.one_shot(),
        ("http", ["t1_point", "32"]) => all.http(),
        ("idle", [past, "10000", "process"]) if past.starts_with("idle") => all.idle_process(),
        ("idle", [_, _, "each"]) => all.idle_each(),
        ("growth", ["rules", "10000", "cold"]) => all.rules(),
        _ => None,
    }
}

/// A row of pgmoat's among all rows.
struct Rows<'a> {
    own: &'a Row,
    rows: &'a [Row],
}

impl<'a> Rows<'a> {
    fn one_client(&self) -> Option<Goal> {
        let direct = self.peer(Target::Direct)?;
        let peer = self.bouncers().filter_map(|row| added(row, direct)).min_by(f64::total_cmp)?;
        let measured = added(self.own, direct)? / 1000.0;
        let beside = format!("direct {:.1} µs, PgBouncer adds {:.1} µs", us(direct), peer / 1000.0);
        Some(self.goal("added to direct p50", "µs", measured, Wanted::AtMost(peer / 1000.0), beside))
    }

    fn many_clients(&self) -> Option<Goal> {
        let peer = self.bouncers().max_by(|a, b| per_second(a).total_cmp(&per_second(b)))?;
        let measured = ratio(&self.own.throughput_of_rounds, &peer.throughput_of_rounds)?;
        let beside =
            format!("{} {:.0}/s, pgmoat {:.0}/s", peer.target, per_second(peer), per_second(self.own));
        Some(self.goal("throughput, of PgBouncer's", "×", measured, Wanted::AtLeast(1.0), beside))
    }

    fn new_literal(&self, query: &str, protocol: &str) -> Option<Goal> {
        let same = format!("{query}/{}/32", protocol.strip_suffix(NEW_LITERAL)?);
        let of = |target| {
            let changing = self.peer(target)?;
            let repeated = self.find("proxy", &same, target)?;
            ratio(&changing.throughput_of_rounds, &repeated.throughput_of_rounds)
        };
        let measured = of(Target::Pgmoat)?;
        let beside = of(Target::Direct).map_or_else(String::new, |ratio| format!("direct {ratio:.2} ×"));
        Some(self.goal(&format!("throughput, of {same}'s"), "×", measured, Wanted::AtLeast(0.95), beside))
    }

    /// `unit_ns` is what the unit has of nanoseconds.
    fn added(&self, what: &str, unit: &'static str, most: f64, unit_ns: f64) -> Option<Goal> {
        let direct = self.peer(Target::Direct)?;
        let measured = added(self.own, direct)? / unit_ns;
        let peer = self.bouncers().filter_map(|row| added(row, direct)).min_by(f64::total_cmp);
        let plain = self.own.name.strip_suffix("masked").and_then(|start| {
            let name = format!("{start}plain");
            let find = |target| self.find(&self.own.suite, &name, target);
            added(find(Target::Pgmoat)?, find(Target::Direct)?)
        });
        let beside = match (peer, plain) {
            (Some(peer), _) => format!("PgBouncer adds {:.3} {unit}", peer / unit_ns),
            (None, Some(plain)) => format!("without a mask {:.3} {unit}", plain / unit_ns),
            (None, None) => String::new(),
        };
        Some(self.goal(what, unit, measured, Wanted::AtMost(most), beside))
    }

    fn constant_memory(&self) -> Option<Goal> {
        let beside = self.bouncers().next().map(|peer| format!("PgBouncer {:.2} MiB", mib(peer)));
        let beside = beside.unwrap_or_default();
        Some(self.goal("memory grows by", "MiB", mib(self.own), Wanted::AtMost(CONSTANT_MIB), beside))
    }

    fn denial(&self) -> Option<Goal> {
        let direct = self.find("proxy", "select_1/simple/1", Target::Direct)?;
        let wanted = Wanted::AtMost(us(direct));
        Some(self.goal("p50, beside a direct SELECT 1", "µs", us(self.own), wanted, String::new()))
    }

    fn cold(&self) -> Option<Goal> {
        let parser = self.peer(Target::Parser)?;
        let pairs = self.own.p50_of_rounds.iter().zip(&parser.p50_of_rounds);
        let measured = median(pairs.map(|(own, parser)| *own as f64 / (*parser).max(1) as f64).collect())?;
        let beside = format!("pg_query alone {:.1} µs, pgmoat {:.1} µs", us(parser), us(self.own));
        Some(self.goal("verdict, of the parser's time", "×", measured, Wanted::AtMost(1.5), beside))
    }

    fn warm(&self, most_us: f64) -> Option<Goal> {
        let cold = self.find("library", &self.own.name.replace("/warm", "/cold"), Target::Pgmoat)?;
        let beside = format!("cold {:.1} µs", us(cold));
        Some(self.goal("verdict from the cache", "µs", us(self.own), Wanted::AtMost(most_us), beside))
    }

    fn verdicts_a_second(&self, least: f64, one_job: &str) -> Option<Goal> {
        let one = self.find("cli", one_job, Target::Pgmoat)?;
        let beside = format!("one job {:.0}", per_second(one));
        let measured = per_second(self.own);
        Some(self.goal("lines in order", "verdicts/s", measured, Wanted::AtLeast(least), beside))
    }

    fn one_shot(&self) -> Option<Goal> {
        let spawn = self.peer(Target::Spawn)?;
        let beside = format!("a process that does nothing {:.2} ms", us(spawn) / 1000.0);
        Some(self.goal("p50 of a process", "ms", us(self.own) / 1000.0, Wanted::AtMost(10.0), beside))
    }

    fn http(&self) -> Option<Goal> {
        let health = self.peer(Target::Healthz)?;
        let beside = format!("GET /healthz {:.0}", per_second(health));
        Some(self.goal(
            "POST /v1/verify",
            "requests/s",
            per_second(self.own),
            Wanted::AtLeast(25_000.0),
            beside,
        ))
    }

    fn idle_process(&self) -> Option<Goal> {
        let beside = self.bouncers().next().map(|peer| format!("PgBouncer {:.0} MB", mb(peer)));
        let beside = beside.unwrap_or_default();
        Some(self.goal("resident memory", "MB", mb(self.own), Wanted::AtMost(200.0), beside))
    }

    /// 200 MB for 10,000, whatever the number.
    fn idle_each(&self) -> Option<Goal> {
        let peer = self.bouncers().next();
        let beside = peer.map_or_else(String::new, |peer| format!("PgBouncer {} bytes", peer.p50));
        let measured = self.own.p50 as f64;
        Some(self.goal("memory for each client", "bytes", measured, Wanted::AtMost(20_000.0), beside))
    }

    fn rules(&self) -> Option<Goal> {
        let few = self.find("growth", "rules/10/cold", Target::Pgmoat)?;
        let measured = self.own.p50 as f64 / few.p50.max(1) as f64;
        let beside = format!("with 10 rules {:.1} µs, with 10,000 {:.1} µs", us(few), us(self.own));
        Some(self.goal("verdict, of that with 10 rules", "×", measured, Wanted::AtMost(1.1), beside))
    }

    fn find(&self, suite: &str, name: &str, target: Target) -> Option<&'a Row> {
        self.rows.iter().find(|row| row.suite == suite && row.name == name && row.target == target)
    }

    fn peer(&self, target: Target) -> Option<&'a Row> {
        self.find(&self.own.suite, &self.own.name, target)
    }

    fn bouncers(&self) -> impl Iterator<Item = &'a Row> {
        [Target::PgbouncerSession, Target::PgbouncerTransaction]
            .into_iter()
            .filter_map(|target| self.peer(target))
    }

    fn goal(&self, what: &str, unit: &'static str, measured: f64, wanted: Wanted, beside: String) -> Goal {
        let met = match wanted {
            Wanted::AtMost(bound) => measured <= bound,
            Wanted::AtLeast(bound) => measured >= bound,
        };
        let what = format!("{}, {}: {what}", self.own.suite, self.own.name);
        Goal { what, unit, measured, wanted, beside, met }
    }
}

/// What a proxy adds to a direct connection's p50 in the same round, in the middle over the rounds, in ns.
fn added(row: &Row, direct: &Row) -> Option<f64> {
    let pairs = row.p50_of_rounds.iter().zip(&direct.p50_of_rounds);
    median(pairs.map(|(own, direct)| *own as f64 - *direct as f64).collect())
}

fn ratio(own: &[f64], other: &[f64]) -> Option<f64> {
    median(own.iter().zip(other).map(|(own, other)| own / other).collect())
}

fn per_second(row: &Row) -> f64 {
    row.throughput_per_s.unwrap_or_default()
}

fn us(row: &Row) -> f64 {
    row.p50 as f64 / 1000.0
}

fn mib(row: &Row) -> f64 {
    row.p50 as f64 / f64::from(1 << 20)
}

fn mb(row: &Row) -> f64 {
    row.p50 as f64 / 1e6
}

const NEW_LITERAL: &str = "_new_literal";
/// What a relay's buffers may come to, whatever the length of a result.
const CONSTANT_MIB: f64 = 8.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::percentile::Summary;
    use crate::row::Unit;

    fn row(suite: &str, name: &str, target: Target, p50: u64, rounds: &[f64]) -> Row {
        let summary = Summary { samples: 1, p50, p90: p50, p99: p50, p99_9: p50, max: p50, mean: p50 as f64 };
        let mut row = Row::new(suite, name.to_owned(), target, Unit::Nanoseconds, summary);
        row.throughput_per_s = Some(rounds.iter().sum::<f64>() / rounds.len() as f64);
        row.throughput_of_rounds = rounds.to_vec();
        row.p50_of_rounds = vec![p50];
        row
    }

    fn only(rows: &[Row]) -> (f64, bool) {
        let goals = goals(rows);
        assert_eq!(goals.len(), 1, "{goals:?}");
        goals.first().map(|goal| (goal.measured, goal.met)).unwrap_or_default()
    }

    #[test]
    fn the_addition_is_compared_with_the_better_pgbouncer_s() {
        let point = |target, p50| row("proxy", "t1_point/simple/1", target, p50, &[1.0]);
        let rows = [
            point(Target::Direct, 80_000),
            point(Target::PgbouncerSession, 95_000),
            point(Target::PgbouncerTransaction, 94_000),
            point(Target::Pgmoat, 94_500),
        ];
        assert_eq!(only(&rows), (14.5, false));
    }

    #[test]
    fn throughput_is_compared_round_by_round() {
        let many = |target, rounds: &[f64]| row("proxy", "t1_point/simple/32", target, 1, rounds);
        let rows = [
            many(Target::PgbouncerSession, &[10.0, 10.0, 10.0]),
            many(Target::PgbouncerTransaction, &[20.0, 20.0, 80.0]),
            many(Target::Pgmoat, &[22.0, 22.0, 40.0]),
        ];
        assert_eq!(only(&rows), (1.1, true));
    }

    #[test]
    fn a_new_literal_is_compared_with_the_same_one() {
        let rows = [
            row("proxy", "t1_point/simple/32", Target::Pgmoat, 1, &[100.0, 100.0]),
            row("proxy", "t1_point/simple_new_literal/32", Target::Pgmoat, 1, &[94.0, 94.0]),
        ];
        assert_eq!(only(&rows), (0.94, false));
    }

    #[test]
    fn a_million_rows_are_told_by_the_row() {
        let rows = [
            row("proxy", "rows_1000000", Target::Direct, 300_000_000, &[1.0]),
            row("proxy", "rows_1000000", Target::Pgmoat, 350_000_000, &[1.0]),
        ];
        assert_eq!(only(&rows), (0.05, true));
    }

    #[test]
    fn a_cold_verdict_is_compared_with_the_parser() {
        let rows = [
            row("library", "t3_joins/cold", Target::Parser, 40_000, &[1.0]),
            row("library", "t3_joins/cold", Target::Pgmoat, 62_000, &[1.0]),
        ];
        assert_eq!(only(&rows), (1.55, false));
    }

    #[test]
    fn without_a_peer_there_is_nothing_to_compare_with() {
        let rows = [
            row("proxy", "t1_point/simple/1", Target::Direct, 1, &[1.0]),
            row("proxy", "t1_point/simple/1", Target::Pgmoat, 2, &[1.0]),
        ];
        assert!(goals(&rows).is_empty());
    }
}
