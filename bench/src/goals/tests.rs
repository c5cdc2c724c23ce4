use super::*;
use crate::percentile::Summary;
use crate::row::Unit;
use crate::target::Target;

const SUITES: [Suite; 1] = [Suite::Proxy];

fn row(suite: &str, name: &str, target: Target, p50: u64, rounds: &[f64]) -> Row {
    let summary = Summary { samples: 1, p50, p90: p50, p99: p50, p99_9: p50, max: p50, mean: p50 as f64 };
    let mut row = Row::new(suite, name.to_owned(), target, Unit::Nanoseconds, summary);
    row.throughput_per_s = Some(rounds.iter().sum::<f64>() / rounds.len() as f64);
    row.throughput_of_rounds = rounds.to_vec();
    row.p50_of_rounds = vec![p50; rounds.len()];
    row
}

/// The only outcome of a promise, told shortly.
fn only(rows: &[Row], promise: Promise) -> String {
    let goals = goals(rows, &[promise.suite()]);
    let mut told = goals.iter().filter(|goal| goal.promise == promise).map(|goal| match &goal.outcome {
        Outcome::Met(figure) => format!("met {:.2}", figure.measured),
        Outcome::Missed(figure) => format!("missed {:.2}", figure.measured),
        Outcome::NotMeasured { why } => format!("not measured: {why}"),
    });
    let first = told.next().unwrap_or_default();
    assert_eq!(told.next(), None);
    first
}

#[test]
fn the_addition_is_compared_with_the_better_pgbouncer_s() {
    let point = |target, p50| row("proxy", "t1_point/simple/1", target, p50, &[1.0]);
    let rows = [
        point(Target::Direct, 80_000),
        point(Target::PgbouncerSession, 95_000),
        point(Target::PgbouncerTransaction, 94_000),
        point(Target::Pgmoat, 94_500),
    ];
    assert_eq!(only(&rows, Promise::OneClient), "missed 14.50");
}

#[test]
fn throughput_is_compared_round_by_round() {
    let many = |target, rounds: &[f64]| row("proxy", "t1_point/simple/32", target, 1, rounds);
    let rows = [
        many(Target::PgbouncerSession, &[10.0, 10.0, 10.0]),
        many(Target::PgbouncerTransaction, &[20.0, 20.0, 80.0]),
        many(Target::Pgmoat, &[22.0, 22.0, 40.0]),
    ];
    assert_eq!(only(&rows, Promise::ManyClients), "met 1.10");
}

#[test]
fn a_new_literal_is_compared_with_the_same_one() {
    let rows = [
        row("proxy", "t1_point/simple/32", Target::Pgmoat, 1, &[100.0, 100.0]),
        row("proxy", "t1_point/simple_new_literal/32", Target::Pgmoat, 1, &[94.0, 94.0]),
    ];
    assert_eq!(only(&rows, Promise::NewLiteral), "missed 0.94");
}

#[test]
fn a_million_rows_are_told_by_the_row() {
    let rows = [
        row("proxy", "rows_1000000", Target::Direct, 300_000_000, &[1.0]),
        row("proxy", "rows_1000000", Target::Pgmoat, 350_000_000, &[1.0]),
    ];
    assert_eq!(only(&rows, Promise::MillionRows), "met 0.05");
}

/// A whole run's p50s may come from different times of the machine; those of a round do not.
#[test]
fn verdicts_and_denials_are_compared_round_by_round() {
    for (promise, suite, own, peer, beside) in [
        (Promise::Cold, "library", "t3_joins/cold", "t3_joins/cold", Target::Parser),
        (Promise::Denial, "proxy", "denial/simple/1", "select_1/simple/1", Target::Direct),
        (Promise::Rules, "growth", "rules/10000/cold", "rules/10/cold", Target::Pgmoat),
    ] {
        let (mut own, mut peer) =
            (row(suite, own, Target::Pgmoat, 1, &[1.0; 3]), row(suite, peer, beside, 1_000_000, &[1.0; 3]));
        own.p50_of_rounds = vec![20, 40, 160];
        peer.p50_of_rounds = vec![10, 20, 80];
        assert_eq!(only(&[own, peer], promise), "missed 2.00", "{promise:?}");
    }
}

#[test]
fn without_its_peer_nothing_is_met() {
    let point = |target, p50| row("proxy", "t1_point/simple/1", target, p50, &[1.0]);
    let alone = [point(Target::Direct, 2), point(Target::Pgmoat, 1)];
    assert_eq!(only(&alone, Promise::OneClient), "not measured: no PgBouncer in this run");
    for (promise, suite, name) in [
        (Promise::ManyClients, "proxy", "t1_point/simple/32"),
        (Promise::RangeScan, "proxy", "range_100/simple/1"),
        (Promise::Denial, "proxy", "denial/simple/1"),
        (Promise::Masked, "masking", "people_5000/masked"),
        (Promise::Cold, "library", "t1_point/cold"),
        (Promise::WarmShort, "library", "t1_point/warm"),
        (Promise::BatchWarm, "cli", "batch_warm/jobs_2"),
        (Promise::OneShot, "cli", "one_shot"),
        (Promise::Http, "http", "t1_point/32"),
        (Promise::Rules, "growth", "rules/10000/cold"),
    ] {
        let told = only(&[row(suite, name, Target::Pgmoat, 1, &[1e9])], promise);
        assert!(told.starts_with("not measured: "), "{promise:?}: {told}");
    }
}

#[test]
fn a_dead_peer_makes_nothing_fast() {
    let many = |target, rounds: &[f64]| row("proxy", "t1_point/simple/32", target, 1, rounds);
    let rows = [many(Target::PgbouncerSession, &[0.0, 0.0]), many(Target::Pgmoat, &[22.0, 22.0])];
    assert!(only(&rows, Promise::ManyClients).starts_with("not measured: "));
    let mut fewer = many(Target::PgbouncerSession, &[10.0]);
    assert!(
        only(&[fewer.clone(), many(Target::Pgmoat, &[22.0, 22.0])], Promise::ManyClients)
            .starts_with("not measured: 2 rounds of pgmoat beside 1")
    );
    fewer.throughput_of_rounds = vec![10.0, f64::NAN];
    assert!(
        only(&[fewer, many(Target::Pgmoat, &[22.0, 22.0])], Promise::ManyClients)
            .starts_with("not measured: ")
    );
}

#[test]
fn a_promise_without_a_row_is_not_kept() {
    let goals = goals(&[], &SUITES);
    assert!(goals.iter().all(|goal| matches!(goal.outcome, Outcome::NotMeasured { .. })));
    let proxy = Promise::ALL.into_iter().filter(|promise| promise.suite() == Suite::Proxy).count();
    assert_eq!(goals.len(), proxy);
}

#[test]
fn the_same_name_in_another_suite_is_no_peer() {
    let rows = [
        row("library", "t1_point/32", Target::Healthz, 1, &[1.0]),
        row("http", "t1_point/32", Target::Pgmoat, 1, &[1e9]),
    ];
    assert!(only(&rows, Promise::Http).starts_with("not measured: "));
}
