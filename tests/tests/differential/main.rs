//! The same bytes to PostgreSQL and to pgmoat: what comes back must be the same, message for message.
//!
//! A script is a list of steps: messages that are sent together, how the bytes are split into writes, and what is
//! waited for. It is played directly against one database and through the proxy against its twin; [`permitted`] lists
//! the differences that may be, each as a named rule ([`anew`] another one), and [`minimise`] makes a script with another one small. Two roles
//! play: an `unrestricted` one, to which nothing may look different at all, and a tenant's, whose refused statements
//! have a stand-in at the other door that PostgreSQL itself refuses with 42501 (wire 2's substitution). Where connections
//! are shared by transactions there are fewer of them than clients: others work beside each script ([`beside`]).

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they saw"
)]

mod anew;
mod beside;
mod generate;
mod generated;
mod known_faults;

mod minimise;
mod pair;
mod permitted;
mod play;
mod resets;
mod script;
