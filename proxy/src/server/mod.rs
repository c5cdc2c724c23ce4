//! The process in front: opens what the configuration names, listens, and ends in good order.

mod audit_state;
mod cancels;
mod channel;
mod failures;
mod front;
mod greeting;
mod listen;
mod login;
mod places;
mod rate;
mod refresh;
mod refusal;
mod reload;
mod scram;
mod sessions;
mod sockets;
mod startup;
mod startup_settings;
mod tls;
mod trial;
mod users;
mod watch;

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pgmoat_audit::{Log, OpenError, Options, Watch};
use pgmoat_policy::Policy;
use pgmoat_policy::policy::Problem;
use pgmoat_upstream::Target;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::admin::{self, Admin};
use crate::clock;
use crate::config::{self, Config, Listen, Loaded};
use crate::pools::Pools;
use crate::shared::{Database, Shared};
pub(crate) use front::Front;
use refresh::Refresher;
use reload::{InForce, Reloader};
pub use scram::Verifier;
use sockets::Socket;
pub(crate) use tls::ServerTls;
use trial::Trials;
pub(crate) use users::Users;

/// How long the first look at the databases may hold up the first client: an upstream that does not
/// answer must not keep the proxy down.
const FIRST_TRY_PATIENCE: Duration = Duration::from_secs(2);

/// Why the proxy could not run: an operator's business, always.
#[derive(Debug)]
pub enum RunError {
    /// A secret or a certificate that the configuration names cannot be had.
    Configuration(Box<Problem>),
    /// The audit log cannot be opened.
    Audit(OpenError),
    /// An address or socket cannot be listened on.
    Listen(Listen, io::Error),
    /// The system gives no threads, no randomness or no signals.
    System(io::Error),
}

/// Runs the proxy with what was read from the configuration file `path`, until a signal ends it, and closes the audit
/// log.
///
/// Prints one line to standard output once clients can connect: `pgmoat listening on ADDRESS:PORT`; before it, where
/// there is HTTP, `pgmoat admin listening on ADDRESS:PORT`.
///
/// # Errors
/// [`RunError`]; nothing was started then.
pub fn run(path: &Path, loaded: Loaded) -> Result<(), RunError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .worker_threads(loaded.config.limits.workers)
        .thread_name("pgmoat")
        // Sessions judge where they run: the parser's tree is decoded recursively.
        .thread_stack_size(pgmoat_policy::STACK_BYTES)
        .build()
        .map_err(RunError::System)?;
    runtime.block_on(serve(path, loaded))
}

async fn serve(path: &Path, loaded: Loaded) -> Result<(), RunError> {
    // Before anybody knows of the process: a signal that nobody waits for would end it.
    let hang_up = signal(SignalKind::hangup()).map_err(RunError::System)?;
    let Loaded { config, policy, policy_text, files, warnings: _ } = loaded;
    let policy = Arc::new(policy);
    let options = config.audit.options().map_err(|problem| RunError::Configuration(Box::new(problem)))?;
    let tls =
        ServerTls::load(config.tls.as_ref()).map_err(|problem| RunError::Configuration(Box::new(problem)))?;
    let mut sockets = Vec::new();
    for listen in &config.listen {
        let refused = |error| RunError::Listen(listen.clone(), error);
        sockets.push(
            Socket::bind(listen, config.socket_mode, config.limits.tcp_keepalive).await.map_err(refused)?,
        );
    }
    let http = match &config.admin {
        Some(settings) => {
            let refused = |error| RunError::Listen(Listen::Tcp(settings.listen), error);
            Some(admin::bind(settings.listen, config.limits.tcp_keepalive).await.map_err(refused)?)
        }
        None => None,
    };
    let behind = databases(&config, &policy)?;
    // Last of what can fail, since it writes.
    let options = Options { watch: Watch::new(audit_state::tell), ..options };
    let (log, opened) = Log::open(options, clock::now()).map_err(RunError::Audit)?;
    tracing::info!(head = %opened.head, resumed = opened.resumed, "audit log open");
    let audit = Arc::new(log);
    let by_name = behind.iter().map(|Behind { database, .. }| (database.name.clone(), Arc::clone(database)));
    let shared = Arc::new(Shared::new(by_name.collect(), Arc::clone(&audit), &config));
    let trials = look_at(behind, &shared, config.limits.catalog_refresh).await;
    let front = Arc::new(Front::new(&config, shared, tls, trials));
    let limits = listen::Limits {
        max_clients: config.limits.max_clients,
        unauthenticated: config.limits.unauthenticated,
        unauthenticated_per_address: config.limits.unauthenticated_per_address,
        drain_timeout: config.limits.drain_timeout,
    };
    let _http = match (http, &config.admin) {
        (Some(listener), Some(settings)) => {
            announce_admin(&listener).map_err(RunError::System)?;
            let admin = Admin::new(settings, Arc::clone(&front));
            Some(admin::start(listener, admin).map_err(RunError::System)?)
        }
        (None, _) | (_, None) => None,
    };
    let reloader = Reloader::new(path, InForce { config, policy, policy_text }, files, Arc::clone(&front));
    tokio::spawn(reloader.run(hang_up));
    announce(&sockets).map_err(RunError::System)?;
    listen::serve(sockets, Arc::clone(&front), limits).await.map_err(RunError::System)?;
    front.settle_audit();
    match audit.close(clock::now()) {
        Ok(head) => tracing::info!(%head, "audit log closed"),
        Err(error) => tracing::error!(%error, "the audit log could not be closed"),
    }
    Ok(())
}

/// A database that the proxy stands before.
struct Behind {
    database: Arc<Database>,
    target: Target,
    /// How old its connections become.
    lifetime: Duration,
}

/// Those of the configuration, to which nobody has connected yet.
fn databases(config: &Config, policy: &Arc<Policy>) -> Result<Vec<Behind>, RunError> {
    let behind = |database: &config::Database| {
        let mut target =
            database.target(policy).map_err(|problem| RunError::Configuration(Box::new(problem)))?;
        target.endpoint.keepalive = Some(config.limits.tcp_keepalive);
        let pools = Pools::new(target.clone(), database.pool_config(), database.tenant_settings());
        let cache = config.limits.verdict_cache_bytes;
        let entry = Database::new(&database.name, pools, database.pool.mode, Arc::clone(policy), cache);
        Ok(Behind { database: Arc::new(entry), target, lifetime: database.pool.lifetime })
    };
    config.databases.iter().map(behind).collect()
}

/// Has each one's catalog read, from now on for ever; waits a moment, so that whoever waits for the proxy finds the databases
/// open, if they can be. Gives what start-up settings are tried with.
async fn look_at(behind: Vec<Behind>, shared: &Arc<Shared>, every: Duration) -> HashMap<Box<str>, Trials> {
    let (mut first_tries, mut trials) = (Vec::new(), HashMap::new());
    for Behind { database, target, lifetime } in behind {
        trials.insert(database.name.clone(), Trials::new(target.clone()));
        let refresher = Refresher { database, shared: Arc::clone(shared), target, every, lifetime };
        let (tried, first) = oneshot::channel();
        tokio::spawn(refresher.run(tried));
        first_tries.push(first);
    }
    let _ = tokio::time::timeout(FIRST_TRY_PATIENCE, all(first_tries)).await;
    trials
}

async fn all(first_tries: Vec<oneshot::Receiver<()>>) {
    for first in first_tries {
        // An error is a refresher that died, which is an answer too.
        let _ = first.await;
    }
}

/// The one line on standard output; scripts wait for it. TCP comes last: they read the port from its
/// end.
fn announce(sockets: &[Socket]) -> io::Result<()> {
    let mut addresses = sockets.iter().map(Socket::local).collect::<io::Result<Vec<Listen>>>()?;
    addresses.sort_by_key(|address| matches!(address, Listen::Tcp(_)));
    let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let mut out = io::stdout().lock();
    writeln!(out, "pgmoat listening on {}", addresses.join(", "))?;
    out.flush()
}

/// The line before it, where there is HTTP.
fn announce_admin(listener: &TcpListener) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "pgmoat admin listening on {}", listener.local_addr()?)?;
    out.flush()
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Configuration(problem) => write!(f, "{problem}"),
            RunError::Audit(error) => write!(f, "the audit log cannot be opened: {error}"),
            RunError::Listen(address, error) => write!(f, "cannot listen on {address}: {error}"),
            RunError::System(error) => write!(f, "the system refuses what pgmoat needs: {error}"),
        }
    }
}

impl std::error::Error for RunError {}

/// For fuzzers: any bytes as the two messages of a SCRAM login, parted at the first 0xff.
pub(crate) fn scram_messages(bytes: &[u8]) {
    let (first, last) = match bytes.iter().position(|byte| *byte == 0xff) {
        Some(at) => (bytes.get(..at).unwrap_or_default(), bytes.get(at + 1..).unwrap_or_default()),
        None => (bytes, bytes),
    };
    scram::any_messages(first, last);
}

/// For fuzzers: decodes a first packet, its length word included, and checks what came of it.
pub(crate) fn first_packet(bytes: &[u8]) {
    let mut buffer = bytes::BytesMut::from(bytes);
    let Ok(Some(packet)) = pgmoat_upstream::frame::startup::take(&mut buffer) else { return };
    assert_eq!(packet.len() + buffer.len(), bytes.len(), "nothing is lost");
    if let Ok(startup::Opening::Startup(startup)) = startup::decode(packet.get(4..).unwrap_or_default()) {
        assert!(!startup.user.is_empty() && !startup.database.is_empty(), "a user and a database");
        assert!(startup.extensions.iter().all(|name| name.starts_with("_pq_.")), "extensions");
    }
}
