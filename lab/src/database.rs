//! What is done in a cluster's databases: PostgreSQL's own clients run the SQL.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use crate::cluster::SUPERUSER;
use crate::{Cluster, DATA_SQL, LabError, SCHEMA_SQL, SERVICE_USER};

impl Cluster {
    /// Runs SQL as the superuser and returns what psql prints (unaligned, no headers). The first error ends it.
    ///
    /// # Errors
    ///
    /// [`LabError::Failed`] with psql's words.
    pub fn psql(&self, database: &str, sql: &str) -> Result<String, LabError> {
        let mut command = self.client("psql", database);
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]);
        let output = run(&mut command, sql)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Makes an empty database.
    ///
    /// # Errors
    ///
    /// [`LabError::Failed`]: it exists, or the name is none.
    pub fn create_database(&self, name: &str) -> Result<(), LabError> {
        self.psql("postgres", &format!("CREATE DATABASE \"{name}\" TEMPLATE template0")).map(drop)
    }

    /// Makes a database with the lab's schema and rows. The first one loads them into a template, so all are the same
    /// and each costs a copy only. The roles of the schema come with the first.
    ///
    /// # Errors
    ///
    /// [`LabError::Failed`]: it exists, or the schema does not load.
    pub fn create_lab_database(&self, name: &str) -> Result<(), LabError> {
        self.need_template()?;
        self.psql("postgres", &format!("CREATE DATABASE \"{name}\" TEMPLATE {TEMPLATE}")).map(drop)
    }

    /// Makes a lab database under a name that no other has, and returns the name.
    ///
    /// # Errors
    ///
    /// As [`Cluster::create_lab_database`].
    pub fn fresh_lab_database(&self) -> Result<String, LabError> {
        let name = format!("lab_{}", self.fresh.fetch_add(1, Ordering::Relaxed));
        self.create_lab_database(&name)?;
        Ok(name)
    }

    /// Whether there is a database of that name.
    ///
    /// # Errors
    ///
    /// [`LabError::Failed`].
    pub fn has_database(&self, name: &str) -> Result<bool, LabError> {
        let sql = format!("SELECT count(*) FROM pg_database WHERE datname = '{}'", name.replace('\'', "''"));
        Ok(self.psql("postgres", &sql)?.trim() == "1")
    }

    /// Makes pgbench's tables (in `public`; 100,000 accounts a unit of scale) and lets the proxy's login read them.
    ///
    /// # Errors
    ///
    /// [`LabError::Failed`] with pgbench's words.
    pub fn pgbench_init(&self, database: &str, scale: u32) -> Result<(), LabError> {
        run(self.client("pgbench", database).args(["-i", "-q", "-s", &scale.to_string()]), "")?;
        let tables = "public.pgbench_accounts, public.pgbench_branches, public.pgbench_tellers, public.pgbench_history";
        self.psql(database, &format!("GRANT SELECT ON {tables} TO {SERVICE_USER}")).map(drop)
    }

    /// One of PostgreSQL's clients, aimed at a database of this cluster as the superuser. libpq's environment of
    /// whoever runs the tests has no say.
    fn client(&self, program: &str, database: &str) -> Command {
        let mut command = Command::new(self.postgres.tool(program));
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_libpq(name)) {
            command.env_remove(name);
        }
        command.env("PGHOST", "127.0.0.1").env("PGPORT", self.port().to_string()).env("PGUSER", SUPERUSER);
        command.env("PGPASSWORD", self.password(SUPERUSER)).env("PGDATABASE", database);
        command
    }

    fn need_template(&self) -> Result<(), LabError> {
        let mut made = self.template.lock().unwrap_or_else(PoisonError::into_inner);
        if !*made && !self.has_database(TEMPLATE)? {
            self.create_database(TEMPLATE_UNFINISHED)?;
            self.psql(TEMPLATE_UNFINISHED, SCHEMA_SQL)?;
            self.psql(TEMPLATE_UNFINISHED, DATA_SQL)?;
            // Renamed when it is whole: an interrupted load is not taken for a template.
            self.psql("postgres", &format!("ALTER DATABASE {TEMPLATE_UNFINISHED} RENAME TO {TEMPLATE}"))?;
        }
        *made = true;
        Ok(())
    }
}

/// Runs a client with `input` as its standard input.
fn run(command: &mut Command, input: &str) -> Result<Output, LabError> {
    let name =
        Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let doing = || LabError::io(format!("run {name}"));
    // A file instead of a pipe: nobody has to write while somebody else reads.
    let mut stdin: File = tempfile::tempfile().map_err(doing())?;
    stdin.write_all(input.as_bytes()).and_then(|()| stdin.rewind()).map_err(doing())?;
    let output = command.stdin(stdin).output().map_err(doing())?;
    if output.status.success() { Ok(output) } else { Err(LabError::failed(name, &output)) }
}

fn is_libpq(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with("PG") && !name.starts_with("PGMOAT_"))
}

const TEMPLATE: &str = "lab_template";
const TEMPLATE_UNFINISHED: &str = "lab_template_unfinished";
