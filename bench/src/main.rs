//! The measuring harness: a direct connection, PgBouncer and pgmoat, interleaved in one run.
//!
//! It starts its own PostgreSQL, PgBouncer and pgmoat, checks that every query gets the verdict it should, measures,
//! and stops what it started. It sees the proxy as a program that its users run, with one exception: the suite `library`
//! (and what of `growth` is about verdicts) links pgmoat-policy, as who embeds the judge does.
//!
//! Exit status: 0; 1 where a verdict was wrong, a request failed or a count is above its baseline; 2 for options that
//! make no sense; 3 where nothing is wrong but a gated time fell behind its baseline, which a busy machine may bring
//! about; 130 when it was interrupted.

mod allocations;
mod arguments;
mod baseline;
mod beside;
mod calibration;
mod client;
mod command_output;
mod curve;
mod deep;
mod error;
mod goals;
mod host;
mod load;
mod markdown;
mod percentile;
mod pgbouncer;
mod plan;
mod process;
mod report;
mod row;
mod run;
mod series;
mod server;
mod site;
mod statement;
mod suite;
mod target;
mod verdicts;
mod workload;

use std::io::{Write as _, stderr, stdout};
use std::process::ExitCode;

use clap::Parser as _;

use arguments::Arguments;
use error::BenchError;
use plan::Plan;

/// The proxy's: the judge and the parser beside it allocate here as they do there. A development build, whose times say
/// little, counts allocations instead (`allocations.rs`).
#[cfg(not(debug_assertions))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match bench(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell where standard error is closed.
            let _ = writeln!(stderr(), "bench: {error}");
            error.exit_code()
        }
    }
}

fn bench(arguments: Arguments) -> Result<(), BenchError> {
    let plan = Plan::from_arguments(arguments)?;
    let baseline = plan.baseline.as_deref().map(baseline::read).transpose()?;
    let report = run::run(&plan)?;
    let text = markdown::render(&report);
    let _ = writeln!(stdout(), "{text}");
    report.write(&plan, &text)?;
    report.verdict()?;
    match baseline {
        Some(former) => baseline::compare(&former, &report, plan.max_regress),
        None => Ok(()),
    }
}
