//! Where a server is, and as whom one logs in there.

use std::fmt;
use std::time::Duration;

use crate::secret::Secret;
use crate::settings::PinnedSettings;
use crate::tls::TlsPolicy;

/// A server's address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// A host name or IP address, and a port. A name's addresses are tried in turn.
    Tcp {
        /// Host name, IPv4 or IPv6 address (without brackets).
        host: String,
        /// The port.
        port: u16,
    },
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

/// How a server is reached: all that a cancel request needs besides its key.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Where.
    pub address: Address,
    /// Over what.
    pub tls: TlsPolicy,
    /// For the whole way from the first packet to ReadyForQuery.
    pub connect_timeout: Duration,
}

/// Everything that a login needs. Nothing in it comes from a client.
#[derive(Clone, Debug)]
pub struct Target {
    /// The server.
    pub endpoint: Endpoint,
    /// The database's name there.
    pub database: String,
    /// The role.
    pub user: String,
    /// Its password; `None` where the server trusts us.
    pub password: Option<Secret>,
    /// The settings that every connection starts with and goes back to.
    pub settings: PinnedSettings,
    /// Whether a server may ask for less than SCRAM.
    pub weak_passwords: WeakPasswords,
}

/// Passwords over anything weaker than SCRAM: a clear-text or MD5 request by a false server gives the
/// password (or its equal) away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeakPasswords {
    /// Such a server is not answered.
    Refuse,
    /// It gets what it asks for.
    Allow,
}
