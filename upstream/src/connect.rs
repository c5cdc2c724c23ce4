//! From an address to a session that is ready for queries, within one deadline.
//!
//! The stages: TCP; SSLRequest and TLS; the start-up packet (built from validated fields, never from
//! a client's); authentication; what the server reports about itself, checked; ReadyForQuery.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use crate::address::{Address, Endpoint, Target, socket_path};
use crate::connection::Connection;
use crate::frame::{DecodeError, EncodeError, Fields, FrameError, frontend};
use crate::io::Stream;
use crate::keepalive::keep_alive;
use crate::login::login;
use crate::settings::PinMoved;
use crate::tls;
use crate::tls_words::in_words;

/// Connects and logs in.
///
/// # Errors
///
/// Whatever stands in the way, see [`ConnectError`]; nothing is retried here.
pub async fn connect(target: &Target) -> Result<Connection, ConnectError> {
    let limit = target.endpoint.connect_timeout;
    let mut stage = Stage::Tcp;
    match timeout(limit, connect_without_limit(target, &mut stage)).await {
        Ok(connected) => connected,
        Err(_) => Err(ConnectError::Timeout { stage, limit }),
    }
}

async fn connect_without_limit(target: &Target, stage: &mut Stage) -> Result<Connection, ConnectError> {
    let stream = open(&target.endpoint, stage).await?;
    *stage = Stage::Login;
    login(stream, target).await
}

/// An open stream under the endpoint's TLS policy, before any start-up packet. No time limit.
pub(crate) async fn open(endpoint: &Endpoint, stage: &mut Stage) -> Result<Stream, ConnectError> {
    let at = |stage: Stage| move |error: io::Error| ConnectError::Io { stage, error };
    let (host, port) = match &endpoint.address {
        Address::Tcp { host, port } => (host, port),
        Address::Unix { .. } if endpoint.tls.config().is_some() => return Err(ConnectError::TlsRefused),
        Address::Unix { folder, port } => {
            let unix = UnixStream::connect(socket_path(folder, *port)).await.map_err(at(Stage::Tcp))?;
            return Ok(unix.into());
        }
    };
    let mut tcp = TcpStream::connect((host.as_str(), *port)).await.map_err(at(Stage::Tcp))?;
    tcp.set_nodelay(true).map_err(at(Stage::Tcp))?;
    if let Some(silent) = endpoint.keepalive {
        keep_alive(&tcp, silent).map_err(at(Stage::Tcp))?;
    }
    let Some(config) = endpoint.tls.config() else { return Ok(tcp.into()) };

    *stage = Stage::Tls;
    let mut request = BytesMut::with_capacity(8);
    frontend::ssl_request(&mut request);
    tcp.write_all(&request).await.map_err(at(Stage::Tls))?;
    // One byte and no more: what follows it must be TLS (CVE-2021-23222's kind).
    match tcp.read_u8().await.map_err(at(Stage::Tls))? {
        b'S' => {}
        // An error message here is not authenticated by anything; do not show it (CVE-2024-10977).
        _ => return Err(ConnectError::TlsRefused),
    }
    let stream = tls::handshake(config, host, tcp).await.map_err(at(Stage::Tls))?;
    Ok(stream.into())
}

/// How far a connection came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Name look-up and TCP.
    Tcp,
    /// SSLRequest and handshake.
    Tls,
    /// Start-up packet to ReadyForQuery.
    Login,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Tcp => "connecting",
            Stage::Tls => "the TLS handshake",
            Stage::Login => "login",
        })
    }
}

/// Why there is no connection. The texts are for the operator's log: they hold no secrets, but name
/// what clients need not know.
#[derive(Debug)]
pub enum ConnectError {
    /// Not ready in time.
    Timeout {
        /// Where it hung.
        stage: Stage,
        /// What it had for the whole way.
        limit: Duration,
    },
    /// The network, or the TLS library.
    Io {
        /// Where.
        stage: Stage,
        /// What it said.
        error: io::Error,
    },
    /// The server does not speak TLS, and the policy demands it.
    TlsRefused,
    /// The server answered with an error.
    Server(Box<Fields>),
    /// The server asks for a password in a form that is refused, or that nobody here speaks.
    AuthenticationRefused {
        /// What it asked for.
        method: String,
    },
    /// The server asks for a password, and the configuration has none.
    NoPassword,
    /// The SCRAM exchange failed: the server could not prove that it knows the password.
    Scram {
        /// What was wrong.
        reason: String,
    },
    /// Bytes that are not the protocol.
    Frame(FrameError),
    /// A message that is not what its format says.
    Decode(DecodeError),
    /// A message that has no place in the login.
    Unexpected {
        /// Its type.
        tag: u8,
        /// What the server had said before.
        after: &'static str,
    },
    /// More than a login takes.
    TooMuch,
    /// Something in the target cannot be sent.
    Encode(EncodeError),
    /// The server's version is not one of 15 to 18.
    Version {
        /// As it reports it.
        server_version: String,
    },
    /// The database's encoding is not UTF8.
    Encoding {
        /// As it reports it.
        server_encoding: String,
    },
    /// A setting that must be reported is not.
    NotReported {
        /// Its name.
        name: &'static str,
    },
    /// A pinned setting did not take.
    PinMoved(PinMoved),
}

impl ConnectError {
    /// The server's own words, if it was the server that refused.
    pub fn server(&self) -> Option<&Fields> {
        if let ConnectError::Server(fields) = self { Some(fields) } else { None }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConnectError::Timeout { stage, limit } => {
                write!(f, "{stage} was not done within {} ms", limit.as_millis())
            }
            ConnectError::Io { stage, error } => write!(f, "{stage} failed: {}", in_words(error)),
            ConnectError::TlsRefused => f.write_str(
                "the server does not accept TLS; enable ssl there, or set tls: disable for a local one",
            ),
            ConnectError::Server(fields) => write!(f, "the server refused: {fields}"),
            ConnectError::AuthenticationRefused { method } => {
                write!(f, "the server asks for {method}, which is not sent; let it use scram-sha-256")
            }
            ConnectError::NoPassword => f.write_str("the server asks for a password, and none is configured"),
            ConnectError::Scram { reason } => write!(f, "SCRAM failed: {reason}"),
            ConnectError::Frame(error) => write!(f, "the server does not speak the protocol: {error}"),
            ConnectError::Decode(error) => write!(f, "the server does not speak the protocol: {error}"),
            ConnectError::Unexpected { tag, after } => {
                write!(f, "the server does not speak the protocol: message type {tag} after {after}")
            }
            ConnectError::TooMuch => f.write_str("the server sends messages without end before it is ready"),
            ConnectError::Encode(error) => write!(f, "the login cannot be sent: {error}"),
            ConnectError::Version { server_version } => {
                write!(f, "server version {server_version:?} is not supported; 15 to 18 are")
            }
            ConnectError::Encoding { server_encoding } => {
                write!(f, "the database's encoding is {server_encoding}; only UTF8 is supported")
            }
            ConnectError::NotReported { name } => write!(f, "the server does not report {name}"),
            ConnectError::PinMoved(moved) => moved.fmt(f),
        }
    }
}

impl Error for ConnectError {}

impl From<FrameError> for ConnectError {
    fn from(error: FrameError) -> Self {
        ConnectError::Frame(error)
    }
}

impl From<DecodeError> for ConnectError {
    fn from(error: DecodeError) -> Self {
        ConnectError::Decode(error)
    }
}

impl From<EncodeError> for ConnectError {
    fn from(error: EncodeError) -> Self {
        ConnectError::Encode(error)
    }
}

impl From<PinMoved> for ConnectError {
    fn from(moved: PinMoved) -> Self {
        ConnectError::PinMoved(moved)
    }
}
