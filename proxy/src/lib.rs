//! A PostgreSQL wire-protocol enforcement proxy.
//!
//! ```text
//! client ─► link ─► session (pure) ─► gate (policy, audit) ─► Admitted ─► link ─► PostgreSQL
//! ```

mod admin;
pub mod budget;
pub mod clock;
pub mod command;
pub mod config;
pub mod counts;
pub mod fuzzing;
pub mod gate;
pub mod link;
pub mod pools;
pub mod server;
pub mod session;
pub mod shared;
pub mod ties;
mod verify;
