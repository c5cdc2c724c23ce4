//! Reading the files again while everybody goes on (wire 7): users, policy and certificates, whole or not at all.
//!
//! What cannot be read, does not fit a catalog, has no risen version, or would need a restart changes nothing: the last
//! good files stay in force, the log says what is wrong and where, the audit log that it was refused. An applied one is
//! in the audit log before it is in force.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pgmoat_audit::{Entry, Reload};
use pgmoat_policy::Policy;
use pgmoat_policy::policy::{Place, Problem};
use tokio::signal::unix::Signal;

use super::front::Front;
use super::tls::ServerTls;
use super::watch::Watch;
use crate::clock;
use crate::config::{self, Config, Loaded, PolicyText};

/// Reads the files again when it is told to, or sees that they have changed.
pub(crate) struct Reloader {
    path: PathBuf,
    front: Arc<Front>,
    in_force: InForce,
    watch: Watch,
}

/// What the process goes by.
pub(crate) struct InForce {
    pub(crate) config: Config,
    pub(crate) policy: Arc<Policy>,
    pub(crate) policy_text: PolicyText,
}

/// What was read and found good by itself.
struct Good {
    loaded: Loaded,
    tls: Option<Arc<ServerTls>>,
}

impl Reloader {
    /// For what the process has started with, from these files and the certificates' own.
    pub(crate) fn new(path: &Path, in_force: InForce, files: Vec<PathBuf>, front: Arc<Front>) -> Reloader {
        let watch = Watch::new(files.into_iter().chain(in_force.config.tls_files()).collect());
        Reloader { path: path.to_owned(), front, in_force, watch }
    }

    /// Reloads at each SIGHUP and, if so configured, when the files have changed. Runs for ever.
    pub(crate) async fn run(mut self, mut hang_up: Signal) {
        let every = self.in_force.config.limits.reload_watch;
        loop {
            tokio::select! {
                _ = hang_up.recv() => {}
                () = changed(&mut self.watch, every) => {}
            }
            // On a thread that may block, with a stack for the parser.
            match tokio::task::spawn_blocking(move || self.reload()).await {
                Ok(after) => self = after,
                Err(error) => {
                    tracing::error!(%error, "reloading has failed for good: restart the proxy for new files");
                    return;
                }
            }
        }
    }

    fn reload(mut self) -> Self {
        self.watch.look();
        match self.read() {
            Ok(good) => self.apply(good),
            Err(problems) => self.refuse(&problems),
        }
        self
    }

    /// Reads everything anew. Nothing has changed where it fails.
    fn read(&self) -> Result<Good, Vec<Problem>> {
        let loaded = config::load(&self.path)?;
        let sections = self.in_force.config.needs_restart(&loaded.config);
        if !sections.is_empty() {
            let message = format!("only a restart can change what is in: {}", sections.join(", "));
            return Err(vec![self.whole("", message).help("put it back, or restart the proxy")]);
        }
        let tls = ServerTls::load(loaded.config.tls.as_ref()).map_err(|problem| vec![problem])?;
        Ok(Good { loaded, tls })
    }

    /// Compares the policy with the catalogs in force and puts all of it in force.
    fn apply(&mut self, good: Good) {
        let shared = Arc::clone(&self.front.shared);
        let _installing = shared.installing.lock();
        if let Err(problems) = self.fits(&good.loaded) {
            return self.refuse(&problems);
        }
        let Good { loaded: Loaded { config, policy, warnings, policy_text, files }, tls } = good;
        let version = policy.version();
        let file = self.path.display().to_string();
        let entry = Reload { file: &file, policy: version, refused: None };
        if let Err(error) = shared.audit.enter(clock::now(), &Entry::Reload(entry)) {
            tracing::error!(%error, "the files are not taken: that they were read could not be audited");
            return;
        }
        for warning in &warnings {
            tracing::warn!("{warning}");
        }
        // First what statements are judged by: whoever is let in by the new users finds the new roles.
        let policy = match policy_text == self.in_force.policy_text {
            true => Arc::clone(&self.in_force.policy),
            false => Arc::new(policy),
        };
        if !Arc::ptr_eq(&policy, &self.in_force.policy) {
            shared.databases.values().for_each(|database| database.replace_policy(&policy));
        }
        self.front.tls.replace(tls);
        let users = self.front.replace_users(&config);
        self.front.replace_tokens(&config);
        let ended = self.front.sessions.retire(|who| users.keep(who));
        self.watch.replace(files.into_iter().chain(config.tls_files()).collect());
        shared.counts.reloads.add_one();
        self.in_force = InForce { config, policy, policy_text };
        tracing::info!(
            policy = version,
            users = users.count(),
            ended,
            "the files were read again and are in force"
        );
    }

    /// Whether the policy may follow the one in force, before the catalogs in force.
    fn fits(&self, loaded: &Loaded) -> Result<(), Vec<Problem>> {
        let Loaded { policy, policy_text, config, .. } = loaded;
        if *policy_text == self.in_force.policy_text {
            return Ok(());
        }
        let place = || Place {
            file: config.policy.display().to_string().into(),
            line: 0,
            column: 0,
            path: "version".to_owned(),
        };
        let (new, old) = (policy.version(), self.in_force.policy.version());
        if new <= old {
            let message = format!("the policy has changed, and its version has not risen: {new} after {old}");
            return Err(vec![Problem::error(place(), message).help("give it a higher version")]);
        }
        if policy.search_path() != self.in_force.policy.search_path() {
            let message =
                "another search_path needs other upstream connections: only a restart can change it";
            return Err(vec![Problem::error(Place { path: "search_path".to_owned(), ..place() }, message)]);
        }
        let catalogs = self.front.shared.databases.values().filter_map(|database| database.rules());
        let problems: Vec<Problem> = catalogs.flat_map(|rules| policy.check(&rules.catalog)).collect();
        if problems.iter().any(Problem::is_error) {
            return Err(problems);
        }
        problems.iter().for_each(|warning| tracing::warn!("{warning}"));
        Ok(())
    }

    fn refuse(&self, problems: &[Problem]) {
        self.front.shared.counts.reloads_refused.add_one();
        let mut errors = problems.iter().filter(|problem| problem.is_error());
        let mut refused = errors.next().map(|problem| in_one_line(&problem.to_string())).unwrap_or_default();
        let more = errors.count();
        if more > 0 {
            refused.push_str(&format!(" (and {more} more)"));
        }
        let file = self.path.display().to_string();
        let entry = Reload { file: &file, policy: self.in_force.policy.version(), refused: Some(&refused) };
        if let Err(error) = self.front.shared.audit.enter(clock::now(), &Entry::Reload(entry)) {
            tracing::error!(%error, "a refused reload could not be audited");
        }
        for problem in problems {
            if problem.is_error() {
                tracing::error!("{problem}");
            } else {
                tracing::warn!("{problem}");
            }
        }
        tracing::error!("the files are not taken; what was in force stays in force");
    }

    fn whole(&self, path: &str, message: String) -> Problem {
        let file = self.path.display().to_string().into();
        Problem::error(Place { file, line: 0, column: 0, path: path.to_owned() }, message)
    }
}

/// Returns when the files have changed and rest; never where nobody looks.
async fn changed(watch: &mut Watch, every: Option<Duration>) {
    let Some(every) = every else { return std::future::pending().await };
    loop {
        tokio::time::sleep(every).await;
        if watch.has_settled() {
            return;
        }
    }
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
