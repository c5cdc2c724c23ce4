//! Statements, durations, sessions, logins, reloads, verdicts over HTTP.

use std::fmt;

use super::page::Page;
use crate::counts::Counts;
use crate::server::Front;

pub(super) fn write(front: &Front, page: &mut Page<'_>) -> fmt::Result {
    let counts = &front.shared.counts;
    page.gauges("build", "1, with pgmoat's version", [([("version", env!("CARGO_PKG_VERSION"))], 1)])?;
    statements(counts, page)?;
    page.durations(
        "admission",
        "From the read that brought a client's messages until all of them were judged, entered in the audit log and on \
         their way: what the proxy adds on the way in",
        &counts.admission.snapshot(),
    )?;
    page.durations(
        "statement_duration",
        "From that read to the end of the reply, the server's own time included",
        &counts.duration.snapshot(),
    )?;
    let sessions = u64::try_from(front.sessions.count()).unwrap_or(u64::MAX);
    page.gauges("sessions", "Clients that have logged in", [([], sessions)])?;
    let logins =
        [([("outcome", "ok")], counts.logins.get()), ([("outcome", "failed")], counts.logins_failed.get())];
    page.counters("logins", "Logins, and wrong tokens among those that failed", logins)?;
    page.counters("cancels", "Requests to cancel that were looked at", [([], counts.cancels.get())])?;
    let reloads = [
        ([("outcome", "applied")], counts.reloads.get()),
        ([("outcome", "refused")], counts.reloads_refused.get()),
    ];
    page.counters("reloads", "Times that changed files were read", reloads)?;
    let verified = [
        ([("verdict", "allow")], counts.verified_allowed.get()),
        ([("verdict", "deny")], counts.verified_denied.get()),
        ([("verdict", "unreadable")], counts.verified_unreadable.get()),
    ];
    page.counters("verify", "Verdicts that were asked for over HTTP", verified)
}

fn statements(counts: &Counts, page: &mut Page<'_>) -> fmt::Result {
    let roles = counts.statements.all();
    let mut rows = Vec::new();
    for (role, statements) in &roles {
        rows.push((role, None, statements.allowed()));
        rows.extend(statements.denied().into_iter().map(|(code, count)| (role, Some(code), count)));
    }
    let rows = rows.iter().map(|(role, code, count)| {
        let verdict = if code.is_some() { "deny" } else { "allow" };
        ([("role", &***role), ("verdict", verdict), ("code", code.as_deref().unwrap_or_default())], *count)
    });
    page.counters("statements", "Messages that were judged; a denial by its code", rows)
}
