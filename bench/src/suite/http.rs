//! Verdicts over HTTP: POST /v1/verify over kept connections, with a bearer token.
//!
//! Each response is compared with the verdict that its statement must get. The peer is GET /healthz of the same
//! listener: what HTTP costs without a verdict.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use pgmoat_lab::Proxy;
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

use crate::calibration::Calibration;
use crate::client::http::{HttpConnection, Response};
use crate::error::BenchError;
use crate::load::Until;
use crate::plan::Plan;
use crate::process::cpu_ns;
use crate::row::Row;
use crate::series::{Series, nanoseconds};
use crate::site::Site;
use crate::statement::{Expected, Statement, TIERS, corpus_attack, corpus_benign};
use crate::target::Target;

/// Checks every verdict, then measures.
pub(crate) async fn run(
    plan: &Plan,
    site: &Site,
    calibration: &mut Calibration,
) -> Result<Vec<Row>, BenchError> {
    let hash: String = Sha256::digest(TOKEN).iter().fold(String::new(), |mut text, byte| {
        // Writing to a String does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    });
    let admin = format!(
        "admin:\n  listen: 127.0.0.1:0\n  tokens:\n    - {{ name: bench, hash: \"sha256:{hash}\" }}\n"
    );
    let (proxy, _endpoint) = site.start_pgmoat_as(|config| config.extra.push_str(&admin)).await?;
    let address = address(&proxy)?;
    check(address).await?;
    let tiers = TIERS.map(|tier| (format!("{}/{CONNECTIONS}", tier.name), Asked::tier(plan, tier)));
    let mut rows = Vec::new();
    for (name, asked) in tiers {
        calibration.measure();
        let lanes = [(Target::Healthz, Asked::health()), (Target::Pgmoat, asked)];
        let mut lanes = lanes.map(|(target, asked)| (target, Arc::new(asked), Series::default()));
        for round in 0..plan.rounds as usize {
            lanes.rotate_left(round % 2);
            for (_, asked, series) in &mut lanes {
                let before = proxy.pid().and_then(cpu_ns);
                turn(address, asked, plan.turn, series).await?;
                let spent = proxy
                    .pid()
                    .and_then(cpu_ns)
                    .zip(before)
                    .map(|(after, before)| after.saturating_sub(before));
                spent.into_iter().for_each(|spent| series.add_cpu(spent));
            }
            lanes.rotate_right(round % 2);
        }
        for (target, _, series) in lanes {
            rows.push(series.into_row("http", name.clone(), target)?);
        }
    }
    Ok(rows)
}

/// Requests, ready to be sent, and what must be answered.
struct Asked {
    requests: Vec<(Vec<u8>, Wanted)>,
}

enum Wanted {
    Verdict {
        id: usize,
        expected: Expected,
    },
    /// Nothing but a 200.
    Ok,
}

impl Asked {
    fn tier(plan: &Plan, tier: crate::statement::Tier) -> Self {
        let lines = plan.lines.unwrap_or(LINES).max(1);
        let statements = (0..lines.div_ceil(4)).flat_map(|number| tier.statements(FIRST_NUMBER + number));
        Self::of(statements)
    }

    fn of(statements: impl Iterator<Item = Statement>) -> Self {
        let request = |(id, statement): (usize, Statement)| {
            let body = statement.json(id, Some("lab"));
            let head = format!(
                "POST /v1/verify HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\n\r\n{body}",
                body.len()
            );
            (head.into_bytes(), Wanted::Verdict { id, expected: statement.expected })
        };
        Self { requests: statements.enumerate().map(request).collect() }
    }

    fn health() -> Self {
        let request = "GET /healthz HTTP/1.1\r\nHost: bench\r\n\r\n".to_owned();
        Self { requests: vec![(request.into_bytes(), Wanted::Ok)] }
    }
}

impl Wanted {
    fn fault(&self, response: &Response) -> Option<String> {
        let body = || String::from_utf8_lossy(&response.body).into_owned();
        if response.status != 200 {
            return Some(format!("status {}: {}", response.status, body()));
        }
        let (id, expected) = match self {
            Self::Ok => return None,
            Self::Verdict { id, expected } => (id, expected),
        };
        let allowed = format!("{{\"id\":{id},\"allowed\":true}}");
        if *expected == Expected::Allowed && response.body.trim_ascii() == allowed.as_bytes() {
            return None;
        }
        let Ok(answer) = serde_json::from_slice::<serde_json::Value>(&response.body) else {
            return Some(format!("no JSON: {}", body()));
        };
        let word = |name: &str| answer.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
        let denied = match answer.get("allowed") {
            Some(serde_json::Value::Bool(allowed)) => !allowed,
            _ => return Some(format!("no verdict: {}", body())),
        };
        if answer.get("id") != Some(&(*id).into()) {
            return Some(format!("another request's answer: {}", body()));
        }
        expected.fault(denied.then(|| [word("code"), word("sqlstate")]))
    }
}

/// The corpus, the tiers, another tenant's rows, and a request without a token.
async fn check(address: SocketAddr) -> Result<(), BenchError> {
    let mut statements = corpus_benign()?;
    statements.extend(corpus_attack()?);
    for tier in TIERS {
        let own = tier.statements(FIRST_NUMBER);
        statements.extend(own.iter().map(Statement::across));
        statements.extend(own);
    }
    let mut connection = HttpConnection::open(address).await?;
    for (request, wanted) in Asked::of(statements.into_iter()).requests {
        connection.out.extend_from_slice(&request);
        let response = connection.exchange().await?;
        if let Some(fault) = wanted.fault(&response) {
            return Err(BenchError::Wrong(format!("wrong verdict: http: {fault}")));
        }
    }
    let request = "POST /v1/verify HTTP/1.1\r\nHost: bench\r\nContent-Length: 2\r\n\r\n{}";
    connection.out.extend_from_slice(request.as_bytes());
    match connection.exchange().await?.status {
        401 => Ok(()),
        status => Err(BenchError::Wrong(format!("http: {status} instead of 401 without a token"))),
    }
}

/// All connections at once, each with its next request as soon as the last one is answered.
async fn turn(
    address: SocketAddr,
    asked: &Arc<Asked>,
    until: Until,
    series: &mut Series,
) -> Result<(), BenchError> {
    let mut connections = Vec::with_capacity(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        connections.push(HttpConnection::open(address).await?);
    }
    let mut running = JoinSet::new();
    let started = Instant::now();
    for (number, connection) in connections.into_iter().enumerate() {
        running.spawn(client(connection, Arc::clone(asked), number * STRIDE, until));
    }
    let (mut samples, mut failed) = (Vec::new(), Vec::new());
    while let Some(joined) = running.join_next().await {
        let (latencies, fault) =
            joined.map_err(|error| BenchError::Wrong(format!("a client stopped: {error}")))??;
        samples.extend(latencies);
        failed.extend(fault);
    }
    if let Some(fault) = failed.first() {
        return Err(BenchError::Wrong(format!(
            "http: {} clients were answered wrongly: {fault}",
            failed.len()
        )));
    }
    let done = samples.len() as u64;
    series.add_round(samples, done, started.elapsed());
    Ok(())
}

async fn client(
    mut connection: HttpConnection,
    asked: Arc<Asked>,
    first: usize,
    until: Until,
) -> Result<(Vec<u64>, Option<String>), BenchError> {
    let (mut latencies, mut fault) = (Vec::with_capacity(EXPECTED_REQUESTS), None);
    let started = Instant::now();
    let requests = asked.requests.iter().cycle().skip(first % asked.requests.len().max(1));
    for (request, wanted) in requests {
        connection.out.extend_from_slice(request);
        let sent = Instant::now();
        let response = connection.exchange().await?;
        latencies.push(nanoseconds(sent.elapsed()));
        fault = fault.or_else(|| wanted.fault(&response));
        let over = match until {
            Until::Elapsed(limit) => started.elapsed() >= limit,
            Until::Requests(count) => latencies.len() as u64 >= count,
        };
        if over || fault.is_some() {
            break;
        }
    }
    Ok((latencies, fault))
}

/// From the line that says where it listens.
fn address(proxy: &Proxy) -> Result<SocketAddr, BenchError> {
    let log = proxy.log();
    let said = log.lines().find_map(|line| line.strip_prefix(ANNOUNCED));
    said.and_then(|address| address.trim().parse().ok())
        .ok_or_else(|| BenchError::Wrong(format!("pgmoat does not say where its HTTP listener is:\n{log}")))
}

const CONNECTIONS: usize = 32;
const ANNOUNCED: &str = "pgmoat admin listening on ";
/// Of this run alone, for a loopback address: no secret.
const TOKEN: &str = "pgmoat_bench";
const FIRST_NUMBER: u64 = 1000;
/// Statements of a tier.
const LINES: u64 = 4096;
/// The clients begin at different statements.
const STRIDE: usize = 97;
const EXPECTED_REQUESTS: usize = 4096;
