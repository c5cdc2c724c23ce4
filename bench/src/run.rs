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
use crate::suite::{idle, pool, proxy};

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
    let max_connections = plan.idle_clients + idle::SPARE + OTHER_CONNECTIONS;
    let pgmoat = pgmoat_binary()?;
    // It takes seconds, in which signals are to be heard.
    let site = spawn_blocking(move || Site::start(pgmoat, max_connections)).await;
    let site = site.map_err(|error| BenchError::Wrong(format!("the start broke off: {error}")))??;
    let mut calibration = Calibration::default();
    let mut rows = Vec::new();
    for suite in &plan.suites {
        calibration.measure();
        match suite {
            Suite::Proxy => rows.extend(proxy::run(plan, &site, &mut calibration).await?),
            Suite::Pool => rows.extend(pool::run(plan, &site, &mut calibration).await?),
            Suite::Idle => rows.extend(idle::run(plan, &site).await?),
            Suite::Library | Suite::Cli | Suite::Http | Suite::Masking => {
                return Err(BenchError::Usage(format!("the suite {} is not built yet", suite.name())));
            }
        }
    }
    rows.extend(calibration.into_rows());
    let mut configuration = site.described(max_connections, proxy::POOL);
    if let Some(object) = configuration.as_object_mut() {
        object.insert("rounds".to_owned(), plan.rounds.into());
        object.insert("turn".to_owned(), format!("{:?}", plan.turn).into());
        object.insert("idle_clients".to_owned(), plan.idle_clients.into());
    }
    Ok(Report {
        format: 1,
        what: plan.what(),
        command: command_line(),
        started,
        finished: utc_now(),
        commit: Commit::read(),
        host: Host::read(),
        load: Load { start: load_at_start, end: load_average() },
        versions: Versions::read(&site),
        configuration,
        notes: notes(plan, &site, load_at_start),
        goals: goals(&rows),
        rows,
    })
}

fn notes(plan: &Plan, site: &Site, load_at_start: [f64; 3]) -> Vec<String> {
    let mut notes = vec![
        "PostgreSQL does not sync (fsync, synchronous_commit and full_page_writes are off); otherwise it is set up \
         as a server is."
            .to_owned(),
        "Client, proxy and PostgreSQL share the machine's processors.".to_owned(),
    ];
    if plan.suites.contains(&Suite::Pool) {
        notes.push(pool::note());
    }
    if cfg!(debug_assertions) {
        notes.push("The harness is a debug build: its figures say nothing.".to_owned());
    }
    if site.pgbouncer().is_none() {
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

/// Those of the suite proxy: three targets that hold 32 each at one time, and what is on its way out.
const OTHER_CONNECTIONS: u32 = 250;
const IDLE_LOAD: f64 = 0.5;
