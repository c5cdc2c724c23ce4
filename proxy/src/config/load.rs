//! From a file's tree to a [`Config`]: what the shape alone cannot say.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use pgmoat_audit::{Durability, Rotation};
use pgmoat_policy::policy::document::{Content, Node};
use pgmoat_policy::policy::{Place, Problem};
use pgmoat_upstream::PinnedSettings;

use super::{Audit, Config, Database, Limits, SecretSource};
use crate::pools::TENANT;
use crate::shared::{Audited, AuditedParameters, Patience};

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
                spin: Duration::from_micros(number(limits, "spin_us", 50)),
                drain_timeout: duration(limits, "drain_timeout_ms", 30_000),
                catalog_refresh: duration(limits, "catalog_refresh_ms", 1000),
                reload_watch: maybe(limits, "reload_watch_ms", 1000),
            },
            admin,
        })
    }

    fn audit(&mut self, node: &Node) -> Option<Audit> {
        let word = |key| node.get(key).and_then(Node::text);
        let durability = word("durability").and_then(|name| name.parse().ok());
        let durability = durability.unwrap_or(Durability::Batched);
        if let (Durability::None, Some(node)) = (durability, node.get("durability")) {
            let message = "a kill of the proxy loses the decisions about statements that ran";
            self.problems.push(Problem::warning(node.place.clone(), message));
        }
        Some(Audit {
            path: self.path(node.get("path")?.text()?),
            durability,
            sync_interval: duration(Some(node), "sync_interval_ms", 50),
            rotation: Rotation {
                bytes: node.get("rotate_bytes").and_then(|node| u64::try_from(node.integer()?).ok()),
                age: node.get("rotate_age_ms").map(|_| duration(Some(node), "rotate_age_ms", 0)),
            },
            audited: Audited {
                text: word("statement") != Some("shape"),
                parameters: match word("parameters") {
                    Some("hash") => AuditedParameters::Hash,
                    Some("full") => AuditedParameters::Full,
                    Some(_) | None => AuditedParameters::None,
                },
            },
            key: node.get("key").and_then(|node| self.secret(node)),
            place: node.place.clone(),
        })
    }

    pub(super) fn secret(&mut self, node: &Node) -> Option<SecretSource> {
        let given: Vec<&Node> = ["env", "file", "command"].iter().filter_map(|key| node.get(key)).collect();
        if given.len() != 1 {
            if !matches!(node.content, Content::Map(_)) {
                return None;
            }
            self.error(&node.place, "write exactly one of \"env\", \"file\" and \"command\"");
            return None;
        }
        let text = |key| node.get(key).and_then(Node::text);
        let env = text("env").map(|name| SecretSource::Env(name.to_owned()));
        let file = || text("file").map(|path| SecretSource::File(self.path(path)));
        env.or_else(file).or_else(|| text("command").map(|line| SecretSource::Command(line.to_owned())))
    }

    fn databases(&mut self, node: Option<&Node>) -> Vec<Database> {
        let Some(node) = node else { return Vec::new() };
        if node.entries().is_empty() {
            self.error(&node.place, "there is no database");
        }
        let entries = node.entries().iter();
        entries
            .filter_map(|entry| {
                if entry.key.is_empty() || entry.key.contains(char::is_control) {
                    self.error(&entry.place, "a database needs a name without control characters");
                }
                let node = &entry.value;
                let pool = self.pool(node.get("pool"));
                let upstream = self.upstream(&entry.key, node.get("upstream")?);
                Some(Database {
                    name: entry.key.clone(),
                    upstream: upstream?,
                    pool,
                    session: self.session(node.get("session")),
                    place: entry.place.clone(),
                })
            })
            .collect()
    }

    fn session(&mut self, node: Option<&Node>) -> Vec<(Box<str>, Box<str>)> {
        let mut settings = Vec::new();
        for entry in node.map(Node::entries).unwrap_or_default() {
            let Some(value) = entry.value.text() else { continue };
            let one = BTreeMap::from([(entry.key.to_string(), value.to_owned())]);
            if value.replace(TENANT, "").contains(['{', '}']) {
                self.error(&entry.value.place, "between braces only {tenant} is known");
            } else if let Err(error) = PinnedSettings::new(&[], one) {
                self.error(&entry.place, error.to_string());
            } else {
                settings.push((entry.key.clone(), value.into()));
            }
        }
        settings
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
