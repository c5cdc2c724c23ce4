//! Non-interference: what policy 1 promises, tried on databases that differ only in other tenants'
//! rows.
//!
//! A generator makes statements of every construct that the judge may allow, and their near misses.
//! What the judge allows runs on three worlds: others' rows as they are; removed; altered. The same
//! rows (as a multiset), tags, notices and own rows must come of it, and nobody else's may change.
//! A difference is a leak in the judge: it is made small and printed as a case of the corpus.
//!
//! `PGMOAT_SEED` and `PGMOAT_STATEMENTS` choose another run; the same seed is the same run.
//! `PGMOAT_PRECISION` runs what is denied, too. `PGMOAT_RESULTS` names a folder for summaries.
//! With the feature `mutants` the judge is weakened instead, rule by rule, and each is to be caught.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests fail by panicking and say what they saw"
)]

mod ask;
mod bound;
mod client;
mod foreign;
mod generate;
mod judge;
mod minimise;
#[cfg(feature = "mutants")]
mod mutants;
mod near;
mod rng;
mod run;
mod schema;
mod summary;
mod tree;
mod verdict;
mod worlds;

use std::env;
use std::sync::{LazyLock, Mutex};
#[cfg(feature = "mutants")]
use std::time::Duration;
use std::time::Instant;

use pgmoat_lab::Cluster;
use pgmoat_tests::{Stack, length};

use generate::Gen;
use judge::Court;
use run::{Plan, Until, run};

/// The server, with all worlds, and the judge that knows them.
fn court() -> &'static (&'static Cluster, Court) {
    static MADE: LazyLock<(&'static Cluster, Court)> = LazyLock::new(|| {
        let cluster = Stack::get().cluster();
        (cluster, Court::new(worlds::make(cluster)))
    });
    &MADE
}

/// One test at a time: a mutant is one for the whole process.
static ALONE: Mutex<()> = Mutex::new(());

fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().expect("a number in the environment"))
}

#[cfg(feature = "mutants")]
#[test]
fn every_mutant_of_the_judge_is_caught() {
    use pgmoat_policy::mutants::Mutant;

    let _alone = ALONE.lock().unwrap();
    let (cluster, court) = court();
    let plan = mutants::Plan {
        seed: number("PGMOAT_SEED", SEED),
        workers: WORKERS,
        patience: Duration::from_secs(number("PGMOAT_SECONDS", 60)),
        small: env::var_os("PGMOAT_RESULTS").is_some(),
    };
    let only = env::var("PGMOAT_MUTANT").ok();
    let wanted =
        |mutant: &Mutant| only.as_ref().is_none_or(|name| name.split(',').any(|n| n == mutant.name()));
    let among: Vec<Mutant> = Mutant::ALL.iter().copied().filter(wanted).collect();
    let hunts = mutants::hunt(cluster, court, plan, &among);
    let text = summary::of_mutants(&hunts);
    println!("{text}");
    summary::write("mutants", &text);
    let excused = |name: &str| mutants::NOT_SEEN.iter().any(|(other, _)| *other == name);
    let missed = hunts.iter().filter(|hunt| hunt.caught.is_none() && !excused(hunt.mutant.name()));
    let missed: Vec<&str> = missed.map(|hunt| hunt.mutant.name()).collect();
    assert!(missed.is_empty(), "not caught: {missed:?}");
}

#[test]
fn allowed_statements_do_not_see_other_tenants() {
    let _alone = ALONE.lock().unwrap();
    let (cluster, court) = court();
    let plan = Plan {
        seed: number("PGMOAT_SEED", SEED),
        until: match env::var_os("PGMOAT_STATEMENTS") {
            Some(_) => Until::Made(number("PGMOAT_STATEMENTS", 0)),
            None => Until::Allowed(number("PGMOAT_ALLOWED", length(SHORT, LONG))),
        },
        workers: WORKERS,
        differences: usize::try_from(number("PGMOAT_DIFFERENCES", 10)).unwrap(),
        precision: env::var_os("PGMOAT_PRECISION").is_some(),
    };
    if let Ok(sql) = env::var("PGMOAT_SQL") {
        ask::ask(cluster, court, &sql).unwrap();
        return;
    }
    let started = Instant::now();
    let found = run(cluster, court, plan, &|number| Gen::statement(plan.seed, number)).unwrap();
    let text = found.summary.text(plan.seed);
    println!("{text}");
    if env::var_os("PGMOAT_REFUSALS").is_some() {
        println!("{}", found.summary.refusals());
    }
    println!(
        "{:.1} allowed statements a second",
        found.summary.allowed as f64 / started.elapsed().as_secs_f64()
    );
    summary::write(&format!("seed-{}", plan.seed), &text);
    for difference in &found.differences {
        println!("{}", difference.case());
    }
    assert!(found.differences.is_empty(), "{} differences", found.differences.len());
}

const SEED: u64 = 1;
/// Allowed statements of a run.
const SHORT: u64 = 12_000;
const LONG: u64 = 200_000;
const WORKERS: u64 = 2;
