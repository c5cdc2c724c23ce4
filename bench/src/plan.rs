//! What a run does: the command line, checked. An option without a meaning is refused, never ignored.

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
    /// Statements of a batch, and of a suite's input over HTTP; each suite has its own number unless it is given.
    pub(crate) lines: Option<u64>,
    /// A PostgreSQL that was there before.
    pub(crate) given: Option<GivenServer>,
    pub(crate) json: Option<Destination>,
    pub(crate) markdown: Option<Destination>,
    pub(crate) baseline: Option<PathBuf>,
    pub(crate) max_regress: f64,
}

/// A PostgreSQL that was there before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GivenServer {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// A superuser.
    pub(crate) user: String,
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
        if !(arguments.max_regress.is_finite() && arguments.max_regress >= 0.0) {
            return refuse("--max-regress is a fraction of zero or more, as in 0.25");
        }
        let suites = suites(arguments.suite);
        if arguments.lines.is_some() && !suites.iter().any(|suite| matches!(suite, Suite::Cli | Suite::Http))
        {
            return refuse("--lines is for the suites cli and http, which are not among the chosen ones");
        }
        if arguments.iters.is_some() && suites.iter().all(|suite| matches!(suite, Suite::Pool | Suite::Idle))
        {
            return refuse("--iters is for other suites than the chosen ones");
        }
        if arguments.pg_host.is_some() && !suites.iter().any(|suite| suite.needs_postgresql()) {
            return refuse(
                "--pg-host is for suites that need a PostgreSQL, which none of the chosen ones does",
            );
        }
        let (rounds, turn, idle_clients) =
            if arguments.small { (8, SMALL_TURN, 200) } else { (24, FULL_TURN, 10_000) };
        let rounds = if arguments.iters.is_some() { ITERS_ROUNDS } else { rounds };
        let (port, user) = (arguments.pg_port, arguments.pg_user);
        Ok(Self {
            suites,
            small: arguments.small,
            rounds,
            turn: arguments.iters.map_or(Until::Elapsed(turn), Until::Requests),
            idle_clients,
            lines: arguments.lines,
            given: arguments.pg_host.map(|host| GivenServer { host, port, user }),
            json: arguments.json.map(Destination::from),
            markdown: arguments.markdown.map(Destination::from),
            baseline: arguments.baseline,
            max_regress: arguments.max_regress,
        })
    }

    /// The suites' names and the size, for file names and headings.
    pub(crate) fn what(&self) -> String {
        let all = self.suites.len() == Suite::value_variants().len();
        let mut names: Vec<&str> = self.suites.iter().map(|suite| suite.name()).collect();
        if all {
            names = vec!["all"];
        }
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
            Self::Growth => "growth",
        }
    }

    /// Whether it asks through a proxy.
    pub(crate) fn needs_postgresql(self) -> bool {
        match self {
            Self::Library | Self::Cli => false,
            Self::Http | Self::Proxy | Self::Masking | Self::Pool | Self::Idle | Self::Growth => true,
        }
    }
}

impl From<Option<PathBuf>> for Destination {
    fn from(file: Option<PathBuf>) -> Self {
        file.map_or(Self::Results, Self::File)
    }
}

/// The suites asked for, each once and in their order; all where none is named.
fn suites(mut asked: Vec<Suite>) -> Vec<Suite> {
    if asked.is_empty() {
        return Suite::value_variants().to_vec();
    }
    asked.sort();
    asked.dedup();
    asked
}

/// Many short turns rather than few long ones: what disturbs the machine then hits every target.
const SMALL_TURN: Duration = Duration::from_millis(40);
const FULL_TURN: Duration = Duration::from_millis(120);
/// Where the number of requests is told, rounds are for the order alone.
const ITERS_ROUNDS: u32 = 2;

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
    fn what_has_no_meaning_is_refused() {
        for options in [
            "--suite proxy --lines 5",
            "--suite cli,library --pg-host db",
            "--suite idle,pool --iters 5",
            "--baseline a.json --max-regress=-1",
            "--baseline a.json --max-regress NaN",
        ] {
            let refused = plan(options);
            assert!(matches!(refused, Err(BenchError::Usage(_))), "{options}");
        }
    }

    #[test]
    fn suites_are_taken_once_and_in_their_order() {
        assert_eq!(plan("").unwrap().suites, Suite::value_variants());
        let plan = plan("--suite idle,proxy --suite idle --small").unwrap();
        assert_eq!(plan.suites, [Suite::Proxy, Suite::Idle]);
        assert_eq!(plan.what(), "proxy-idle-small");
    }

    #[test]
    fn a_given_server_has_the_usual_port_and_user() {
        let given = GivenServer { host: "db".to_owned(), port: 5432, user: "postgres".to_owned() };
        assert_eq!(plan("--pg-host db").unwrap().given, Some(given));
        assert!(Arguments::try_parse_from(["bench", "--pg-port", "5433"]).is_err());
    }

    #[test]
    fn a_report_goes_to_the_results_unless_a_file_is_named() {
        let plan = plan("--json --markdown out.md").unwrap();
        assert_eq!(plan.json, Some(Destination::Results));
        assert_eq!(plan.markdown, Some(Destination::File("out.md".into())));
    }
}
