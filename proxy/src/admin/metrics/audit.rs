//! The audit log. Its head (contracts 4) is an exemplar: as a label each scrape would make another series.

use std::fmt;

use pgmoat_audit::LogStats;
use prometheus_client::encoding::EncodeMetric as _;
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::CounterWithExemplar;

use super::page::Page;

pub(super) fn write(stats: &LogStats, page: &mut Page<'_>) -> fmt::Result {
    let LogStats { head, synced_seq, queued, queued_bytes, takes, refused } = stats;
    let entries = CounterWithExemplar::<Vec<(&str, String)>>::default();
    entries.inc_by(head.seq, Some(vec![("hash", head.hash.to_string())]), None);
    let help = "Lines of the audit log's chain; the exemplar has the hash of the last one, as `audit verify --head` takes it";
    entries.encode(page.0.encode_descriptor("audit_entries", help, None, MetricType::Counter)?)?;
    let unsynced = head.seq.saturating_sub(*synced_seq);
    page.gauges("audit_unsynced_entries", "Lines that a power cut would take", [([], unsynced)])?;
    page.gauges("audit_queue_entries", "Entries that are not written yet", [([], *queued)])?;
    let queued_bytes = u64::try_from(*queued_bytes).unwrap_or(u64::MAX);
    page.gauges("audit_queue_bytes", "What they take, and what a full disk holds up", [([], queued_bytes)])?;
    page.gauges("audit_up", "1 while the log takes entries, as last seen", [([], u64::from(*takes))])?;
    page.gauges(
        "audit_refused_entries",
        "Entries that were not taken, and whose statements were denied, since it last took one",
        [([], *refused)],
    )
}
