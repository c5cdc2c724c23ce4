//! Non-interference: what policy 1 promises, tried on databases that differ only in other tenants'
//! rows.
//!
//! A generator makes statements of every construct that the judge may allow, and their near misses.
//! What the judge allows runs on three worlds: others' rows as they are; removed; altered. The same
//! rows (as a multiset), tags, notices and own rows must come of it, and nobody else's may change.
//! A difference is a leak in the judge: it is made small and printed as a case of the corpus.
//!
//! `PGMOAT_SEED` and `PGMOAT_STATEMENTS` choose another run; the same seed is the same run.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests fail by panicking and say what they saw"
)]

mod ask;
mod client;
mod generate;
mod judge;
mod minimise;
mod rng;
mod run;
mod schema;
mod summary;
mod tree;
mod verdict;
mod worlds;

use std::env;
use std::time::Instant;

use pgmoat_tests::{Stack, length};

use judge::Court;
use run::{Plan, run};

#[test]
fn allowed_statements_do_not_see_other_tenants() {
    let cluster = Stack::get().cluster();
    let court = Court::new(worlds::make(cluster));
    let number = |name: &str, default: u64| {
        env::var(name).map_or(default, |text| text.parse().expect("a number in the environment"))
    };
    let plan = Plan {
        seed: number("PGMOAT_SEED", SEED),
        statements: number("PGMOAT_STATEMENTS", length(SHORT, LONG)),
        workers: WORKERS,
        differences: usize::try_from(number("PGMOAT_DIFFERENCES", 10)).unwrap(),
        precision: env::var_os("PGMOAT_PRECISION").is_some(),
    };
    if let Ok(sql) = env::var("PGMOAT_SQL") {
        ask::ask(cluster, &court, &sql).unwrap();
        return;
    }
    let started = Instant::now();
    let found = run(cluster, &court, plan).unwrap();
    println!("{:#?}", found.summary);
    println!(
        "{:.1} allowed statements a second",
        found.summary.allowed as f64 / started.elapsed().as_secs_f64()
    );
    for difference in &found.differences {
        println!("#{} {:?}: {}", difference.statement.number, difference.statement.universe, difference.what);
        println!("    {} {:?}", difference.written.sql, difference.written.values);
        for answer in &difference.answers {
            println!("    {}", answer.brief());
        }
    }
    assert!(found.differences.is_empty(), "{} differences", found.differences.len());
}

const SEED: u64 = 1;
const SHORT: u64 = 20_000;
const LONG: u64 = 1_000_000;
const WORKERS: u64 = 2;
