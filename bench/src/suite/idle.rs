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

/// What an idle client has done, and in which mode of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Past {
    /// Logged in, nothing else.
    Silent,
    /// One statement over a shared connection, in transaction mode.
    OneStatementShared,
    /// One statement in session mode: the client has an upstream connection from then on.
    OneStatement,
}

/// Measures both proxies.
pub(crate) async fn run(plan: &Plan, site: &Site) -> Result<Vec<Row>, BenchError> {
    let mut rows = Vec::new();
    for past in [Past::Silent, Past::OneStatementShared, Past::OneStatement] {
        let (clients, target) = match past {
            Past::Silent | Past::OneStatementShared => (plan.idle_clients, Target::PgbouncerTransaction),
            Past::OneStatement => (attached(plan), Target::PgbouncerSession),
        };
        let pool = past.pool(clients);
        if let Some(pgbouncer) = site.start_pgbouncer(pool)? {
            rows.extend(measure(&pgbouncer.endpoint(target), past, clients).await?);
        }
        let mode = if past == Past::OneStatement { "session" } else { "transaction" };
        let most = clients + SPARE;
        let (_proxy, endpoint) = site
            .start_pgmoat_as(|config| {
                let settings = format!("mode: {mode}, size: {pool}, wait_timeout_ms: 60000");
                config.databases.iter_mut().for_each(|database| database.pool.clone_from(&settings));
                config.extra = format!(
                    "limits: {{ max_clients: {most}, connections_per_user: {most}, connections_per_tenant: {most} }}\n"
                );
            })
            .await?;
        rows.extend(measure(&endpoint, past, clients).await?);
    }
    Ok(rows)
}

/// Clients that have an upstream connection each.
pub(crate) fn attached(plan: &Plan) -> u32 {
    plan.idle_clients.min(ATTACHED_CLIENTS)
}

/// Growth for each client, and what the whole process has.
async fn measure(endpoint: &Endpoint, past: Past, clients: u32) -> Result<Vec<Row>, BenchError> {
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
    let whole = resident_bytes(pid)?;
    drop(idle);
    let name = format!("{}/{clients}", past.name());
    let grown = whole.saturating_sub(before) / u64::from(clients);
    let row = |name: String, bytes: u64| -> Result<Row, BenchError> {
        let summary = Summary::of(&mut [bytes]);
        let summary = summary.ok_or_else(|| BenchError::Wrong("no memory was measured".to_owned()))?;
        let mut row = Row::new("idle", name, endpoint.target, Unit::Bytes, summary);
        row.gate = endpoint.target == Target::Pgmoat;
        Ok(row)
    };
    Ok(vec![row(format!("{name}/each"), grown)?, row(format!("{name}/process"), whole)?])
}

async fn idle_client(endpoint: &Endpoint, past: Past) -> Result<Connection, BenchError> {
    let login = endpoint.login(QUERY.user())?;
    let mut connection = Connection::open(endpoint.address(), &login, &endpoint.database).await?;
    match past {
        Past::Silent => {}
        Past::OneStatement | Past::OneStatementShared => {
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
            Self::OneStatementShared => "idle_after_statement",
            Self::OneStatement => "idle_attached",
        }
    }

    /// Upstream connections.
    fn pool(self, clients: u32) -> u32 {
        match self {
            Self::Silent | Self::OneStatementShared => SHARED_POOL,
            Self::OneStatement => clients + SPARE,
        }
    }
}

/// Connections that the idle clients leave over, here and in PostgreSQL's own limit.
pub(crate) const SPARE: u32 = 16;
/// With a connection each, in session mode.
const ATTACHED_CLIENTS: u32 = 500;
const SHARED_POOL: u32 = 16;
const QUERY: Query = Query::TenantPoint;
const WARM_UP_CLIENTS: u32 = 8;
const SETTLE: Duration = Duration::from_millis(500);
