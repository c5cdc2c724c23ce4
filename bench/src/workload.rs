//! The statements that are timed, and how they are put on the wire.

use std::fmt::{self, Write as _};

use bytes::BytesMut;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;

use crate::error::BenchError;
use crate::target::Target;

/// One row of a report: a query, a way to send it, a number of clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Workload {
    pub(crate) query: Query,
    pub(crate) protocol: Protocol,
    pub(crate) clients: usize,
}

impl Workload {
    /// Every workload of the suite. Those of one group take turns with one another, since they are compared.
    pub(crate) fn groups() -> Vec<Vec<Self>> {
        use Protocol::{Extended, ExtendedNewLiteral, Prepared, Simple, SimpleNewLiteral};
        let mut groups = Vec::new();
        for query in [Query::T1Point, Query::TenantPoint] {
            let one = |protocol| Self { query, protocol, clients: 1 };
            let many = |protocol| Self { query, protocol, clients: MANY_CLIENTS };
            groups.extend([Simple, Extended, Prepared].map(|protocol| vec![one(protocol)]));
            groups.push(vec![many(Simple), many(SimpleNewLiteral)]);
            groups.push(vec![many(Extended), many(ExtendedNewLiteral)]);
            groups.push(vec![many(Prepared)]);
        }
        let one = |query, protocol| Self { query, protocol, clients: 1 };
        groups.extend([Simple, Prepared].map(|protocol| vec![one(Query::Range100, protocol)]));
        groups.push(vec![one(Query::Select1, Simple), one(Query::Denied, Simple)]);
        groups
    }

    /// Whether a target can do it at all.
    pub(crate) fn runs_on(self, target: Target) -> bool {
        let named = self.protocol == Protocol::Prepared;
        let refuses = target == Target::Pgmoat;
        (refuses || self.query != Query::Denied) && (!named || target.keeps_prepared_statements())
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.query.name(), self.protocol.name(), self.clients)
    }
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Query {
    /// pgbench's select, one row by its key, as a user without a tenant.
    T1Point,
    /// One order of one's own tenant, as a user who is bound to it.
    TenantPoint,
    /// A hundred rows by a range of keys, as a user without a tenant.
    Range100,
    /// `SELECT 1`.
    Select1,
    /// One order of another tenant: refused.
    Denied,
}

impl Query {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::T1Point => "t1_point",
            Self::TenantPoint => "tenant_point",
            Self::Range100 => "range_100",
            Self::Select1 => "select_1",
            Self::Denied => "denial",
        }
    }

    /// The user of the lab who asks.
    pub(crate) fn user(self) -> &'static str {
        match self {
            Self::T1Point | Self::Range100 | Self::Select1 => "ops",
            Self::TenantPoint | Self::Denied => "acme_app",
        }
    }

    /// The tenant that is named.
    pub(crate) fn tenant(self) -> &'static str {
        match self {
            Self::T1Point | Self::Range100 | Self::Select1 | Self::TenantPoint => OWN_TENANT,
            Self::Denied => OTHER_TENANT,
        }
    }

    /// The key of the n-th row. Every key has a row, and acme's orders are the even ones.
    pub(crate) fn key(self, n: u64) -> u64 {
        match self {
            Self::T1Point => 1 + n % ACCOUNTS,
            Self::Range100 => 1 + n % (ACCOUNTS - RANGE),
            Self::TenantPoint | Self::Denied => 2 + n % (ORDERS / 2) * 2,
            Self::Select1 => 1,
        }
    }

    /// The rows of a reply, and its SQLSTATE where it is an error.
    pub(crate) fn reply(self) -> (u64, Option<&'static str>) {
        match self {
            Self::T1Point | Self::TenantPoint | Self::Select1 => (1, None),
            Self::Range100 => (RANGE, None),
            Self::Denied => (0, Some(INSUFFICIENT_PRIVILEGE)),
        }
    }

    /// The first column of the row with that key: in pgbench's fresh tables every balance is zero.
    pub(crate) fn expected(self, key: u64) -> Option<String> {
        match self {
            Self::T1Point => Some("0".to_owned()),
            Self::TenantPoint | Self::Range100 | Self::Select1 => Some(key.to_string()),
            Self::Denied => None,
        }
    }

    /// With its values in the text.
    fn literal_text(self, tenant: &str, key: u64, text: &mut String) {
        text.clear();
        let end = key + RANGE - 1;
        // Writing to a String does not fail.
        let _ = match self {
            Self::T1Point => {
                write!(text, "SELECT abalance FROM public.pgbench_accounts WHERE aid = {key}")
            }
            Self::Range100 => write!(
                text,
                "SELECT aid, abalance FROM public.pgbench_accounts WHERE aid BETWEEN {key} AND {end} ORDER BY aid"
            ),
            Self::TenantPoint | Self::Denied => write!(
                text,
                "SELECT id, status, total FROM app.orders WHERE tenant_id = '{tenant}' AND id = {key}"
            ),
            Self::Select1 => write!(text, "SELECT {key}"),
        };
    }

    /// With places for its values.
    fn parameter_text(self) -> &'static str {
        match self {
            Self::T1Point => "SELECT abalance FROM public.pgbench_accounts WHERE aid = $1",
            Self::Range100 => {
                "SELECT aid, abalance FROM public.pgbench_accounts WHERE aid BETWEEN $1 AND $2 ORDER BY aid"
            }
            Self::TenantPoint | Self::Denied => {
                "SELECT id, status, total FROM app.orders WHERE tenant_id = $1 AND id = $2"
            }
            Self::Select1 => "SELECT $1::int4",
        }
    }

    fn values(self, tenant: &str, key: u64) -> Vec<String> {
        match self {
            Self::T1Point | Self::Select1 => vec![key.to_string()],
            Self::Range100 => vec![key.to_string(), (key + RANGE - 1).to_string()],
            Self::TenantPoint | Self::Denied => vec![tenant.to_owned(), key.to_string()],
        }
    }
}

/// How a statement is sent: pgbench's `-M`, and the same with another literal in each text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Query, of each client the same text each time.
    Simple,
    /// Query, with a new literal each time.
    SimpleNewLiteral,
    /// Parse, Bind, Describe, Execute, Sync, each time: one text, the values bound.
    Extended,
    /// The same with the values in the text, new ones each time.
    ExtendedNewLiteral,
    /// Parse once; then Bind, Describe, Execute, Sync.
    Prepared,
}

impl Protocol {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::SimpleNewLiteral => "simple_new_literal",
            Self::Extended => "extended",
            Self::ExtendedNewLiteral => "extended_new_literal",
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
        if self.protocol != Protocol::Prepared {
            return Ok(());
        }
        frontend::parse(STATEMENT, self.query.parameter_text(), [], out).map_err(unsendable)?;
        frontend::sync(out);
        Ok(())
    }

    /// The next request.
    pub(crate) fn next(&mut self, out: &mut BytesMut) -> Result<(), BenchError> {
        let number = match self.protocol {
            Protocol::Simple => self.random,
            Protocol::SimpleNewLiteral
            | Protocol::Extended
            | Protocol::ExtendedNewLiteral
            | Protocol::Prepared => self.random_number(),
        };
        self.request(self.query.tenant(), self.query.key(number), out)
    }

    /// The request for one key, naming one tenant.
    pub(crate) fn request(&mut self, tenant: &str, key: u64, out: &mut BytesMut) -> Result<(), BenchError> {
        let query = self.query;
        match self.protocol {
            Protocol::Simple | Protocol::SimpleNewLiteral => {
                query.literal_text(tenant, key, &mut self.text);
                return frontend::query(&self.text, out).map_err(unsendable);
            }
            Protocol::Extended => {
                frontend::parse("", query.parameter_text(), [], out).map_err(unsendable)?;
                bind("", &query.values(tenant, key), out)?;
            }
            Protocol::ExtendedNewLiteral => {
                query.literal_text(tenant, key, &mut self.text);
                frontend::parse("", &self.text, [], out).map_err(unsendable)?;
                bind("", &[], out)?;
            }
            Protocol::Prepared => bind(STATEMENT, &query.values(tenant, key), out)?,
        }
        frontend::describe(b'P', "", out).map_err(unsendable)?;
        frontend::execute("", 0, out).map_err(unsendable)?;
        frontend::sync(out);
        Ok(())
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

fn bind(statement: &str, values: &[String], out: &mut BytesMut) -> Result<(), BenchError> {
    let value = |value: &String, out: &mut BytesMut| {
        out.extend_from_slice(value.as_bytes());
        Ok(IsNull::No)
    };
    frontend::bind("", statement, [], values, value, [], out)
        .map_err(|_| BenchError::Wrong("a Bind that cannot be written".to_owned()))
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
const RANGE: u64 = 100;
const MANY_CLIENTS: usize = 32;
const INSUFFICIENT_PRIVILEGE: &str = "42501";
const STATEMENT: &str = "point";
const SEQUENCE_STEP: u64 = 0x2545_f491_4f6c_dd1d;
