//! One line of a report.

use serde::{Deserialize, Serialize};

use crate::percentile::Summary;
use crate::target::Target;

/// The figures of one workload on one target.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) suite: String,
    pub(crate) name: String,
    pub(crate) target: Target,
    pub(crate) unit: Unit,
    pub(crate) samples: u64,
    pub(crate) p50: u64,
    pub(crate) p90: u64,
    pub(crate) p99: u64,
    pub(crate) p99_9: u64,
    pub(crate) max: u64,
    pub(crate) mean: f64,
    /// None where nothing is done repeatedly.
    pub(crate) throughput_per_s: Option<f64>,
    /// Throughput and p50 of each round: targets are compared round by round, since drift hits both.
    pub(crate) throughput_of_rounds: Vec<f64>,
    pub(crate) p50_of_rounds: Vec<u64>,
    /// Processor time of the process between client and server, per request.
    pub(crate) cpu_ns_per_request: Option<f64>,
    pub(crate) errors: u64,
    /// Whether a baseline is compared with it.
    pub(crate) gate: bool,
}

/// What the percentiles of a row are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Unit {
    #[serde(rename = "ns")]
    Nanoseconds,
    #[serde(rename = "bytes")]
    Bytes,
    /// Of what can be counted exactly, on any machine.
    #[serde(rename = "count")]
    Count,
}

impl Row {
    /// A row of values, without throughput and not gated.
    pub(crate) fn new(suite: &str, name: String, target: Target, unit: Unit, summary: Summary) -> Self {
        let Summary { samples, p50, p90, p99, p99_9, max, mean } = summary;
        Self {
            suite: suite.to_owned(),
            name,
            target,
            unit,
            samples,
            p50,
            p90,
            p99,
            p99_9,
            max,
            mean,
            throughput_per_s: None,
            throughput_of_rounds: Vec::new(),
            p50_of_rounds: Vec::new(),
            cpu_ns_per_request: None,
            errors: 0,
            gate: false,
        }
    }
}
