//! Two hundred clients of mixed drivers, two tenants and an analyst, for minutes: the policy is reloaded every second, the
//! server restarted twice. No row is another's, no error is one that a restart does not explain, and the proxy's memory
//! does not grow.
//!
//! Every day it runs for some seconds with fewer clients. `tests/run --long` (or `PGMOAT_LONG=1 cargo test -p pgmoat-tests
//! --test soak`) runs three minutes in each of the pool's modes and writes `tests/results/soak.txt`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they saw"
)]

mod client;
mod direct;
mod operator;
mod person;
mod psycopg;
mod report;
mod run;
mod tally;
mod tokio_postgres;

use std::sync::{Mutex, PoisonError};

use pgmoat_tests::Mode;
use run::Plan;

#[test]
fn a_soak_in_session_mode() {
    // Whoever comes and goes: a session ends after some statements, and another one takes its place.
    soak(&Plan { mode: Mode::Session, size: 40, statements_per_session: 10, ..Plan::default() });
}

#[test]
fn a_soak_in_transaction_mode() {
    soak(&Plan { mode: Mode::Transaction, size: 16, statements_per_session: 200, ..Plan::default() });
}

fn soak(plan: &Plan) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let report = run::run(plan);
    report.write(plan);
    report.judge();
}
