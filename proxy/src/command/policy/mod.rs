//! `pgmoat policy`: tests of a policy, and a draft of one.

mod init;
pub mod suite;
mod test;

use clap::{Args, Subcommand};

use super::failure::{Exit, Failure};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Policy,
}

#[derive(Debug, Subcommand)]
enum Policy {
    /// Judge the statements of a suite: exit 0 all as expected, 1 some not, 2 unusable
    Test(test::Test),
    /// Draft a policy from a database's schema; DECIDE marks what only a person can know
    Init(init::Init),
}

impl Arguments {
    pub(super) fn execute(self) -> Result<Exit, Failure> {
        match self.command {
            Policy::Test(test) => test.execute(),
            Policy::Init(init) => init.execute(),
        }
    }
}
