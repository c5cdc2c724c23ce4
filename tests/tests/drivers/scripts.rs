//! psycopg 3, asyncpg and node's pg: the scripts of `tests/drivers`.

use std::path::Path;
use std::process::{Command, Stdio};

use pgmoat_lab::SERVICE_USER;
use pgmoat_tests::{Stack, drivers};

#[test]
fn psycopg_directly() {
    directly("psycopg_session.py");
}

#[test]
fn psycopg_through_the_proxy() {
    through_the_proxy("psycopg_session.py");
}

#[test]
fn asyncpg_directly() {
    directly("asyncpg_session.py");
}

#[test]
fn asyncpg_through_the_proxy() {
    through_the_proxy("asyncpg_session.py");
}

#[test]
fn node_pg_directly() {
    directly("node_pg_session.mjs");
}

#[test]
fn node_pg_through_the_proxy() {
    through_the_proxy("node_pg_session.mjs");
}

fn directly(script: &str) {
    let stack = Stack::get();
    let database = stack.database().unwrap();
    run(script, &stack.cluster().dsn(SERVICE_USER, &database), false);
}

fn through_the_proxy(script: &str) {
    let proxied = Stack::get().proxy().unwrap();
    run(script, &proxied.dsn("acme_app"), true);
}

fn run(script: &str, dsn: &str, policed: bool) {
    let drivers = drivers().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("drivers").join(script);
    let interpreter = if script.ends_with(".py") { drivers.join("python/bin/python") } else { "node".into() };
    let mut command = Command::new(interpreter);
    command.arg(path).arg(dsn).env("PGMOAT_DRIVERS", &drivers).stdin(Stdio::null());
    if policed {
        command.env("PGMOAT_POLICED", "1");
    }
    let output = command.output().unwrap();
    let said = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    assert!(output.status.success(), "{script}: {}\n{}", output.status, String::from_utf8_lossy(&said));
}
