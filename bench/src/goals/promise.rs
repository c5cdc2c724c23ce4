//! What is promised, line by line, and which rows tell of it.

use serde::{Serialize, Serializer};

use crate::arguments::Suite;
use crate::row::Row;
use crate::target::Target;

/// One line of the table of targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    OneClient,
    ManyClients,
    NewLiteral,
    RangeScan,
    MillionRows,
    ConstantMemory,
    Masked,
    Denial,
    Cold,
    WarmShort,
    WarmLong,
    BatchWarm,
    BatchCold,
    Http,
    OneShot,
    Idle,
    IdleEach,
    Rules,
}

impl Promise {
    /// All of them, in the table's order.
    pub(crate) const ALL: [Self; 18] = [
        Self::OneClient,
        Self::ManyClients,
        Self::NewLiteral,
        Self::RangeScan,
        Self::MillionRows,
        Self::ConstantMemory,
        Self::Masked,
        Self::Denial,
        Self::Cold,
        Self::WarmShort,
        Self::WarmLong,
        Self::BatchWarm,
        Self::BatchCold,
        Self::Http,
        Self::OneShot,
        Self::Idle,
        Self::IdleEach,
        Self::Rules,
    ];

    /// The promise that a row tells of; most rows tell of none.
    pub(crate) fn of(row: &Row) -> Option<Self> {
        if row.target != Target::Pgmoat {
            return None;
        }
        let parts: Vec<&str> = row.name.split('/').collect();
        match (row.suite.as_str(), parts.as_slice()) {
            ("proxy", ["t1_point" | "tenant_point", _, "1"]) => Some(Self::OneClient),
            ("proxy", [_, protocol, "32"]) if protocol.ends_with(NEW_LITERAL) => Some(Self::NewLiteral),
            // PgBouncer 1.18 has no prepared statements in transaction mode: there is nothing beside them.
            ("pool", [_, "prepared", _]) => None,
            ("proxy", [_, _, "32"]) | ("pool", _) => Some(Self::ManyClients),
            ("proxy", ["range_100", ..]) => Some(Self::RangeScan),
            ("proxy", ["rows_1000000"]) => Some(Self::MillionRows),
            ("proxy", ["rows_1000000", "memory"]) => Some(Self::ConstantMemory),
            ("proxy", ["denial", ..]) => Some(Self::Denial),
            ("masking", [_, "masked"]) => Some(Self::Masked),
            ("library", [tier, "cold"]) if tier.starts_with('t') => Some(Self::Cold),
            ("library", ["t1_point", "warm"]) => Some(Self::WarmShort),
            ("library", ["t5_report", "warm"]) => Some(Self::WarmLong),
            ("cli", ["batch_warm", "jobs_2"]) => Some(Self::BatchWarm),
            ("cli", ["batch_cold", "jobs_2"]) => Some(Self::BatchCold),
            ("cli", ["one_shot"]) => Some(Self::OneShot),
            ("http", ["t1_point", "32"]) => Some(Self::Http),
            ("idle", [_, "10000", "process"]) => Some(Self::Idle),
            ("idle", [_, _, "each"]) => Some(Self::IdleEach),
            ("growth", ["rules", "10000", "cold"]) => Some(Self::Rules),
            _ => None,
        }
    }

    /// The suite whose rows tell of it.
    pub(crate) fn suite(self) -> Suite {
        match self {
            Self::OneClient
            | Self::ManyClients
            | Self::NewLiteral
            | Self::RangeScan
            | Self::MillionRows
            | Self::ConstantMemory
            | Self::Denial => Suite::Proxy,
            Self::Masked => Suite::Masking,
            Self::Cold | Self::WarmShort | Self::WarmLong => Suite::Library,
            Self::BatchWarm | Self::BatchCold | Self::OneShot => Suite::Cli,
            Self::Http => Suite::Http,
            Self::Idle | Self::IdleEach => Suite::Idle,
            Self::Rules => Suite::Growth,
        }
    }

    /// What is promised.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::OneClient => "point select, 1 client: added to direct p50, at most what PgBouncer adds",
            Self::ManyClients => "point select, 32 clients: throughput, of PgBouncer's",
            Self::NewLiteral => "the same with a new literal in every statement: throughput, of the above",
            Self::RangeScan => "100-row range scan: added to direct p50",
            Self::MillionRows => "1,000,000-row result: added for each row",
            Self::ConstantMemory => "1,000,000-row result: memory grows by",
            Self::Masked => "5,000 rows, one column masked: added",
            Self::Denial => "denial outside a transaction: p50, of a direct `SELECT 1`'s",
            Self::Cold => "verdict without a cache, t1 … t5: of pg_query's parse alone",
            Self::WarmShort => "verdict from the shape cache, t1",
            Self::WarmLong => "verdict from the shape cache, t5",
            Self::BatchWarm => "`verify --batch`, both cores, warm, lines in order",
            Self::BatchCold => "`verify --batch`, both cores, cold, lines in order",
            Self::Http => "HTTP verify, 32 keep-alive connections, no errors",
            Self::OneShot => "one-shot `verify --sql` as a process",
            Self::Idle => "10,000 idle clients: resident memory of the process",
            Self::IdleEach => "an idle client: memory of each",
            Self::Rules => "verdict with 10,000 table rules: of that with 10",
        }
    }
}

impl Serialize for Promise {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}

/// How the protocols' names end that put another literal into each text.
pub(super) const NEW_LITERAL: &str = "_new_literal";
