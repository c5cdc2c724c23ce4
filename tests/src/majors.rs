//! The servers of other majors that full lengths are run against.

use std::env;

use pgmoat_lab::Postgres;

/// What `tests/run --long` has put into `target/postgres`: none where it has not.
#[must_use]
pub fn other_servers() -> Vec<Postgres> {
    // target/debug/deps/some_test beside target/postgres/17/bin
    let test = env::current_exe().unwrap_or_default();
    let Some(target) = test.ancestors().nth(3) else { return Vec::new() };
    MAJORS.iter().filter_map(|major| Postgres::at(&target.join("postgres").join(major).join("bin"))).collect()
}

const MAJORS: [&str; 2] = ["17", "18"];
