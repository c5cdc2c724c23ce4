//! What the audit log tells about itself, for the operator: once for each change, not once for each statement.

use pgmoat_audit::Change;

/// Writes a change to pgmoat's own log.
pub(super) fn tell(change: &Change<'_>) {
    match change {
        Change::Failing(error) => {
            tracing::error!(%error, "the audit log takes no entry: every statement and login is refused until it does");
        }
        Change::Taking { refused, lost: 0 } => tracing::warn!(refused, "the audit log takes entries again"),
        Change::Taking { refused, lost } => tracing::error!(
            refused,
            lost,
            "the audit log takes entries again; lines of completions, logouts and cancels are missing: there was no room"
        ),
        Change::BegunAnew { after } => {
            tracing::warn!(%after, "the audit log was taken away: a new file goes on with its chain");
        }
        Change::Rotated { file, head } => {
            tracing::info!(file = %file.display(), %head, "an audit log file is finished");
        }
        Change::NotRotating(error) => tracing::warn!(%error, "the audit log cannot be rotated"),
        Change::HeadLags(fault) => {
            tracing::warn!(%fault, "the audit log's .head file cannot be written: it lags behind");
        }
        Change::HeadFollows => tracing::info!("the audit log's .head file is written again"),
        Change::SlowSync(took) => {
            let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            tracing::warn!(took_ms, "syncing the audit log takes long: its disk is slow or busy");
        }
        Change::FastSync => tracing::info!("syncing the audit log is fast again"),
        // Told in its own words until it has its own line here.
        other => tracing::warn!(change = ?other, "the audit log has changed its state"),
    }
}
