//! Before anything is timed: each query gets the row and the verdict that it should.
//!
//! The speed of a proxy that lets another tenant's rows through, or refuses one's own, is of no interest.

use crate::client::{Connection, Reply};
use crate::error::BenchError;
use crate::target::{Endpoint, Target};
use crate::workload::{OTHER_TENANT, OWN_TENANT, Protocol, Query, Requests, Workload};

/// Sends a workload's query once, and on pgmoat once more for another tenant's row.
pub(crate) async fn check(endpoint: &Endpoint, workload: Workload) -> Result<(), BenchError> {
    let Workload { query, protocol, .. } = workload;
    let mut probe = Probe::open(endpoint, query, protocol).await?;
    let key = query.key(KEY_NUMBER);
    match query {
        Query::T1Point | Query::Range100 | Query::Select1 => probe.expect_rows(query.tenant(), key).await,
        Query::Denied => probe.expect_denial(OTHER_TENANT, key - 1).await,
        Query::TenantPoint if endpoint.target == Target::Pgmoat => {
            probe.expect_rows(OWN_TENANT, key).await?;
            probe.expect_denial(OTHER_TENANT, key - 1).await?;
            // And the session goes on.
            probe.expect_rows(OWN_TENANT, key).await
        }
        Query::TenantPoint => probe.expect_rows(OWN_TENANT, key).await,
    }
}

struct Probe {
    connection: Connection,
    requests: Requests,
    query: Query,
    what: String,
}

impl Probe {
    async fn open(endpoint: &Endpoint, query: Query, protocol: Protocol) -> Result<Self, BenchError> {
        let login = endpoint.login(query.user())?;
        let connection = Connection::open(endpoint.address(), &login, &endpoint.database).await?;
        let what = format!("{}, {}/{}", endpoint.target, query.name(), protocol.name());
        let mut probe = Self { connection, requests: Requests::new(query, protocol, 0), query, what };
        probe.requests.prepare(&mut probe.connection.out)?;
        if !probe.connection.out.is_empty() {
            let reply = probe.connection.exchange().await?;
            if let Some(error) = reply.error {
                return Err(probe.wrong(&format!("Parse is refused: {error}")));
            }
        }
        Ok(probe)
    }

    async fn expect_rows(&mut self, tenant: &str, key: u64) -> Result<(), BenchError> {
        let reply = self.ask(tenant, key).await?;
        if let Some(error) = reply.error {
            return Err(self.wrong(&format!("refused, and should not be: {error}")));
        }
        let value = self.connection.first_value()?;
        if reply.rows == self.query.reply().0 && value == self.query.expected(key) {
            return Ok(());
        }
        Err(self.wrong(&format!("{} rows, first value {value:?}, for key {key}", reply.rows)))
    }

    async fn expect_denial(&mut self, tenant: &str, key: u64) -> Result<(), BenchError> {
        let reply = self.ask(tenant, key).await?;
        match reply.error {
            Some(error) if error.code == INSUFFICIENT_PRIVILEGE && reply.rows == 0 => Ok(()),
            Some(error) => Err(self.wrong(&format!("another tenant's row: {error} instead of 42501"))),
            None => Err(self.wrong("another tenant's row is not refused")),
        }
    }

    async fn ask(&mut self, tenant: &str, key: u64) -> Result<Reply, BenchError> {
        self.requests.request(tenant, key, &mut self.connection.out)?;
        self.connection.exchange().await
    }

    fn wrong(&self, how: &str) -> BenchError {
        BenchError::Wrong(format!("wrong verdict: {}: {how}", self.what))
    }
}

const KEY_NUMBER: u64 = 2100;
const INSUFFICIENT_PRIVILEGE: &str = "42501";
