//! What a login needs to know: users, databases, and what a new session is told.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use pgmoat_audit::{AppendError, Cancel, CancelOutcome, Entry, Login, LoginFailed};
use pgmoat_policy::Principal;

use super::scram::{Mock, Verifier};
use super::sessions::Sessions;
use super::tls::Slot;
use crate::clock;
use crate::shared::{Database, Peer, SessionInfo, Shared};

/// Settings that PostgreSQL reports to a client and that a client may choose at start-up.
const REPORTED_CHOICES: [&str; 4] = ["application_name", "DateStyle", "IntervalStyle", "TimeZone"];

/// A user who may log in.
pub(crate) struct User {
    pub(crate) name: Arc<str>,
    /// One, or two while one password is changed for another.
    pub(crate) verifiers: Vec<Verifier>,
    pub(crate) principal: Arc<Principal>,
    /// The common name of its certificate, where certificates are verified.
    pub(crate) certificate: Arc<str>,
}

/// Everything that stands behind the listener.
pub(crate) struct Front {
    pub(crate) users: HashMap<Box<str>, User>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) mock: Mock,
    /// Encryption for connections that come.
    pub(crate) tls: Slot,
    /// From accept to ReadyForQuery.
    pub(crate) login_timeout: Duration,
}

impl Front {
    /// The user of that name; names are compared as they are, as PostgreSQL does.
    pub(crate) fn user(&self, name: &str) -> Option<&User> {
        self.users.get(name)
    }

    /// The configured database of that name.
    pub(crate) fn database(&self, name: &str) -> Option<Arc<Database>> {
        self.shared.databases.get(name).cloned()
    }

    /// The ParameterStatus set of a new session: what the server reported, with what is the
    /// client's own in its place.
    pub(crate) fn greeting_parameters(
        &self,
        info: &SessionInfo,
        database: &Database,
    ) -> Vec<(Box<str>, Box<str>)> {
        let chosen = |name: &str| {
            let reported = REPORTED_CHOICES.iter().any(|choice| choice.eq_ignore_ascii_case(name));
            let setting = info.settings.iter().rev().find(|(key, _)| key.eq_ignore_ascii_case(name));
            setting.filter(|_| reported).map(|(_, value)| value.clone())
        };
        database
            .parameters()
            .iter()
            .map(|(name, value)| {
                let own = match &**name {
                    "application_name" => Some(info.application_name.clone()),
                    "session_authorization" => Some((*info.user).into()),
                    other => chosen(other),
                };
                (name.clone(), own.unwrap_or_else(|| value.clone()))
            })
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
        self.shared.audit.append(clock::now(), &Entry::Login(login)).map(|_| ())
    }

    /// Writes `cancel`. A log that cannot be written does not keep a client from stopping its own
    /// statement.
    pub(crate) fn audit_cancel(&self, peer: Peer, session: Option<u64>, outcome: CancelOutcome) {
        let client = peer.to_string();
        let cancel = Cancel { session, client: &client, outcome };
        if let Err(error) = self.shared.audit.append_unawaited(clock::now(), &Entry::Cancel(cancel)) {
            tracing::error!(%error, "a cancel could not be audited");
        }
    }

    /// Writes `login_failed`. A log that cannot be written changes nothing: the answer is no.
    pub(crate) fn audit_failure(&self, peer: Peer, user: &str, database: &str, sqlstate: &str, reason: &str) {
        let client = peer.to_string();
        let session = self.sessions.next_id();
        let failed = LoginFailed { session, user, database, client: &client, code: sqlstate, reason };
        if let Err(error) = self.shared.audit.append(clock::now(), &Entry::LoginFailed(failed)) {
            tracing::error!(%error, "a failed login could not be audited");
        }
        tracing::info!(client, sqlstate, reason, "login refused");
    }
}
