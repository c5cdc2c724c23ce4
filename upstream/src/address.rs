//! Where a server is, and as whom one logs in there.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::attributes::SessionAttributes;
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
    /// The socket in a folder, by libpq's name: `FOLDER/.s.PGSQL.PORT`.
    Unix {
        /// The folder's absolute path.
        folder: PathBuf,
        /// The number in the socket's name.
        port: u16,
    },
}

impl Address {
    /// As libpq reads `host` and `port`: a host that begins with a slash is a socket's folder.
    pub fn new(host: &str, port: u16) -> Self {
        match host.starts_with('/') {
            true => Address::Unix { folder: host.into(), port },
            false => Address::Tcp { host: host.to_owned(), port },
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp { host, port } => write!(f, "{host}:{port}"),
            Address::Unix { folder, port } => f.write_str(&socket_path(folder, *port).to_string_lossy()),
        }
    }
}

/// UNIXSOCK_PATH of PostgreSQL's pqcomm.h.
pub(crate) fn socket_path(folder: &Path, port: u16) -> PathBuf {
    folder.join(format!(".s.PGSQL.{port}"))
}

/// How a server is reached: all that a cancel request needs besides its key.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Where.
    pub address: Address,
    /// Over what. There is no TLS over a Unix socket: where it is demanded there, nothing connects.
    pub tls: TlsPolicy,
    /// For the whole way from the first packet to ReadyForQuery.
    pub connect_timeout: Duration,
    /// How long a TCP connection may be silent before the system asks whether the server is still there; none where
    /// it never does.
    pub keepalive: Option<Duration>,
}

/// Everything that a login needs. Nothing in it comes from a client.
#[derive(Clone, Debug)]
pub struct Target {
    /// The server, or the first of several.
    pub endpoint: Endpoint,
    /// Further servers, reached as the first one is, tried in this order.
    pub fallbacks: Vec<Address>,
    /// Which of the servers will do.
    pub attributes: SessionAttributes,
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

impl Target {
    /// Every server, the first one first.
    pub fn hosts(&self) -> impl Iterator<Item = &Address> {
        std::iter::once(&self.endpoint.address).chain(&self.fallbacks)
    }

    /// How the server with this number in [`Target::hosts`] is reached.
    pub(crate) fn endpoint_of(&self, host: usize) -> Option<Endpoint> {
        let address = self.hosts().nth(host)?.clone();
        Some(Endpoint { address, ..self.endpoint.clone() })
    }
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
