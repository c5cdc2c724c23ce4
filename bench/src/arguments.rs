//! The command line, as it is typed. What it means is decided in `plan.rs`.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Measures pgmoat beside a direct connection and PgBouncer, on servers that it starts and stops itself.
///
/// Figures are printed as Markdown. A wrong verdict or a failed request makes the exit status 1.
#[derive(Debug, Parser)]
#[command(name = "bench/run", version)]
pub(crate) struct Arguments {
    /// What to measure: one suite or several with a comma; every one, unless given.
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) suite: Vec<Suite>,
    /// About two minutes instead of about twelve: fewer and shorter rounds, fewer idle clients, shorter growth.
    #[arg(long)]
    pub(crate) small: bool,
    /// Requests of each client in each round, instead of a time (library: verdicts; cli: processes).
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(crate) iters: Option<u64>,
    /// Suites cli and http: statements of their input.
    #[arg(long, value_name = "STATEMENTS", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(crate) lines: Option<u64>,
    /// A PostgreSQL to use instead of one of its own; the harness makes a database there and drops it at the end.
    #[arg(long, value_name = "HOST")]
    pub(crate) pg_host: Option<String>,
    /// Its port.
    #[arg(long, value_name = "PORT", requires = "pg_host", default_value_t = 5432)]
    pub(crate) pg_port: u16,
    /// Its superuser; PGPASSWORD has the password.
    #[arg(long, value_name = "USER", requires = "pg_host", default_value = "postgres")]
    pub(crate) pg_user: String,
    /// Write the report as JSON as well; without a name to bench/results/DATE-WHAT.json.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub(crate) json: Option<Option<PathBuf>>,
    /// Write the report as Markdown as well; without a name to bench/results/DATE-WHAT.md.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub(crate) markdown: Option<Option<PathBuf>>,
    /// The JSON of an earlier run: gated bytes and counts that grew make the exit status 1, a gated p50 that grew by more than --max-regress 3.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// The growth of a gated p50 that is borne, as a fraction; both runs are divided by their machine's calibration.
    #[arg(long, value_name = "FRACTION", requires = "baseline", default_value_t = 0.25)]
    pub(crate) max_regress: f64,
}

/// A group of workloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Suite {
    /// The verdict alone, as a library call, beside the parser.
    Library,
    /// `pgmoat verify` as a process: batches and single statements.
    Cli,
    /// Verdicts over HTTP.
    Http,
    /// Selects through a live proxy: points, ranges, a million rows, denials.
    Proxy,
    /// Results with a masked column.
    Masking,
    /// pgbench's selects by more clients than connections, in transaction mode.
    Pool,
    /// Memory of idle clients.
    Idle,
    /// Cost as work grows: length, rules, relations, tenants, clients, rows; a table and a plot of each.
    Growth,
}
