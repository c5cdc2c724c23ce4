//! From addresses to a session that is ready.
//!
//! Servers are asked in their order, every address of a name in turn, names looked up anew each time. The stages for each:
//! TCP; SSLRequest and TLS; the start-up packet (built from validated fields, never from a client's); authentication;
//! what the server reports about itself, checked; ReadyForQuery. Each address has one limit for all of them.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::lookup_host;
use tokio::time::timeout;

use crate::address::{Address, Target};
use crate::attributes::Fit;
use crate::connect_error::{ConnectError, Stage};
use crate::connection::Connection;
use crate::login::login;
use crate::open::{Route, open};

/// Connects to the first server that will do, and logs in.
///
/// # Errors
///
/// Whatever stands in the way, see [`ConnectError`]; nothing is retried here.
pub async fn connect(target: &Target) -> Result<Connection, ConnectError> {
    search(target, 0..target.hosts().count()).await.map(|found| found.connection)
}

/// A connection, and what was learned on the way.
pub(crate) struct Found {
    pub(crate) connection: Connection,
    pub(crate) tried: Vec<Tried>,
}

/// What is known of a server that was tried.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tried {
    /// Its number in [`Target::hosts`].
    pub(crate) host: usize,
    /// The addresses of its name at this moment, none for a socket.
    pub(crate) known: Vec<Option<SocketAddr>>,
    /// Those that cannot be reached, or will not do.
    pub(crate) failed: Vec<Option<SocketAddr>>,
}

/// Tries the servers with these numbers.
pub(crate) async fn search(
    target: &Target,
    order: impl IntoIterator<Item = usize>,
) -> Result<Found, ConnectError> {
    let mut search = Search { target, tried: Vec::new(), failures: Vec::new(), second_choice: None };
    for host in order {
        match search.ask(host).await {
            Asked::Found(connection) => return Ok(search.found(*connection)),
            Asked::GoOn => {}
            Asked::Stop => break,
        }
    }
    match search.second_choice.take() {
        Some(connection) => Ok(search.found(connection)),
        None => Err(ConnectError::of(search.failures)),
    }
}

struct Search<'a> {
    target: &'a Target,
    tried: Vec<Tried>,
    failures: Vec<(Address, ConnectError)>,
    second_choice: Option<Connection>,
}

enum Asked {
    Found(Box<Connection>),
    GoOn,
    Stop,
}

impl Search<'_> {
    async fn ask(&mut self, host: usize) -> Asked {
        let Some(endpoint) = self.target.endpoint_of(host) else { return Asked::GoOn };
        let endpoint = Arc::new(endpoint);
        self.tried.push(Tried { host, ..Tried::default() });
        let known = match timeout(endpoint.connect_timeout, addresses(&endpoint.address)).await {
            Ok(Ok(known)) => known,
            Ok(Err(error)) => return self.failed(&endpoint.address, error),
            Err(_) => {
                let error = ConnectError::Timeout { stage: Stage::Tcp, limit: endpoint.connect_timeout };
                return self.failed(&endpoint.address, error);
            }
        };
        for at in &known {
            if let Some(tried) = self.tried.last_mut() {
                tried.known.clone_from(&known);
            }
            let route = Arc::new(Route { host, endpoint: Arc::clone(&endpoint), at: *at });
            let asked = match attempt(route, self.target).await {
                Ok(connection) => match self.target.attributes.fit(connection.parameters()) {
                    Fit::Wanted => return Asked::Found(Box::new(connection)),
                    Fit::SecondChoice => {
                        self.second_choice.get_or_insert(connection);
                        continue;
                    }
                    Fit::No(unsuitable) => {
                        connection.terminate();
                        self.failed(&endpoint.address, ConnectError::Unsuitable(unsuitable))
                    }
                },
                Err(error) => self.failed(&endpoint.address, error),
            };
            if let Some(tried) = self.tried.last_mut() {
                tried.failed.push(*at);
            }
            if let Asked::Stop = asked {
                return asked;
            }
        }
        Asked::GoOn
    }

    fn failed(&mut self, address: &Address, error: ConnectError) -> Asked {
        let stop = error.ends_search();
        self.failures.push((address.clone(), error));
        if stop { Asked::Stop } else { Asked::GoOn }
    }

    fn found(self, connection: Connection) -> Found {
        Found { connection, tried: self.tried }
    }
}

/// The addresses of a name at this moment, in the system's order.
async fn addresses(address: &Address) -> Result<Vec<Option<SocketAddr>>, ConnectError> {
    let Address::Tcp { host, port } = address else { return Ok(vec![None]) };
    let at_tcp = |error| ConnectError::Io { stage: Stage::Tcp, error };
    let found = lookup_host((host.as_str(), *port)).await.map_err(at_tcp)?;
    let known: Vec<_> = found.take(MAX_ADDRESSES).map(Some).collect();
    match known.is_empty() {
        true => Err(at_tcp(std::io::Error::other("the name has no address"))),
        false => Ok(known),
    }
}

async fn attempt(route: Arc<Route>, target: &Target) -> Result<Connection, ConnectError> {
    let limit = route.endpoint.connect_timeout;
    let mut stage = Stage::Tcp;
    match timeout(limit, attempt_without_limit(route, target, &mut stage)).await {
        Ok(connected) => connected,
        Err(_) => Err(ConnectError::Timeout { stage, limit }),
    }
}

async fn attempt_without_limit(
    route: Arc<Route>,
    target: &Target,
    stage: &mut Stage,
) -> Result<Connection, ConnectError> {
    let stream = open(&route, stage).await?;
    *stage = Stage::Login;
    login(stream, target, route).await
}

/// Addresses of one name that are tried.
const MAX_ADDRESSES: usize = 16;
