//! What is measured beside what: the ways to one and the same PostgreSQL.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use pgmoat_lab::{SERVICE_PASSWORD, SERVICE_USER, User};
use serde::{Deserialize, Serialize};

use crate::error::BenchError;

/// A way to PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Target {
    Direct,
    PgbouncerSession,
    PgbouncerTransaction,
    Pgmoat,
    /// pg_query's parse of the same text, and nothing else.
    Parser,
    /// A process that does nothing.
    Spawn,
    /// GET /healthz of the same listener.
    Healthz,
    /// The machine itself: rows of the calibration.
    Host,
}

impl Target {
    /// Whether a named statement of a client may be used after its transaction: Debian 12's PgBouncer (1.18) forgets
    /// it in transaction mode.
    pub(crate) fn keeps_prepared_statements(self) -> bool {
        match self {
            Self::Direct
            | Self::PgbouncerSession
            | Self::Pgmoat
            | Self::Parser
            | Self::Spawn
            | Self::Healthz
            | Self::Host => true,
            Self::PgbouncerTransaction => false,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Direct => "direct",
            Self::PgbouncerSession => "PgBouncer, session",
            Self::PgbouncerTransaction => "PgBouncer, transaction",
            Self::Pgmoat => "pgmoat",
            Self::Parser => "pg_query alone",
            Self::Spawn => "true(1)",
            Self::Healthz => "GET /healthz",
            Self::Host => "host",
        })
    }
}

/// Where a target is, and the process between client and server.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) target: Target,
    pub(crate) host: IpAddr,
    pub(crate) port: u16,
    pub(crate) database: String,
    /// None of a direct connection.
    pub(crate) pid: Option<u32>,
}

impl Endpoint {
    pub(crate) fn address(&self) -> SocketAddr {
        (self.host, self.port).into()
    }

    /// Name and password for one of the lab's users: PostgreSQL itself knows the proxies' common login alone.
    pub(crate) fn login(&self, user: &str) -> Result<(String, String), BenchError> {
        if self.target == Target::Direct {
            return Ok((SERVICE_USER.to_owned(), SERVICE_PASSWORD.to_owned()));
        }
        match User::named(user) {
            Some(user) => Ok((user.name.to_owned(), user.password())),
            None => Err(BenchError::Wrong(format!("the lab has no user {user}"))),
        }
    }
}
