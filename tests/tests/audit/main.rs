//! The audit log under fire: what is written of whom, what it costs, and that nothing runs that is not written.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they saw"
)]

#[path = "../live/locked.rs"]
mod locked;
#[path = "../live/log_file.rs"]
mod log_file;
#[path = "../live/patience.rs"]
mod patience;

mod disk;
mod each_kind;
mod each_message;
mod faults;
mod floods;
mod large;
mod namespace;
mod proxy;
mod recorded;
mod rotation;
mod synced;
mod taken_away;
