//! The table of wire 2: what PostgreSQL answers to each script, message for message.
//!
//! One list of scripts, two doors: PostgreSQL itself, and the proxy before it. The scripts are written in statements
//! that the lab's policy allows to acme_app, so the same bytes go through both; what differs is the *poison*: a text
//! that cannot parse on the direct connection, a refused one through the proxy.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod direct;
mod play;
mod proxied;
mod rows;
mod startup;
