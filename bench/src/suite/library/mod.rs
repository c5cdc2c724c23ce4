//! The verdict alone: pgmoat-policy as a library, with the parser that it stands on as the peer.
//!
//! *cold* is a judgement without a cache, *warm* one through a cache that has seen the shape with other literals; the
//! peer is pg_query's parse of the same text. All take turns in each round. One thread, as deep as the judge needs.
//! Beside the times stand counts: shapes that the cache has come to, and (in a development build) allocations.

mod judge;

use std::time::{Duration, Instant};

use crate::allocations::allocations;
use crate::calibration::Calibration;
use crate::deep::deep;
use crate::error::BenchError;
use crate::load::Until;
use crate::percentile::Summary;
use crate::plan::Plan;
use crate::row::{Row, Unit};
use crate::series::{Series, nanoseconds};
use crate::statement::{Statement, TIERS, corpus_attack, corpus_benign, pathological};
use crate::target::Target;

pub(crate) use judge::{CATALOG_JSON, Judge};

/// Checks every verdict, then measures.
pub(crate) async fn run(plan: &Plan, calibration: &mut Calibration) -> Result<Vec<Row>, BenchError> {
    let (turns, mut clock) = (Turns::of(plan), std::mem::take(calibration));
    let (rows, clock) = deep(move || {
        let rows = measure(turns, &mut clock);
        (rows, clock)
    })
    .await?;
    *calibration = clock;
    rows
}

/// How often and how long.
#[derive(Debug, Clone, Copy)]
struct Turns {
    rounds: u32,
    until: Until,
}

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Cold,
    Warm,
    Parse,
}

/// One name of the report: its statements, in variants that differ in their literals alone.
struct Workload {
    name: String,
    variants: Vec<Vec<Statement>>,
    works: &'static [Work],
}

fn measure(turns: Turns, calibration: &mut Calibration) -> Result<Vec<Row>, BenchError> {
    let judge = Judge::lab()?;
    let workloads = workloads()?;
    for workload in &workloads {
        check(&judge, workload)?;
    }
    let mut rows = Vec::new();
    for Workload { name, variants, works } in &workloads {
        calibration.measure();
        let mut series: Vec<(Work, Series)> = works.iter().map(|work| (*work, Series::default())).collect();
        for round in 0..turns.rounds as usize {
            let count = series.len().max(1);
            series.rotate_left(round % count);
            for (work, series) in &mut series {
                turn(&judge, *work, variants, turns.until, series);
            }
            series.rotate_right(round % count);
        }
        for (work, series) in series {
            rows.push(series.into_row("library", format!("{name}/{}", work.name()), work.target())?);
            if work == Work::Parse {
                // The peer of both, under the name of the one that it is compared with.
                rename_to_cold(&mut rows);
            }
        }
        if works.contains(&Work::Warm) && variants.len() > 1 {
            rows.extend(allocated(&judge, name, variants));
        }
    }
    // Statements that differ in their literals alone have one shape.
    rows.extend(count("shapes_kept".to_owned(), judge.stats().shapes as u64));
    Ok(rows)
}

/// Allocations for each statement, in whole ones, without and through a cache that has seen it.
fn allocated(judge: &Judge, name: &str, variants: &[Vec<Statement>]) -> Vec<Row> {
    let statements: Vec<&Statement> = variants.iter().take(CHECKED_VARIANTS).flatten().collect();
    let each = |allocations: u64| allocations.div_ceil(statements.len().max(1) as u64);
    let mut rows = Vec::new();
    for work in [Work::Cold, Work::Warm] {
        let pass = || statements.iter().for_each(|statement| work.once(judge, statement));
        pass();
        let all = allocations(pass);
        rows.extend(all.and_then(|all| count(format!("{name}/{}/allocations", work.name()), each(all))));
    }
    rows
}

fn count(name: String, value: u64) -> Option<Row> {
    let mut row = Row::new("library", name, Target::Pgmoat, Unit::Count, Summary::of(&mut [value])?);
    row.gate = true;
    Some(row)
}

fn rename_to_cold(rows: &mut [Row]) {
    if let Some(row) = rows.last_mut() {
        row.name = row.name.replace("/parse", "/cold");
    }
}

/// One turn of one kind of work. A sample is the mean time of a statement over one pass (warm: several, since the
/// clock costs as much as a verdict).
fn turn(judge: &Judge, work: Work, variants: &[Vec<Statement>], until: Until, series: &mut Series) {
    let passes = if work == Work::Warm { WARM_PASSES } else { 1 };
    let mut variants = variants.iter().cycle();
    let (mut samples, mut done) = (Vec::new(), 0_u64);
    let started = Instant::now();
    loop {
        let before = Instant::now();
        let mut count = 0_u64;
        for statements in variants.by_ref().take(passes) {
            for statement in statements {
                work.once(judge, statement);
            }
            count += statements.len() as u64;
        }
        let after = Instant::now();
        samples.push(nanoseconds(after - before) / count.max(1));
        done += count;
        let over = match until {
            Until::Elapsed(limit) => after - started >= limit,
            Until::Requests(requests) => done >= requests,
        };
        if over {
            return series.add_round(samples, done, started.elapsed());
        }
    }
}

fn check(judge: &Judge, workload: &Workload) -> Result<(), BenchError> {
    for statement in workload.variants.iter().take(CHECKED_VARIANTS).flatten() {
        judge.check(statement).map_err(|fault| wrong(&workload.name, statement, &fault))?;
    }
    // Another tenant's rows, by the tiers' own queries.
    if workload.works.contains(&Work::Warm) && workload.variants.len() > 1 {
        for statement in workload.variants.iter().flatten().take(TIER_QUERIES) {
            let across = statement.across();
            judge.check(&across).map_err(|fault| wrong(&workload.name, &across, &fault))?;
        }
    }
    Ok(())
}

fn wrong(name: &str, statement: &Statement, fault: &str) -> BenchError {
    let start: String = statement.sql.chars().take(SHOWN_CHARACTERS).collect();
    BenchError::Wrong(format!("wrong verdict: library, {name}: {fault}: {start}"))
}

fn workloads() -> Result<Vec<Workload>, BenchError> {
    let all: &[Work] = &[Work::Cold, Work::Warm, Work::Parse];
    // Denials are not kept, and a limit is met before a cache is asked.
    let cold: &[Work] = &[Work::Cold, Work::Parse];
    let mut workloads: Vec<Workload> = TIERS
        .iter()
        .map(|tier| {
            let variants = (0..VARIANTS).map(|n| tier.statements(FIRST_NUMBER + n * NUMBER_STEP)).collect();
            Workload { name: tier.name.to_owned(), variants, works: all }
        })
        .collect();
    let one =
        |name: &str, statements, works| Workload { name: name.to_owned(), variants: vec![statements], works };
    workloads.push(one("corpus_benign", corpus_benign()?, all));
    workloads.push(one("corpus_attack", corpus_attack()?, cold));
    for (name, statement) in pathological() {
        workloads.push(one(&format!("pathological_{name}"), vec![statement], cold));
    }
    Ok(workloads)
}

impl Turns {
    fn of(plan: &Plan) -> Self {
        let turn = if plan.small { SMALL_TURN } else { FULL_TURN };
        let until = match plan.turn {
            Until::Elapsed(_) => Until::Elapsed(turn),
            requests @ Until::Requests(_) => requests,
        };
        Self { rounds: plan.rounds, until }
    }
}

impl Work {
    fn once(self, judge: &Judge, statement: &Statement) {
        match self {
            Self::Cold => judge.cold(statement),
            Self::Warm => judge.warm(statement),
            Self::Parse => judge.parse(statement),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Warm => "warm",
            Self::Parse => "parse",
        }
    }

    fn target(self) -> Target {
        match self {
            Self::Cold | Self::Warm => Target::Pgmoat,
            Self::Parse => Target::Parser,
        }
    }
}

const SMALL_TURN: Duration = Duration::from_millis(10);
const FULL_TURN: Duration = Duration::from_millis(20);
/// Statements that differ in their numbers alone.
const VARIANTS: u64 = 64;
/// Of which so many are checked: the others differ in a number that no rule asks for.
const CHECKED_VARIANTS: usize = 4;
const FIRST_NUMBER: u64 = 1000;
const NUMBER_STEP: u64 = 37;
const WARM_PASSES: usize = 16;
const TIER_QUERIES: usize = 4;
const SHOWN_CHARACTERS: usize = 120;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    /// Every verdict is as it should be, and every workload has its rows.
    #[tokio::test]
    async fn every_workload_has_its_rows() {
        let rows: Vec<Row> = deep(|| {
            let turns = Turns { rounds: 2, until: Until::Requests(1) };
            measure(turns, &mut Calibration::default())
        })
        .await
        .unwrap()
        .unwrap();
        let timed = || rows.iter().filter(|row| row.unit == Unit::Nanoseconds);
        let count = |target| timed().filter(|row| row.target == target).count();
        assert_eq!((count(Target::Parser), count(Target::Pgmoat)), (12, 18));
        assert!(timed().all(|row| row.errors == 0 && row.p50_of_rounds.len() == 2));
        // And its counts: a verdict from the cache allocates nothing, one without does.
        let counted = |name: &str| rows.iter().find(|row| row.name == name).unwrap().p50;
        for tier in TIERS {
            assert_eq!(counted(&format!("{}/warm/allocations", tier.name)), 0);
            assert!(counted(&format!("{}/cold/allocations", tier.name)) > 0);
        }
        assert!(counted("shapes_kept") > 0);
        // What is compared has one name.
        for row in rows.iter().filter(|row| row.target == Target::Parser) {
            assert!(
                rows.iter().any(|own| own.name == row.name && own.target == Target::Pgmoat),
                "{}",
                row.name
            );
        }
    }
}
