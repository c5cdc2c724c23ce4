//! What a verdict costs, in the cache and without it: `cargo run --release -p pgmoat-policy --example verdict_cost FILE…`.
//!
//! Each file has statements that end in `;` at the end of a line, with `{n}` where a new literal stands each time. The
//! figures are of the fastest of many passes over a file, in nanoseconds a statement; with `ROUNDS` (a number) in front
//! of the files as many passes are made, for a tool that counts instructions.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement stops at its first fault and prints"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use pgmoat_policy::shape::shape;
use pgmoat_policy::{Catalog, Given, Mode, NoNames, Policy, Principal, Recent, STACK_BYTES, Verdicts, judge};

fn main() {
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run).unwrap().join().unwrap();
}

fn run() {
    let policy = Policy::load(include_str!("../../lab/policy.yaml"), "lab/policy.yaml").unwrap().policy;
    let catalog = Catalog::parse(include_str!("../golden/lab-catalog.json")).unwrap();
    let verdicts = Verdicts::new(Arc::new(policy), Arc::new(catalog), 32 << 20);
    let principal = Principal::parse("analyst:acme").unwrap();
    let mut arguments = std::env::args().skip(1).peekable();
    let rounds = arguments.peek().and_then(|first| first.parse().ok());
    let files = arguments.skip(usize::from(rounds.is_some()));
    println!(
        "{:40} {:>7} {:>9} {:>9} {:>9} {:>9} {:>6}",
        "file", "bytes", "shape ns", "found ns", "parse ns", "cold ns", "ratio"
    );
    for file in files {
        let texts = texts(&std::fs::read_to_string(&file).unwrap());
        let mut recent = Recent::default();
        for text in &texts {
            verdicts.judge(text, Mode::Simple, &principal, &NoNames);
        }
        let mut give = |text: &str| {
            let given = verdicts.give(&mut recent, text, Mode::Simple, &principal, &NoNames);
            assert!(matches!(given, Given::Kept(_)), "{text}");
            black_box(given);
        };
        let rounds = rounds.unwrap_or(ROUNDS);
        let found = fastest(rounds, &texts, &mut give);
        let shaped = fastest(rounds, &texts, &mut |text| drop(black_box(shape(text))));
        let (mut parse, mut cold) = (f64::MAX, f64::MAX);
        // In turns: the machine may be another one a second later.
        for _ in 0..rounds.div_ceil(ROUNDS_COLD) {
            parse = parse
                .min(fastest(ROUNDS_COLD, &texts, &mut |text| drop(black_box(pg_query::parse(text, 0)))));
            cold = cold.min(fastest(ROUNDS_COLD, &texts, &mut |text| {
                black_box(judge(
                    text,
                    Mode::Simple,
                    &principal,
                    verdicts.policy(),
                    verdicts.catalog(),
                    &NoNames,
                ));
            }));
        }
        let bytes = texts.iter().map(String::len).sum::<usize>() / texts.len();
        println!("{file:40} {bytes:7} {shaped:9.0} {found:9.0} {parse:9.0} {cold:9.0} {:6.2}", cold / parse);
    }
    println!("{:?}", verdicts.stats());
}

/// The statements of a file, with some literals.
fn texts(file: &str) -> Vec<String> {
    let statements = file.split(";\n").map(str::trim).filter(|text| !text.is_empty());
    statements.flat_map(|text| (1..=LITERALS).map(|n| text.replace("{n}", &n.to_string()))).collect()
}

/// Nanoseconds a text in the fastest pass.
fn fastest(rounds: usize, texts: &[String], work: &mut impl FnMut(&str)) -> f64 {
    let pass = |_| {
        let begin = Instant::now();
        texts.iter().for_each(|text| work(text));
        begin.elapsed()
    };
    let best = (0..rounds).map(pass).min().unwrap_or_default();
    best.as_secs_f64() * 1e9 / f64::from(u32::try_from(texts.len()).unwrap())
}

const LITERALS: usize = 50;
const ROUNDS: usize = 200;
const ROUNDS_COLD: usize = 5;
