//! `pgmoat completions`: for bash, zsh, fish and others.

use std::io::{self, Write as _};

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::CommandLine;
use super::failure::{Exit, Failure};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The shell
    shell: Shell,
}

impl Arguments {
    pub(super) fn execute(self) -> Result<Exit, Failure> {
        // clap_complete panics where it cannot write, so it writes to memory.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut CommandLine::command(), "pgmoat", &mut script);
        io::stdout().lock().write_all(&script)?;
        Ok(Exit::Yes)
    }
}
