//! Clients' connections: encryption, channel binding, protocol 3.2, Unix sockets, and the time that a login takes.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they saw"
)]

mod binding;
mod certificates;
mod closing;
mod direct;
mod drivers;
mod hostile;
mod idle;
mod modes;
mod records;
mod reload;
mod requests;
mod secured;
mod sockets;
mod timing;
mod versions;
