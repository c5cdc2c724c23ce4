//! Throughput as clients grow, and the time of a result as its rows grow: direct, PgBouncer, pgmoat.

use std::time::Duration;

use super::{Grown, Size};
use crate::curve::Curve;
use crate::error::BenchError;
use crate::load::Until;
use crate::site::Site;
use crate::suite::proxy::{Lane, Rows, Stream, take_turns};
use crate::target::{Endpoint, Target};
use crate::workload::{Protocol, Query, Workload};

/// Both.
pub(super) async fn run(size: Size, site: &Site) -> Result<Grown, BenchError> {
    let pgbouncer = site.start_pgbouncer(POOL)?;
    let (_proxy, pgmoat) = site
        .start_pgmoat_as(|config| {
            let settings = format!("mode: transaction, size: {POOL}, wait_timeout_ms: 60000");
            config.databases.iter_mut().for_each(|database| database.pool.clone_from(&settings));
            // Those of the step before may not be gone yet.
            let most = 2 * CLIENTS.iter().max().unwrap_or(&1);
            config.extra = format!("limits: {{ max_clients: {most}, connections_per_user: {most} }}\n");
        })
        .await?;
    let mut endpoints = vec![site.direct()?];
    endpoints.extend(pgbouncer.as_ref().map(|pgbouncer| pgbouncer.endpoint(Target::PgbouncerTransaction)));
    endpoints.push(pgmoat);
    let mut grown = Grown::new();
    clients(size, &endpoints, &mut grown).await?;
    rows(size, &endpoints, &mut grown).await?;
    Ok(grown)
}

async fn clients(size: Size, endpoints: &[Endpoint], grown: &mut Grown) -> Result<(), BenchError> {
    let title = format!("Point selects as clients grow, over {POOL} connections");
    let mut curve = Curve::new("clients", &title, "clients", "selects a second");
    for count in size.steps(&CLIENTS) {
        let clients = usize::try_from(count).unwrap_or(usize::MAX);
        let workload = Workload { query: Query::T1Point, protocol: Protocol::Simple, clients };
        let mut lanes = Vec::new();
        for endpoint in endpoints {
            // A connection for each client is what a pool is to spare.
            if endpoint.target != Target::Direct || count <= u64::from(MOST_CLIENTS) {
                lanes.push(Lane::open(endpoint, workload).await?);
            }
        }
        take_turns(&mut lanes, size.rounds, size.requests.map_or(Until::Elapsed(TURN), Until::Requests))
            .await?;
        for lane in lanes {
            let row = lane.into_row("growth", format!("clients/{count}/simple"))?;
            let throughput = row.throughput_per_s.unwrap_or_default();
            curve.point(&row.target.to_string(), count as f64, throughput);
            grown.rows.push(row);
        }
    }
    grown.curves.push(curve);
    Ok(())
}

async fn rows(size: Size, endpoints: &[Endpoint], grown: &mut Grown) -> Result<(), BenchError> {
    let mut curve =
        Curve::new("rows", "The time of a result as its rows grow", "rows", "µs for the whole result (p50)");
    for count in size.steps(&[1, 10, 100, 1000, 10_000, 100_000, 1_000_000]) {
        let mut streams = Vec::new();
        for endpoint in endpoints {
            streams.push(Stream::open(endpoint).await?);
        }
        let times = match size.requests {
            None if count >= 100_000 => size.rounds,
            None => size.rounds * 20,
            Some(_) => 1,
        };
        for _ in 0..times {
            for stream in &mut streams {
                stream.ask(Rows(count)).await?;
            }
        }
        let mut direct = None;
        for (stream, endpoint) in streams.into_iter().zip(endpoints) {
            let row = stream.series.into_row("growth", format!("rows/{count}"), endpoint.target)?;
            let microseconds = row.p50 as f64 / 1000.0;
            curve.point(&row.target.to_string(), count as f64, microseconds);
            match (endpoint.target, direct) {
                (Target::Direct, _) => direct = Some(microseconds),
                (Target::Pgmoat, Some(direct)) => {
                    curve.note(
                        "pgmoat adds, ns a row",
                        count as f64,
                        (microseconds - direct) * 1000.0 / count as f64,
                    );
                }
                _ => {}
            }
            grown.rows.push(row);
        }
    }
    grown.curves.push(curve);
    Ok(())
}

const CLIENTS: [u64; 4] = [1, 10, 100, 1000];
/// Upstream connections of each proxy.
const POOL: u32 = 16;
/// Clients of PostgreSQL's own.
pub(crate) const MOST_CLIENTS: u32 = 100;
const TURN: Duration = Duration::from_millis(250);
