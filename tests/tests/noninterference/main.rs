//! Non-interference: what policy 1 promises, tried on databases that differ only in other tenants'
//! rows.
//!
//! A generator makes statements of every construct that the judge may allow, and their near misses.
//! What the judge allows runs on three worlds: others' rows as they are; removed; altered. The same
//! rows (as a multiset), tags, notices and own rows must come of it, and nobody else's may change.
//! A difference is a leak in the judge: it is made small and printed as a case of the corpus.
//!
//! | variable | what it does |
//! |---|---|
//! | `PGMOAT_SEED` | one seed, or several with commas; the same seed is the same run |
//! | `PGMOAT_ALLOWED` | how many allowed statements a run has |
//! | `PGMOAT_STATEMENTS` | instead: how many statements are made, near misses not counted |
//! | `PGMOAT_RESULTS` | the folder (from `tests/`) for summaries: one a seed, and the sums over all |
//! | `PGMOAT_SQL` | one statement by hand: the ruling, and what the worlds answer |
//! | `PGMOAT_REFUSALS` | shows what PostgreSQL refuses for its own reasons |
//! | `PGMOAT_PRECISION` | what is denied runs, too |
//!
//! `tests/run` makes 20,000 allowed statements, `--long` 200,000. The long run of five seeds, with the
//! judge and the generator optimised (four times as fast), is started in the repository's root:
//!
//! ```text
//! RUST_MIN_STACK=167772160 PGMOAT_LONG=1 PGMOAT_SEED=1,2,3,4,5 PGMOAT_RESULTS=results cargo test \
//!     --config profile.dev.package.pgmoat-policy.opt-level=2 \
//!     --config profile.dev.package.pgmoat-tests.opt-level=1 \
//!     -p pgmoat-tests --test noninterference allowed_ -- --nocapture
//! ```
//!
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
mod seen;
mod summary;
mod total;
mod tree;
mod verdict;
mod worlds;

use std::env;
use std::sync::{LazyLock, Mutex};
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
        statements: number("PGMOAT_STATEMENTS", length(HUNTED_SHORT, HUNTED)),
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
    let caught = hunts.iter().filter(|hunt| hunt.caught.is_some()).count();
    if plan.statements < HUNTED && only.is_none() {
        assert!(caught >= FEWEST, "only {caught} caught");
        return;
    }
    let excused = |name: &str| mutants::NOT_SEEN.iter().any(|(other, _)| *other == name);
    let missed = hunts.iter().filter(|hunt| hunt.caught.is_none() && !excused(hunt.mutant.name()));
    let missed: Vec<&str> = missed.map(|hunt| hunt.mutant.name()).collect();
    assert!(missed.is_empty(), "not caught: {missed:?}");
}

#[test]
fn every_kind_of_difference_is_seen() {
    let _alone = ALONE.lock().unwrap();
    let (cluster, _) = court();
    let misread = seen::misread(cluster);
    assert!(misread.is_empty(), "{}", misread.join("\n"));
}

#[test]
fn allowed_statements_do_not_see_other_tenants() {
    let _alone = ALONE.lock().unwrap();
    let (cluster, court) = court();
    if let Ok(sql) = env::var("PGMOAT_SQL") {
        ask::ask(cluster, court, &sql).unwrap();
        return;
    }
    let seeds = env::var("PGMOAT_SEED").unwrap_or_else(|_| SEED.to_string());
    let differences: usize =
        seeds.split(',').map(|seed| try_seed(seed.trim().parse().expect("a seed is a number"))).sum();
    assert_eq!(differences, 0, "differences");
}

/// The run of one seed: how many differences it has shown.
fn try_seed(seed: u64) -> usize {
    let (cluster, court) = court();
    let plan = Plan {
        seed,
        until: match env::var_os("PGMOAT_STATEMENTS") {
            Some(_) => Until::Made(number("PGMOAT_STATEMENTS", 0)),
            None => Until::Allowed(number("PGMOAT_ALLOWED", length(SHORT, LONG))),
        },
        workers: WORKERS,
        differences: usize::try_from(number("PGMOAT_DIFFERENCES", 10)).unwrap(),
        precision: env::var_os("PGMOAT_PRECISION").is_some(),
    };
    let started = Instant::now();
    let found = run(cluster, court, plan, &|number| Gen::statement(seed, number)).unwrap();
    let text = found.summary.text(seed);
    println!("{text}");
    if env::var_os("PGMOAT_REFUSALS").is_some() {
        println!("{}", found.summary.refusals());
    }
    let rate = found.summary.allowed as f64 / started.elapsed().as_secs_f64();
    println!("{rate:.1} allowed statements a second, {} not ended in time", found.summary.unfinished);
    summary::write(&format!("seed-{seed}"), &text);
    total::write();
    for difference in &found.differences {
        println!("{}", difference.case());
    }
    found.differences.len()
}

const SEED: u64 = 1;
/// Allowed statements of a run.
const SHORT: u64 = 20_000;
const LONG: u64 = 200_000;
/// Statements after which every mutant is caught: a quarter of a minute.
#[cfg(feature = "mutants")]
const HUNTED: u64 = 30_000;
/// Statements of some seconds, after which at least so many mutants are caught.
#[cfg(feature = "mutants")]
const HUNTED_SHORT: u64 = 1_500;
#[cfg(feature = "mutants")]
const FEWEST: usize = 55;
const WORKERS: u64 = 2;
