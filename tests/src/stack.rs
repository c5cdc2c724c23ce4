//! A PostgreSQL with the lab, shared by the tests of one binary, and proxies before it.
//!
//! A static is never dropped; the lab's guard stops the server when the test process ends.

use std::env;
use std::io;
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use pgmoat_lab::{Cluster, LabError, Options, Postgres, Proxy, ProxyConfig, User};

use crate::{Login, Raw, pgmoat_binary};

/// The shared server.
#[derive(Debug)]
pub struct Stack {
    cluster: Cluster,
}

/// A proxy of a test's own, before a database of its own.
#[derive(Debug)]
pub struct Proxied {
    /// The running proxy; clients name its database `lab`.
    pub proxy: Proxy,
    /// The upstream database.
    pub database: String,
}

impl Stack {
    /// The one of this process, started at first use.
    ///
    /// # Panics
    ///
    /// Where it cannot be started: no test has a meaning then.
    #[must_use]
    pub fn get() -> &'static Self {
        #[expect(clippy::panic, reason = "a test without its server has failed")]
        static SHARED: LazyLock<Stack> = LazyLock::new(|| match Cluster::start(Options::default()) {
            Ok(cluster) => Stack { cluster },
            Err(error) => panic!("{error}"),
        });
        &SHARED
    }

    /// One of the caller's own, with the programs of one server.
    ///
    /// # Errors
    ///
    /// It does not start.
    pub fn of(postgres: Postgres) -> Result<Self, LabError> {
        let options = Options { postgres: Some(postgres), ..Options::default() };
        Ok(Self { cluster: Cluster::start(options)? })
    }

    /// The PostgreSQL.
    #[must_use]
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// A new database with the lab's schema and rows.
    ///
    /// # Errors
    ///
    /// What PostgreSQL says.
    pub fn database(&self) -> Result<String, LabError> {
        self.cluster.fresh_lab_database()
    }

    /// A proxy with the lab's policy and users before a new database.
    ///
    /// # Errors
    ///
    /// The binary is not there, or did not come up; its log is in the error.
    pub fn proxy(&self) -> Result<Proxied, LabError> {
        self.proxy_with(|_| {})
    }

    /// The same after a change of its configuration.
    ///
    /// # Errors
    ///
    /// As [`Stack::proxy`].
    pub fn proxy_with(&self, change: impl FnOnce(&mut ProxyConfig)) -> Result<Proxied, LabError> {
        self.proxy_before(&self.database()?, change)
    }

    /// A proxy before a database that is there already. `PGMOAT_POOL` says how its connections are shared where the
    /// test does not, as in `mode: transaction, size: 3`.
    ///
    /// # Errors
    ///
    /// As [`Stack::proxy`].
    pub fn proxy_before(
        &self,
        database: &str,
        change: impl FnOnce(&mut ProxyConfig),
    ) -> Result<Proxied, LabError> {
        let mut config = ProxyConfig::lab(&self.cluster, database);
        if let (Ok(pool), [database]) = (env::var("PGMOAT_POOL"), config.databases.as_mut_slice()) {
            database.pool = pool;
        }
        change(&mut config);
        let binary = pgmoat_binary().map_err(|error| LabError::Unusable(error.to_string()))?;
        let proxy = Proxy::start(&binary, &config)?;
        Ok(Proxied { proxy, database: database.to_owned() })
    }

    /// How to log in to PostgreSQL itself, as [`pgmoat_lab::SUPERUSER`] or [`pgmoat_lab::SERVICE_USER`].
    #[must_use]
    pub fn direct<'a>(&'a self, user: &'a str, database: &'a str) -> Login<'a> {
        Login {
            port: self.cluster.port(),
            user,
            password: self.cluster.password(user).to_owned(),
            database,
            more: &[],
        }
    }
}

impl Proxied {
    /// How to log in to the proxy as a user of the lab.
    #[must_use]
    pub fn login<'a>(&self, user: &'a str) -> Login<'a> {
        let password = User::named(user).map(User::password).unwrap_or_default();
        Login { port: self.proxy.port(), user, password, database: "lab", more: &[] }
    }

    /// Waits until this user can log in: on a busy machine a proxy that has just been started has no catalog yet.
    ///
    /// # Errors
    /// It cannot after a minute; the error is the last one.
    pub fn answers(&self, user: &str) -> io::Result<()> {
        let since = Instant::now();
        loop {
            match Raw::connect(&self.login(user)) {
                Ok(_) => return Ok(()),
                Err(error) if since.elapsed() > STARTS_IN => return Err(error),
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// A connection string for a user of the lab.
    #[must_use]
    pub fn dsn(&self, user: &str) -> String {
        self.proxy.dsn(user, "lab")
    }
}

/// How long a proxy may take until its first client is served.
const STARTS_IN: Duration = Duration::from_secs(60);
