//! The proxy as a process, under what clients, servers, disks and operators do to it.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they saw"
)]

mod audit_full;
mod audit_killed;
mod audit_tampered;
mod bad_yaml;
mod big_statements;
mod bound;
mod cancel;
mod cancel_race;
mod client_gone;
mod failover;
mod framing;
mod held_cancels;
mod limits;
mod locked;
mod log_file;
mod login;
mod malformed;
mod malformed_login;
mod memory;
mod names;
mod old_snapshots;
mod patience;
mod pool_queue;
mod redaction;
mod refusal;
mod reload;
mod reloaded;
mod replayed;
mod row_cap;
mod shared_statements;
mod shutdown;
mod startup_settings;
mod tenant_pools;
mod timeout;
mod transaction_pool;
mod two_tenants;
mod upstream_down;
mod users;
mod waits;
