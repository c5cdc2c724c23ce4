//! Durations, in buckets whose bounds are powers of two microseconds.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many buckets have a bound: from 1 µs to 2^26 µs, a little more than a minute.
pub const BUCKETS: usize = 27;

/// A histogram of durations. Adding one is two relaxed additions.
#[derive(Debug, Default)]
pub struct Histogram {
    /// Bucket i has what is shorter than 2^i µs and not in one before it; the last one has no bound.
    buckets: [AtomicU64; BUCKETS + 1],
    sum_us: AtomicU64,
}

/// A histogram as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistogramSnapshot {
    /// As in [`Histogram`], each by itself.
    pub buckets: [u64; BUCKETS + 1],
    /// The sum of all, in microseconds.
    pub sum_us: u64,
}

impl Histogram {
    /// Adds a duration in whole microseconds.
    pub fn add_us(&self, duration_us: u64) {
        let bits = u64::BITS - duration_us.leading_zeros();
        let at = usize::try_from(bits).unwrap_or(BUCKETS).min(BUCKETS);
        if let Some(bucket) = self.buckets.get(at) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.sum_us.fetch_add(duration_us, Ordering::Relaxed);
    }

    /// How it stands.
    pub fn snapshot(&self) -> HistogramSnapshot {
        let sum_us = self.sum_us.load(Ordering::Relaxed);
        HistogramSnapshot {
            buckets: self.buckets.each_ref().map(|bucket| bucket.load(Ordering::Relaxed)),
            sum_us,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_in_the_first_bucket_that_it_is_shorter_than() {
        for (duration_us, at) in
            [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (1023, 10), (1024, 11), (u64::MAX, BUCKETS)]
        {
            let histogram = Histogram::default();
            histogram.add_us(duration_us);
            let HistogramSnapshot { buckets, sum_us } = histogram.snapshot();
            assert_eq!(buckets.iter().position(|count| *count == 1), Some(at), "{duration_us}");
            assert_eq!((buckets.iter().sum::<u64>(), sum_us), (1, duration_us));
        }
    }
}
