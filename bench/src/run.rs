//! A run from its first process to its report. Whatever ends it, all that it started is stopped.

use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_blocking;

use crate::arguments::Suite;
use crate::calibration::Calibration;
use crate::command_output::command_output;
use crate::error::BenchError;
use crate::goals::goals;
use crate::host::{Commit, Host, Versions, load_average};
use crate::plan::Plan;
use crate::report::{Load, Report, command_line};
use crate::site::{Site, pgmoat_binary};
use crate::suite::{cli, growth, http, idle, library, masking, pool, proxy};

/// Measures what the plan says.
///
/// # Errors
///
/// [`BenchError::Interrupted`] after SIGINT, SIGTERM or SIGHUP, else what was wrong.
pub(crate) fn run(plan: &Plan) -> Result<Report, BenchError> {
    let runtime =
        Builder::new_current_thread().enable_all().build().map_err(BenchError::io("start the runtime"))?;
    let report = runtime.block_on(async {
        // Taken before anything is started: from here on a signal ends the run by dropping what it holds.
        let listen = |kind| signal(kind).map_err(BenchError::io("listen for signals"));
        let (mut interrupt, mut terminate, mut hang_up) = (
            listen(SignalKind::interrupt())?,
            listen(SignalKind::terminate())?,
            listen(SignalKind::hangup())?,
        );
        tokio::select! {
            biased;
            _ = interrupt.recv() => Err(BenchError::Interrupted),
            _ = terminate.recv() => Err(BenchError::Interrupted),
            _ = hang_up.recv() => Err(BenchError::Interrupted),
            report = measure(plan) => report,
        }
    });
    // A start that was interrupted is not waited for: PostgreSQL's guard ends it when this process is gone.
    runtime.shutdown_background();
    report
}

async fn measure(plan: &Plan) -> Result<Report, BenchError> {
    let (started, load_at_start) = (utc_now(), load_average());
    let most = max_connections(plan);
    let site = site(plan, most).await?;
    let mut calibration = Calibration::default();
    let (mut rows, mut curves) = (Vec::new(), Vec::new());
    for suite in &plan.suites {
        calibration.measure();
        let clock = &mut calibration;
        match (suite, &site) {
            (Suite::Library, _) => rows.extend(library::run(plan, clock).await?),
            (Suite::Cli, _) => rows.extend(cli::run(plan, clock).await?),
            (Suite::Http, Some(site)) => rows.extend(http::run(plan, site, clock).await?),
            (Suite::Proxy, Some(site)) => rows.extend(proxy::run(plan, site, clock).await?),
            (Suite::Masking, Some(site)) => rows.extend(masking::run(plan, site, clock).await?),
            (Suite::Pool, Some(site)) => rows.extend(pool::run(plan, site, clock).await?),
            (Suite::Idle, Some(site)) => rows.extend(idle::run(plan, site).await?),
            (Suite::Growth, Some(site)) => {
                let grown = growth::run(plan, site, clock).await?;
                rows.extend(grown.rows);
                curves.extend(grown.curves);
            }
            (_, None) => return Err(BenchError::Wrong(format!("{} has no PostgreSQL", suite.name()))),
        }
    }
    calibration.measure();
    rows.extend(calibration.into_rows());
    Ok(Report {
        format: 1,
        what: plan.what(),
        command: command_line(),
        started,
        finished: utc_now(),
        commit: Commit::read(),
        host: Host::read(),
        load: Load { start: load_at_start, end: load_average() },
        versions: Versions::read(site.as_ref(), pgmoat_binary().ok().as_deref()),
        configuration: configuration(plan, site.as_ref(), most),
        notes: notes(plan, site.as_ref(), load_at_start),
        goals: goals(&rows, &plan.suites),
        rows,
        curves,
    })
}

/// The PostgreSQL that the suites ask for; none where none does.
async fn site(plan: &Plan, max_connections: u32) -> Result<Option<Site>, BenchError> {
    if !plan.suites.iter().any(|suite| suite.needs_postgresql()) {
        return Ok(None);
    }
    let (pgmoat, given) = (pgmoat_binary()?, plan.given.clone());
    // It takes seconds, in which signals are to be heard.
    let site = spawn_blocking(move || Site::start(pgmoat, given, max_connections)).await;
    site.map_err(|error| BenchError::Wrong(format!("the start broke off: {error}")))?.map(Some)
}

/// Connections that the chosen suites open to PostgreSQL at one time.
fn max_connections(plan: &Plan) -> u32 {
    let idle = idle::attached(plan) + idle::SPARE;
    let has = |suite| plan.suites.contains(&suite);
    let most = [
        (has(Suite::Idle), idle),
        (has(Suite::Growth), growth::MOST_CLIENTS),
        // Three targets that hold 64 each at one time.
        (has(Suite::Proxy), 3 * proxy::POOL),
    ];
    let most = most.into_iter().filter(|(chosen, _)| *chosen).map(|(_, most)| most).max();
    most.unwrap_or_default() + OTHER_CONNECTIONS
}

fn configuration(plan: &Plan, site: Option<&Site>, max_connections: u32) -> serde_json::Value {
    let mut configuration =
        site.map_or_else(|| serde_json::json!({}), |site| site.described(max_connections, proxy::POOL));
    if let Some(object) = configuration.as_object_mut() {
        object.insert("rounds".to_owned(), plan.rounds.into());
        object.insert("turn".to_owned(), format!("{:?}", plan.turn).into());
        object.insert("idle_clients".to_owned(), plan.idle_clients.into());
    }
    configuration
}

fn notes(plan: &Plan, site: Option<&Site>, load_at_start: [f64; 3]) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(site) = site {
        if site.server().is_own() {
            notes.push(
                "PostgreSQL does not sync (fsync, synchronous_commit and full_page_writes are off); otherwise it is set \
                 up as a server is."
                    .to_owned(),
            );
        } else {
            notes.push("PostgreSQL is one that was given, with settings of its own.".to_owned());
        }
        notes.push("Client, proxy and PostgreSQL share the machine's processors.".to_owned());
    }
    if plan.suites.contains(&Suite::Pool) {
        notes.push(pool::note());
    }
    if plan.suites.contains(&Suite::Growth) {
        notes.push(
            "growth, length: the shape cache keeps texts of up to 16 KiB without their constants; a longer one is judged \
             each time."
                .to_owned(),
        );
    }
    if cfg!(debug_assertions) {
        notes.push("The harness is a debug build: its figures say nothing.".to_owned());
    }
    if site.is_some_and(|site| site.pgbouncer().is_none()) {
        notes.push(
            "PgBouncer is not installed: its columns are empty (Debian: apt-get install pgbouncer)."
                .to_owned(),
        );
    }
    let [one_minute, ..] = load_at_start;
    if one_minute > IDLE_LOAD {
        notes.push(format!(
            "The machine was not idle at the start (load {one_minute:.2}): figures are worth comparing within a round only."
        ));
    }
    notes
}

fn utc_now() -> String {
    command_output("date", &["-u", "+%FT%TZ"]).unwrap_or_default()
}

/// What is on its way out, and what other suites hold.
const OTHER_CONNECTIONS: u32 = 100;
const IDLE_LOAD: f64 = 0.5;
