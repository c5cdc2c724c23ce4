//! A PostgreSQL wire-protocol enforcement proxy.

use std::process::ExitCode;

/// Measured under 32 clients: up to an eighth less CPU a statement than the system's allocator, and
/// a quarter less memory an idle client.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    pgmoat::command::main()
}
