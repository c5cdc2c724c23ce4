//! HTTP, through the binary and before a real PostgreSQL: who may ask, what is answered, what bounds it, what is told.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

#[path = "../live/log_file.rs"]
mod log_file;
#[path = "../live/patience.rs"]
mod patience;

mod batch;
mod bounds;
mod corpus;
mod figures;
mod health;
mod tokens;
mod unaudited;
mod verdicts;

use pgmoat_lab::Proxy;
use pgmoat_tests::{Http, Proxied, Stack};
use serde_json::Value;

/// A proxy with a listener for HTTP and its further keys, once it is ready.
fn proxied(more: &str) -> Proxied {
    let more = match more {
        "" => UNHURRIED.to_owned(),
        more if more.contains("unauthenticated_ms") => more.to_owned(),
        more => format!("{more}, {UNHURRIED}"),
    };
    ready(Stack::get().proxy_with(|config| Http::configure(config, &more)).unwrap())
}

/// However busy the machine is between two requests.
const UNHURRIED: &str = "unauthenticated_ms: 3600000";

fn ready(proxied: Proxied) -> Proxied {
    until_ready(&proxied.proxy);
    proxied
}

/// A proxy does not wait for its databases for ever before it says that it listens.
fn until_ready(proxy: &Proxy) {
    let ready = || Http::connect(proxy).unwrap().ask("GET /readyz", None, b"").unwrap().status == 200;
    patience::eventually("it is ready", ready);
}

/// A connection to it.
fn http(proxied: &Proxied) -> Http {
    Http::connect(&proxied.proxy).unwrap()
}

/// A body that is one JSON object.
fn object(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(body)))
}

/// A body that has one a line.
fn objects(body: &[u8]) -> Vec<Value> {
    body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(object).collect()
}

/// Its own tenant's rows.
const OWN: &str = "SELECT id FROM app.orders WHERE tenant_id = 'acme'";
/// Everybody's.
const ALL: &str = "SELECT id FROM app.orders";
