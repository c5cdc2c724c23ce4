//! Workers: each makes its share of the statements, has them judged, and shows the allowed ones to
//! its own three worlds of each universe.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use pgmoat_lab::Cluster;
use pgmoat_policy::STACK_BYTES;

use crate::client::Worlds;
use crate::generate::Statement;
use crate::judge::{Court, Ruling};
use crate::minimise::{Difference, minimise};
use crate::near;
use crate::summary::Summary;
use crate::tree::Written;
use crate::verdict::compare;
use crate::worlds::{self, Universe};

/// What a run is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) until: Until,
    pub(crate) workers: u64,
    /// The run ends early after so many differences.
    pub(crate) differences: usize,
    /// What is denied runs, too: to see what is denied needlessly, and how much there is to see.
    pub(crate) precision: bool,
}

/// How long a run is; never a time, so that the same seed is the same run on every machine.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Until {
    /// So many statements are made, their near misses not counted.
    Made(u64),
    /// So many are allowed; each worker has its share.
    Allowed(u64),
}

/// Makes the statement of a number.
pub(crate) type Make<'m> = &'m (dyn Fn(u64) -> Statement + Sync);

/// What a run has found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) summary: Summary,
    pub(crate) differences: Vec<Difference>,
}

pub(crate) fn run(cluster: &Cluster, court: &Court, plan: Plan, make: Make<'_>) -> io::Result<Found> {
    let mut all = Found::default();
    let differences = AtomicUsize::new(0);
    let share = |worker| Worker::new(cluster, court, plan, worker)?.run(make, &differences);
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

/// A worker with its own worlds.
struct Worker<'c> {
    court: &'c Court,
    plan: Plan,
    number: u64,
    worlds: Vec<Worlds>,
    /// What was judged and has not run, by universe.
    waiting: [Vec<Waiting>; Universe::ALL.len()],
    found: Found,
}

impl<'c> Worker<'c> {
    fn new(cluster: &Cluster, court: &'c Court, plan: Plan, number: u64) -> io::Result<Self> {
        let mut worlds: Vec<Worlds> = Vec::new();
        for universe in Universe::ALL {
            worlds::copy(cluster, universe, number);
            // What is denied may read whole products of tables.
            let limit = if plan.precision { "150ms" } else { "5s" };
            worlds.push(Worlds::connect(cluster, universe, number, limit)?);
        }
        let waiting = [const { Vec::new() }; Universe::ALL.len()];
        Ok(Self { court, plan, number, worlds, waiting, found: Found::default() })
    }

    /// Every `workers`th statement, and near misses of those that are allowed.
    fn run(mut self, make: Make<'_>, differences: &AtomicUsize) -> io::Result<Found> {
        let (mut number, mut seen) = (self.number, 0);
        while self.goes_on(number) && differences.load(Ordering::Relaxed) < self.plan.differences {
            let statement = make(number);
            number += self.plan.workers;
            if self.judge(&statement)? == Ruling::Allowed {
                for nth in 0..NEAR_MISSES {
                    if let Some(miss) = near::miss(&statement, self.plan.seed, nth) {
                        self.judge(&miss)?;
                    }
                }
            }
            differences.fetch_add(self.found.differences.len() - seen, Ordering::Relaxed);
            seen = self.found.differences.len();
        }
        for universe in Universe::ALL {
            self.look(universe)?;
        }
        Ok(self.found)
    }

    fn goes_on(&self, number: u64) -> bool {
        match self.plan.until {
            Until::Made(count) => number < count,
            Until::Allowed(count) => self.found.summary.allowed < count.div_ceil(self.plan.workers),
        }
    }

    /// Has a statement judged; what is allowed waits for its worlds.
    fn judge(&mut self, statement: &Statement) -> io::Result<Ruling> {
        let written = statement.tree.written();
        let ruling = self.court.rule(&written, statement.universe);
        assert!(self.court.agrees(&written, statement.universe), "cached otherwise: {}", written.sql);
        self.found.summary.ruled(statement, &ruling);
        if ruling == Ruling::Allowed || self.plan.precision {
            let waiting = &mut self.waiting[statement.universe as usize];
            waiting.push(Waiting { statement: statement.clone(), written, ruling: ruling.clone() });
            if waiting.len() >= BATCH {
                self.look(statement.universe)?;
            }
        }
        Ok(ruling)
    }

    fn look(&mut self, universe: Universe) -> io::Result<()> {
        let at = universe as usize;
        look(self.court, &mut self.worlds[at], &mut self.waiting[at], &mut self.found)
    }
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
        found.summary.compared(&statement, &written, &outcome, &answers);
        let Some(what) = outcome.leak(&statement) else { continue };
        println!("{} differs ({what}): {}", statement.name(), written.sql);
        found.differences.push(minimise(court, worlds, &statement, (what, answers))?);
    }
    Ok(())
}

/// Statements sent in one write: few enough that neither side waits for the other to read.
const BATCH: usize = 32;
/// Of each allowed statement; then about a third of all that is judged is allowed.
const NEAR_MISSES: u64 = 2;
