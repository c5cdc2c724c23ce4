//! The command line: one file a subcommand.

mod admin;
mod audit;
mod catalog;
mod check;
mod completions;
mod doctor;
mod dsn;
mod failure;
mod logging;
mod palette;
pub mod policy;
mod problems;
mod run;
mod source;
mod upstream;
mod user;
mod verify;

use std::process::ExitCode;
use std::thread;

use clap::{Parser, Subcommand};

use failure::{Exit, Failure};

/// Verifies PostgreSQL statements against a policy, in front of the server.
#[derive(Debug, Parser)]
#[command(name = "pgmoat", version, after_help = EXIT_CODES, propagate_version = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the proxy
    Run(run::Arguments),
    /// Check configuration, policy and catalog, all errors at once; starts nothing
    Check(check::Arguments),
    /// Look at what the proxy stands on: databases, the role there, the audit log, settings, keys
    Doctor(doctor::Arguments),
    /// Say whether statements would be allowed, and why not
    Verify(verify::Arguments),
    /// Draft a policy from a schema, or test one against statements
    Policy(policy::Arguments),
    /// The database's catalog as a file
    Catalog(catalog::Arguments),
    /// The audit log
    Audit(audit::Arguments),
    /// The HTTP listener
    Admin(admin::Arguments),
    /// Users of the configuration
    User(user::Arguments),
    /// Print completions for a shell
    Completions(completions::Arguments),
}

/// Does what the command line says.
pub fn main() -> ExitCode {
    // clap ends the process itself with 2 for a wrong command line, with 0 after --help.
    let CommandLine { command } = CommandLine::parse();
    // The main thread's stack is the system's choice.
    let thread = thread::Builder::new()
        .name("pgmoat-main".to_owned())
        .stack_size(command.stack_bytes())
        .spawn(move || command.execute());
    let outcome = match thread.map(thread::JoinHandle::join) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_panic)) => Err(Failure::Failed("this is a bug; what went wrong stands above".to_owned())),
        Err(error) => Err(Failure::Failed(format!("no thread could be started: {error}"))),
    };
    match outcome {
        Ok(exit) => exit.code(),
        Err(failure) => failure.tell(),
    }
}

impl Command {
    /// Judging needs a deep stack; what judges nothing can do where memory is limited.
    fn stack_bytes(&self) -> usize {
        match self {
            Command::Run(_)
            | Command::Check(_)
            | Command::Doctor(_)
            | Command::Verify(_)
            | Command::Policy(_)
            | Command::Catalog(_) => pgmoat_policy::STACK_BYTES,
            Command::Admin(_) | Command::Audit(_) | Command::User(_) | Command::Completions(_) => {
                SHALLOW_STACK_BYTES
            }
        }
    }

    fn execute(self) -> Result<Exit, Failure> {
        match self {
            Command::Run(arguments) => arguments.execute(),
            Command::Check(arguments) => arguments.execute(),
            Command::Doctor(arguments) => arguments.execute(),
            Command::Verify(arguments) => arguments.execute(),
            Command::Policy(arguments) => arguments.execute(),
            Command::Catalog(arguments) => arguments.execute(),
            Command::Audit(arguments) => arguments.execute(),
            Command::Admin(arguments) => arguments.execute(),
            Command::User(arguments) => arguments.execute(),
            Command::Completions(arguments) => arguments.execute(),
        }
    }
}

const SHALLOW_STACK_BYTES: usize = 8 << 20;

const EXIT_CODES: &str = "\
Exit codes:
  0  done; allowed; every case as expected; the log is whole
  1  denied; a case not as expected; a line of a batch could not be judged; doctor found an error; check could not
     reach a database; the log is broken; the proxy or an upstream failed
  2  wrong command line, configuration, policy or catalog; the log is unreadable; nothing was started";

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::CommandLine;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }
}
