//! Keeps each database's catalog current: one connection, one cheap question a second.
//!
//! While the upstream is down there is no catalog, so nobody can log in (57P03) and nothing is
//! judged; this task tries again by itself. Sessions notice a new catalog at their next judged
//! message.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pgmoat_audit::{Catalog as CatalogEntry, Entry};
use pgmoat_policy::Catalog;
use pgmoat_policy::policy::{Problem, Severity};
use pgmoat_upstream::{Connection, Target, catalog, connect};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::clock;
use crate::shared::{Database, Shared};

/// Between two tries while the upstream is down.
const RETRY: Duration = Duration::from_millis(250);
/// One catalog query.
const QUERY_TIMEOUT: Duration = Duration::from_secs(30);

/// What the refresher of one database needs.
pub(crate) struct Refresher {
    pub(crate) database: Arc<Database>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) target: Target,
    pub(crate) every: Duration,
    /// How old its connection becomes, as any of the pool's: the next one goes to the server that they go to.
    pub(crate) lifetime: Duration,
}

/// Why a round ended: an operator reads it in the log.
enum Trouble {
    Connect(String),
    Catalog(String),
    Policy(usize),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Connect(error) | Trouble::Catalog(error) => f.write_str(error),
            Trouble::Policy(1) => f.write_str("the policy does not fit the catalog: one error, logged above"),
            Trouble::Policy(count) => {
                write!(f, "the policy does not fit the catalog: {count} errors, logged above")
            }
        }
    }
}

/// What became of the rounds so far, for those who wait and for the log.
struct Rounds {
    first: Option<oneshot::Sender<()>>,
    told: Option<String>,
    /// The warnings about the catalog as last read: what is new in the next one is drift.
    warned: HashSet<String>,
}

impl Rounds {
    fn succeeded(&mut self) {
        self.told = None;
        self.ended();
    }

    /// The same trouble is told once, not four times a second.
    fn failed(&mut self, database: &str, trouble: &Trouble) {
        let trouble = trouble.to_string();
        if self.told.as_deref() != Some(&*trouble) {
            tracing::error!(
                database,
                trouble,
                "no statement is let through until this is mended; trying again"
            );
            self.told = Some(trouble);
        }
        self.ended();
    }

    fn ended(&mut self) {
        if let Some(first) = self.first.take() {
            // Whoever waited may have lost patience.
            let _ = first.send(());
        }
    }
}

impl Refresher {
    /// Runs for ever; `first` learns of the end of the first try, whatever came of it.
    pub(crate) async fn run(self, first: oneshot::Sender<()>) {
        let mut rounds = Rounds { first: Some(first), told: None, warned: HashSet::new() };
        loop {
            if let Err(trouble) = self.watch(&mut rounds).await {
                self.database.set_reachable(matches!(trouble, Trouble::Policy(_)));
                rounds.failed(&self.database.name, &trouble);
                tokio::time::sleep(RETRY).await;
            }
        }
    }

    /// For one connection's lifetime.
    async fn watch(&self, rounds: &mut Rounds) -> Result<(), Trouble> {
        let mut connection =
            connect(&self.target).await.map_err(|error| Trouble::Connect(error.to_string()))?;
        let until = Instant::now() + self.lifetime;
        let mut seen = String::new();
        while Instant::now() < until {
            let version = catalog::version(&mut connection, QUERY_TIMEOUT)
                .await
                .map_err(|error| Trouble::Catalog(error.to_string()))?;
            let isolation = catalog::default_isolation(&mut connection, QUERY_TIMEOUT)
                .await
                .map_err(|error| Trouble::Catalog(error.to_string()))?;
            self.database.isolates_by(&isolation);
            self.database.set_reachable(true);
            if version != seen {
                self.load(&mut connection, rounds).await?;
                seen = version;
                rounds.succeeded();
            }
            // A statement of a client's own may have changed it: then at once. Either way it is time.
            let _ = tokio::time::timeout(self.every, self.database.catalog_suspected()).await;
        }
        Ok(())
    }

    async fn load(&self, connection: &mut Connection, rounds: &mut Rounds) -> Result<(), Trouble> {
        let text = catalog::read(connection, QUERY_TIMEOUT)
            .await
            .map_err(|error| Trouble::Catalog(error.to_string()))?;
        let catalog = Catalog::parse(&text).map_err(|error| Trouble::Catalog(error.to_string()))?;
        let _installing = self.shared.installing.lock();
        // Its version is a hash of all of it, and it was compared with the policy in force.
        if self.database.rules().is_some_and(|rules| rules.catalog.version() == catalog.version()) {
            self.keep_parameters(connection);
            return Ok(());
        }
        // A schema that the policy does not fit is worse than an old one: verdicts about the old
        // one would be wrong about this one, so there are none until somebody mends it.
        self.report(&self.database.policy().check(&catalog), rounds)
            .inspect_err(|_| self.database.withdraw())?;
        let version = catalog.version().to_string();
        let previous = self.database.rules().map(|rules| rules.catalog.version().to_string());
        let entry = CatalogEntry {
            database: &self.database.name,
            catalog: &version,
            previous: previous.as_deref(),
            server_version_num: connection.server_version_num(),
        };
        self.shared
            .audit
            .enter(clock::now(), &Entry::Catalog(entry))
            .map_err(|error| Trouble::Catalog(error.to_string()))?;
        self.keep_parameters(connection);
        self.database.install(Arc::new(catalog));
        tracing::info!(database = %self.database.name, catalog = version, "catalog read");
        Ok(())
    }

    fn keep_parameters(&self, connection: &Connection) {
        let parameters = connection.parameters();
        self.database.set_parameters(
            parameters.iter().map(|(name, value)| (name.as_str().into(), value.as_str().into())),
        );
    }

    /// Warnings go to the log, each when it is new, and those of one place together; with an error among them nothing is
    /// installed.
    fn report(&self, problems: &[Problem], rounds: &mut Rounds) -> Result<(), Trouble> {
        let database = &*self.database.name;
        let mut errors = 0;
        let known = std::mem::take(&mut rounds.warned);
        let mut new: Vec<(&Problem, usize)> = Vec::new();
        for problem in problems {
            match problem.severity {
                Severity::Error => {
                    errors += 1;
                    tracing::error!(database, "{problem}");
                }
                Severity::Warning => {
                    let text = problem.to_string();
                    if !known.contains(&text) {
                        match new.iter_mut().find(|(first, _)| first.place == problem.place) {
                            Some((_, more)) => *more += 1,
                            None => new.push((problem, 0)),
                        }
                    }
                    rounds.warned.insert(text);
                }
            }
        }
        for (first, more) in new {
            match more {
                0 => tracing::warn!(database, "{first}"),
                _ => {
                    tracing::warn!(database, more, "{first} (and {more} more there: pgmoat check shows them)")
                }
            }
        }
        if errors == 0 { Ok(()) } else { Err(Trouble::Policy(errors)) }
    }
}
