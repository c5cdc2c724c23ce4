//! Selects and denials: direct, through PgBouncer and through pgmoat, in turns.
//!
//! The connections of a group of workloads to all targets are opened first; then come rounds, in each of which every
//! target has one turn, and another one begins. So drift of the machine hits all of them.

mod lane;
mod large;

use crate::calibration::Calibration;
use crate::error::BenchError;
use crate::plan::Plan;
use crate::row::Row;
use crate::site::Site;
use crate::target::{Endpoint, Target};
use crate::verdicts;
use crate::workload::Workload;

pub(crate) use lane::{Lane, take_turns};
pub(crate) use large::{Rows, Stream};

/// Upstream connections for each proxy: more than any workload's clients.
pub(crate) const POOL: u32 = 64;

/// Checks every verdict, then measures every workload.
pub(crate) async fn run(
    plan: &Plan,
    site: &Site,
    calibration: &mut Calibration,
) -> Result<Vec<Row>, BenchError> {
    let pgbouncer = site.start_pgbouncer(POOL)?;
    let (proxy, pgmoat) = site.start_pgmoat(POOL).await?;
    let mut endpoints = vec![site.direct()?];
    if let Some(pgbouncer) = &pgbouncer {
        let both = [Target::PgbouncerSession, Target::PgbouncerTransaction];
        endpoints.extend(both.map(|target| pgbouncer.endpoint(target)));
    }
    endpoints.push(pgmoat);
    let measured = match measure(plan, &endpoints, calibration).await {
        Ok(mut rows) => large::run(plan, site, &endpoints).await.map(|large| {
            rows.extend(large);
            rows
        }),
        Err(error) => Err(error),
    };
    // A proxy that broke down has said why.
    measured.map_err(|error| match (&error, proxy.log()) {
        (BenchError::Io { .. } | BenchError::Login { .. } | BenchError::Wrong(_), log) if !log.is_empty() => {
            BenchError::Wrong(format!("{error}\nthe end of pgmoat's log:\n{}", last_lines(&log)))
        }
        _ => error,
    })
}

/// All workloads on these endpoints.
async fn measure(
    plan: &Plan,
    endpoints: &[Endpoint],
    calibration: &mut Calibration,
) -> Result<Vec<Row>, BenchError> {
    let groups = Workload::groups();
    for workload in groups.iter().flatten() {
        for endpoint in able(endpoints, *workload) {
            verdicts::check(endpoint, *workload).await?;
        }
    }
    let mut rows = Vec::new();
    for group in groups {
        calibration.measure();
        let (mut lanes, mut names) = (Vec::new(), Vec::new());
        for workload in group {
            for endpoint in able(endpoints, workload) {
                lanes.push(Lane::open(endpoint, workload).await?);
                names.push(workload.to_string());
            }
        }
        take_turns(&mut lanes, plan.rounds, plan.turn).await?;
        for (lane, name) in lanes.into_iter().zip(names) {
            rows.push(lane.into_row("proxy", name)?);
        }
    }
    Ok(rows)
}

/// The endpoints that can do a workload at all.
fn able(endpoints: &[Endpoint], workload: Workload) -> impl Iterator<Item = &Endpoint> {
    endpoints.iter().filter(move |endpoint| workload.runs_on(endpoint.target))
}

fn last_lines(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines.get(lines.len().saturating_sub(LOG_LINES)..).unwrap_or_default().join("\n")
}

const LOG_LINES: usize = 20;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use crate::arguments::Arguments;
    use clap::Parser as _;

    use super::*;

    /// Against a real PostgreSQL, and PgBouncer where it is installed: every workload gives its rows.
    #[tokio::test]
    async fn every_workload_runs_on_the_peers() {
        let plan = Plan::from_arguments(Arguments::parse_from(["bench", "--small", "--iters", "1"])).unwrap();
        let site = Site::start("no-pgmoat".into(), None, 250).unwrap();
        let pgbouncer = site.start_pgbouncer(POOL).unwrap();
        let mut endpoints = vec![site.direct().unwrap()];
        if let Some(pgbouncer) = &pgbouncer {
            let both = [Target::PgbouncerSession, Target::PgbouncerTransaction];
            endpoints.extend(both.map(|target| pgbouncer.endpoint(target)));
        }
        let rows = measure(&plan, &endpoints, &mut Calibration::default()).await.unwrap();
        let workloads: Vec<Workload> = Workload::groups().concat();
        let able: usize = workloads.iter().map(|workload| able(&endpoints, *workload).count()).sum();
        assert_eq!(rows.len(), able);
        for row in rows {
            let clients: u64 = row.name.rsplit('/').next().unwrap().parse().unwrap();
            assert_eq!((row.samples, row.errors), (clients * u64::from(plan.rounds), 0), "{}", row.name);
        }
    }
}
