//! Sharing connections in session mode: a client has one from checkout until it gives it back clean.
//!
//! Every connection of a pool is alike: database, user and pinned settings are the pool's key, and
//! nothing that depends on a principal is ever set on one. INVARIANT (pool size): live connections
//! never exceed `max_connections`, since each is either leased (a permit) or idle, and a new one is
//! made under a permit only when none is idle. Waiters are served first come, first served (tokio's
//! semaphore is fair) and leave when they are dropped.
//!
//! While the server is down one background task tries to reach it, with growing pauses; everybody
//! else is told the last error at once ([`CheckoutError::Down`]).

mod breaker;
mod clean;
mod lease;

use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout_at};

use crate::address::{Endpoint, Target};
use crate::connect::{ConnectError, connect};
use crate::connection::Connection;
use crate::settings::PinnedSettings;

use breaker::Breaker;
pub use clean::{CleanProof, NotClean, Quiet};
pub use lease::Lease;

/// What connections must have in common to be shared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PoolKey {
    /// The database's name on the server.
    pub database: String,
    /// The role that it logs in as.
    pub user: String,
    /// The settings that it starts with.
    pub settings: PinnedSettings,
}

/// A pool's limits.
#[derive(Clone, Debug)]
pub struct PoolConfig {
    /// Live connections, leased and idle.
    pub max_connections: usize,
    /// How long a checkout may wait for a free one.
    pub wait_timeout: Duration,
    /// How long a connection may rest before it is closed.
    pub idle_timeout: Duration,
    /// How old a connection may become; looked at while it rests.
    pub lifetime: Duration,
    /// For DISCARD ALL when a connection comes back.
    pub reset_timeout: Duration,
    /// The first pause between two attempts at a server that is down; doubles each time.
    pub backoff_initial: Duration,
    /// The longest pause.
    pub backoff_max: Duration,
}

impl Default for PoolConfig {
    fn default() -> Self {
        PoolConfig {
            max_connections: 20,
            wait_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(600),
            lifetime: Duration::from_secs(3_600),
            reset_timeout: Duration::from_secs(5),
            backoff_initial: Duration::from_millis(100),
            backoff_max: Duration::from_secs(5),
        }
    }
}

/// Connections to one database as one user. A clone is the same pool.
#[derive(Clone, Debug)]
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    target: Target,
    endpoint: Arc<Endpoint>,
    config: PoolConfig,
    permits: Arc<Semaphore>,
    resting: Mutex<Resting>,
    counts: Counts,
}

/// What is looked at and changed together.
#[derive(Default)]
struct Resting {
    /// The last one returned is at the end, and used first: those at the front grow old.
    idle: Vec<Idle>,
    breaker: Breaker,
    closed: bool,
}

struct Idle {
    connection: Connection,
    since: Instant,
}

#[derive(Debug, Default)]
struct Counts {
    waiting: AtomicUsize,
    leases: AtomicU64,
    opened: AtomicU64,
    failed: AtomicU64,
    reused: AtomicU64,
    destroyed: AtomicU64,
    timeouts: AtomicU64,
}

/// A pool at one moment. The last six only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Leased, or being made for a lease.
    pub in_use: usize,
    /// At rest.
    pub idle: usize,
    /// Checkouts that wait.
    pub waiting: usize,
    /// Whether the server is thought to be down.
    pub down: bool,
    /// Connections made.
    pub opened: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Checkouts that got a connection at rest.
    pub reused: u64,
    /// Connections that did not go back.
    pub destroyed: u64,
    /// Checkouts that waited too long.
    pub timeouts: u64,
}

impl Pool {
    /// An empty pool; connections are made when they are asked for. Must be called inside a tokio
    /// runtime: a task that closes what has rested too long lives as long as the pool.
    pub fn new(target: Target, config: PoolConfig) -> Self {
        let shared = Arc::new(Shared {
            endpoint: Arc::new(target.endpoint.clone()),
            permits: Arc::new(Semaphore::new(config.max_connections.clamp(1, Semaphore::MAX_PERMITS))),
            resting: Mutex::default(),
            counts: Counts::default(),
            target,
            config,
        });
        tokio::spawn(sweep(Arc::downgrade(&shared)));
        Pool { shared }
    }

    /// What its connections have in common.
    pub fn key(&self) -> PoolKey {
        let Target { database, user, settings, .. } = &self.shared.target;
        PoolKey { database: database.clone(), user: user.clone(), settings: settings.clone() }
    }

    /// A connection for one client, by `deadline` and within the pool's `wait_timeout`; making a new
    /// one has its own limit (`connect_timeout`).
    ///
    /// # Errors
    ///
    /// See [`CheckoutError`]. While the server is down the answer comes at once.
    pub async fn checkout(&self, deadline: Instant) -> Result<Lease, CheckoutError> {
        self.shared.fail_fast()?;
        let permit = self.permit(deadline).await?;
        if let Some(connection) = self.shared.take_idle() {
            self.shared.counts.reused.fetch_add(1, Ordering::Relaxed);
            return Ok(self.lease(connection, permit));
        }
        self.shared.fail_fast()?;
        match timeout_at(deadline, connect(&self.shared.target)).await {
            Ok(Ok(connection)) => {
                self.shared.connected();
                Ok(self.lease(connection, permit))
            }
            Ok(Err(error)) => Err(CheckoutError::Connect(self.shared.failed(error))),
            Err(_) => Err(self.shared.too_late()),
        }
    }

    /// How it stands.
    pub fn stats(&self) -> PoolStats {
        let Shared { config, permits, resting, counts, .. } = &*self.shared;
        let total = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let resting = resting.lock();
        PoolStats {
            in_use: config.max_connections.max(1).saturating_sub(permits.available_permits()),
            idle: resting.idle.len(),
            waiting: counts.waiting.load(Ordering::Relaxed),
            down: resting.breaker.last_error().is_some(),
            opened: total(&counts.opened),
            failed: total(&counts.failed),
            reused: total(&counts.reused),
            destroyed: total(&counts.destroyed),
            timeouts: total(&counts.timeouts),
        }
    }

    /// Nobody gets a connection any more, waiters are told so, those at rest are closed. Leases go
    /// on until they end.
    pub fn close(&self) {
        self.shared.permits.close();
        let idle = {
            let mut resting = self.shared.resting.lock();
            resting.closed = true;
            std::mem::take(&mut resting.idle)
        };
        idle.into_iter().for_each(|idle| idle.connection.terminate());
    }

    async fn permit(&self, deadline: Instant) -> Result<OwnedSemaphorePermit, CheckoutError> {
        if let Ok(permit) = Arc::clone(&self.shared.permits).try_acquire_owned() {
            return Ok(permit);
        }
        let _waiting = Waiting::begin(&self.shared.counts);
        let until = deadline.min(Instant::now() + self.shared.config.wait_timeout);
        match timeout_at(until, Arc::clone(&self.shared.permits).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_closed)) => Err(CheckoutError::Closed),
            Err(_) => Err(self.shared.too_late()),
        }
    }

    fn lease(&self, connection: Connection, permit: OwnedSemaphorePermit) -> Lease {
        let number = self.shared.counts.leases.fetch_add(1, Ordering::Relaxed);
        Lease::new(number, connection, Arc::clone(&self.shared), permit)
    }
}

impl Shared {
    /// The connection that came back last, if it is young, still there and silent.
    fn take_idle(&self) -> Option<Connection> {
        loop {
            let Idle { mut connection, since } = self.resting.lock().idle.pop()?;
            let usable = self.is_fresh(&connection, since);
            if usable && connection.incoming.is_empty() && connection.stream.is_quiet() {
                return Some(connection);
            }
            self.destroy(connection);
        }
    }

    /// The last error, if the server is down and nothing is left from before.
    fn fail_fast(&self) -> Result<(), CheckoutError> {
        let resting = self.resting.lock();
        match resting.breaker.last_error() {
            _ if resting.closed => Err(CheckoutError::Closed),
            Some(error) if resting.idle.is_empty() => Err(CheckoutError::Down(error)),
            Some(_) | None => Ok(()),
        }
    }

    fn is_fresh(&self, connection: &Connection, resting_since: Instant) -> bool {
        resting_since.elapsed() < self.config.idle_timeout
            && connection.since.elapsed() < self.config.lifetime
    }

    /// Takes a clean connection back.
    fn rest(&self, connection: Connection) {
        let now = Instant::now();
        if self.is_fresh(&connection, now) {
            let mut resting = self.resting.lock();
            if !resting.closed {
                return resting.idle.push(Idle { connection, since: now });
            }
        }
        self.destroy(connection);
    }

    fn destroy(&self, connection: Connection) {
        self.counts.destroyed.fetch_add(1, Ordering::Relaxed);
        connection.terminate();
    }

    fn connected(&self) {
        self.counts.opened.fetch_add(1, Ordering::Relaxed);
        self.resting.lock().breaker.close();
    }

    /// Opens the breaker; the first to do so starts the one who tries again.
    fn failed(self: &Arc<Self>, error: ConnectError) -> Arc<ConnectError> {
        self.counts.failed.fetch_add(1, Ordering::Relaxed);
        let error = Arc::new(error);
        let first = self.resting.lock().breaker.open(Arc::clone(&error));
        if first {
            tracing::warn!(address = %self.endpoint.address, %error, "upstream is down");
            tokio::spawn(retry(Arc::downgrade(self)));
        }
        error
    }

    fn too_late(&self) -> CheckoutError {
        self.counts.timeouts.fetch_add(1, Ordering::Relaxed);
        CheckoutError::WaitTimeout
    }
}

/// Tries until the server answers or the pool is gone; what it opened is put to rest.
async fn retry(pool: Weak<Shared>) {
    let Some(mut pause) = pool.upgrade().map(|shared| shared.config.backoff_initial) else { return };
    loop {
        sleep(pause).await;
        let Some(shared) = pool.upgrade() else { return };
        // As everybody: no connection without a permit. A closed pool has none.
        let Ok(_permit) = Arc::clone(&shared.permits).acquire_owned().await else { return };
        match connect(&shared.target).await {
            Ok(connection) => {
                tracing::info!(address = %shared.endpoint.address, "upstream is back");
                shared.rest(connection);
                shared.connected();
                return;
            }
            Err(error) => drop(shared.failed(error)),
        }
        pause = (pause * 2).min(shared.config.backoff_max);
    }
}

/// Closes connections that have rested too long or grown too old.
async fn sweep(pool: Weak<Shared>) {
    let Some(config) = pool.upgrade().map(|shared| shared.config.clone()) else { return };
    let period = (config.idle_timeout.min(config.lifetime) / 4).clamp(SWEEP_MIN, SWEEP_MAX);
    loop {
        sleep(period).await;
        let Some(shared) = pool.upgrade() else { return };
        let stale: Vec<Idle> = {
            let mut resting = shared.resting.lock();
            resting.idle.extract_if(.., |idle| !shared.is_fresh(&idle.connection, idle.since)).collect()
        };
        stale.into_iter().for_each(|idle| shared.destroy(idle.connection));
    }
}

const SWEEP_MIN: Duration = Duration::from_millis(50);
const SWEEP_MAX: Duration = Duration::from_secs(30);

/// One who waits; leaves when dropped.
struct Waiting<'a> {
    counts: &'a Counts,
}

impl<'a> Waiting<'a> {
    fn begin(counts: &'a Counts) -> Self {
        counts.waiting.fetch_add(1, Ordering::Relaxed);
        Waiting { counts }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.counts.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("target", &self.target)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// Why there is no connection for this client.
#[derive(Clone, Debug)]
pub enum CheckoutError {
    /// None became free in time.
    WaitTimeout,
    /// The server is down; this is why the last attempt failed. Nothing was tried now.
    Down(Arc<ConnectError>),
    /// A new connection was tried and failed.
    Connect(Arc<ConnectError>),
    /// The pool is closed.
    Closed,
}

impl fmt::Display for CheckoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckoutError::WaitTimeout => f.write_str("no upstream connection became free in time"),
            CheckoutError::Down(error) => write!(f, "the upstream is down: {error}"),
            CheckoutError::Connect(error) => write!(f, "no upstream connection: {error}"),
            CheckoutError::Closed => f.write_str("the pool is closed"),
        }
    }
}

impl Error for CheckoutError {}
