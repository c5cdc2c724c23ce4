//! The proxy's configuration: a file, read whole or not at all, into types that cannot hold nonsense.
//!
//! [`load`] reads the configuration, the users file and the policy that it names, compares users
//! with roles, and reports everything that is wrong at once. Nothing is opened, resolved or run by
//! that: secrets are fetched, and certificates read, when a [`Database::target`] or
//! [`Audit::options`] is asked for.

mod admin;
mod agree;
mod audit;
mod client;
mod database;
mod fixed;
mod keys;
mod load;
mod moment;
mod network;
mod numbers;
mod pool;
mod read;
mod secret;
mod token;
mod translate;
mod upstream;
mod user;
mod verifier;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub use admin::{Admin, AdminLimits};
pub use client::{ClientTls, ClientTlsMode, Listen};
pub use keys::{CONFIGURATION_FILE, USERS_FILE, reference, schema};
pub use network::Network;
pub use read::{Loaded, PolicyText, Read, load, load_policy, read};
pub use secret::{SecretError, SecretSource};
pub use token::{Token, TokenHash};
pub(crate) use verifier::parse as verifier;

use pgmoat_audit::{Durability, Rotation};
use pgmoat_policy::policy::Place;
use pgmoat_upstream::{Address, SessionAttributes};

use crate::server::Verifier;
use crate::shared::{Audited, Patience};

/// What a configuration file says. Paths are as the process can open them: relative ones were
/// taken from the file's folder.
#[derive(Debug)]
pub struct Config {
    /// Where clients connect, at least one.
    pub listen: Vec<Listen>,
    /// The permissions of Unix sockets.
    pub socket_mode: u32,
    /// Encryption towards clients; none where it is not offered.
    pub tls: Option<ClientTls>,
    /// The policy file.
    pub policy: PathBuf,
    /// The audit log.
    pub audit: Audit,
    /// Who may log in, by name, each once.
    pub users: Vec<User>,
    /// The databases that clients may name, each once.
    pub databases: Vec<Database>,
    /// Bounds and timeouts.
    pub limits: Limits,
    /// HTTP for operators; none where it is not wanted.
    pub admin: Option<Admin>,
}

/// The audit log.
#[derive(Debug)]
pub struct Audit {
    /// The file.
    pub path: PathBuf,
    /// What an append that has returned survives.
    pub durability: Durability,
    /// The longest time between two fdatasync.
    pub sync_interval: Duration,
    /// When a file is finished and the next one begun.
    pub rotation: Rotation,
    /// What of statements and values goes into it.
    pub audited: Audited,
    /// Where the key for its hashes comes from.
    pub key: Option<SecretSource>,
    place: Place,
}

/// A user.
#[derive(Debug)]
pub struct User {
    /// The name to log in with.
    pub name: Arc<str>,
    /// What a password is compared with: one, or two of the same salt and iterations.
    pub verifiers: Vec<Verifier>,
    /// A role of the policy.
    pub role: Arc<str>,
    /// The tenant; there if and only if the role has `tenant: required`.
    pub tenant: Option<Arc<str>>,
    /// The common name that the user's certificate has, where certificates are verified.
    pub certificate: Arc<str>,
    /// From then on no password is right.
    pub valid_until: Option<SystemTime>,
    /// Where the user may come from; none where there is no such limit.
    pub networks: Option<Vec<Network>>,
    /// The databases that the user may name; none where there is no such limit.
    pub databases: Option<Vec<Box<str>>>,
    /// Sessions at one time, where the user has a limit of its own.
    pub max_connections: Option<usize>,
    place: Place,
}

/// A database that clients may name.
#[derive(Debug)]
pub struct Database {
    /// The name that clients use.
    pub name: Box<str>,
    /// Where it is.
    pub upstream: Upstream,
    /// How its connections are shared.
    pub pool: Pool,
    /// Settings that every connection to it starts with, beside those that are always pinned.
    pub session: Vec<(Box<str>, Box<str>)>,
    place: Place,
}

/// A database's server, and as whom the proxy logs in there.
#[derive(Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Where: at least one.
    pub hosts: Vec<Address>,
    /// Which of them will do.
    pub attributes: SessionAttributes,
    /// The database's name there.
    pub dbname: String,
    /// The role there.
    pub user: String,
    /// Where its password comes from; none where the server trusts us.
    pub password: Option<SecretSource>,
    /// What is demanded of the way there.
    pub tls: Tls,
    /// Whether MD5 and clear-text password requests are answered.
    pub weak_passwords: bool,
}

/// What is demanded of the way to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tls {
    /// TLS, and a certificate for the host's name from an authority of this file, or of the system.
    VerifyFull {
        /// Authorities' certificates, PEM.
        root_ca: Option<PathBuf>,
    },
    /// TLS, and a certificate from such an authority for any name.
    VerifyCa {
        /// Authorities' certificates, PEM.
        root_ca: Option<PathBuf>,
    },
    /// TLS with whoever answers.
    Require,
    /// Plain TCP, or a Unix socket.
    Disable,
}

/// How long a client keeps an upstream connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PoolMode {
    /// Until it leaves.
    #[default]
    Session,
    /// Until the end of its transaction.
    Transaction,
}

/// How upstream connections are shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// How long a client keeps one.
    pub mode: PoolMode,
    /// Connections to the database at most, without the reserve.
    pub size: usize,
    /// Connections that are kept.
    pub minimum: usize,
    /// Further ones for those who have waited for a while.
    pub reserve: usize,
    /// For how long.
    pub reserve_wait: Duration,
    /// How long a client waits for one.
    pub wait_timeout: Duration,
    /// From the first packet to ReadyForQuery.
    pub connect_timeout: Duration,
    /// How long one rests before it is closed.
    pub idle_timeout: Duration,
    /// How old one becomes.
    pub lifetime: Duration,
}

/// Bounds and timeouts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Client connections at one time, logins included.
    pub max_clients: usize,
    /// Sessions of a user without a limit of its own.
    pub connections_per_user: usize,
    /// Sessions of all users of a tenant.
    pub connections_per_tenant: usize,
    /// Connections that have not logged in yet.
    pub unauthenticated: usize,
    /// The same from one address.
    pub unauthenticated_per_address: usize,
    /// Requests to cancel in a second.
    pub cancels_per_second: u32,
    /// The same from one address.
    pub cancels_per_second_per_address: u32,
    /// Failed logins in a second that have a line each in the audit log.
    pub failed_logins_per_second: u32,
    /// The same from one address.
    pub failed_logins_per_second_per_address: u32,
    /// From accept to ReadyForQuery.
    pub login_timeout: Duration,
    /// What bounds a session's waits.
    pub patience: Patience,
    /// How long a TCP connection may be silent before the system asks.
    pub tcp_keepalive: Duration,
    /// Prepared statements that one client may have.
    pub statements_per_client: usize,
    /// The longest message that a client may send, in bytes.
    pub message_bytes: usize,
    /// Rows that are read and dropped over a row cap before the statement is cancelled.
    pub drain_rows: u64,
    /// What the verdicts of one database that are kept may take, in bytes.
    pub verdict_cache_bytes: u64,
    /// Threads that serve sessions.
    pub workers: usize,
    /// How long a session that is alone looks for its next message before it sleeps.
    pub spin: Duration,
    /// From SIGTERM to cancelling what still runs.
    pub drain_timeout: Duration,
    /// Between two looks at whether a catalog has changed.
    pub catalog_refresh: Duration,
    /// Between two looks at whether the files have changed; none where nobody looks.
    pub reload_watch: Option<Duration>,
}
