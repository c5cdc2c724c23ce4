//! The log as a process uses it: real files, real faults, real kills.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod concurrent;
mod fixture;
mod full_disk;
mod killed;
mod resume;
mod rotation;
mod shared_sync;
mod taken_away;
mod tamper;
mod torn;
