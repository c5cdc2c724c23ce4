//! How upstream connections are shared.

use pgmoat_policy::policy::document::{Key, Node, Section, Shape, Word};

use super::keys::milliseconds;
use super::load::Load;
use super::numbers::Numbers;
use super::{Pool, PoolMode};

/// The keys of the section.
pub(super) static POOL: Section = Section {
    keys: &[
        Key::default(
            "mode",
            Shape::Word(&[Word::new("session"), Word::new("transaction")]),
            "session",
            "How long a client keeps a connection: until it leaves, or for a transaction at a time, longer only while it \
             has left something on it that the next client would find.",
        ),
        Key::default(
            "size",
            Shape::Integer { min: 1, max: 10_000, unit: "connections" },
            "16",
            "Connections at most, without the reserve. Beside them the proxy has one that watches the catalog, and for moments \
             up to two that try out clients' start-up settings: mind them in a `CONNECTION LIMIT` of the role there.",
        ),
        Key::default(
            "minimum",
            Shape::Integer { min: 0, max: 10_000, unit: "connections" },
            "0",
            "Connections that are kept from the start on, however long nobody needs them.",
        ),
        Key::default(
            "reserve",
            Shape::Integer { min: 0, max: 10_000, unit: "connections" },
            "0",
            "Further connections for clients that have waited for `reserve_wait_ms`; closed when nobody waits any more.",
        ),
        milliseconds(
            "reserve_wait_ms",
            "1000",
            "How long a client waits before it may have one of the reserve.",
        ),
        milliseconds(
            "wait_timeout_ms",
            "5000",
            "How long a client waits for a connection, first come, first served; then it is told 53300.",
        ),
        milliseconds(
            "connect_timeout_ms",
            "5000",
            "From the first packet until the server is ready, for each address that is tried.",
        ),
        milliseconds(
            "idle_timeout_ms",
            "600000",
            "How long a connection rests before it is closed, where there are more than the minimum.",
        ),
        milliseconds(
            "lifetime_ms",
            "3600000",
            "How old a connection becomes: it is closed when it rests. Each has up to a tenth less, so that not all end at \
             once.",
        ),
    ],
};

impl Load<'_> {
    pub(super) fn pool(&mut self, node: Option<&Node>) -> Pool {
        let numbers = Numbers::of(node, &POOL);
        let pool = Pool {
            mode: match node.and_then(|node| node.get("mode")?.text()) {
                Some("transaction") => PoolMode::Transaction,
                Some(_) | None => PoolMode::Session,
            },
            size: numbers.count("size"),
            minimum: numbers.count("minimum"),
            reserve: numbers.count("reserve"),
            reserve_wait: numbers.duration("reserve_wait_ms"),
            wait_timeout: numbers.duration("wait_timeout_ms"),
            connect_timeout: numbers.duration("connect_timeout_ms"),
            idle_timeout: numbers.duration("idle_timeout_ms"),
            lifetime: numbers.duration("lifetime_ms"),
        };
        let Some(node) = node else { return pool };
        let at = |key| node.get(key).unwrap_or(node).place.clone();
        if pool.minimum > pool.size {
            let message = format!("more than the size, which is {}", pool.size);
            self.error(&at("minimum"), message);
        }
        if pool.reserve > 0 && pool.reserve_wait >= pool.wait_timeout {
            let message = "nobody waits so long for the reserve: wait_timeout_ms comes first";
            self.error(&at("reserve_wait_ms"), message);
        }
        if pool.reserve == 0 && node.get("reserve_wait_ms").is_some() {
            self.error(&at("reserve_wait_ms"), "only with \"reserve\"");
        }
        pool
    }
}
