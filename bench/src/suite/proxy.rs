//! Point selects: direct, through PgBouncer and through pgmoat, in turns.
//!
//! A workload's connections to all targets are opened first; then come rounds, in each of which every target has one
//! turn, and another one begins. So drift of the machine hits all of them.

use std::time::Duration;

use crate::calibration::Calibration;
use crate::error::BenchError;
use crate::load::{self, Client, Turn};
use crate::percentile::Summary;
use crate::plan::Plan;
use crate::process::cpu_ns;
use crate::row::{Row, Unit};
use crate::site::Site;
use crate::target::{Endpoint, Target};
use crate::verdicts;
use crate::workload::{Protocol, Workload};

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
    let mut endpoints = vec![site.direct()];
    if let Some(pgbouncer) = &pgbouncer {
        let both = [Target::PgbouncerSession, Target::PgbouncerTransaction];
        endpoints.extend(both.map(|target| pgbouncer.endpoint(target)));
    }
    endpoints.push(pgmoat);
    let measured = measure(plan, &endpoints, calibration).await;
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
    for workload in Workload::all() {
        for endpoint in able(endpoints, workload) {
            verdicts::check(endpoint, workload).await?;
        }
    }
    let mut rows = Vec::new();
    for workload in Workload::all() {
        calibration.measure();
        let mut lanes = Vec::new();
        for endpoint in able(endpoints, workload) {
            lanes.push(Lane::open(endpoint, workload).await?);
        }
        for round in 0..plan.rounds as usize {
            let first = round % lanes.len().max(1);
            lanes.rotate_left(first);
            for lane in &mut lanes {
                lane.take_turn(plan).await?;
            }
            lanes.rotate_right(first);
        }
        for lane in lanes {
            rows.push(lane.into_row()?);
        }
    }
    Ok(rows)
}

/// The endpoints that can do a workload at all.
fn able(endpoints: &[Endpoint], workload: Workload) -> impl Iterator<Item = &Endpoint> {
    let named = workload.protocol == Protocol::Prepared;
    endpoints.iter().filter(move |endpoint| !named || endpoint.target.keeps_prepared_statements())
}

/// One workload on one target.
struct Lane<'a> {
    endpoint: &'a Endpoint,
    workload: Workload,
    clients: Vec<Client>,
    sum: Turn,
    throughput_of_rounds: Vec<f64>,
    p50_of_rounds: Vec<u64>,
    cpu_ns: Option<u64>,
}

impl<'a> Lane<'a> {
    async fn open(endpoint: &'a Endpoint, workload: Workload) -> Result<Self, BenchError> {
        let mut clients = Vec::with_capacity(workload.clients);
        for number in 0..workload.clients {
            clients.push(Client::open(endpoint, workload, number).await?);
        }
        Ok(Self {
            endpoint,
            workload,
            clients,
            sum: Turn::default(),
            throughput_of_rounds: Vec::new(),
            p50_of_rounds: Vec::new(),
            cpu_ns: endpoint.pid.map(|_| 0),
        })
    }

    async fn take_turn(&mut self, plan: &Plan) -> Result<(), BenchError> {
        let cpu = || self.endpoint.pid.and_then(cpu_ns);
        let before = cpu();
        let (clients, mut turn) = load::run(std::mem::take(&mut self.clients), plan.turn).await?;
        let spent = cpu().zip(before).map(|(after, before)| after.saturating_sub(before));
        self.clients = clients;
        self.cpu_ns = self.cpu_ns.zip(spent).map(|(sum, spent)| sum + spent);
        self.throughput_of_rounds.push(per_second(turn.latencies_ns.len(), turn.elapsed));
        self.p50_of_rounds.extend(Summary::of(&mut turn.latencies_ns).map(|summary| summary.p50));
        self.sum.latencies_ns.extend(turn.latencies_ns);
        self.sum.elapsed += turn.elapsed;
        self.sum.errors += turn.errors;
        self.sum.first_error = self.sum.first_error.take().or(turn.first_error);
        Ok(())
    }

    fn into_row(mut self) -> Result<Row, BenchError> {
        let Self { endpoint, workload, .. } = self;
        if let Some(error) = self.sum.first_error {
            let target = endpoint.target;
            return Err(BenchError::Wrong(format!(
                "{workload}, {target}: {} requests failed, the first with {error}",
                self.sum.errors
            )));
        }
        let requests = self.sum.latencies_ns.len();
        let Some(summary) = Summary::of(&mut self.sum.latencies_ns) else {
            return Err(BenchError::Wrong(format!("{workload}: nothing was measured")));
        };
        let mut row = Row::new("proxy", workload.to_string(), endpoint.target, Unit::Nanoseconds, summary);
        row.throughput_per_s = Some(per_second(requests, self.sum.elapsed));
        row.throughput_of_rounds = self.throughput_of_rounds;
        row.p50_of_rounds = self.p50_of_rounds;
        row.cpu_ns_per_request = self.cpu_ns.map(|ns| ns as f64 / requests as f64);
        row.errors = self.sum.errors;
        row.gate = endpoint.target == Target::Pgmoat;
        Ok(row)
    }
}

fn per_second(requests: usize, elapsed: Duration) -> f64 {
    requests as f64 / elapsed.as_secs_f64()
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
        let site = Site::start("no-pgmoat".into(), 150).unwrap();
        let pgbouncer = site.start_pgbouncer(POOL).unwrap();
        let mut endpoints = vec![site.direct()];
        if let Some(pgbouncer) = &pgbouncer {
            let both = [Target::PgbouncerSession, Target::PgbouncerTransaction];
            endpoints.extend(both.map(|target| pgbouncer.endpoint(target)));
        }
        let rows = measure(&plan, &endpoints, &mut Calibration::default()).await.unwrap();
        let able: usize =
            Workload::all().into_iter().map(|workload| able(&endpoints, workload).count()).sum();
        assert_eq!(rows.len(), able);
        for row in rows {
            let clients: u64 = row.name.rsplit('/').next().unwrap().parse().unwrap();
            assert_eq!((row.samples, row.errors), (clients * u64::from(plan.rounds), 0), "{}", row.name);
        }
    }
}
