//! More clients than connections, in transaction mode: pgbench's own selects (`pgbench -S`), as one types it.
//!
//! In each round every target has one turn in each protocol, and another one begins. Each turn is a pgbench of its own,
//! whose log has the time of each transaction; logins are not part of it.

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::TempDir;
use tokio::process::Command;

use crate::calibration::Calibration;
use crate::error::BenchError;
use crate::percentile::Summary;
use crate::plan::Plan;
use crate::process::cpu_ns;
use crate::row::{Row, Unit};
use crate::site::Site;
use crate::target::{Endpoint, Target};
use crate::workload::{Protocol, Query};

/// What a reader of the figures must know.
pub(crate) fn note() -> String {
    format!(
        "pool: pgbench -S with {CLIENTS} clients over {POOL} upstream connections in transaction mode (direct: \
         {CLIENTS}). PgBouncer 1.18 forgets prepared statements there: it has no figure for them."
    )
}

/// Measures each protocol on each target that can do it.
pub(crate) async fn run(
    plan: &Plan,
    site: &Site,
    calibration: &mut Calibration,
) -> Result<Vec<Row>, BenchError> {
    let pgbouncer = site.start_pgbouncer(POOL)?;
    let settings = format!("mode: transaction, size: {POOL}, wait_timeout_ms: 5000");
    let (_proxy, pgmoat) = site.start_pgmoat_with(&settings).await?;
    let mut endpoints = vec![site.direct()?];
    endpoints.extend(pgbouncer.as_ref().map(|pgbouncer| pgbouncer.endpoint(Target::PgbouncerTransaction)));
    endpoints.push(pgmoat);
    let pgbench = site.server().tool("pgbench");
    let (rounds, length) = if plan.small { SMALL } else { FULL };
    let mut rows = Vec::new();
    for protocol in [Protocol::Simple, Protocol::Extended, Protocol::Prepared] {
        calibration.measure();
        let named = protocol == Protocol::Prepared;
        let able = endpoints.iter().filter(|endpoint| !named || endpoint.target.keeps_prepared_statements());
        let mut lanes: Vec<Lane<'_>> = able.map(|endpoint| Lane::new(endpoint, protocol)).collect();
        for round in 0..rounds {
            let first = round % lanes.len().max(1);
            lanes.rotate_left(first);
            for lane in &mut lanes {
                lane.take_turn(&pgbench, length).await?;
            }
            lanes.rotate_right(first);
        }
        for lane in lanes {
            rows.push(lane.into_row()?);
        }
    }
    Ok(rows)
}

/// One protocol on one target.
struct Lane<'a> {
    endpoint: &'a Endpoint,
    protocol: Protocol,
    latencies_ns: Vec<u64>,
    throughput_of_rounds: Vec<f64>,
    p50_of_rounds: Vec<u64>,
    cpu_ns: Option<u64>,
}

impl<'a> Lane<'a> {
    fn new(endpoint: &'a Endpoint, protocol: Protocol) -> Self {
        Self {
            endpoint,
            protocol,
            latencies_ns: Vec::new(),
            throughput_of_rounds: Vec::new(),
            p50_of_rounds: Vec::new(),
            cpu_ns: endpoint.pid.map(|_| 0),
        }
    }

    async fn take_turn(&mut self, pgbench: &Path, length: Length) -> Result<(), BenchError> {
        let folder = tempfile::tempdir().map_err(BenchError::io("make a folder"))?;
        let cpu = || self.endpoint.pid.and_then(cpu_ns);
        let before = cpu();
        let output = self.pgbench(pgbench, length, &folder).await?;
        let spent = cpu().zip(before).map(|(after, before)| after.saturating_sub(before));
        self.cpu_ns = self.cpu_ns.zip(spent).map(|(sum, spent)| sum + spent);
        let said = String::from_utf8_lossy(&output.stdout);
        let failed = || {
            let (target, protocol) = (self.endpoint.target, self.protocol.name());
            let errors = String::from_utf8_lossy(&output.stderr);
            BenchError::Wrong(format!("pgbench, {target}, {protocol}: {}\n{said}{errors}", output.status))
        };
        let throughput = per_second(&said).filter(|_| output.status.success()).ok_or_else(failed)?;
        let mut latencies = latencies_ns(&folder)?;
        self.throughput_of_rounds.push(throughput);
        self.p50_of_rounds.extend(Summary::of(&mut latencies).map(|summary| summary.p50));
        self.latencies_ns.extend(latencies);
        Ok(())
    }

    async fn pgbench(&self, pgbench: &Path, length: Length, folder: &TempDir) -> Result<Output, BenchError> {
        let (user, password) = self.endpoint.login(Query::T1Point.user())?;
        let mut command = Command::new(pgbench);
        command.args(["--select-only", "--no-vacuum", "--log", "--log-prefix", LOG_PREFIX]);
        command.args(["--protocol", self.protocol.name(), "--jobs", "1"]);
        command.args(["--client", &CLIENTS.to_string()]).args(length);
        command.args(["--host", &self.endpoint.host.to_string(), "--port", &self.endpoint.port.to_string()]);
        command.args(["--username", &user]).arg(&self.endpoint.database).env("PGPASSWORD", password);
        command.current_dir(folder.path()).stdin(Stdio::null()).kill_on_drop(true);
        command.output().await.map_err(BenchError::io("run pgbench"))
    }

    fn into_row(mut self) -> Result<Row, BenchError> {
        let transactions = self.latencies_ns.len();
        let Some(summary) = Summary::of(&mut self.latencies_ns) else {
            return Err(BenchError::Wrong("pgbench has logged nothing".to_owned()));
        };
        let name = format!("pgbench_select/{}/{CLIENTS}", self.protocol.name());
        let mut row = Row::new("pool", name, self.endpoint.target, Unit::Nanoseconds, summary);
        let rounds = self.throughput_of_rounds.len() as f64;
        row.throughput_per_s = Some(self.throughput_of_rounds.iter().sum::<f64>() / rounds);
        row.throughput_of_rounds = self.throughput_of_rounds;
        row.p50_of_rounds = self.p50_of_rounds;
        row.cpu_ns_per_request = self.cpu_ns.map(|ns| ns as f64 / transactions as f64);
        row.gate = self.endpoint.target == Target::Pgmoat;
        Ok(row)
    }
}

/// From the line `tps = 12345.678901 (without initial connection time)`.
fn per_second(said: &str) -> Option<f64> {
    let line = said.lines().find_map(|line| line.strip_prefix("tps = "))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The third word of each line of its log is a transaction's time in microseconds.
fn latencies_ns(folder: &TempDir) -> Result<Vec<u64>, BenchError> {
    let read = || BenchError::io("read pgbench's log");
    let mut latencies = Vec::new();
    for entry in fs::read_dir(folder.path()).map_err(read())? {
        let text = fs::read_to_string(entry.map_err(read())?.path()).map_err(read())?;
        let times = text.lines().filter_map(|line| line.split_whitespace().nth(2)?.parse::<u64>().ok());
        latencies.extend(times.map(|microseconds| microseconds * 1000));
    }
    Ok(latencies)
}

const CLIENTS: u32 = 32;
/// Upstream connections of each proxy.
const POOL: u32 = 16;
/// How long a turn is, in pgbench's words.
type Length = [&'static str; 2];
/// Rounds, and what each client does in a turn: half a second and two seconds, roughly. Seconds would have the logins
/// in them, and on a busy machine nothing else.
const SMALL: (usize, Length) = (2, ["--transactions", "500"]);
const FULL: (usize, Length) = (5, ["--transactions", "2000"]);
const LOG_PREFIX: &str = "turn";

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_pgbench_says_is_read() {
        let said = "latency average = 1.5 ms\ninitial connection time = 9 ms\n\
                    tps = 21333.250000 (without initial connection time)\n";
        assert_eq!(per_second(said), Some(21333.25));
        assert_eq!(per_second("pgbench: error"), None);
    }

    #[test]
    fn its_log_is_read_in_all_its_files() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("turn.1"), "0 1 250 0 1764500000 12\n1 1 300 0 1764500000 13\n")
            .unwrap();
        fs::write(folder.path().join("turn.1.1"), "2 1 5 0 1764500000 12\n").unwrap();
        let mut latencies = latencies_ns(&folder).unwrap();
        latencies.sort_unstable();
        assert_eq!(latencies, [5_000, 250_000, 300_000]);
    }

    /// Against a real PostgreSQL: each protocol has its figures.
    #[tokio::test]
    async fn a_turn_has_figures() {
        let site = Site::start("no-pgmoat".into(), None, 150).unwrap();
        let direct = site.direct().unwrap();
        let pgbench = site.server().tool("pgbench");
        for protocol in [Protocol::Simple, Protocol::Extended, Protocol::Prepared] {
            let mut lane = Lane::new(&direct, protocol);
            lane.take_turn(&pgbench, ["--transactions", "5"]).await.unwrap();
            let row = lane.into_row().unwrap();
            assert_eq!(row.samples, 5 * u64::from(CLIENTS));
            assert!(row.throughput_per_s.unwrap() > 0.0);
        }
    }
}
