//! `pgmoat run`: the proxy.

use std::path::PathBuf;

use clap::Args;

use super::failure::{Exit, Failure};
use super::logging;
use crate::config;
use crate::server::{self, RunError};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The configuration file
    #[arg(short, long, value_name = "FILE")]
    config: PathBuf,
}

impl Arguments {
    pub(super) fn execute(self) -> Result<Exit, Failure> {
        let loaded = config::load(&self.config).map_err(Failure::Problems)?;
        logging::start()?;
        for warning in &loaded.warnings {
            tracing::warn!("{warning}");
        }
        match server::run(&self.config, loaded) {
            Ok(()) => Ok(Exit::Yes),
            Err(RunError::Configuration(problem)) => Err(Failure::Problems(vec![*problem])),
            Err(error @ (RunError::Audit(_) | RunError::Listen(..) | RunError::System(_))) => {
                Err(Failure::Failed(error.to_string()))
            }
        }
    }
}
