//! Results of any length: the time of the whole, and what the process in between grows to meanwhile.

use std::time::{Duration, Instant};

use crate::client::Connection;
use crate::error::BenchError;
use crate::load::Until;
use crate::percentile::Summary;
use crate::plan::Plan;
use crate::process::{forget_peak, peak_bytes, resident_bytes};
use crate::row::{Row, Unit};
use crate::series::{Series, nanoseconds};
use crate::site::Site;
use crate::target::{Endpoint, Target};
use crate::workload::Query;

/// A result of so many rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows(pub(crate) u64);

/// A connection that asks for it.
pub(crate) struct Stream {
    connection: Connection,
    target: Target,
    pub(crate) series: Series,
}

/// A million rows on each target.
pub(super) async fn run(plan: &Plan, site: &Site, endpoints: &[Endpoint]) -> Result<Vec<Row>, BenchError> {
    let rounds = match plan.turn {
        Until::Elapsed(_) if plan.small => 2,
        Until::Elapsed(_) => 6,
        Until::Requests(_) => 1,
    };
    let mut streams = Vec::new();
    for endpoint in endpoints.iter().filter(|endpoint| endpoint.target != Target::PgbouncerTransaction) {
        streams.push(Stream::open(endpoint).await?);
    }
    let count = streams.len().max(1);
    for round in 0..rounds {
        streams.rotate_left(round % count);
        for stream in &mut streams {
            stream.ask(MANY).await?;
        }
        streams.rotate_right(round % count);
    }
    let mut rows = Vec::new();
    for stream in streams {
        rows.push(stream.series.into_row("proxy", MANY.name(), stream.target)?);
    }
    rows.extend(memory(site).await?);
    Ok(rows)
}

/// What proxies grow by: each a process of its own that has done nothing else.
async fn memory(site: &Site) -> Result<Vec<Row>, BenchError> {
    let mut rows = Vec::new();
    if let Some(pgbouncer) = site.start_pgbouncer(1)? {
        rows.extend(growth(&pgbouncer.endpoint(Target::PgbouncerSession)).await?);
    }
    let (_proxy, pgmoat) = site.start_pgmoat(1).await?;
    rows.extend(growth(&pgmoat).await?);
    Ok(rows)
}

async fn growth(endpoint: &Endpoint) -> Result<Option<Row>, BenchError> {
    let Some(pid) = endpoint.pid else { return Ok(None) };
    let mut stream = Stream::open(endpoint).await?;
    stream.ask(FEW).await?;
    let before = resident_bytes(pid)?;
    forget_peak(pid)?;
    stream.ask(MANY).await?;
    let grown = peak_bytes(pid)?.saturating_sub(before);
    let name = format!("{}/memory", MANY.name());
    let row = |summary| Row::new("proxy", name, endpoint.target, Unit::Bytes, summary);
    Ok(Summary::of(&mut [grown]).map(row))
}

impl Stream {
    pub(crate) async fn open(endpoint: &Endpoint) -> Result<Self, BenchError> {
        let login = endpoint.login(Query::T1Point.user())?;
        let connection = Connection::open(endpoint.address(), &login, &endpoint.database).await?;
        let mut stream = Self { connection, target: endpoint.target, series: Series::default() };
        stream.ask(FEW).await?;
        stream.series = Series::default();
        Ok(stream)
    }

    /// Asks for it and reads it all; a round of one sample.
    pub(crate) async fn ask(&mut self, rows: Rows) -> Result<Duration, BenchError> {
        let text = format!("SELECT aid, bid, abalance FROM public.pgbench_accounts LIMIT {}", rows.0);
        postgres_protocol::message::frontend::query(&text, &mut self.connection.out)
            .map_err(BenchError::io("write a message"))?;
        let started = Instant::now();
        let reply = self.connection.exchange_large().await?;
        let elapsed = started.elapsed();
        if reply.rows != rows.0 || reply.error.is_some() {
            let error = reply.error.map(|error| error.to_string()).unwrap_or_default();
            return Err(BenchError::Wrong(format!(
                "{}, {}: {} rows {error}",
                rows.name(),
                self.target,
                reply.rows
            )));
        }
        self.series.add_round(vec![nanoseconds(elapsed)], 1, elapsed);
        Ok(elapsed)
    }
}

impl Rows {
    pub(crate) fn name(self) -> String {
        format!("rows_{}", self.0)
    }
}

const MANY: Rows = Rows(1_000_000);
const FEW: Rows = Rows(1000);
