//! Real drivers, each with one checklist: directly, and through pgmoat in each mode of its pools, with the same result.
//!
//! `tests/drivers/checklist.txt` is the list, as data. Each driver has one script that says a line for each item; it is run
//! the same way at every door. What a driver cannot do it says itself, with the reason, and says it directly too. The
//! table in README.md is made of what they said.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they saw"
)]

mod checklist;
mod doors;
mod matrix;
mod pgbench;
mod psql;
mod readme;
mod scripts;
mod tokio_postgres;
mod words;
