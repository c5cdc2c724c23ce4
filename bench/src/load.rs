//! Closed-loop load: each client sends its next request when it has the reply to the last one.
//!
//! All clients live on the one thread of the harness: on a small machine a second one would take a core away from what
//! is measured. A reply that waits for its turn on that thread is counted with its wait, in every column alike.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::client::Connection;
use crate::error::BenchError;
use crate::series::nanoseconds;
use crate::target::Endpoint;
use crate::workload::{Requests, Workload};

/// When a turn is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// The first reply after this time is a client's last.
    Elapsed(Duration),
    /// Each client sends that many.
    Requests(u64),
}

/// A logged-in client with its requests.
#[derive(Debug)]
pub(crate) struct Client {
    connection: Connection,
    requests: Requests,
    /// Rows and SQLSTATE of each reply.
    wanted: (u64, Option<&'static str>),
}

/// What one turn of one target gave.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// Of each request, from before its first byte is sent until its last byte is read.
    pub(crate) latencies_ns: Vec<u64>,
    /// From the common start to the last reply.
    pub(crate) elapsed: Duration,
    pub(crate) errors: u64,
    pub(crate) first_error: Option<String>,
}

impl Client {
    /// Logs in, prepares what is sent once, and sends a few requests that are not counted.
    pub(crate) async fn open(
        endpoint: &Endpoint,
        workload: Workload,
        number: usize,
    ) -> Result<Self, BenchError> {
        let login = endpoint.login(workload.query.user())?;
        let mut connection = Connection::open(endpoint.address(), &login, &endpoint.database).await?;
        let requests = Requests::new(workload.query, workload.protocol, number as u64);
        requests.prepare(&mut connection.out)?;
        if !connection.out.is_empty() {
            let reply = connection.exchange().await?;
            if let Some(error) = reply.error {
                return Err(BenchError::Wrong(format!("{workload}, {}: {error}", endpoint.target)));
            }
        }
        let mut client = Self { connection, requests, wanted: workload.query.reply() };
        match client.run(Until::Requests(WARM_UP_REQUESTS)).await?.failure() {
            None => Ok(client),
            Some(failure) => Err(BenchError::Wrong(format!("{workload}, {}: {failure}", endpoint.target))),
        }
    }

    async fn run(&mut self, until: Until) -> Result<Turn, BenchError> {
        let mut turn = Turn::default();
        turn.latencies_ns.reserve(EXPECTED_REQUESTS);
        let started = Instant::now();
        loop {
            self.requests.next(&mut self.connection.out)?;
            let sent = Instant::now();
            let reply = self.connection.exchange().await?;
            let answered = Instant::now();
            turn.latencies_ns.push(nanoseconds(answered - sent));
            let (rows, code) = self.wanted;
            if reply.rows != rows || reply.error.as_ref().map(|error| error.code.as_str()) != code {
                turn.errors += 1;
                turn.first_error.get_or_insert_with(|| match reply.error {
                    Some(error) => error.to_string(),
                    None => format!("{} rows instead of {rows}", reply.rows),
                });
            }
            turn.elapsed = answered - started;
            let over = match until {
                Until::Elapsed(limit) => turn.elapsed >= limit,
                Until::Requests(count) => turn.latencies_ns.len() as u64 >= count,
            };
            if over {
                return Ok(turn);
            }
        }
    }
}

impl Turn {
    /// What went wrong in it, if anything did.
    pub(crate) fn failure(&self) -> Option<String> {
        let first = self.first_error.as_ref()?;
        Some(format!("{} requests failed, the first with {first}", self.errors))
    }
}

/// Runs all clients at once and gives them back.
pub(crate) async fn run(clients: Vec<Client>, until: Until) -> Result<(Vec<Client>, Turn), BenchError> {
    let mut running = JoinSet::new();
    let mut all = Turn::default();
    let started = Instant::now();
    for mut client in clients {
        running.spawn(async move { client.run(until).await.map(|turn| (client, turn)) });
    }
    let mut clients = Vec::with_capacity(running.len());
    while let Some(joined) = running.join_next().await {
        let (client, turn) =
            joined.map_err(|error| BenchError::Wrong(format!("a client stopped: {error}")))??;
        clients.push(client);
        all.latencies_ns.extend(turn.latencies_ns);
        all.errors += turn.errors;
        all.first_error = all.first_error.or(turn.first_error);
        all.elapsed = started.elapsed();
    }
    Ok((clients, all))
}

const WARM_UP_REQUESTS: u64 = 20;
/// What a client does in a second on a fast path; more only means that the list grows.
const EXPECTED_REQUESTS: usize = 16_384;
