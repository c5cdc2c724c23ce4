//! A PostgreSQL wire-protocol enforcement proxy.
//!
//! ```text
//! client ─► link ─► session (pure) ─► gate (policy, audit) ─► Admitted ─► link ─► PostgreSQL
//! ```

pub mod clock;
pub mod gate;
pub mod link;
pub mod session;
pub mod shared;
