//! Percentiles by nearest rank: each one is a value that was measured, never an interpolation.

/// The figures of one series of measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Summary {
    pub(crate) samples: u64,
    pub(crate) p50: u64,
    pub(crate) p90: u64,
    pub(crate) p99: u64,
    pub(crate) p99_9: u64,
    pub(crate) max: u64,
    pub(crate) mean: f64,
}

impl Summary {
    /// Sorts the values and takes their figures; none of an empty series.
    pub(crate) fn of(values: &mut [u64]) -> Option<Self> {
        values.sort_unstable();
        let sum: u128 = values.iter().copied().map(u128::from).sum();
        Some(Self {
            samples: values.len() as u64,
            p50: nearest_rank(values, 500)?,
            p90: nearest_rank(values, 900)?,
            p99: nearest_rank(values, 990)?,
            p99_9: nearest_rank(values, 999)?,
            max: values.last().copied()?,
            mean: sum as f64 / values.len() as f64,
        })
    }
}

/// The middle of a series, the lower one of two.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied()
}

/// The smallest value that has at least this share of the series at or below it: rank ⌈share × n⌉.
fn nearest_rank(sorted: &[u64], per_mille: usize) -> Option<u64> {
    let rank = (sorted.len() * per_mille).div_ceil(1000);
    sorted.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_the_definition_s() {
        // The worked example of the nearest-rank method: 15, 20, 35, 40, 50.
        let values = [15, 20, 35, 40, 50];
        let ranks = [50, 300, 400, 500, 1000].map(|share| nearest_rank(&values, share).unwrap());
        assert_eq!(ranks, [15, 20, 20, 35, 50]);
    }

    #[test]
    fn a_summary_of_a_thousand() {
        let mut values: Vec<u64> = (1..=1000).rev().collect();
        let summary = Summary::of(&mut values).unwrap();
        assert_eq!((summary.p50, summary.p90, summary.p99, summary.p99_9), (500, 900, 990, 999));
        assert_eq!((summary.samples, summary.max, summary.mean), (1000, 1000, 500.5));
    }

    #[test]
    fn nothing_measured_has_no_figures() {
        assert_eq!(Summary::of(&mut []), None);
        assert_eq!(median(Vec::new()), None);
    }

    #[test]
    fn one_value_is_every_percentile() {
        let summary = Summary::of(&mut [7]).unwrap();
        assert_eq!([summary.p50, summary.p90, summary.p99, summary.p99_9, summary.max], [7; 5]);
    }
}
