//! What all suites stand on: one PostgreSQL with its data, and the programs that are put before it.

use std::env;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pgmoat_lab::{Cluster, Options, Proxy, ProxyConfig};
use serde_json::json;
use tokio::time::sleep;

use crate::client::Connection;
use crate::error::BenchError;
use crate::pgbouncer::{self, PgBouncer};
use crate::target::{Endpoint, Target};
use crate::workload::{Query, SCALE};

/// The running PostgreSQL, and where the other programs are. Dropping it stops the server.
#[derive(Debug)]
pub(crate) struct Site {
    cluster: Cluster,
    database: String,
    pgmoat: PathBuf,
    pgbouncer: Option<PathBuf>,
}

impl Site {
    /// Starts PostgreSQL, with the lab's tables and pgbench's in one database.
    pub(crate) fn start(pgmoat: PathBuf, max_connections: u32) -> Result<Self, BenchError> {
        let settings = SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let cluster = Cluster::start(Options { max_connections, settings, ..Options::default() })?;
        let database = cluster.fresh_lab_database()?;
        cluster.pgbench_init(&database, SCALE)?;
        // Hint bits and statistics: the first reader is not to pay for them.
        cluster.psql(&database, "VACUUM ANALYZE")?;
        cluster.psql(&database, "CHECKPOINT")?;
        Ok(Self { cluster, database, pgmoat, pgbouncer: PgBouncer::find() })
    }

    /// PostgreSQL itself.
    pub(crate) fn direct(&self) -> Endpoint {
        let database = self.database.clone();
        Endpoint { target: Target::Direct, port: self.cluster.port(), database, pid: None }
    }

    /// A pgmoat of its own, as a user runs it: policy on, audit to a file.
    pub(crate) async fn start_pgmoat(&self, pool: u32) -> Result<(Proxy, Endpoint), BenchError> {
        self.start_pgmoat_with(&pgmoat_pool(pool)).await
    }

    /// The same with these settings of its pool.
    pub(crate) async fn start_pgmoat_with(&self, pool: &str) -> Result<(Proxy, Endpoint), BenchError> {
        let mut config = ProxyConfig::lab(&self.cluster, &self.database);
        for database in &mut config.databases {
            database.pool = pool.to_owned();
        }
        let proxy = Proxy::start(&self.pgmoat, &config)?;
        let endpoint = Endpoint {
            target: Target::Pgmoat,
            port: proxy.port(),
            database: "lab".to_owned(),
            pid: proxy.pid(),
        };
        until_it_serves(&endpoint).await?;
        Ok((proxy, endpoint))
    }

    /// A PgBouncer of its own; none where none is installed.
    pub(crate) fn start_pgbouncer(&self, pool: u32) -> Result<Option<PgBouncer>, BenchError> {
        let start = |program: &Path| PgBouncer::start(program, &self.cluster, &self.database, pool);
        self.pgbouncer.as_deref().map(start).transpose()
    }

    pub(crate) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    pub(crate) fn pgmoat(&self) -> &Path {
        &self.pgmoat
    }

    pub(crate) fn pgbouncer(&self) -> Option<&Path> {
        self.pgbouncer.as_deref()
    }

    /// How the three are set up, for the report.
    pub(crate) fn described(&self, max_connections: u32, pool: u32) -> serde_json::Value {
        let mut postgresql = json!({
            "max_connections": max_connections,
            "fsync": "off",
            "synchronous_commit": "off",
            "full_page_writes": "off",
            "pgbench_scale": SCALE,
        });
        if let Some(object) = postgresql.as_object_mut() {
            object.extend(SETTINGS.map(|(name, value)| (name.to_owned(), json!(value))));
        }
        json!({
            "postgresql": postgresql,
            "pgmoat": {
                "policy": "the lab's",
                "audit": "to a file, durability: batched",
                "pool": pgmoat_pool(pool),
                "upstream": "tls: disable",
            },
            "pgbouncer": self.pgbouncer.as_ref().map(|_| pgbouncer::described(pool)),
        })
    }
}

/// The program that is measured: `PGMOAT_BIN`, else the one beside this program.
pub(crate) fn pgmoat_binary() -> Result<PathBuf, BenchError> {
    let own = env::current_exe().map_err(BenchError::io("find the harness's own program"))?;
    let binary = env::var_os("PGMOAT_BIN").map_or_else(|| own.with_file_name("pgmoat"), PathBuf::from);
    if binary.is_file() {
        return Ok(binary);
    }
    Err(BenchError::Usage(format!(
        "there is no {}: run bench/run, which builds it, or set PGMOAT_BIN",
        binary.display()
    )))
}

/// It listens before it has read the catalog, and answers 57P03 until then.
async fn until_it_serves(endpoint: &Endpoint) -> Result<(), BenchError> {
    let login = endpoint.login(Query::T1Point.user())?;
    let started = Instant::now();
    loop {
        match Connection::open(endpoint.address(), &login, &endpoint.database).await {
            Err(BenchError::Login { error, .. })
                if error.code == CANNOT_CONNECT_NOW && started.elapsed() < SERVE_LIMIT =>
            {
                sleep(POLL).await;
            }
            opened => return opened.map(drop),
        }
    }
}

fn pgmoat_pool(size: u32) -> String {
    format!("mode: session, size: {size}, wait_timeout_ms: 5000")
}

/// Beside the lab's own: what a server of this size would have.
const SETTINGS: [(&str, &str); 3] =
    [("shared_buffers", "512MB"), ("max_wal_size", "2GB"), ("autovacuum", "off")];
const CANNOT_CONNECT_NOW: &str = "57P03";
const SERVE_LIMIT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(20);
