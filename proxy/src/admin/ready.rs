//! `/healthz`: the process answers. `/readyz`: a client of the proxy would be served.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use pgmoat_audit::LogStats;
use serde_json::json;

use super::Admin;
use super::caller::Client;
use super::refused::JSON;
use crate::shared::Database;

/// Needs no token and looks at nothing.
pub(super) async fn healthy() -> Response {
    object(StatusCode::OK, &json!({ "alive": true }))
}

/// The status needs no token; the reasons do, where tokens are required, since they name databases.
pub(super) async fn ready(
    State(admin): State<Arc<Admin>>,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
) -> Response {
    let readiness = admin.readiness();
    let status = if readiness.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let told = match admin.caller(&headers, &client) {
        Ok(_) => json!({ "ready": readiness.ready, "reasons": readiness.reasons }),
        Err(_) => json!({ "ready": readiness.ready }),
    };
    object(status, &told)
}

struct Readiness {
    ready: bool,
    /// What is not as it should be; there may be some though clients are served.
    reasons: Vec<String>,
}

impl Admin {
    fn readiness(&self) -> Readiness {
        let shared = &self.front.shared;
        let mut reasons = Vec::new();
        let ending = self.front.is_ending();
        if ending {
            reasons.push("the process is shutting down".to_owned());
        }
        let audited = self.audit_takes();
        if !audited {
            reasons.push("the audit log takes no entry".to_owned());
        }
        let mut databases: Vec<_> = shared.databases.values().collect();
        databases.sort_by(|one, other| one.name.cmp(&other.name));
        let faults: Vec<String> = databases.iter().filter_map(|database| fault(database)).collect();
        let served = faults.len() < databases.len();
        reasons.extend(faults);
        Readiness { ready: !ending && audited && served, reasons }
    }

    /// Whether the audit log would take an entry, as far as is known.
    pub(super) fn audit_takes(&self) -> bool {
        self.audit.takes(&self.front.shared.audit.stats(), Instant::now())
    }
}

/// Why clients of a database are not served. What the server said is in pgmoat's log.
fn fault(database: &Database) -> Option<String> {
    let name = &database.name;
    if !database.is_reachable() {
        Some(format!("database \"{name}\": the server is not reached"))
    } else if database.rules().is_none() {
        Some(format!("database \"{name}\": there is no catalog that the policy fits"))
    } else if database.pools.stats().down {
        Some(format!("database \"{name}\": no connection can be made"))
    } else {
        None
    }
}

/// Whether the audit log takes entries, for who sends no clients while it does not: that it does again shows when
/// somebody tries, so that after a while without a try it is said to.
#[derive(Debug, Default)]
pub(super) struct AuditTrial(Mutex<Option<(u64, Instant)>>);

impl AuditTrial {
    fn takes(&self, stats: &LogStats, now: Instant) -> bool {
        let mut failed = self.0.lock();
        if stats.takes {
            *failed = None;
            return true;
        }
        match *failed {
            Some((refused, since)) if refused == stats.refused => {
                now.saturating_duration_since(since) >= TRIED_AGAIN_AFTER
            }
            Some(_) | None => {
                *failed = Some((stats.refused, now));
                false
            }
        }
    }
}

fn object(status: StatusCode, value: &serde_json::Value) -> Response {
    let mut response = (status, format!("{value}\n")).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

const TRIED_AGAIN_AFTER: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn a_log_that_nobody_tries_is_offered_again() {
        let trial = AuditTrial::default();
        let stats = |takes, refused| LogStats {
            head: format!("1:{}", "0".repeat(64)).parse().unwrap(),
            synced_seq: 0,
            queued: 0,
            queued_bytes: 0,
            takes,
            refused,
        };
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        assert!(trial.takes(&stats(true, 0), at(0)));
        assert!(!trial.takes(&stats(false, 1), at(1)) && !trial.takes(&stats(false, 1), at(5)));
        assert!(trial.takes(&stats(false, 1), at(6)), "somebody should try");
        assert!(!trial.takes(&stats(false, 2), at(7)), "somebody has");
        assert!(trial.takes(&stats(true, 0), at(8)));
    }
}
