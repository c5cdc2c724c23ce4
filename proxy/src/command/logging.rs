//! What the running proxy says: for people on a terminal, JSON elsewhere; on standard error.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use super::failure::Failure;

/// The environment variable with tracing's filter, as in `info,pgmoat=debug`.
const FILTER: &str = "PGMOAT_LOG";

/// Starts logging, once.
pub(super) fn start() -> Result<(), Failure> {
    let filter = EnvFilter::builder()
        .with_default_directive(LevelFilter::INFO.into())
        .with_env_var(FILTER)
        .from_env()
        .map_err(|error| Failure::Usage(format!("{FILTER}: {error}")))?;
    // A line that cannot be written is lost: the complaint about it would go to standard error, where it fails again, and
    // that is a panic.
    let log =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).log_internal_errors(false);
    let started = if io::stderr().is_terminal() { log.try_init() } else { log.json().try_init() };
    started.map_err(|error| Failure::Failed(error.to_string()))
}
