//! From a file's tree to a [`Config`]: what the shape alone cannot say.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use pgmoat_policy::policy::document::Node;
use pgmoat_policy::policy::{Place, Problem};

use super::keys::LIMITS;
use super::numbers::Numbers;
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
        let limits = Numbers::of(root.get("limits"), &LIMITS);
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
                max_clients: limits.count("max_clients"),
                connections_per_user: limits.count("connections_per_user"),
                connections_per_tenant: limits.count("connections_per_tenant"),
                unauthenticated: limits.count("unauthenticated"),
                unauthenticated_per_address: limits.count("unauthenticated_per_address"),
                cancels_per_second: limits.small("cancels_per_second"),
                cancels_per_second_per_address: limits.small("cancels_per_second_per_address"),
                failed_logins_per_second: limits.small("failed_logins_per_second"),
                failed_logins_per_second_per_address: limits.small("failed_logins_per_second_per_address"),
                login_timeout: limits.duration("login_timeout_ms"),
                patience: Patience {
                    statement: limits.maybe("statement_timeout_ms"),
                    in_transaction: limits.maybe("idle_in_transaction_timeout_ms"),
                    idle: limits.maybe("idle_session_timeout_ms"),
                    client_write: limits.duration("client_write_timeout_ms"),
                },
                tcp_keepalive: limits.duration("tcp_keepalive_ms"),
                statements_per_client: limits.count("statements_per_client"),
                message_bytes: limits.count("message_bytes"),
                drain_rows: limits.number("drain_rows"),
                verdict_cache_bytes: limits.number("verdict_cache_bytes"),
                workers: limits.given("workers").map_or_else(one_for_two_processors, |given| {
                    usize::try_from(given).unwrap_or(usize::MAX)
                }),
                spin: Duration::from_micros(limits.number("spin_us")),
                drain_timeout: limits.duration("drain_timeout_ms"),
                catalog_refresh: limits.duration("catalog_refresh_ms"),
                reload_watch: limits.maybe("reload_watch_ms"),
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

/// One for two of the processors that this process may use.
fn one_for_two_processors() -> usize {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    processors.div_ceil(2)
}
