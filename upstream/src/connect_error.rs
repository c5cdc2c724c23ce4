//! Why there is no connection, for the operator's log.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use crate::address::Address;
use crate::attributes::Unsuitable;
use crate::frame::{DecodeError, EncodeError, Fields, FrameError};
use crate::settings::PinMoved;
use crate::tls_words::in_words;

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
    /// The server is not of the kind that is asked for.
    Unsuitable(Unsuitable),
    /// None of several servers, or addresses of one, will do.
    NoneOf(Vec<(Address, ConnectError)>),
}

impl ConnectError {
    /// The server's own words, if it was the server that refused; of several the last one's.
    pub fn server(&self) -> Option<&Fields> {
        if let ConnectError::NoneOf(errors) = self {
            return errors.iter().rev().find_map(|(_, error)| error.server());
        }
        if let ConnectError::Server(fields) = self { Some(fields) } else { None }
    }

    /// Whether it is the server that has no room for one more connection (53300): it is up, and goes on with those it
    /// has.
    pub(crate) fn is_for_want_of_room(&self) -> bool {
        self.server().and_then(Fields::sqlstate) == Some(TOO_MANY_CONNECTIONS)
    }

    /// Whether another server would say the same, or must not be asked: as libpq, a login that was refused is not tried
    /// elsewhere, except where the server cannot let anybody in now.
    pub(crate) fn ends_search(&self) -> bool {
        match self {
            ConnectError::Server(fields) => fields.sqlstate() != Some(CANNOT_CONNECT_NOW),
            ConnectError::AuthenticationRefused { .. }
            | ConnectError::NoPassword
            | ConnectError::Scram { .. }
            | ConnectError::Encode(_) => true,
            ConnectError::Timeout { .. }
            | ConnectError::Io { .. }
            | ConnectError::TlsRefused
            | ConnectError::Frame(_)
            | ConnectError::Decode(_)
            | ConnectError::Unexpected { .. }
            | ConnectError::TooMuch
            | ConnectError::Version { .. }
            | ConnectError::Encoding { .. }
            | ConnectError::NotReported { .. }
            | ConnectError::PinMoved(_)
            | ConnectError::Unsuitable(_)
            | ConnectError::NoneOf(_) => false,
        }
    }

    /// What became of a search in which nobody was found: the one error, or all of them.
    pub(crate) fn of(mut failures: Vec<(Address, ConnectError)>) -> ConnectError {
        match failures.pop() {
            Some((_, only)) if failures.is_empty() => only,
            last => {
                failures.extend(last);
                ConnectError::NoneOf(failures)
            }
        }
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
            ConnectError::Unsuitable(unsuitable) => unsuitable.fmt(f),
            ConnectError::NoneOf(errors) => {
                f.write_str("no server will do")?;
                errors.iter().try_for_each(|(address, error)| write!(f, "; {address}: {error}"))
            }
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

/// ERRCODE_TOO_MANY_CONNECTIONS.
const TOO_MANY_CONNECTIONS: &str = "53300";
/// ERRCODE_CANNOT_CONNECT_NOW: starting up, shutting down, recovering.
const CANNOT_CONNECT_NOW: &str = "57P03";
