//! The servers of other majors that full lengths are run against.

use std::env;

use pgmoat_lab::Postgres;

use crate::is_long;

/// What `tests/run` has put into `target/postgres`: none where it has not.
///
/// # Panics
/// One is missing in full lengths, which would show nothing of it.
#[must_use]
pub fn other_servers() -> Vec<Postgres> {
    // target/debug/deps/some_test beside target/postgres/17/bin
    let test = env::current_exe().unwrap_or_default();
    let postgres = test.ancestors().nth(3).map(|target| target.join("postgres")).unwrap_or_default();
    let bin = |major| postgres.join(major).join("bin");
    let found: Vec<_> = MAJORS.iter().filter_map(|major| Postgres::at(&bin(major))).collect();
    assert!(!is_long() || found.len() == MAJORS.len(), "no PostgreSQL {MAJORS:?} in {}", postgres.display());
    found
}

const MAJORS: [&str; 2] = ["17", "18"];
