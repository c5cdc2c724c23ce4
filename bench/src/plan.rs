//! What a run does: the command line, checked. An option without a meaning yet is refused, never ignored.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum as _;

use crate::arguments::{Arguments, Suite};
use crate::error::BenchError;
use crate::load::Until;

/// A run.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) suites: Vec<Suite>,
    pub(crate) small: bool,
    /// How often the targets take turns at each workload.
    pub(crate) rounds: u32,
    /// How long one turn is.
    pub(crate) turn: Until,
    /// Idle clients whose memory is taken.
    pub(crate) idle_clients: u32,
    pub(crate) json: Option<Destination>,
    pub(crate) markdown: Option<Destination>,
    pub(crate) baseline: Option<PathBuf>,
    pub(crate) max_regress: f64,
}

/// Where a report goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destination {
    /// bench/results, under the date and the suites' names.
    Results,
    File(PathBuf),
}

impl Plan {
    /// Checks the options.
    ///
    /// # Errors
    ///
    /// [`BenchError::Usage`] for one that asks for what is not built, or makes no sense.
    pub(crate) fn from_arguments(arguments: Arguments) -> Result<Self, BenchError> {
        let refuse = |text: &str| Err(BenchError::Usage(text.to_owned()));
        if arguments.lines.is_some() {
            return refuse("--lines is for the suites cli and http, which are not built yet");
        }
        if arguments.pg_host.is_some() || arguments.pg_port.is_some() || arguments.pg_user.is_some() {
            return refuse(
                "--pg-host, --pg-port and --pg-user are not supported yet: the harness starts a PostgreSQL of its own \
                 (PGMOAT_PG_BIN names the folder of its programs)",
            );
        }
        if !(arguments.max_regress.is_finite() && arguments.max_regress >= 0.0) {
            return refuse("--max-regress is a fraction of zero or more, as in 0.25");
        }
        let suites = suites(arguments.suite)?;
        if arguments.iters.is_some() && !suites.contains(&Suite::Proxy) {
            return refuse("--iters is for the suite proxy, which is not among the chosen ones");
        }
        let (rounds, turn, idle_clients) =
            if arguments.small { (10, SMALL_TURN, 200) } else { (40, FULL_TURN, 500) };
        Ok(Self {
            suites,
            small: arguments.small,
            rounds,
            turn: arguments.iters.map_or(Until::Elapsed(turn), Until::Requests),
            idle_clients,
            json: arguments.json.map(Destination::from),
            markdown: arguments.markdown.map(Destination::from),
            baseline: arguments.baseline,
            max_regress: arguments.max_regress,
        })
    }

    /// The suites' names and the size, for file names and headings.
    pub(crate) fn what(&self) -> String {
        let mut names: Vec<&str> = self.suites.iter().map(|suite| suite.name()).collect();
        names.extend(self.small.then_some("small"));
        names.join("-")
    }
}

impl Suite {
    /// As it is written on the command line and in rows.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Library => "library",
            Self::Cli => "cli",
            Self::Http => "http",
            Self::Proxy => "proxy",
            Self::Masking => "masking",
            Self::Pool => "pool",
            Self::Idle => "idle",
        }
    }

    fn is_built(self) -> bool {
        match self {
            Self::Proxy | Self::Pool | Self::Idle => true,
            Self::Library | Self::Cli | Self::Http | Self::Masking => false,
        }
    }
}

impl From<Option<PathBuf>> for Destination {
    fn from(file: Option<PathBuf>) -> Self {
        file.map_or(Self::Results, Self::File)
    }
}

/// The suites asked for, each once and in their order; all that are built where none is named.
fn suites(mut asked: Vec<Suite>) -> Result<Vec<Suite>, BenchError> {
    if asked.is_empty() {
        return Ok(Suite::value_variants().iter().copied().filter(|suite| suite.is_built()).collect());
    }
    asked.sort();
    asked.dedup();
    match asked.iter().find(|suite| !suite.is_built()) {
        Some(suite) => Err(BenchError::Usage(format!("the suite {} is not built yet", suite.name()))),
        None => Ok(asked),
    }
}

/// Many short turns rather than few long ones: what disturbs the machine then hits every target.
const SMALL_TURN: Duration = Duration::from_millis(80);
const FULL_TURN: Duration = Duration::from_millis(250);

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn plan(options: &str) -> Result<Plan, BenchError> {
        let words = ["bench"].into_iter().chain(options.split_whitespace());
        Plan::from_arguments(Arguments::try_parse_from(words).unwrap())
    }

    #[test]
    fn what_has_no_meaning_yet_is_refused() {
        for options in [
            "--lines 5",
            "--pg-host db",
            "--pg-port 5432",
            "--pg-user me",
            "--suite http",
            "--suite proxy,masking",
            "--suite idle --iters 5",
            "--baseline a.json --max-regress=-1",
            "--baseline a.json --max-regress NaN",
        ] {
            let refused = plan(options);
            assert!(matches!(refused, Err(BenchError::Usage(_))), "{options}");
        }
    }

    #[test]
    fn suites_are_taken_once_and_in_their_order() {
        assert_eq!(plan("").unwrap().suites, [Suite::Proxy, Suite::Pool, Suite::Idle]);
        let plan = plan("--suite idle,proxy --suite idle --small").unwrap();
        assert_eq!(plan.suites, [Suite::Proxy, Suite::Idle]);
        assert_eq!(plan.what(), "proxy-idle-small");
    }

    #[test]
    fn a_report_goes_to_the_results_unless_a_file_is_named() {
        let plan = plan("--json --markdown out.md").unwrap();
        assert_eq!(plan.json, Some(Destination::Results));
        assert_eq!(plan.markdown, Some(Destination::File("out.md".into())));
    }
}
