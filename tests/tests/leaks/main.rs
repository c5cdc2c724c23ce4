//! Nothing that one client did to its session is seen by the next one on that connection.
//!
//! [`rows`] is the table: each kind of state that a PostgreSQL session has, how it comes about and how one looks for it.
//! [`ways`] is how a client can make it and then leave. [`chain`] plays every row in every way, one client after the other
//! on one upstream connection; [`beside`] has two clients at one time on it, where the pool's mode lets them; [`crowd`] has
//! many on few connections, each of which must see all of its own and nothing else. [`statements`] looks where the
//! connection itself tells of what was prepared, [`unsynced`] at what PostgreSQL leaves open behind its ReadyForQuery. The
//! role is `unrestricted` and the upstream login is a superuser: the policy hides nothing, and PostgreSQL refuses nothing,
//! that would leak.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod beside;
mod chain;
mod crowd;
mod house;
mod lets_go;
mod meanings;
mod rows;
mod set_up;
mod statements;
mod unsynced;
mod ways;
