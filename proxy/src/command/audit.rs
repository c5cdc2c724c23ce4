//! `pgmoat audit verify`: whether a log is what was written.

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use pgmoat_audit::{Expect, Head, Key, Outcome};

use super::failure::{Exit, Failure};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Audit,
}

#[derive(Debug, Subcommand)]
enum Audit {
    /// Verify a log's chain: exit 0 whole, 1 broken, 2 unreadable
    Verify(Verify),
}

#[derive(Debug, Args)]
struct Verify {
    /// The log; with its finished files, in any order, the whole chain
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A head that was noted elsewhere, earlier: finds a tail that was cut off
    #[arg(long, value_name = "SEQ:HASH")]
    head: Option<Head>,
    /// The log's key
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn execute(self) -> Result<Exit, Failure> {
        match self.command {
            Audit::Verify(verify) => verify.execute(),
        }
    }
}

impl Verify {
    fn execute(self) -> Result<Exit, Failure> {
        let key = match &self.key_file {
            Some(path) => {
                let unusable = |error| Failure::Usage(format!("{}: {error}", path.display()));
                Some(Key::read(path).map_err(unusable)?)
            }
            None => None,
        };
        let outcome = pgmoat_audit::verify_files(&self.files, &Expect { key: key.as_ref(), head: self.head });
        writeln!(io::stdout().lock(), "{outcome}")?;
        Ok(match outcome {
            Outcome::Whole(_) => Exit::Yes,
            Outcome::Broken(_) => Exit::No,
            Outcome::Unreadable(_) => Exit::Unusable,
        })
    }
}
