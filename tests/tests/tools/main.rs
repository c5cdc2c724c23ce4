//! What tools ask of the catalogs: the tools themselves, directly and through the proxy.
//!
//! Both see the same, for the upstream role is the same and `introspection` shows names to
//! everyone. What tells of data (sizes, statistics, others' doings, secrets) is refused.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod psql;
mod refused;
mod scripts;

use std::process::{Command, Output, Stdio};

use pgmoat_lab::SERVICE_USER;
use pgmoat_tests::{Proxied, Stack};

/// The search_path that the lab's policy pins, for the session that has no proxy before it.
const OPTIONS: &str = "-c search_path=app,public";

/// One database, and the ways to it.
struct Ways {
    direct: String,
    proxied: Proxied,
}

impl Ways {
    fn new() -> Ways {
        let stack = Stack::get();
        let database = stack.database().unwrap();
        let proxied = stack.proxy_before(&database, |_| {}).unwrap();
        Ways { direct: stack.cluster().dsn(SERVICE_USER, &database), proxied }
    }
}

fn run(command: &mut Command) -> Output {
    // Python's sets and PostgreSQL's dates print the same in both.
    command.env("PYTHONHASHSEED", "0").env("PGTZ", "UTC").stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Fails with the first lines that differ.
fn same(what: &str, direct: &str, proxied: &str) {
    let mut pairs = direct.lines().zip(proxied.lines());
    let (ours, theirs) = (direct.lines().count(), proxied.lines().count());
    if let Some((direct, proxied)) = pairs.find(|(direct, proxied)| direct != proxied) {
        panic!("{what}\ndirectly: {direct}\nproxied:  {proxied}");
    }
    assert_eq!(ours, theirs, "{what}: lines\n{proxied}");
}
