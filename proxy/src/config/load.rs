//! From a file's tree to a [`Config`]: what the shape alone cannot say.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use pgmoat_policy::policy::document::Node;
use pgmoat_policy::policy::{Place, Problem};

use super::{Config, Limits};
use crate::shared::Patience;

/// Collects problems while it builds. What is missing or of a wrong type was reported already.
pub(super) struct Load<'a> {
    pub(super) folder: &'a Path,
    pub(super) problems: &'a mut Vec<Problem>,
}

impl Load<'_> {
    /// The configuration, without its users; none where something required is missing.
    pub(super) fn config(&mut self, root: &Node) -> Option<Config> {
        let listen = self.listen(root.get("listen"));
        let socket_mode = self.socket_mode(root.get("socket_mode"));
        let tls = self.client_tls(root.get("tls"));
        let audit = root.get("audit").and_then(|node| self.audit(node));
        let databases = self.databases(root.get("databases"));
        let limits = root.get("limits");
        let admin = root.get("admin").and_then(|node| self.admin(node));
        Some(Config {
            listen: listen?,
            socket_mode,
            tls,
            policy: self.path(root.get("policy")?.text()?),
            audit: audit?,
            users: Vec::new(),
            databases,
            limits: Limits {
                max_clients: count(limits, "max_clients", 1000),
                connections_per_user: count(limits, "connections_per_user", 1000),
                connections_per_tenant: count(limits, "connections_per_tenant", 1000),
                unauthenticated: count(limits, "unauthenticated", 500),
                unauthenticated_per_address: count(limits, "unauthenticated_per_address", 250),
                cancels_per_second: small(limits, "cancels_per_second", 200),
                cancels_per_second_per_address: small(limits, "cancels_per_second_per_address", 50),
                failed_logins_per_second: small(limits, "failed_logins_per_second", 50),
                failed_logins_per_second_per_address: small(
                    limits,
                    "failed_logins_per_second_per_address",
                    20,
                ),
                login_timeout: duration(limits, "login_timeout_ms", 10_000),
                patience: Patience {
                    statement: maybe(limits, "statement_timeout_ms", 0),
                    in_transaction: maybe(limits, "idle_in_transaction_timeout_ms", 300_000),
                    idle: maybe(limits, "idle_session_timeout_ms", 0),
                    client_write: duration(limits, "client_write_timeout_ms", 60_000),
                },
                tcp_keepalive: duration(limits, "tcp_keepalive_ms", 60_000),
                statements_per_client: count(limits, "statements_per_client", 1000),
                message_bytes: count(limits, "message_bytes", 64 * 1024 * 1024),
                drain_rows: number(limits, "drain_rows", 100_000),
                verdict_cache_bytes: number(limits, "verdict_cache_bytes", 32 << 20),
                workers: count(limits, "workers", one_for_two_processors()),
                spin: Duration::from_micros(number(limits, "spin_us", 100)),
                drain_timeout: duration(limits, "drain_timeout_ms", 30_000),
                catalog_refresh: duration(limits, "catalog_refresh_ms", 1000),
                reload_watch: maybe(limits, "reload_watch_ms", 1000),
            },
            admin,
        })
    }

    pub(super) fn path(&self, text: &str) -> PathBuf {
        self.folder.join(text)
    }

    pub(super) fn error(&mut self, place: &Place, message: impl Into<String>) {
        self.problems.push(Problem::error(place.clone(), message));
    }
}

pub(super) fn number(section: Option<&Node>, key: &str, default: u64) -> u64 {
    let value = section.and_then(|section| section.get(key)?.integer());
    value.and_then(|value| u64::try_from(value).ok()).unwrap_or(default)
}

pub(super) fn count(section: Option<&Node>, key: &str, default: u64) -> usize {
    usize::try_from(number(section, key, default)).unwrap_or(usize::MAX)
}

/// Half as many as there are processors for this process, but one.
fn one_for_two_processors() -> u64 {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    u64::try_from(processors.div_ceil(2)).unwrap_or(1)
}

fn small(section: Option<&Node>, key: &str, default: u64) -> u32 {
    u32::try_from(number(section, key, default)).unwrap_or(u32::MAX)
}

/// None for 0.
fn maybe(section: Option<&Node>, key: &str, default: u64) -> Option<Duration> {
    Some(duration(section, key, default)).filter(|limit| !limit.is_zero())
}

pub(super) fn duration(section: Option<&Node>, key: &str, default: u64) -> Duration {
    Duration::from_millis(number(section, key, default))
}
