//! The PostgreSQL that everything is measured on: one of the harness's own, or one that is given.
//!
//! On a given one the harness makes a database of its own and the lab's login, and drops the database again. Loading
//! needs a superuser; its password is taken from `PGPASSWORD`.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use pgmoat_lab::{Cluster, DATA_SQL, Options, Postgres, SCHEMA_SQL, SERVICE_USER};

use crate::error::BenchError;
use crate::plan::GivenServer;

/// A PostgreSQL with the lab's tables and pgbench's in one database.
#[derive(Debug)]
pub(crate) enum Server {
    Own { cluster: Cluster, database: String },
    Given(Given),
}

/// A server that was there before. Dropping it drops the database.
#[derive(Debug)]
pub(crate) struct Given {
    place: GivenServer,
    postgres: Postgres,
    database: String,
}

impl Server {
    /// Starts one, with these settings beside the lab's own.
    pub(crate) fn start(max_connections: u32, settings: &[(&str, &str)]) -> Result<Self, BenchError> {
        let settings =
            settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let cluster = Cluster::start(Options { max_connections, settings, ..Options::default() })?;
        let database = cluster.fresh_lab_database()?;
        Ok(Self::Own { cluster, database })
    }

    /// Makes a lab database on a given one.
    pub(crate) fn prepare(place: GivenServer, max_connections: u32) -> Result<Self, BenchError> {
        let given = Given {
            place,
            postgres: Postgres::find()?,
            database: format!("pgmoat_bench_{}", std::process::id()),
        };
        let allowed = given.psql("postgres", "SHOW max_connections")?;
        if allowed.trim().parse::<u32>().is_ok_and(|allowed| allowed < max_connections) {
            let allowed = allowed.trim();
            return Err(BenchError::Usage(format!(
                "the server's max_connections is {allowed}, and these suites need {max_connections}"
            )));
        }
        given.psql(
            "postgres",
            &format!("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'", given.database),
        )?;
        let role = format!("SELECT count(*) FROM pg_roles WHERE rolname = '{SERVICE_USER}'");
        let has_role = given.psql("postgres", &role)?.trim() == "1";
        let lines = SCHEMA_SQL.lines().filter(|line| !(has_role && line.starts_with("CREATE ROLE")));
        given.psql(&given.database, &lines.collect::<Vec<_>>().join("\n"))?;
        given.psql(&given.database, DATA_SQL)?;
        Ok(Self::Given(given))
    }

    /// An IP address or a name.
    pub(crate) fn host(&self) -> &str {
        match self {
            Self::Own { .. } => "127.0.0.1",
            Self::Given(given) => &given.place.host,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        match self {
            Self::Own { cluster, .. } => cluster.port(),
            Self::Given(given) => given.place.port,
        }
    }

    pub(crate) fn database(&self) -> &str {
        match self {
            Self::Own { database, .. } => database,
            Self::Given(given) => &given.database,
        }
    }

    /// Runs SQL as the superuser.
    pub(crate) fn psql(&self, sql: &str) -> Result<String, BenchError> {
        match self {
            Self::Own { cluster, database } => Ok(cluster.psql(database, sql)?),
            Self::Given(given) => given.psql(&given.database, sql),
        }
    }

    /// Makes pgbench's tables and lets the proxies' login read them.
    pub(crate) fn pgbench_init(&self, scale: u32) -> Result<(), BenchError> {
        match self {
            Self::Own { cluster, database } => Ok(cluster.pgbench_init(database, scale)?),
            Self::Given(given) => {
                let mut command = given.client("pgbench", &given.database);
                given.run(command.args(["-i", "-q", "-s", &scale.to_string()]))?;
                let grant = format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {SERVICE_USER}");
                given.psql(&given.database, &grant).map(drop)
            }
        }
    }

    /// One of PostgreSQL's programs.
    pub(crate) fn tool(&self, name: &str) -> PathBuf {
        match self {
            Self::Own { cluster, .. } => cluster.postgres().tool(name),
            Self::Given(given) => given.postgres.tool(name),
        }
    }

    /// As it names itself.
    pub(crate) fn version(&self) -> Option<String> {
        let version = self.psql("SHOW server_version").ok()?;
        Some(format!("PostgreSQL {}", version.trim()))
    }

    /// Whether it was started for this run, with the harness's settings.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self, Self::Own { .. })
    }
}

impl Given {
    fn psql(&self, database: &str, sql: &str) -> Result<String, BenchError> {
        let file = tempfile::NamedTempFile::new().map_err(BenchError::io("make a file"))?;
        std::fs::write(file.path(), sql).map_err(BenchError::io("write a file"))?;
        let mut command = self.client("psql", database);
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f"]).arg(file.path());
        self.run(&mut command)
    }

    fn client(&self, program: &str, database: &str) -> Command {
        let GivenServer { host, port, user } = &self.place;
        let mut command = Command::new(self.postgres.tool(program));
        command.env("PGHOST", host).env("PGPORT", port.to_string()).env("PGUSER", user);
        command.env("PGDATABASE", database).stdin(Stdio::null());
        command
    }

    fn run(&self, command: &mut Command) -> Result<String, BenchError> {
        let output = command.output().map_err(BenchError::io("run one of PostgreSQL's clients"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let hint = if env::var_os("PGPASSWORD").is_none() { " (PGPASSWORD is not set)" } else { "" };
        Err(BenchError::Usage(format!("{}:{}: {}{hint}", self.place.host, self.place.port, said.trim_end())))
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        // Whoever is still connected is a proxy of this run.
        let _ = self.psql("postgres", &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.database));
    }
}
