//! What a login needs to know: users, databases, and what a new session is told.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::RwLock;
use pgmoat_audit::{AppendError, Cancel, CancelOutcome, Entry, Login};
use zeroize::Zeroizing;

use super::cancels::Cancels;
use super::failures::{Entered, FOLDED_FOR, Failed, Failures};
use super::scram::Mock;
use super::sessions::Sessions;
use super::startup_settings::Settings;
use super::tls::{ServerTls, Slot};
use super::trial::{Trials, Tried};
use super::users::{Connections, Users};
use crate::admin::Tokens;
use crate::clock;
use crate::config::Config;
use crate::shared::{Database, Parameters, Peer, SessionInfo, Shared};

/// Everything that stands behind the listener.
pub(crate) struct Front {
    users: RwLock<Arc<Users>>,
    /// For users who do not exist.
    mock_key: Zeroizing<[u8; 32]>,
    pub(crate) connections: Arc<Connections>,
    pub(crate) cancels: Cancels,
    trials: HashMap<Box<str>, Trials>,
    failures: Arc<Failures>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) sessions: Arc<Sessions>,
    /// Encryption for connections that come.
    pub(crate) tls: Slot,
    tokens: RwLock<Arc<Tokens>>,
    ending: AtomicBool,
    /// From accept to ReadyForQuery.
    pub(crate) login_timeout: Duration,
}

impl Front {
    /// Of a configuration.
    pub(crate) fn new(
        config: &Config,
        shared: Arc<Shared>,
        tls: Option<Arc<ServerTls>>,
        trials: HashMap<Box<str>, Trials>,
    ) -> Front {
        let key = Mock::key(config.users.iter().flat_map(|user| &user.verifiers));
        let slot = Slot::default();
        slot.replace(tls);
        let limits = &config.limits;
        Front {
            tls: slot,
            users: RwLock::new(Arc::new(Users::new(config, *key))),
            mock_key: key,
            connections: Connections::new(limits.connections_per_tenant),
            cancels: Cancels::new(limits.cancels_per_second, limits.cancels_per_second_per_address),
            trials,
            failures: Arc::new(Failures::new(
                limits.failed_logins_per_second,
                limits.failed_logins_per_second_per_address,
            )),
            shared,
            sessions: Arc::new(Sessions::default()),
            tokens: RwLock::new(Arc::new(Tokens::new(config))),
            ending: AtomicBool::new(false),
            login_timeout: limits.login_timeout,
        }
    }

    /// The users in force.
    pub(crate) fn users(&self) -> Arc<Users> {
        Arc::clone(&self.users.read())
    }

    /// Puts the users of another configuration in force, and gives them.
    pub(crate) fn replace_users(&self, config: &Config) -> Arc<Users> {
        let users = Arc::new(Users::new(config, *self.mock_key));
        *self.users.write() = Arc::clone(&users);
        users
    }

    /// The tokens of the HTTP listener in force.
    pub(crate) fn tokens(&self) -> Arc<Tokens> {
        Arc::clone(&self.tokens.read())
    }

    /// Puts the tokens of another configuration in force.
    pub(crate) fn replace_tokens(&self, config: &Config) {
        *self.tokens.write() = Arc::new(Tokens::new(config));
    }

    /// The process takes no new clients any more.
    pub(crate) fn end(&self) {
        self.ending.store(true, Ordering::Relaxed);
    }

    /// Whether it does not.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed)
    }

    /// Writes `login_failed` for a token that is not known.
    pub(crate) fn audit_wrong_token(&self, peer: Peer) {
        self.audit_failure(Failed { peer, user: "", database: "", code: "28000", reason: "wrong token" });
    }

    /// The configured database of that name.
    pub(crate) fn database(&self, name: &str) -> Option<Arc<Database>> {
        self.shared.databases.get(name).cloned()
    }

    /// What the server would say of a client's start-up settings.
    ///
    /// # Errors
    /// SQLSTATE and message, where it would refuse them.
    pub(crate) async fn reported(
        &self,
        settings: &Settings,
        database: &Database,
    ) -> Result<Settings, (String, String)> {
        let parameters = database.parameters();
        let tried = match self.trials.get(&database.name) {
            Some(trials) => trials.ask(settings, &parameters).await,
            None => Tried::Unknown,
        };
        match tried {
            Tried::Good(reported) => Ok(reported),
            Tried::Refused(code, message) => Err((code, message)),
            Tried::Unknown => Ok(repeated(settings, &parameters)),
        }
    }

    /// The ParameterStatus set of a new session: what the server reported, with what is the
    /// client's own in its place.
    pub(crate) fn greeting_parameters(info: &SessionInfo, database: &Database) -> Settings {
        let own = |name: &str| match name {
            "application_name" => Some(info.application_name.clone()),
            "session_authorization" => Some((*info.user).into()),
            other => {
                let reported = info.reported.iter().find(|(name, _)| **name == *other);
                reported.map(|(_, value)| value.clone())
            }
        };
        let parameters = database.parameters();
        parameters
            .iter()
            .map(|(name, value)| (name.clone(), own(name).unwrap_or_else(|| value.clone())))
            .collect()
    }

    /// Writes `login`.
    ///
    /// # Errors
    /// The audit log cannot be written: then nobody logs in.
    pub(crate) fn audit_login(
        &self,
        info: &SessionInfo,
        database: &Database,
        tls: Option<&str>,
        method: &str,
    ) -> Result<(), AppendError> {
        let client = info.peer.to_string();
        let login = Login {
            session: info.id,
            user: &info.user,
            role: &info.principal.role,
            tenant: info.principal.tenant.as_deref(),
            database: &database.name,
            client: &client,
            application: Some(&*info.application_name).filter(|name| !name.is_empty()),
            tls,
            method,
        };
        self.shared.audit.enter(clock::now(), &Entry::Login(login))
    }

    /// Writes `cancel`. A log that cannot be written does not keep a client from stopping its own
    /// statement.
    pub(crate) fn audit_cancel(&self, peer: Peer, session: Option<u64>, outcome: CancelOutcome) {
        self.shared.counts.cancels.add_one();
        let client = peer.to_string();
        let cancel = Cancel { session, client: &client, outcome };
        if let Err(error) = self.shared.audit.append_unawaited(clock::now(), &Entry::Cancel(cancel)) {
            tracing::debug!(%error, "a cancel was not audited");
        }
    }

    /// Writes `login_failed`, for this one or for it and others. A log that cannot be written changes nothing: the
    /// answer is no.
    pub(crate) fn audit_failure(&self, failed: Failed<'_>) {
        self.shared.counts.logins_failed.add_one();
        let audit = &self.shared.audit;
        let entered = self.failures.enter(failed, Instant::now(), audit, || self.sessions.next_id());
        if entered == Entered::First {
            let (failures, audit) = (Arc::clone(&self.failures), Arc::clone(audit));
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(FOLDED_FOR).await;
                    if failures.write_folded(&audit) {
                        return;
                    }
                }
            });
        }
    }

    /// Writes what the audit log is still owed; nobody comes any more.
    pub(crate) fn settle_audit(&self) {
        self.failures.write_folded(&self.shared.audit);
    }
}

/// The client's own words for what the server reports, while the server does not say its own.
fn repeated(settings: &Settings, parameters: &Parameters) -> Settings {
    let own = |name: &str| {
        let chosen = CHOICES.contains(&name);
        let setting = settings.iter().rev().find(|(key, _)| chosen && key.eq_ignore_ascii_case(name));
        setting.map(|(_, value)| value.clone())
    };
    parameters.iter().filter_map(|(name, _)| Some((name.clone(), own(name)?))).collect()
}

/// Settings that PostgreSQL reports to a client and that a client may choose at start-up.
const CHOICES: [&str; 3] = ["DateStyle", "IntervalStyle", "TimeZone"];
