//! It can fail: each weakening of the judge is noticed.
//!
//! One pass over the generated statements serves all mutants. What the judge itself allows says
//! nothing of a mutant, which allows more; what it denies runs, and where the worlds differ each
//! mutant that would have allowed it is caught.

use std::io;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use pgmoat_lab::Cluster;
use pgmoat_policy::STACK_BYTES;
use pgmoat_policy::mutants::{Mutant, activate, asked};

use crate::client::{Answer, Worlds};
use crate::generate::{Gen, Statement};
use crate::judge::{Court, Ruling};
use crate::minimise::minimise;
use crate::near;
use crate::tree::Written;
use crate::verdict::compare;
use crate::worlds::{self, Universe};

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) workers: u64,
    /// How many statements a mutant may outlive.
    pub(crate) statements: u64,
    /// What catches a mutant is made small.
    pub(crate) small: bool,
}

/// A mutant, and how it was caught.
#[derive(Debug)]
pub(crate) struct Hunt {
    pub(crate) mutant: Mutant,
    pub(crate) caught: Option<Catch>,
}

#[derive(Debug, Clone)]
pub(crate) struct Catch {
    /// From the first statement on, which all mutants share.
    pub(crate) seconds: f64,
    /// The statement's number.
    pub(crate) number: u64,
    pub(crate) written: Written,
    /// What differed.
    pub(crate) what: String,
}

/// Looks for a difference that each of these mutants would let pass.
pub(crate) fn hunt(cluster: &Cluster, court: &Court, plan: Plan, among: &[Mutant]) -> Vec<Hunt> {
    let hunts = among.iter().map(|mutant| Hunt { mutant: *mutant, caught: None }).collect();
    let hunts = Mutex::new(hunts);
    thread::scope(|scope| {
        for worker in 0..plan.workers {
            let hunts = &hunts;
            let work = move || Hunter::new(cluster, court, plan, worker, hunts)?.hunt();
            let builder = thread::Builder::new().stack_size(STACK_BYTES);
            let _ = builder.spawn_scoped(scope, move || work().unwrap()).unwrap();
        }
    });
    hunts.into_inner().unwrap()
}

fn alive(hunts: &Mutex<Vec<Hunt>>) -> Vec<Mutant> {
    let hunts = hunts.lock().unwrap();
    hunts.iter().filter(|hunt| hunt.caught.is_none()).map(|hunt| hunt.mutant).collect()
}

/// The mutants that would allow a statement.
pub(crate) fn allowing(court: &Court, written: &Written, universe: Universe) -> Vec<&'static str> {
    let allows = |mutant: &&Mutant| {
        activate(Some(**mutant));
        let ruling = court.rule(written, universe);
        activate(None);
        ruling == Ruling::Allowed
    };
    Mutant::ALL.iter().filter(allows).map(|mutant| mutant.name()).collect()
}

/// One worker with its own worlds.
struct Hunter<'h> {
    court: &'h Court,
    plan: Plan,
    worker: u64,
    hunts: &'h Mutex<Vec<Hunt>>,
    worlds: Vec<Worlds>,
    waiting: [Vec<Denied>; Universe::ALL.len()],
    /// Mutants that nothing has caught, when it was last asked.
    alive: Vec<Mutant>,
    /// What caught a mutant, as it was made.
    large: Vec<Large>,
    started: Instant,
}

type Large = (Mutant, Catch, Statement, [Answer; 3]);

/// A denied statement, and the mutants that may allow it.
struct Denied {
    statement: Statement,
    written: Written,
    suspects: Vec<Mutant>,
}

impl<'h> Hunter<'h> {
    fn new(
        cluster: &Cluster,
        court: &'h Court,
        plan: Plan,
        worker: u64,
        hunts: &'h Mutex<Vec<Hunt>>,
    ) -> io::Result<Self> {
        let mut all = Vec::new();
        for universe in Universe::ALL {
            worlds::copy(cluster, universe, worker);
            // What is denied may read whole products of tables.
            all.push(Worlds::connect(cluster, universe, worker, "60ms")?);
        }
        let waiting = [const { Vec::new() }; Universe::ALL.len()];
        let alive = alive(hunts);
        Ok(Self {
            court,
            plan,
            worker,
            hunts,
            worlds: all,
            waiting,
            alive,
            large: Vec::new(),
            started: Instant::now(),
        })
    }

    fn hunt(mut self) -> io::Result<()> {
        let (mut number, seed) = (self.worker, self.plan.seed);
        while !self.alive.is_empty() && number < self.plan.statements {
            let statement = Gen::statement(seed, number);
            number += self.plan.workers;
            if self.consider(statement.clone())? == Ruling::Allowed {
                for miss in (0..NEAR_MISSES).filter_map(|nth| near::miss(&statement, seed, nth)) {
                    self.consider(miss)?;
                }
            }
        }
        Universe::ALL.into_iter().try_for_each(|universe| self.look(universe))?;
        std::mem::take(&mut self.large).into_iter().try_for_each(|large| self.shrink(large))
    }

    /// Makes what caught a mutant small.
    fn shrink(&mut self, (mutant, mut found, statement, answers): Large) -> io::Result<()> {
        activate(Some(mutant));
        let heard = (found.what.clone(), answers);
        let small = minimise(self.court, &mut self.worlds[statement.universe as usize], &statement, heard);
        activate(None);
        let small = small?;
        (found.written, found.what) = (small.written, small.what);
        self.caught(mutant, found);
        Ok(())
    }

    /// What the judge denies and a mutant may allow waits for its worlds.
    fn consider(&mut self, statement: Statement) -> io::Result<Ruling> {
        asked();
        let (written, universe) = (statement.tree.written(), statement.universe);
        let ruling = self.court.rule(&written, universe);
        let mut suspects = asked();
        if ruling == Ruling::Allowed {
            return Ok(ruling);
        }
        suspects.retain(|mutant| self.alive.contains(mutant));
        let few = suspects.len() <= FEW;
        if few {
            suspects.retain(|mutant| self.allows(*mutant, &written, universe));
        }
        if !suspects.is_empty() {
            let waiting = &mut self.waiting[universe as usize];
            waiting.push(Denied { statement, written, suspects });
            // What a mutant is known to allow does not wait.
            if few || waiting.len() >= BATCH {
                self.look(universe)?;
            }
        }
        Ok(ruling)
    }

    fn allows(&self, mutant: Mutant, written: &Written, universe: Universe) -> bool {
        activate(Some(mutant));
        let ruling = self.court.rule(written, universe);
        activate(None);
        asked();
        ruling == Ruling::Allowed
    }

    /// Runs what has gathered; where the worlds differ, the mutants that allow it are caught.
    fn look(&mut self, universe: Universe) -> io::Result<()> {
        let at = universe as usize;
        let denied = std::mem::take(&mut self.waiting[at]);
        let batch: Vec<_> = denied.iter().map(|one| (&one.written, one.statement.effect)).collect();
        let all = self.worlds[at].run(&batch)?;
        for (Denied { statement, written, suspects }, answers) in denied.into_iter().zip(all) {
            let before = [0, 1, 2].map(|world| self.worlds[at].others_before(world));
            let Some(what) = compare(&answers, &before).leak(&statement) else { continue };
            for mutant in suspects {
                if !alive(self.hunts).contains(&mutant) || !self.allows(mutant, &written, statement.universe)
                {
                    continue;
                }
                let seconds = self.started.elapsed().as_secs_f64();
                let found =
                    Catch { seconds, number: statement.number, written: written.clone(), what: what.clone() };
                self.caught(mutant, found.clone());
                if self.plan.small {
                    self.large.push((mutant, found, statement.clone(), answers.clone()));
                }
            }
        }
        self.alive = alive(self.hunts);
        Ok(())
    }

    fn caught(&self, mutant: Mutant, found: Catch) {
        let mut hunts = self.hunts.lock().unwrap();
        if let Some(hunt) = hunts.iter_mut().find(|hunt| hunt.mutant == mutant) {
            println!(
                "{:<26} {:>5.1} s, #{}: {}",
                mutant.name(),
                found.seconds,
                found.number,
                found.written.sql
            );
            hunt.caught = Some(found);
        }
    }
}

/// What no statement of this server can show, each with the reason.
pub(crate) const NOT_SEEN: [(&str, &str); 2] = [
    (
        "VolatileIsTransparent",
        "a row's own random number or series tells nothing of other rows; nextval has a rule of its own (3.10)",
    ),
    ("BySourceUnguarded", "PostgreSQL 15 has no WHEN NOT MATCHED BY SOURCE"),
];

/// So few mutants are asked before a statement runs, not after.
const FEW: usize = 3;
/// Near misses of each statement that is allowed.
const NEAR_MISSES: u64 = 2;
/// Statements sent in one write.
const BATCH: usize = 32;
