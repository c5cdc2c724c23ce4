//! Workers: each makes its share of the statements, has them judged, and shows the allowed ones to
//! its own three worlds of each universe.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use pgmoat_lab::Cluster;
use pgmoat_policy::STACK_BYTES;

use crate::client::Worlds;
use crate::generate::{Gen, Statement};
use crate::judge::{Court, Ruling};
use crate::minimise::{Difference, minimise};
use crate::summary::Summary;
use crate::tree::Written;
use crate::verdict::{Outcome, compare};
use crate::worlds::{self, Universe};

/// What a run is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// How many statements are generated.
    pub(crate) statements: u64,
    pub(crate) workers: u64,
    /// The run ends early after so many differences.
    pub(crate) differences: usize,
    /// What is denied runs, too: to see what is denied needlessly, and how much there is to see.
    pub(crate) precision: bool,
}

/// What a run has found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) summary: Summary,
    pub(crate) differences: Vec<Difference>,
}

pub(crate) fn run(cluster: &Cluster, court: &Court, plan: Plan) -> io::Result<Found> {
    let mut all = Found::default();
    let differences = AtomicUsize::new(0);
    let share = |worker| share(cluster, court, plan, worker, &differences);
    let shares: Vec<io::Result<Found>> = thread::scope(|scope| {
        let share = &share;
        let spawn = |worker| {
            let builder = thread::Builder::new().stack_size(STACK_BYTES);
            builder.spawn_scoped(scope, move || share(worker)).unwrap()
        };
        let workers: Vec<_> = (0..plan.workers).map(spawn).collect();
        workers.into_iter().map(|worker| worker.join().expect("no worker panics")).collect()
    });
    for found in shares {
        let found = found?;
        all.summary.add(&found.summary);
        all.differences.extend(found.differences);
    }
    Ok(all)
}

/// Every `workers`th statement.
fn share(
    cluster: &Cluster,
    court: &Court,
    plan: Plan,
    worker: u64,
    differences: &AtomicUsize,
) -> io::Result<Found> {
    let mut worlds: Vec<Worlds> = Vec::new();
    for universe in Universe::ALL {
        worlds::copy(cluster, universe, worker);
        // What is denied may read whole products of tables.
        let limit = if plan.precision { "150ms" } else { "5s" };
        worlds.push(Worlds::connect(cluster, universe, worker, limit)?);
    }
    let mut found = Found::default();
    let mut waiting: [Vec<Waiting>; 2] = [Vec::new(), Vec::new()];
    let mut number = worker;
    let mut seen = 0;
    while number < plan.statements && differences.load(Ordering::Relaxed) < plan.differences {
        let statement = Gen::statement(plan.seed, number);
        number += plan.workers;
        let written = statement.tree.written();
        let ruling = court.rule(&written, statement.universe);
        found.summary.ruled(&statement, &ruling);
        if ruling == Ruling::Allowed || plan.precision {
            let at = statement.universe as usize;
            waiting[at].push(Waiting { statement, written, ruling });
            if waiting[at].len() >= BATCH {
                look(court, &mut worlds[at], &mut waiting[at], &mut found)?;
                differences.fetch_add(found.differences.len() - seen, Ordering::Relaxed);
                seen = found.differences.len();
            }
        }
    }
    for (worlds, waiting) in worlds.iter_mut().zip(&mut waiting) {
        look(court, worlds, waiting, &mut found)?;
    }
    Ok(found)
}

/// A statement that was judged and has not run.
struct Waiting {
    statement: Statement,
    written: Written,
    ruling: Ruling,
}

/// Runs what has gathered, and makes differences small.
fn look(court: &Court, worlds: &mut Worlds, waiting: &mut Vec<Waiting>, found: &mut Found) -> io::Result<()> {
    let batch: Vec<_> = waiting.iter().map(|one| (&one.written, one.statement.effect)).collect();
    let answers = worlds.run(&batch)?;
    for (Waiting { statement, written, ruling }, answers) in waiting.drain(..).zip(answers) {
        let before = [0, 1, 2].map(|world| worlds.others_before(world));
        let outcome = compare(&answers, &before);
        if let Ruling::Denied(code) = ruling {
            found.summary.needless(&statement, &written, &code, &outcome, &answers);
            continue;
        }
        found.summary.compared(&statement, &outcome, &answers);
        let what = match outcome {
            Outcome::Different(what) => what,
            Outcome::Error(what) if !statement.fallible => what,
            Outcome::Error(_) | Outcome::Same | Outcome::Invalid(_) | Outcome::Unfinished => continue,
        };
        println!("#{} differs ({what}): {}", statement.number, written.sql);
        found.differences.push(minimise(court, worlds, &statement, (what, answers))?);
    }
    Ok(())
}

/// Statements sent in one write: few enough that neither side waits for the other to read.
const BATCH: usize = 32;
