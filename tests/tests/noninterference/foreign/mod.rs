//! Non-interference with statements of somebody else's making: SQLsmith's, which knows nothing of
//! tenants.
//!
//! Each is restricted throughout ([`rewrite()`]), and made twice more with a flaw in one restriction.
//! All are judged; what is allowed runs on the three worlds, as the own generator's statements do.
//! What is restricted throughout and denied all the same is the precision that is wanting: it is
//! counted by code. `PGMOAT_SEED` and `PGMOAT_STATEMENTS` (of SQLsmith's) choose another run.

mod rewrite;
mod smith;
mod tally;
mod token;

use std::io;
use std::thread;

use pgmoat_lab::Cluster;
use pgmoat_policy::STACK_BYTES;
use pgmoat_tests::length;

use crate::client::{Effect, Worlds};
use crate::judge::{Court, Ruling};
use crate::rng::Rng;
use crate::schema::{TABLES, Table};
use crate::tree::Written;
use crate::verdict::{Outcome, compare};
use crate::worlds::{self, Universe};
use crate::{ALONE, court, number, summary};
use rewrite::{Flaw, Relation, Relations, rewrite};
use tally::Tally;

#[test]
fn statements_of_sqlsmith_do_not_see_other_tenants() {
    let _alone = ALONE.lock().unwrap();
    let (cluster, court) = court();
    let relations = relations(court);
    smith::prepare(cluster, Universe::Kept.name(), &relations);
    let seed = number("PGMOAT_SEED", SEED);
    let count = usize::try_from(number("PGMOAT_STATEMENTS", length(SHORT, LONG))).unwrap();
    let said = smith::ask(cluster, seed, count);
    let mut all = Tally::of(&said);
    let worker = |worker| Trial::new(cluster, court, &relations, worker).unwrap().run(seed, &said.statements);
    thread::scope(|scope| {
        let worker = &worker;
        let spawn = |number| {
            let builder = thread::Builder::new().stack_size(STACK_BYTES);
            builder.spawn_scoped(scope, move || worker(number)).unwrap()
        };
        let workers: Vec<_> = (0..WORKERS).map(spawn).collect();
        for worker in workers {
            all.add(worker.join().expect("no worker panics").unwrap());
        }
    });
    let text = all.text(seed);
    println!("{text}");
    summary::write(&format!("foreign-seed-{seed}"), &text);
    for difference in &all.differences {
        println!("{difference}");
    }
    assert!(all.differences.is_empty(), "{} differences", all.differences.len());
    let share = all.ran * 100 / (3 * all.made);
    assert!(share >= LEAST_ALLOWED_PERCENT, "{share} % of the statements are allowed: what does it show?");
}

/// What SQLsmith is shown: every relation that a condition outside can restrict.
fn relations(court: &Court) -> Relations {
    let catalog = &court.known(Universe::Kept).catalog;
    let shown = TABLES.iter().filter(|table| {
        let scope = table.tenant().map(|(column, class)| format!(" WHERE {column} = '{}'", class.own()));
        let sql = format!("SELECT * FROM (SELECT * FROM {}{}) AS x", table.name, scope.unwrap_or_default());
        // SQLsmith does not quote names.
        !table.name.contains('"')
            && court.rule(&Written { sql, values: Vec::new() }, Universe::Kept) == Ruling::Allowed
    });
    let described = |table: &Table| {
        let (schema, name) = table.name.split_once('.').unwrap();
        let columns = catalog.relation(schema, name).unwrap().columns.iter();
        let tenant = table.tenant().map(|(column, class)| (column.to_owned(), class));
        (
            table.name.to_owned(),
            Relation { columns: columns.map(|column| column.name.to_string()).collect(), tenant },
        )
    };
    shown.map(described).collect()
}

/// One worker's worlds, and what it has seen.
struct Trial<'a> {
    court: &'a Court,
    relations: &'a Relations,
    worker: u64,
    worlds: Vec<Worlds>,
    waiting: [Vec<Waiting>; Universe::ALL.len()],
    tally: Tally,
}

/// A statement that is allowed and has not run.
struct Waiting {
    number: usize,
    written: Written,
    effect: Effect,
}

impl<'a> Trial<'a> {
    fn new(cluster: &Cluster, court: &'a Court, relations: &'a Relations, worker: u64) -> io::Result<Self> {
        let mut worlds = Vec::new();
        for universe in Universe::ALL {
            worlds::copy(cluster, universe, worker);
            worlds.push(Worlds::connect(cluster, universe, worker, PATIENCE)?);
        }
        let waiting = [const { Vec::new() }; Universe::ALL.len()];
        Ok(Self { court, relations, worker, worlds, waiting, tally: Tally::default() })
    }

    /// Tries every `WORKERS`th statement.
    fn run(mut self, seed: u64, statements: &[String]) -> io::Result<Tally> {
        for (number, sql) in statements.iter().enumerate() {
            if number as u64 % WORKERS != self.worker {
                continue;
            }
            let rng = Rng::new(seed, number as u64);
            let restrictions = self.try_one(number, sql, &rng, None)?;
            for flaw in [Flaw::Dropped, Flaw::Weakened] {
                let flawed = rng.clone().below(restrictions);
                if restrictions > 0 {
                    self.try_one(number, sql, &rng, Some((flawed, flaw)))?;
                }
            }
        }
        for universe in Universe::ALL {
            self.look(universe)?;
        }
        Ok(self.tally)
    }

    /// Judges a statement, and has it run if it is allowed; tells how many restrictions it has.
    fn try_one(
        &mut self,
        number: usize,
        sql: &str,
        rng: &Rng,
        flaw: Option<(usize, Flaw)>,
    ) -> io::Result<usize> {
        let universe = *rng.clone().pick(&[Universe::Kept, Universe::Free]);
        let made = rewrite(sql, self.relations, rng.clone(), flaw);
        let written = Written { sql: made.sql, values: Vec::new() };
        let ruling = self.court.rule(&written, universe);
        let reason = || self.court.reason(&written, universe);
        self.tally.ruled(flaw.map(|(_, flaw)| flaw), &ruling, &written.sql, reason);
        if ruling == Ruling::Allowed {
            let waiting = &mut self.waiting[universe as usize];
            waiting.push(Waiting { number, written, effect: made.effect });
            let bytes: usize = waiting.iter().map(|one| one.written.sql.len()).sum();
            if waiting.len() >= BATCH || bytes >= BATCH_BYTES {
                self.look(universe)?;
            }
        }
        Ok(made.restrictions)
    }

    /// Runs what has gathered for a universe.
    fn look(&mut self, universe: Universe) -> io::Result<()> {
        let waiting = std::mem::take(&mut self.waiting[universe as usize]);
        let worlds = &mut self.worlds[universe as usize];
        let batch: Vec<_> = waiting.iter().map(|one| (&one.written, one.effect)).collect();
        let answers = worlds.run(&batch)?;
        for (Waiting { number, written, .. }, mut answers) in waiting.iter().zip(answers) {
            self.tally.heard(&answers);
            answers.iter_mut().for_each(|answer| answer.notices.clear());
            let before = [0, 1, 2].map(|world| worlds.others_before(world));
            let outcome = compare(&answers, &before);
            self.tally.compared(&outcome, &answers);
            if let Outcome::Different(what) = outcome {
                let brief: Vec<String> = answers.iter().map(|answer| answer.brief()).collect();
                self.tally.differences.push(format!(
                    "SQLsmith's #{number}, {} universe: {what}\n{}\n    {}",
                    universe.name(),
                    written.sql,
                    brief.join("\n    ")
                ));
            }
        }
        Ok(())
    }
}

const SEED: u64 = 1;
/// How many statements are asked of SQLsmith; each is tried in three forms.
const SHORT: u64 = 200;
const LONG: u64 = 10_000;
const WORKERS: u64 = 2;
/// Statements sent in one write: few and short enough that neither side waits for the other to read.
const BATCH: usize = 8;
const BATCH_BYTES: usize = 32 * 1024;
/// What joins many relations on nothing takes long, and shows nothing that a smaller one does not.
const PATIENCE: &str = "500ms";
const LEAST_ALLOWED_PERCENT: usize = 25;
