//! `pgmoat policy init`: a first policy from a live schema.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Args;

use crate::command::failure::{Exit, Failure};
use crate::command::{dsn, upstream};

#[derive(Debug, Args)]
pub(super) struct Init {
    /// postgresql://user[:password]@host[:port]/database[?sslmode=…], as for `catalog dump`
    #[arg(long, value_name = "URI")]
    dsn: String,
    /// Where to write, a file that does not exist; standard output by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Init {
    pub(super) fn execute(self) -> Result<Exit, Failure> {
        let target = dsn::target(&self.dsn).map_err(|error| Failure::Usage(format!("--dsn: {error}")))?;
        let (_, catalog) = upstream::read(&target).map_err(Failure::Failed)?;
        let text = pgmoat_policy::policy::draft(&catalog);
        match &self.output {
            None => io::stdout().lock().write_all(text.as_bytes())?,
            Some(path) => {
                // A policy that somebody has written is worth more than a draft.
                let file = OpenOptions::new().write(true).create_new(true).open(path);
                file.and_then(|mut file| file.write_all(text.as_bytes()))
                    .map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
            }
        }
        Ok(Exit::Yes)
    }
}
