//! What is killed at any moment: clients, the server, the proxy. Nothing of one client's is ever seen by the next one, no
//! reply is lost or swapped, nothing stays behind, and the audit log is whole.
//!
//! Each script is killed at each of its messages, in full lengths; a sample of that otherwise. What was heard before the
//! end must be the beginning of what is heard without one.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests fail by panicking")]

mod afterwards;
mod answered;
mod crowd;
mod half_open;
mod killed_client;
mod killed_proxy;
mod killed_server;
mod large;
mod restarts;
mod scripts;
