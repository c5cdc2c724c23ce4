//! What all suites stand on: one PostgreSQL with its data, and the programs that are put before it.

use std::env;
use std::net::{Ipv4Addr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pgmoat_lab::{Proxy, ProxyConfig};
use serde_json::json;
use tokio::time::sleep;

use crate::client::Connection;
use crate::error::BenchError;
use crate::pgbouncer::{self, PgBouncer};
use crate::plan::GivenServer;
use crate::server::Server;
use crate::target::{Endpoint, Target};
use crate::workload::{Query, SCALE};

/// The running PostgreSQL, and where the other programs are. Dropping it stops the server.
#[derive(Debug)]
pub(crate) struct Site {
    server: Server,
    pgmoat: PathBuf,
    pgbouncer: Option<PathBuf>,
}

impl Site {
    /// Starts PostgreSQL, or takes a given one, with the lab's tables and pgbench's in one database.
    pub(crate) fn start(
        pgmoat: PathBuf,
        given: Option<GivenServer>,
        max_connections: u32,
    ) -> Result<Self, BenchError> {
        let server = match given {
            None => Server::start(max_connections, &SETTINGS)?,
            Some(given) => Server::prepare(given, max_connections)?,
        };
        server.pgbench_init(SCALE)?;
        server.psql(PEOPLE_SQL)?;
        // Hint bits and statistics: the first reader is not to pay for them.
        server.psql("VACUUM ANALYZE")?;
        server.psql("CHECKPOINT")?;
        Ok(Self { server, pgmoat, pgbouncer: PgBouncer::find() })
    }

    /// PostgreSQL itself.
    pub(crate) fn direct(&self) -> Result<Endpoint, BenchError> {
        let (host, port) = (self.server.host(), self.server.port());
        let mut addresses =
            (host, port).to_socket_addrs().map_err(BenchError::io(format!("find the address of {host}")))?;
        let unknown = || BenchError::Usage(format!("{host} has no address"));
        let address = addresses.next().ok_or_else(unknown)?;
        let database = self.server.database().to_owned();
        Ok(Endpoint { target: Target::Direct, host: address.ip(), port, database, pid: None })
    }

    /// A pgmoat of its own, as a user runs it: policy on, audit to a file.
    pub(crate) async fn start_pgmoat(&self, pool: u32) -> Result<(Proxy, Endpoint), BenchError> {
        self.start_pgmoat_with(&pgmoat_pool(pool)).await
    }

    /// The same with these settings of its pool.
    pub(crate) async fn start_pgmoat_with(&self, pool: &str) -> Result<(Proxy, Endpoint), BenchError> {
        let pool = pool.to_owned();
        self.start_pgmoat_as(move |config| {
            config.databases.iter_mut().for_each(|database| database.pool.clone_from(&pool));
        })
        .await
    }

    /// The same with anything changed.
    pub(crate) async fn start_pgmoat_as(
        &self,
        change: impl FnOnce(&mut ProxyConfig),
    ) -> Result<(Proxy, Endpoint), BenchError> {
        let server = &self.server;
        let mut config = ProxyConfig::before(server.host(), server.port(), server.database());
        change(&mut config);
        let proxy = Proxy::start(&self.pgmoat, &config)?;
        let endpoint = Endpoint {
            target: Target::Pgmoat,
            host: Ipv4Addr::LOCALHOST.into(),
            port: proxy.port(),
            database: "lab".to_owned(),
            pid: proxy.pid(),
        };
        until_it_serves(&endpoint).await?;
        Ok((proxy, endpoint))
    }

    /// A PgBouncer of its own; none where none is installed.
    pub(crate) fn start_pgbouncer(&self, pool: u32) -> Result<Option<PgBouncer>, BenchError> {
        let start = |program: &Path| PgBouncer::start(program, &self.server, pool);
        self.pgbouncer.as_deref().map(start).transpose()
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    pub(crate) fn pgbouncer(&self) -> Option<&Path> {
        self.pgbouncer.as_deref()
    }

    /// How the three are set up, for the report.
    pub(crate) fn described(&self, max_connections: u32, pool: u32) -> serde_json::Value {
        let postgresql = if self.server.is_own() {
            let mut own = json!({
                "max_connections": max_connections,
                "fsync": "off",
                "synchronous_commit": "off",
                "full_page_writes": "off",
                "pgbench_scale": SCALE,
            });
            if let Some(object) = own.as_object_mut() {
                object.extend(SETTINGS.map(|(name, value)| (name.to_owned(), json!(value))));
            }
            own
        } else {
            json!({ "given": true, "pgbench_scale": SCALE })
        };
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

/// A table for results with a masked column: for each of two tenants as many rows as one result has.
const PEOPLE_SQL: &str = "\
CREATE TABLE app.people (id integer PRIMARY KEY, tenant_id text NOT NULL, email text NOT NULL, full_name text NOT NULL,
                         city text NOT NULL);
INSERT INTO app.people SELECT g, CASE WHEN g <= 5000 THEN 'acme' ELSE 'globex' END, 'person' || g || '@example.test',
                              'Person ' || g, 'City ' || g % 97 FROM generate_series(1, 10000) g;
GRANT SELECT ON app.people TO pgmoat_service";
/// Beside the lab's own: what a server of this size would have.
const SETTINGS: [(&str, &str); 3] =
    [("shared_buffers", "512MB"), ("max_wal_size", "2GB"), ("autovacuum", "off")];
const CANNOT_CONNECT_NOW: &str = "57P03";
/// On a machine that is busy with other things.
const SERVE_LIMIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);
