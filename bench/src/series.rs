//! The measurements of one workload on one target, round by round, until they are a row.

use std::time::Duration;

use crate::error::BenchError;
use crate::percentile::Summary;
use crate::row::{Row, Unit};
use crate::target::Target;

/// What was measured so far.
#[derive(Debug, Default)]
pub(crate) struct Series {
    samples: Vec<u64>,
    throughput_of_rounds: Vec<f64>,
    p50_of_rounds: Vec<u64>,
    done: u64,
    elapsed: Duration,
    cpu_ns: Option<u64>,
}

impl Series {
    /// A round: its samples in nanoseconds, and how much was done in what time.
    pub(crate) fn add_round(&mut self, mut samples: Vec<u64>, done: u64, elapsed: Duration) {
        self.throughput_of_rounds.push(done as f64 / elapsed.as_secs_f64().max(f64::MIN_POSITIVE));
        self.p50_of_rounds.extend(Summary::of(&mut samples).map(|summary| summary.p50));
        self.samples.append(&mut samples);
        self.done += done;
        self.elapsed += elapsed;
    }

    /// Processor time of what is measured, in nanoseconds.
    pub(crate) fn add_cpu(&mut self, spent_ns: u64) {
        *self.cpu_ns.get_or_insert(0) += spent_ns;
    }

    /// The row. Rows of pgmoat's are gated.
    ///
    /// # Errors
    ///
    /// [`BenchError::Wrong`]: nothing was measured.
    pub(crate) fn into_row(mut self, suite: &str, name: String, target: Target) -> Result<Row, BenchError> {
        let Some(summary) = Summary::of(&mut self.samples) else {
            return Err(BenchError::Wrong(format!("{suite}: {name}: nothing was measured")));
        };
        let mut row = Row::new(suite, name, target, Unit::Nanoseconds, summary);
        row.throughput_per_s = Some(self.done as f64 / self.elapsed.as_secs_f64().max(f64::MIN_POSITIVE));
        row.throughput_of_rounds = self.throughput_of_rounds;
        row.p50_of_rounds = self.p50_of_rounds;
        row.cpu_ns_per_request = self.cpu_ns.map(|ns| ns as f64 / self.done.max(1) as f64);
        row.gate = target == Target::Pgmoat;
        Ok(row)
    }
}

/// In whole nanoseconds.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
