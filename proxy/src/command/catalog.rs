//! `pgmoat catalog dump`: the catalog as a file, for offline verification and for CI.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use pgmoat_upstream::Target;

use super::failure::{Exit, Failure};
use super::{dsn, source, upstream};
use crate::config::{self, Loaded};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Catalog,
}

#[derive(Debug, Subcommand)]
enum Catalog {
    /// Write a database's catalog as JSON
    Dump(Dump),
}

#[derive(Debug, Args)]
struct Dump {
    /// postgresql://user[:password]@host[:port]/database[?sslmode=verify-full|require|disable&sslrootcert=FILE];
    /// without a password, PGPASSWORD's; without sslmode, verify-full, and disable for a loopback address
    #[arg(long, value_name = "URI", conflicts_with = "config", required_unless_present = "config")]
    dsn: Option<String>,
    /// The configuration file whose database is read
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Which database of the configuration; the only one by default
    #[arg(long, value_name = "NAME", requires = "config")]
    database: Option<String>,
    /// Where to write; standard output by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn execute(self) -> Result<Exit, Failure> {
        match self.command {
            Catalog::Dump(dump) => dump.execute(),
        }
    }
}

impl Dump {
    fn execute(self) -> Result<Exit, Failure> {
        let (text, _) = upstream::read(&self.target()?).map_err(Failure::Failed)?;
        match &self.output {
            None => io::stdout().lock().write_all(text.as_bytes())?,
            Some(path) => {
                let failed = |error| Failure::Failed(format!("{}: {error}", path.display()));
                fs::write(path, text).map_err(failed)?;
            }
        }
        Ok(Exit::Yes)
    }

    fn target(&self) -> Result<Target, Failure> {
        if let Some(dsn) = &self.dsn {
            return dsn::target(dsn).map_err(|error| Failure::Usage(format!("--dsn: {error}")));
        }
        let Some(file) = &self.config else {
            return Err(Failure::Usage("--dsn or --config is needed".to_owned()));
        };
        let Loaded { config, policy, .. } = config::load(file).map_err(Failure::Problems)?;
        let database = source::database(&config, self.database.as_deref())?;
        database.target(&policy).map_err(|problem| Failure::Problems(vec![problem]))
    }
}
