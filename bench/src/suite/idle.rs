//! Memory of idle clients: the growth of the proxy's resident memory, for each client.
//!
//! Each measurement has a process of its own, since memory that busy clients left behind would be used again. A few
//! clients come and go before, so that what every process needs once is not counted.

use std::time::Duration;

use tokio::time::sleep;

use crate::client::Connection;
use crate::error::BenchError;
use crate::percentile::Summary;
use crate::plan::Plan;
use crate::process::resident_bytes;
use crate::row::{Row, Unit};
use crate::site::Site;
use crate::target::{Endpoint, Target};
use crate::workload::{OWN_TENANT, Protocol, Query, Requests};

/// What an idle client has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Past {
    /// Logged in, nothing else.
    Silent,
    /// One statement: in session mode it has an upstream connection from then on.
    OneStatement,
}

/// Measures both proxies.
pub(crate) async fn run(plan: &Plan, site: &Site) -> Result<Vec<Row>, BenchError> {
    let clients = plan.idle_clients;
    let pool = clients + SPARE;
    let mut rows = Vec::new();
    for past in [Past::Silent, Past::OneStatement] {
        if let Some(pgbouncer) = site.start_pgbouncer(pool)? {
            rows.push(measure(&pgbouncer.endpoint(Target::PgbouncerSession), past, clients).await?);
        }
        let (_proxy, endpoint) = site.start_pgmoat(pool).await?;
        rows.push(measure(&endpoint, past, clients).await?);
    }
    Ok(rows)
}

async fn measure(endpoint: &Endpoint, past: Past, clients: u32) -> Result<Row, BenchError> {
    let Some(pid) = endpoint.pid else {
        return Err(BenchError::Wrong(format!("{} has no process of its own", endpoint.target)));
    };
    let mut warming = Vec::new();
    for _ in 0..WARM_UP_CLIENTS {
        warming.push(idle_client(endpoint, Past::OneStatement).await?);
    }
    drop(warming);
    sleep(SETTLE).await;
    let before = resident_bytes(pid)?;
    let mut idle = Vec::new();
    for _ in 0..clients {
        idle.push(idle_client(endpoint, past).await?);
    }
    sleep(SETTLE).await;
    let grown = resident_bytes(pid)?.saturating_sub(before);
    drop(idle);
    let Some(summary) = Summary::of(&mut [grown / u64::from(clients)]) else {
        return Err(BenchError::Wrong("no memory was measured".to_owned()));
    };
    let name = format!("{}/{clients}", past.name());
    let mut row = Row::new("idle", name, endpoint.target, Unit::Bytes, summary);
    row.gate = endpoint.target == Target::Pgmoat;
    Ok(row)
}

async fn idle_client(endpoint: &Endpoint, past: Past) -> Result<Connection, BenchError> {
    let login = endpoint.login(QUERY.user())?;
    let mut connection = Connection::open(endpoint.address(), &login, &endpoint.database).await?;
    match past {
        Past::Silent => {}
        Past::OneStatement => {
            let mut requests = Requests::new(QUERY, Protocol::Simple, 0);
            requests.request(OWN_TENANT, QUERY.key(0), &mut connection.out)?;
            let reply = connection.exchange().await?;
            if reply.rows != 1 {
                let error = reply.error.map_or_else(|| "no row".to_owned(), |error| error.to_string());
                return Err(BenchError::Wrong(format!("{}: {error}", endpoint.target)));
            }
        }
    }
    Ok(connection)
}

impl Past {
    fn name(self) -> &'static str {
        match self {
            Self::Silent => "idle_silent",
            Self::OneStatement => "idle_after_statement",
        }
    }
}

/// Connections that the idle clients leave over, here and in PostgreSQL's own limit.
pub(crate) const SPARE: u32 = 16;
const QUERY: Query = Query::TenantPoint;
const WARM_UP_CLIENTS: u32 = 8;
const SETTLE: Duration = Duration::from_millis(500);
