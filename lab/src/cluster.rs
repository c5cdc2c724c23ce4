//! A PostgreSQL of one's own: made, started, stopped and removed again.
//!
//! It listens on loopback TCP alone, on a port that was free, with SCRAM for everyone. The usual one lives in a
//! temporary folder, does not sync, and is gone with its [`Cluster`]; a kept one (`lab/up`) has a folder of its own
//! and loses nothing.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use rustix::process::Signal;

use crate::account::Account;
use crate::home::Place;
use crate::process::{Farewell, Process};
use crate::tail::server_is_ready;
use crate::{LabError, Postgres};

/// The name of the cluster's superuser; its password is random, see [`Cluster::password`].
pub const SUPERUSER: &str = "postgres";

/// The proxy's own upstream login, made by the lab's schema.
pub const SERVICE_USER: &str = "pgmoat_service";

/// Its password, as the lab's schema sets it.
pub const SERVICE_PASSWORD: &str = "service-secret";

/// How a cluster is made and run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The programs; found if absent.
    pub postgres: Option<Postgres>,
    /// Where the data is, and for how long.
    pub home: Home,
    /// PostgreSQL's `max_connections`.
    pub max_connections: u32,
    /// Further server settings, name and value.
    pub settings: Vec<(String, String)>,
}

/// Where a cluster's data is, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Home {
    /// A temporary folder; nothing is synced to disk, and nothing stays.
    Temporary,
    /// This folder; made if it is not there, used again if it was sealed ([`Cluster::seal`]) with this seed. Where the
    /// server's account cannot reach it, a folder under /var/tmp takes its place ([`Cluster::folder`] tells).
    Kept(PathBuf),
}

impl Default for Options {
    fn default() -> Self {
        Self { postgres: None, home: Home::Temporary, max_connections: 250, settings: Vec::new() }
    }
}

/// A running PostgreSQL. Dropping it stops the server and, if its home is temporary, removes it.
#[derive(Debug)]
pub struct Cluster {
    pub(crate) postgres: Postgres,
    account: Account,
    server: Option<Process>,
    port: u16,
    max_connections: u32,
    settings: Vec<(String, String)>,
    pub(crate) template: Mutex<bool>,
    pub(crate) fresh: AtomicU32,
    place: Place, // last: removed after the server has stopped
}

impl Cluster {
    /// Makes the cluster where there is none, and starts it.
    ///
    /// # Errors
    ///
    /// [`LabError`]: no PostgreSQL, no account to run it as, or the end of what the server said.
    pub fn start(options: Options) -> Result<Self, LabError> {
        let postgres = match options.postgres {
            Some(postgres) => postgres,
            None => Postgres::find()?,
        };
        let account = Account::for_server()?;
        let place = Place::prepare(&options.home, &postgres, account)?;
        Self::start_in(place, postgres, account, options.max_connections, options.settings)
    }

    /// A standby of this one that follows it by streaming replication, with the same roles and passwords. It is promoted
    /// by `SELECT pg_promote()`.
    ///
    /// # Errors
    ///
    /// [`LabError`]: pg_basebackup's, or the end of what the server said.
    pub fn standby(&self) -> Result<Self, LabError> {
        let (dsn, password) = (self.dsn(SUPERUSER, "postgres"), self.password(SUPERUSER));
        let place = Place::copy_of(&dsn, password, &self.postgres, self.account)?;
        let settings = self.settings.clone();
        Self::start_in(place, self.postgres.clone(), self.account, self.max_connections, settings)
    }

    fn start_in(
        place: Place,
        postgres: Postgres,
        account: Account,
        max_connections: u32,
        settings: Vec<(String, String)>,
    ) -> Result<Self, LabError> {
        let mut cluster = Self {
            postgres,
            account,
            server: None,
            port: 0,
            max_connections,
            settings,
            template: Mutex::new(false),
            fresh: AtomicU32::new(0),
            place,
        };
        // A free port may be taken by somebody else before the server binds it.
        let mut tries = PORT_TRIES;
        loop {
            cluster.port = free_port()?;
            tries -= 1;
            match cluster.start_again() {
                Err(LabError::NotReady { log, .. })
                    if tries > 0 && log.contains("Address already in use") => {}
                started => return started.map(|()| cluster),
            }
        }
    }

    /// Starts a stopped server again on the same port. A running one stays as it is.
    ///
    /// # Errors
    ///
    /// [`LabError::NotReady`] with the end of the server's log.
    pub fn start_again(&mut self) -> Result<(), LabError> {
        if self.server.is_some() {
            return Ok(());
        }
        let data = self.place.data();
        let mut command = self.account.command(&self.postgres.tool("postgres"), self.place.folder());
        command.arg("-D").arg(&data);
        for (name, value) in self.server_settings() {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        let farewell = Farewell { signal: self.stop_signal().1, remove: self.place.temporary() };
        let mut server = Process::start(&mut command, &self.place.log(), self.account, farewell)?;
        let pid = server.pid().to_string();
        server.until(START_LIMIT, || server_is_ready(&data, &pid).then_some(()))?;
        self.server = Some(server);
        Ok(())
    }

    /// Stops the server; its data stays. Clients see what a crash of the server shows them (a temporary cluster) or
    /// an orderly shutdown (a kept one).
    pub fn stop(&mut self) {
        let signal = self.stop_signal().0;
        if let Some(mut server) = self.server.take() {
            // What does not stop in time is killed when `server` is dropped.
            let _ = server.signal(signal);
            let _ = server.wait(STOP_LIMIT);
        }
    }

    /// Notes in a kept home that all its data is in; one without this note is made anew at the next start.
    ///
    /// # Errors
    ///
    /// [`LabError::Io`].
    pub fn seal(&self) -> Result<(), LabError> {
        self.place.seal()
    }

    /// Stops and starts, on the same port.
    ///
    /// # Errors
    ///
    /// As [`Cluster::start_again`].
    pub fn restart(&mut self) -> Result<(), LabError> {
        self.stop();
        self.start_again()
    }

    /// The loopback port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The programs that it runs.
    #[must_use]
    pub fn postgres(&self) -> &Postgres {
        &self.postgres
    }

    /// The folder with its data, log and the superuser's password.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.place.folder()
    }

    /// What the server has logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.server.as_ref().map(Process::log).unwrap_or_default()
    }

    /// The password of [`SUPERUSER`] or [`SERVICE_USER`]; empty for anyone else.
    #[must_use]
    pub fn password(&self, user: &str) -> &str {
        match user {
            SUPERUSER => self.place.superuser_password(),
            SERVICE_USER => SERVICE_PASSWORD,
            _ => "",
        }
    }

    /// A connection string for one of these two, with the password.
    #[must_use]
    pub fn dsn(&self, user: &str, database: &str) -> String {
        format!("postgresql://{user}:{}@127.0.0.1:{}/{database}", self.password(user), self.port)
    }

    fn server_settings(&self) -> Vec<(String, String)> {
        let mut settings: Vec<(&str, String)> = vec![
            ("listen_addresses", "127.0.0.1".into()),
            ("unix_socket_directories", String::new()),
            ("port", self.port.to_string()),
            ("max_connections", self.max_connections.to_string()),
            ("password_encryption", "scram-sha-256".into()),
        ];
        if self.place.temporary().is_some() {
            for name in ["fsync", "synchronous_commit", "full_page_writes"] {
                settings.push((name, "off".into()));
            }
        }
        let fixed = settings.into_iter().map(|(name, value)| (name.to_owned(), value));
        fixed.chain(self.settings.iter().cloned()).collect()
    }

    /// PostgreSQL's immediate shutdown for what is thrown away, its fast one for what is kept. Never SIGKILL: that
    /// leaves a shared memory segment behind.
    fn stop_signal(&self) -> (Signal, &'static str) {
        match self.place.temporary() {
            Some(_) => (Signal::QUIT, "QUIT"),
            None => (Signal::INT, "INT"),
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A loopback port that nobody listens on at this moment.
fn free_port() -> Result<u16, LabError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(LabError::io("find a free loopback port"))
}

const PORT_TRIES: u32 = 5;
const START_LIMIT: Duration = Duration::from_secs(60);
const STOP_LIMIT: Duration = Duration::from_secs(30);
