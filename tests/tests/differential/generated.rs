//! Generated scripts: half as a role to which nothing is refused, half as a tenant's.

use pgmoat_tests::{Mode, Stack, is_long, length, other_servers};

use crate::generate::script;
use crate::minimise::minimise;
use crate::pair::Pair;

/// `PGMOAT_SEED` plays others than those of seed 1, `PGMOAT_COUNT` so many, `PGMOAT_ONLY` one of them; `PGMOAT_MODE` plays
/// them in one of the pools' modes.
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Known faults A1 to A12, B1, B4, B5, B9, B13, B14, C2, C5, C7, C10, D1, D3, D5, D6, I4, J6, K8 as kinds.
#[test]
fn generated_scripts_look_as_on_a_direct_connection() {
    let count = number("PGMOAT_COUNT").unwrap_or(length(60, 500));
    let mut found = Vec::new();
    let wanted = std::env::var("PGMOAT_MODE").ok();
    let is_wanted = |mode: &&Mode| wanted.as_ref().is_none_or(|wanted| *wanted == mode.to_string());
    let modes: Vec<Mode> = Mode::PROXIED.iter().filter(is_wanted).copied().collect();
    for mode in &modes {
        play(Stack::get(), *mode, count, &mut found);
    }
    if is_long() {
        for postgres in other_servers() {
            println!("PostgreSQL {}", postgres.major());
            let stack = Stack::of(postgres).unwrap();
            for mode in &modes {
                play(&stack, *mode, count, &mut found);
            }
        }
    }
    assert!(found.is_empty(), "{} of {count} scripts differ:\n{}", found.len(), found.join("\n"));
}

fn play(stack: &Stack, mode: Mode, count: u64, found: &mut Vec<String>) {
    let mut pair = Pair::new(stack, mode);
    let only = number("PGMOAT_ONLY");
    for number_of_script in (0..count).filter(|at| only.is_none_or(|only| only == *at)) {
        let script = script(number("PGMOAT_SEED").unwrap_or(1), number_of_script);
        if let Some(difference) = pair.difference(&script) {
            let (script, difference) = minimise(&mut pair, &script, difference);
            found.push(format!("{mode}: {script}{difference}\n"));
        }
        if found.len() >= ENOUGH {
            break;
        }
    }
    found.extend(pair.complaints().into_iter().map(|complaint| format!("{mode}: {complaint}")));
}

/// So many differences are read at one time.
const ENOUGH: usize = 12;
