//! Debian's PgBouncer, set up like the proxy: the same clients, SCRAM on both sides, one upstream login.
//!
//! Two databases lead to the same one upstream, in session and in transaction mode. It dies with the harness, also
//! when that is killed: setpriv asks the kernel for it (PR_SET_PDEATHSIG), and changes the account, since PgBouncer
//! refuses to run as root.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pgmoat_lab::{SERVICE_PASSWORD, SERVICE_USER, users};
use tempfile::TempDir;

use crate::error::BenchError;
use crate::server::Server;
use crate::target::{Endpoint, Target};

/// A running PgBouncer. Dropping it stops it.
#[derive(Debug)]
pub(crate) struct PgBouncer {
    child: Child,
    port: u16,
    folder: TempDir, // last: removed after the process has ended
}

impl PgBouncer {
    /// Where the program is: the PATH, and Debian's place for it, which is not on everybody's PATH.
    pub(crate) fn find() -> Option<PathBuf> {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
        folders.map(|folder| folder.join("pgbouncer")).find(|program| program.is_file())
    }

    /// Starts it before a server's database, with at most `pool` connections to it in each mode.
    pub(crate) fn start(program: &Path, server: &Server, pool: u32) -> Result<Self, BenchError> {
        let mut tries = PORT_TRIES;
        loop {
            tries -= 1;
            // A free port may be taken by somebody else before PgBouncer binds it.
            let started = Self::start_on(free_port()?, program, server, pool);
            if started.is_ok() || tries == 0 {
                return started;
            }
        }
    }

    fn start_on(port: u16, program: &Path, server: &Server, pool: u32) -> Result<Self, BenchError> {
        let doing = || BenchError::io("write PgBouncer's files");
        let folder = tempfile::Builder::new().prefix("pgmoat-bench-").tempdir().map_err(doing())?;
        // Readable by the account that it changes to; the passwords in it are the lab's, and no secret.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).map_err(doing())?;
        let auth_file = folder.path().join("users.txt");
        fs::write(&auth_file, passwords()).map_err(doing())?;
        let ini = folder.path().join("pgbouncer.ini");
        fs::write(&ini, settings(port, server, &auth_file, pool)).map_err(doing())?;
        let log = fs::File::create(folder.path().join("pgbouncer.log")).map_err(doing())?;

        let mut command = Command::new("setpriv");
        if fs::metadata(folder.path()).map_err(doing())?.uid() == 0 {
            command.args(["--reuid", ACCOUNT, "--regid", ACCOUNT, "--init-groups"]);
        }
        // A group of its own: Ctrl-C is for us, we stop it in order.
        command.args(["--pdeathsig", "KILL"]).arg(program).arg("--quiet").arg(&ini).process_group(0);
        let errors = log.try_clone().map_err(doing())?;
        let child = command
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .spawn()
            .map_err(BenchError::io("start setpriv (Debian: util-linux)"))?;
        let mut pgbouncer = Self { child, port, folder };
        pgbouncer.wait_until_it_listens()?;
        Ok(pgbouncer)
    }

    /// One of its two databases.
    pub(crate) fn endpoint(&self, target: Target) -> Endpoint {
        let database = if target.keeps_prepared_statements() { SESSION } else { TRANSACTION };
        Endpoint {
            target,
            host: Ipv4Addr::LOCALHOST.into(),
            port: self.port,
            database: database.to_owned(),
            pid: Some(self.child.id()),
        }
    }

    fn wait_until_it_listens(&mut self) -> Result<(), BenchError> {
        let started = Instant::now();
        loop {
            let ended = self.child.try_wait().map_err(BenchError::io("wait for PgBouncer"))?;
            if ended.is_none() && TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
                return Ok(());
            }
            if ended.is_some() || started.elapsed() > START_LIMIT {
                let log = fs::read_to_string(self.folder.path().join("pgbouncer.log")).unwrap_or_default();
                return Err(BenchError::Wrong(format!("PgBouncer does not start:\n{}", log.trim_end())));
            }
            sleep(POLL);
        }
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        // It has nothing to save.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a report says of the settings; those not named are PgBouncer's defaults.
pub(crate) fn described(pool: u32) -> serde_json::Value {
    serde_json::json!({
        "pool_mode": "session and transaction, a database each",
        "default_pool_size": pool,
        "auth_type": "scram-sha-256",
        "tls": "disabled on both sides",
        "log_connections": 0,
        "log_disconnections": 0,
    })
}

fn settings(port: u16, server: &Server, auth_file: &Path, pool: u32) -> String {
    let (host, upstream, database) = (server.host(), server.port(), server.database());
    let login = format!("user={SERVICE_USER} password={SERVICE_PASSWORD}");
    let server = format!("host={host} port={upstream} dbname={database} {login}");
    format!(
        "[databases]\n\
         {SESSION} = {server} pool_mode=session\n\
         {TRANSACTION} = {server} pool_mode=transaction\n\
         [pgbouncer]\n\
         listen_addr = 127.0.0.1\n\
         listen_port = {port}\n\
         unix_socket_dir =\n\
         auth_type = scram-sha-256\n\
         auth_file = {}\n\
         client_tls_sslmode = disable\n\
         server_tls_sslmode = disable\n\
         default_pool_size = {pool}\n\
         max_client_conn = {MAX_CLIENTS}\n\
         log_connections = 0\n\
         log_disconnections = 0\n",
        auth_file.display()
    )
}

fn passwords() -> String {
    let mut text = String::new();
    for user in users() {
        // Writing to a String does not fail.
        let _ = writeln!(text, "\"{}\" \"{}\"", user.name, user.password());
    }
    text
}

fn free_port() -> Result<u16, BenchError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(BenchError::io("find a free loopback port"))
}

const SESSION: &str = "lab_session";
const TRANSACTION: &str = "lab_transaction";
/// Where PostgreSQL's packages are, this account is.
const ACCOUNT: &str = "postgres";
const MAX_CLIENTS: u32 = 12_000;
const PORT_TRIES: u32 = 3;
const START_LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(10);
