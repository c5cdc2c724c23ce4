//! How fast this machine is at this moment: fixed work that has nothing to do with what is measured.
//!
//! Runs on different machines, or on one machine at different times, are compared after division by it.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::hint::black_box;
use std::time::Instant;

use sha2::{Digest as _, Sha256};

use crate::percentile::Summary;
use crate::row::{Row, Unit};
use crate::target::Target;

/// The times taken so far. Measured in between the workloads, since the machine drifts.
#[derive(Debug, Default)]
pub(crate) struct Calibration {
    sha256: Vec<u64>,
    sort: Vec<u64>,
    hash: Vec<u64>,
}

impl Calibration {
    /// Does each piece of work a few times.
    pub(crate) fn measure(&mut self) {
        let block = vec![0x5a_u8; HASHED_BYTES];
        let numbers: Vec<u64> =
            (0..SORTED_NUMBERS).map(|n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let strings: Vec<String> = (0..HASHED_STRINGS).map(|n| format!("order-{n}")).collect();
        for _ in 0..REPEATS {
            self.sha256.push(time(|| {
                black_box(Sha256::digest(black_box(&block)));
            }));
            let mut unsorted = numbers.clone();
            self.sort.push(time(|| black_box(&mut unsorted).sort_unstable()));
            self.hash.push(time(|| {
                for string in black_box(&strings) {
                    let mut hasher = DefaultHasher::new();
                    string.hash(&mut hasher);
                    black_box(hasher.finish());
                }
            }));
        }
    }

    /// A row for each piece of work.
    pub(crate) fn into_rows(mut self) -> Vec<Row> {
        let series = [
            ("sha256_64k", &mut self.sha256),
            ("sort_integers", &mut self.sort),
            ("hash_strings", &mut self.hash),
        ];
        let row = |(name, values): (&str, &mut Vec<u64>)| {
            let summary = Summary::of(values)?;
            Some(Row::new(SUITE, name.to_owned(), Target::Host, Unit::Nanoseconds, summary))
        };
        series.into_iter().filter_map(row).collect()
    }
}

/// One figure for a machine: the geometric mean of the calibration's p50 in nanoseconds; none without such rows.
pub(crate) fn score(rows: &[Row]) -> Option<f64> {
    let logarithms: Vec<f64> =
        rows.iter().filter(|row| row.suite == SUITE).map(|row| (row.p50.max(1) as f64).ln()).collect();
    let count = logarithms.len() as f64;
    (count > 0.0).then(|| (logarithms.iter().sum::<f64>() / count).exp())
}

fn time(work: impl FnOnce()) -> u64 {
    let started = Instant::now();
    work();
    u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

const SUITE: &str = "calibration";
const HASHED_BYTES: usize = 64 * 1024;
const SORTED_NUMBERS: u64 = 16_384;
const HASHED_STRINGS: usize = 4096;
const REPEATS: usize = 15;
