//! A PostgreSQL wire-protocol enforcement proxy.

use std::process::ExitCode;

fn main() -> ExitCode {
    pgmoat::command::main()
}
