//! Families of figures: a name, what it means, and a figure for each set of labels.

use std::fmt;

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;

use crate::counts::{BUCKETS, HistogramSnapshot};

/// What is written so far.
pub(super) struct Page<'p>(pub(super) DescriptorEncoder<'p>);

/// Labels with their values.
pub(super) type Labels<'l, const N: usize> = [(&'static str, &'l str); N];

impl Page<'_> {
    /// Counters: they only grow. `_total` is put behind the name.
    pub(super) fn counters<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (Labels<'l, N>, u64)>,
    ) -> fmt::Result {
        self.growing(name, help, None, rows)
    }

    /// Seconds that only grow. `_seconds_total` is put behind the name.
    pub(super) fn seconds<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (Labels<'l, N>, f64)>,
    ) -> fmt::Result {
        self.growing(name, help, Some(&Unit::Seconds), rows)
    }

    fn growing<'l, const N: usize, V>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        rows: impl IntoIterator<Item = (Labels<'l, N>, V)>,
    ) -> fmt::Result
    where
        ConstCounter<V>: EncodeMetric,
    {
        let mut family = self.0.encode_descriptor(name, help, unit, MetricType::Counter)?;
        rows.into_iter()
            .try_for_each(|(labels, value)| ConstCounter::new(value).encode(family.encode_family(&labels)?))
    }

    /// Gauges: how it stands.
    pub(super) fn gauges<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        rows: impl IntoIterator<Item = (Labels<'l, N>, u64)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, MetricType::Gauge)?;
        rows.into_iter().try_for_each(|(labels, value)| {
            let value = i64::try_from(value).unwrap_or(i64::MAX);
            ConstGauge::new(value).encode(family.encode_family(&labels)?)
        })
    }

    /// Durations. `_seconds` is put behind the name.
    pub(super) fn durations(&mut self, name: &str, help: &str, durations: &HistogramSnapshot) -> fmt::Result {
        let mut bound = 1e-6;
        let buckets: Vec<(f64, u64)> = durations
            .buckets
            .iter()
            .enumerate()
            .map(|(at, count)| {
                let upper = if at < BUCKETS { bound } else { f64::INFINITY };
                bound *= 2.0;
                (upper, *count)
            })
            .collect();
        let unit = Some(&Unit::Seconds);
        let mut family = self.0.encode_descriptor(name, help, unit, MetricType::Histogram)?;
        let count = durations.buckets.iter().sum();
        family.encode_histogram::<NoLabelSet>(seconds_of(durations.sum_us), count, &buckets, None)
    }
}

#[expect(clippy::cast_precision_loss, reason = "seconds need no more than 53 bits")]
pub(super) fn seconds_of(microseconds: u64) -> f64 {
    microseconds as f64 / 1e6
}
