//! One soak from its beginning to its end.

use std::ops::Range;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use pgmoat_lab::{Cluster, Options, Proxy, ProxyConfig, SERVICE_USER};
use pgmoat_tests::{Mode, length, pgmoat_binary};

use crate::operator::{Watched, watch};
use crate::person::person;
use crate::psycopg::Psycopg;
use crate::report::Report;
use crate::tally::Tally;
use crate::{client, direct, tokio_postgres};

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) mode: Mode,
    pub(crate) size: usize,
    pub(crate) clients: usize,
    pub(crate) seconds: u64,
    pub(crate) restarts: u32,
    pub(crate) statements_per_session: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            mode: Mode::Session,
            size: 0,
            clients: length(24, 200),
            seconds: length(5, 180),
            restarts: length(1, 2),
            statements_per_session: 0,
        }
    }
}

pub(crate) fn run(plan: &Plan) -> Report {
    let mut cluster = Cluster::start(Options::default()).unwrap();
    let database = cluster.fresh_lab_database().unwrap();
    let mut config = ProxyConfig::lab(&cluster, &database);
    config.databases[0].pool = format!("mode: {}, size: {}, wait_timeout_ms: 60000", plan.mode, plan.size);
    config.extra = "limits: { reload_watch_ms: 0 }\n".to_owned();
    let mut proxy = Proxy::start(&pgmoat_binary().unwrap(), &config).unwrap();
    let (tally, stop, operator_stops) = (Tally::default(), AtomicBool::new(false), AtomicBool::new(false));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (port, dsn) = (proxy.port(), proxy.dsn("USER", "lab"));
    let mut windows = Vec::new();

    // A third each; the password of a user is its name's.
    let third = plan.clients / 3;
    let dsn = dsn.replace(":@", ":USER-secret@");
    let psycopg = Psycopg::start(&dsn, third, 0, plan.statements_per_session);
    let watched = thread::scope(|scope| {
        for number in third..plan.clients {
            let (person, tally, stop, each) = (person(number), &tally, &stop, plan.statements_per_session);
            let (runtime, dsn) = (runtime.handle(), dsn.replace("USER", person.user));
            scope.spawn(move || match number % 2 {
                0 => client::client(number, person, each, || direct::connect(port, person.user), stop, tally),
                _ => {
                    let connect = || tokio_postgres::connect(runtime, &dsn);
                    client::client(number, person, each, connect, stop, tally);
                }
            });
        }
        let operator = scope.spawn(|| watch(&mut proxy, &operator_stops));
        let started = Instant::now();
        for part in 1..=plan.restarts {
            let at = Duration::from_secs(plan.seconds) * part / (plan.restarts + 1);
            thread::sleep(at.saturating_sub(started.elapsed()));
            windows.push(restart(&mut cluster));
        }
        thread::sleep(Duration::from_secs(plan.seconds).saturating_sub(started.elapsed()));
        stop.store(true, Ordering::Relaxed);
        psycopg.stop(&tally);
        operator_stops.store(true, Ordering::Relaxed);
        operator.join().unwrap()
    });
    finish(tally, watched, windows, &proxy, &cluster, &database)
}

/// While nobody needs to be served: from before it stops until the longest pause between two attempts is over.
fn restart(cluster: &mut Cluster) -> Range<SystemTime> {
    let from = SystemTime::now();
    cluster.restart().unwrap();
    from..SystemTime::now() + BACKOFF_MAX * 2
}

/// What is left when all have gone.
fn finish(
    tally: Tally,
    watched: Watched,
    windows: Vec<Range<SystemTime>>,
    proxy: &Proxy,
    cluster: &Cluster,
    database: &str,
) -> Report {
    let busy =
        format!("SELECT count(*) FROM pg_stat_activity WHERE usename = '{SERVICE_USER}' AND state <> 'idle'");
    let live = format!("SELECT count(*) FROM pg_stat_activity WHERE usename = '{SERVICE_USER}'");
    let ask = |sql: &str| cluster.psql(database, sql).unwrap().trim().parse().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while ask(&busy) > 0 && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(100));
    }
    let verified = Command::new(pgmoat_binary().unwrap())
        .args(["audit", "verify"])
        .arg(proxy.audit_path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Report {
        tally,
        watched,
        windows,
        busy: ask(&busy),
        live: ask(&live),
        audit_is_whole: verified.status.success(),
        log: proxy.log(),
    }
}

/// The proxy's own.
const BACKOFF_MAX: Duration = Duration::from_secs(5);
