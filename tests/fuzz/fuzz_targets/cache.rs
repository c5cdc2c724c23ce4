//! Any text, and the same with other constants in its slots: what the cache finds for the second is what a fresh
//! judgement says of it.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use pgmoat_policy::shape::{SlotClass, shape};
use pgmoat_policy::{Catalog, Mode, NoNames, Policy, Principal, STACK_BYTES, Verdicts, judge, parse};

struct Lab {
    policy: Arc<Policy>,
    catalog: Arc<Catalog>,
    principals: Vec<Principal>,
}

static LAB: LazyLock<Lab> = LazyLock::new(|| Lab {
    policy: Arc::new(
        Policy::load(include_str!("../../../lab/policy.yaml"), "policy.yaml").expect("the lab's policy").policy,
    ),
    catalog: Arc::new(
        Catalog::parse(include_str!("../../../policy/golden/lab-catalog.json")).expect("the lab's catalog"),
    ),
    principals: ["app:acme", "app:globex", "analyst:acme", "ops"]
        .map(|who| Principal::parse(who).expect("a principal"))
        .into(),
});

// Principals, protocol and constants; then the text.
fuzz_target!(|bytes: &[u8]| {
    let Some((choices, text)) = bytes.split_first_chunk::<CHOICES>() else { return };
    let Ok(text) = parse::before(text, MAX_TEXT_BYTES) else { return };
    std::thread::scope(|scope| {
        // Sanitizers make frames several times as large.
        let judge = std::thread::Builder::new().stack_size(STACK_BYTES * 8);
        judge.spawn_scoped(scope, || check(*choices, text)).expect("a thread").join().expect("no panic");
    });
});

fn check([who, other, mode, fill @ ..]: [u8; CHOICES], text: &str) {
    let principal = |choice: u8| &LAB.principals[usize::from(choice) % LAB.principals.len()];
    let mode = if mode & 1 == 0 { Mode::Simple } else { Mode::Extended { declared: &[25] } };
    let verdicts = Verdicts::new(Arc::clone(&LAB.policy), Arc::clone(&LAB.catalog), 1 << 20);
    verdicts.judge(text, mode, principal(who), &NoNames);
    for text in [text, &refilled(text, &fill)] {
        let found = verdicts.judge(text, mode, principal(other), &NoNames);
        let fresh = judge(text, mode, principal(other), &LAB.policy, &LAB.catalog, &NoNames);
        assert_eq!(format!("{found:?}"), format!("{fresh:?}"), "{text:?}");
    }
}

/// The text with other constants of the same classes.
fn refilled(text: &str, fill: &[u8]) -> String {
    let mut refilled = text.to_owned();
    let mut fill = fill.iter().cycle();
    for slot in shape(text).slots().iter().rev() {
        let of: &[&str] = match slot.class {
            SlotClass::String => &["'acme'", "'globex'", "'{acme}'", "'42'", "''", "'it''s'", "'day'", "'app.orders'"],
            SlotClass::Integer => &["0", "1", "2", "42", "77", "2147483647", "007"],
            SlotClass::Number => &["1.5", "42.0", "2147483648", "99999999999999999999", "1e3", ".5"],
        };
        let choice = usize::from(*fill.next().unwrap_or(&0));
        // Every other one stays.
        if choice & 1 == 0 {
            refilled.replace_range(slot.span.clone(), of[choice / 2 % of.len()]);
        }
    }
    refilled
}

const CHOICES: usize = 11;
/// More would make the fuzzer slow and find nothing else.
const MAX_TEXT_BYTES: usize = 4096;
