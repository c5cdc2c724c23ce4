//! The lab's own command, behind `lab/up`, `lab/down` and `lab/psql`.

mod command;

use std::env;
use std::io::{Write as _, stderr};
use std::process::ExitCode;

use command::{Site, down, psql, up};
use pgmoat_lab::LabError;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(code) => code,
        Err(error) => {
            // Nobody is left to tell where standard error is closed.
            let _ = writeln!(stderr(), "lab: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<ExitCode, LabError> {
    match arguments {
        ["up", folder, pgmoat] => up::foreground(&Site::at(folder)?, pgmoat.as_ref()),
        ["up", folder, pgmoat, "--detach"] => up::detached(&Site::at(folder)?, pgmoat.as_ref()),
        ["down", folder] => down::down(&Site::at(folder)?),
        ["psql", folder, user, rest @ ..] => psql::psql(&Site::at(folder)?, user, rest),
        _ => Err(LabError::Unusable(USAGE.to_owned())),
    }
}

const USAGE: &str = "usage: lab/up [--detach] | lab/down | lab/psql USER [psql arguments]";
