//! The statements that are timed, and how they are put on the wire.

use std::fmt::{self, Write as _};

use bytes::BytesMut;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;

use crate::error::BenchError;

/// One row of a report: a query, a way to send it, a number of clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Workload {
    pub(crate) query: Query,
    pub(crate) protocol: Protocol,
    pub(crate) clients: usize,
}

impl Workload {
    /// Every workload of the suite.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for query in [Query::T1Point, Query::TenantPoint] {
            for protocol in [Protocol::Simple, Protocol::Extended, Protocol::Prepared] {
                all.extend(CLIENTS.map(|clients| Self { query, protocol, clients }));
            }
        }
        all
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.query.name(), self.protocol.name(), self.clients)
    }
}

/// A point select: one row by its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Query {
    /// pgbench's select, as a user without a tenant.
    T1Point,
    /// One order of one's own tenant, as a user who is bound to it.
    TenantPoint,
}

impl Query {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::T1Point => "t1_point",
            Self::TenantPoint => "tenant_point",
        }
    }

    /// The user of the lab who asks.
    pub(crate) fn user(self) -> &'static str {
        match self {
            Self::T1Point => "ops",
            Self::TenantPoint => "acme_app",
        }
    }

    /// The key of the n-th row. Every key has a row, and acme's orders are the even ones.
    pub(crate) fn key(self, n: u64) -> u64 {
        match self {
            Self::T1Point => 1 + n % ACCOUNTS,
            Self::TenantPoint => 2 + n % (ORDERS / 2) * 2,
        }
    }

    /// The first column of the row with that key: in pgbench's fresh tables every balance is zero.
    pub(crate) fn expected(self, key: u64) -> String {
        match self {
            Self::T1Point => "0".to_owned(),
            Self::TenantPoint => key.to_string(),
        }
    }

    /// With its values in the text.
    fn literal_text(self, tenant: &str, key: u64, text: &mut String) {
        text.clear();
        // Writing to a String does not fail.
        let _ = match self {
            Self::T1Point => {
                write!(text, "SELECT abalance FROM public.pgbench_accounts WHERE aid = {key}")
            }
            Self::TenantPoint => write!(
                text,
                "SELECT id, status, total FROM app.orders WHERE tenant_id = '{tenant}' AND id = {key}"
            ),
        };
    }

    /// With places for its values.
    fn parameter_text(self) -> &'static str {
        match self {
            Self::T1Point => "SELECT abalance FROM public.pgbench_accounts WHERE aid = $1",
            Self::TenantPoint => "SELECT id, status, total FROM app.orders WHERE tenant_id = $1 AND id = $2",
        }
    }
}

/// How a statement is sent, as pgbench's `-M` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Query, with a new literal each time.
    Simple,
    /// Parse, Bind, Describe, Execute, Sync, each time.
    Extended,
    /// Parse once; then Bind, Describe, Execute, Sync.
    Prepared,
}

impl Protocol {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Extended => "extended",
            Self::Prepared => "prepared",
        }
    }
}

/// Writes a client's requests. Whatever it allocates it keeps.
#[derive(Debug)]
pub(crate) struct Requests {
    query: Query,
    protocol: Protocol,
    text: String,
    random: u64,
}

impl Requests {
    /// The requests of one client; each client has its own sequence of keys, the same on every run.
    pub(crate) fn new(query: Query, protocol: Protocol, client: u64) -> Self {
        Self { query, protocol, text: String::new(), random: client.wrapping_mul(SEQUENCE_STEP) }
    }

    /// What is sent once, before the first request; nothing in most protocols.
    pub(crate) fn prepare(&self, out: &mut BytesMut) -> Result<(), BenchError> {
        match self.protocol {
            Protocol::Simple | Protocol::Extended => return Ok(()),
            Protocol::Prepared => {}
        }
        frontend::parse(STATEMENT, self.query.parameter_text(), [], out).map_err(unsendable)?;
        frontend::sync(out);
        Ok(())
    }

    /// The next request.
    pub(crate) fn next(&mut self, out: &mut BytesMut) -> Result<(), BenchError> {
        let key = self.query.key(self.random_number());
        self.request(OWN_TENANT, key, out)
    }

    /// The request for one key, naming one tenant.
    pub(crate) fn request(&mut self, tenant: &str, key: u64, out: &mut BytesMut) -> Result<(), BenchError> {
        let query = self.query;
        match self.protocol {
            Protocol::Simple => {
                query.literal_text(tenant, key, &mut self.text);
                return frontend::query(&self.text, out).map_err(unsendable);
            }
            Protocol::Extended => {
                frontend::parse("", query.parameter_text(), [], out).map_err(unsendable)?;
                self.bind("", tenant, key, out)?;
            }
            Protocol::Prepared => self.bind(STATEMENT, tenant, key, out)?,
        }
        frontend::describe(b'P', "", out).map_err(unsendable)?;
        frontend::execute("", 0, out).map_err(unsendable)?;
        frontend::sync(out);
        Ok(())
    }

    fn bind(
        &mut self,
        statement: &str,
        tenant: &str,
        key: u64,
        out: &mut BytesMut,
    ) -> Result<(), BenchError> {
        self.text.clear();
        let _ = write!(self.text, "{key}");
        let both = [tenant, &self.text];
        let values = match self.query {
            Query::T1Point => both.get(1..).unwrap_or_default(),
            Query::TenantPoint => both.as_slice(),
        };
        let value = |value: &&str, out: &mut BytesMut| {
            out.extend_from_slice(value.as_bytes());
            Ok(IsNull::No)
        };
        frontend::bind("", statement, [], values, value, [], out)
            .map_err(|_| BenchError::Wrong("a Bind that cannot be written".to_owned()))
    }

    /// SplitMix64: good enough to spread keys, and costs nothing.
    fn random_number(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

fn unsendable(error: std::io::Error) -> BenchError {
    BenchError::io("write a message")(error)
}

/// pgbench's scale: 100,000 accounts each.
pub(crate) const SCALE: u32 = 10;
/// The tenant of the user who asks for orders.
pub(crate) const OWN_TENANT: &str = "acme";
/// One that this user is not bound to.
pub(crate) const OTHER_TENANT: &str = "globex";

const ACCOUNTS: u64 = SCALE as u64 * 100_000;
/// Orders of acme and globex in the lab's data; what follows is initech's.
const ORDERS: u64 = 20_000;
const CLIENTS: [usize; 2] = [1, 32];
const STATEMENT: &str = "point";
const SEQUENCE_STEP: u64 = 0x2545_f491_4f6c_dd1d;
