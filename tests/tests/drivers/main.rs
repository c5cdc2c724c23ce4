//! Real clients through the proxy: what a user's program does, and the errors as that program's own classes.
//!
//! Each driver's session is one script, run twice: directly, where PostgreSQL's grants refuse, which shows that the
//! script is right; and through the proxy, which refuses by policy besides.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod pgbench;
mod psql;
mod scripts;
mod tokio_postgres;
