//! What all sessions share: databases with their rules, and the audit log.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use pgmoat_audit::Log;
use pgmoat_policy::{Catalog, Policy, Principal, Verdicts, renews_snapshot};
use tokio::sync::Notify;

use crate::budget::Budgets;
use crate::config::{Config, PoolMode};
use crate::counts::{Counts, Statements};
use crate::gate::Made;
pub use crate::link::Control;
use crate::pools::Pools;
use crate::session::{Namer, SessionLimits};
use crate::ties::Ties;

/// Everything that outlives a session.
pub struct Shared {
    /// The databases that clients may name.
    pub databases: HashMap<Box<str>, Arc<Database>>,
    /// Where decisions go before anything else happens.
    pub audit: Arc<Log>,
    /// What of a statement goes into the log.
    pub audited: Audited,
    /// What a session may hold and send.
    pub limits: SessionLimits,
    /// How long a session waits.
    pub patience: Patience,
    /// How long a session that is alone looks for its next message before it sleeps.
    pub spin: Duration,
    /// Sessions that wait for PostgreSQL.
    pub under_way: Arc<AtomicUsize>,
    /// What has been done, for those who ask.
    pub counts: Counts,
    /// How many errors the principals have caused.
    pub budgets: Budgets,
    /// Held from the comparison of a policy with a catalog until what was compared is in force: no two that nobody has
    /// compared come together.
    pub installing: Mutex<()>,
}

impl Shared {
    /// For the databases and the log of a configuration.
    pub fn new(databases: HashMap<Box<str>, Arc<Database>>, audit: Arc<Log>, config: &Config) -> Self {
        let limits = SessionLimits {
            statements: config.limits.statements_per_client,
            message_bytes: config.limits.message_bytes,
            drain_rows: config.limits.drain_rows,
            ..SessionLimits::default()
        };
        let audited = config.audit.audited;
        Shared {
            databases,
            audit,
            audited,
            limits,
            patience: config.limits.patience,
            // A single one is wanted by who answers.
            spin: if processors() > 1 { config.limits.spin } else { Duration::ZERO },
            under_way: Arc::default(),
            counts: Counts::default(),
            budgets: Budgets::default(),
            installing: Mutex::new(()),
        }
    }
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// What of a statement and its values goes into the audit log (contracts 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audited {
    /// The text, or only its shape's fingerprint.
    pub text: bool,
    /// The values of a Bind.
    pub parameters: AuditedParameters,
}

/// What of a Bind's values goes into the audit log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuditedParameters {
    /// Nothing.
    #[default]
    None,
    /// One SHA-256 over all of them.
    Hash,
    /// The values.
    Full,
}

impl Default for Audited {
    fn default() -> Self {
        Audited { text: true, parameters: AuditedParameters::None }
    }
}

/// How long a session waits for its client, and for what it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// A statement, whatever the role.
    pub statement: Option<Duration>,
    /// The server waits for the client inside a transaction, a batch or a copy.
    pub in_transaction: Option<Duration>,
    /// The client does nothing outside a transaction.
    pub idle: Option<Duration>,
    /// The client takes nothing of what there is for it.
    pub client_write: Duration,
}

/// Settings with their values.
pub type Parameters = Arc<[(Box<str>, Box<str>)]>;

/// A database that clients may name, and the pool of upstream connections behind it.
pub struct Database {
    /// The name that clients use.
    pub name: Box<str>,
    /// Connections to it.
    pub pools: Pools,
    /// How long a client keeps one.
    pub mode: PoolMode,
    /// The custom settings that its connections start with, in lower case.
    pub custom: Arc<BTreeSet<Box<str>>>,
    /// Names prepared statements, alike in all sessions.
    pub namer: Namer,
    /// Sessions that keep a connection beyond their transaction, though it is shared.
    pub ties: Arc<Ties>,
    /// What the verdicts that are kept may take.
    verdict_cache_bytes: u64,
    policy: RwLock<Arc<Policy>>,
    rules: RwLock<Option<Arc<Rules>>>,
    generation: AtomicU64,
    reachable: AtomicBool,
    /// The server's transactions keep their snapshots where nobody says otherwise.
    keeps_snapshots: AtomicBool,
    parameters: RwLock<Parameters>,
    catalog_changed: Notify,
}

/// What statements are judged by: a policy and a catalog, never changed, replaced as a whole.
pub struct Rules {
    /// The policy.
    pub policy: Arc<Policy>,
    /// The catalog.
    pub catalog: Arc<Catalog>,
    /// What was judged by them.
    pub verdicts: Verdicts<Made>,
    /// Rises with every replacement, of this database's rules alone; from 1.
    pub generation: u64,
    /// The catalog's version as the audit log writes it.
    pub catalog_version: Box<str>,
}

impl Database {
    /// A database without rules yet: nobody gets in before [`Database::install`].
    pub fn new(
        name: &str,
        pools: Pools,
        mode: PoolMode,
        policy: Arc<Policy>,
        verdict_cache_bytes: u64,
    ) -> Self {
        let custom = Arc::new(pools.custom_settings().collect());
        Database {
            name: name.into(),
            pools,
            mode,
            custom,
            namer: Namer::default(),
            ties: Arc::default(),
            verdict_cache_bytes,
            policy: RwLock::new(policy),
            rules: RwLock::new(None),
            generation: AtomicU64::new(0),
            reachable: AtomicBool::new(false),
            keeps_snapshots: AtomicBool::new(true),
            parameters: RwLock::new(Arc::from([])),
            catalog_changed: Notify::new(),
        }
    }

    /// The rules in force; none before a catalog was read.
    pub fn rules(&self) -> Option<Arc<Rules>> {
        self.rules.read().clone()
    }

    /// The number of the rules in force, to see cheaply whether they are others; 0 before the first.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The policy that the next catalog is compared with; in force once one was.
    pub fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy.read())
    }

    /// Puts another policy in force, beside the catalog in force, if there is one.
    pub fn replace_policy(&self, policy: &Arc<Policy>) {
        *self.policy.write() = Arc::clone(policy);
        if let Some(rules) = self.rules() {
            self.install(Arc::clone(&rules.catalog));
        }
    }

    /// Puts another catalog in force, under the policy: each session judges its next message by them.
    pub fn install(&self, catalog: Arc<Catalog>) {
        let policy = self.policy();
        let mut rules = self.rules.write();
        let generation = self.generation().saturating_add(1);
        let catalog_version = catalog.version().to_string().into();
        let verdicts = Verdicts::making(Arc::clone(&policy), Arc::clone(&catalog), self.verdict_cache_bytes);
        *rules = Some(Arc::new(Rules { policy, catalog, verdicts, generation, catalog_version }));
        self.generation.store(generation, Ordering::Release);
    }

    /// Puts no rules in force: nothing is let through until the next [`Database::install`].
    pub fn withdraw(&self) {
        let mut rules = self.rules.write();
        *rules = None;
        self.generation.store(self.generation().saturating_add(1), Ordering::Release);
    }

    /// Whether the server answered when it was last asked for its catalog.
    pub fn is_reachable(&self) -> bool {
        self.reachable.load(Ordering::Relaxed)
    }

    /// Keeps whether it did.
    pub fn set_reachable(&self, reachable: bool) {
        self.reachable.store(reachable, Ordering::Relaxed);
    }

    /// Whether its transactions keep their first snapshot where nobody says otherwise.
    pub fn keeps_snapshots(&self) -> bool {
        self.keeps_snapshots.load(Ordering::Relaxed)
    }

    /// The isolation level that its transactions begin with.
    pub fn isolates_by(&self, level: &str) {
        self.keeps_snapshots.store(!renews_snapshot(level), Ordering::Relaxed);
    }

    /// What the server reports at start-up (ParameterStatus), for logins.
    pub fn parameters(&self) -> Parameters {
        Arc::clone(&self.parameters.read())
    }

    /// Keeps what the server reported.
    pub fn set_parameters(&self, parameters: impl IntoIterator<Item = (Box<str>, Box<str>)>) {
        *self.parameters.write() = parameters.into_iter().collect();
    }

    /// A statement may have changed the catalog: it should be read again at once.
    pub fn suspect_catalog(&self) {
        self.catalog_changed.notify_one();
    }

    /// Returns after the next [`Database::suspect_catalog`]; at once if there was one that nobody waited for.
    pub async fn catalog_suspected(&self) {
        self.catalog_changed.notified().await;
    }
}

/// Who a session belongs to, after the login.
#[derive(Debug)]
pub struct SessionInfo {
    /// Its number, given out once in the life of the process; the lower 32 bits are part of upstream names.
    pub id: u64,
    /// The user.
    pub user: Arc<str>,
    /// Whose statements are judged.
    pub principal: Arc<Principal>,
    /// `application_name`, as the client gave it.
    pub application_name: Box<str>,
    /// Where the client is.
    pub peer: Peer,
    /// What the client set at start-up, validated: what upstream gets when the session attaches.
    pub settings: Vec<(Box<str>, Box<str>)>,
    /// The decisions of its role.
    pub counts: Arc<Statements>,
    /// What the greeting has said of those of them that the server reports.
    pub reported: Vec<(Box<str>, Box<str>)>,
}

/// Where a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// At this address.
    Tcp(SocketAddr),
    /// On this machine, behind a Unix socket.
    Unix {
        /// The account that it runs as, if the system says so.
        uid: Option<u32>,
    },
}

impl Peer {
    /// Its address, if it has one.
    pub fn ip(&self) -> Option<IpAddr> {
        match self {
            Peer::Tcp(address) => Some(address.ip()),
            Peer::Unix { .. } => None,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Peer::Tcp(address) => address.fmt(f),
            Peer::Unix { uid: Some(uid) } => write!(f, "unix:uid={uid}"),
            Peer::Unix { uid: None } => f.write_str("unix"),
        }
    }
}
