//! Any text: limits, parse, lower, resolve, rules. A verdict, never a panic; the same twice; every
//! place that it names is one of the text.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use pgmoat_policy::{Catalog, Mode, NoNames, Policy, Principal, STACK_BYTES, Verdict, judge, parse};

struct Lab {
    policy: Policy,
    catalog: Catalog,
    principals: Vec<Principal>,
}

static LAB: LazyLock<Lab> = LazyLock::new(|| Lab {
    policy: Policy::load(include_str!("../../../lab/policy.yaml"), "policy.yaml")
        .expect("the lab's policy")
        .policy,
    catalog: Catalog::parse(include_str!("../../../policy/golden/lab-catalog.json"))
        .expect("the lab's catalog"),
    principals: ["app:acme", "analyst:globex", "ops"]
        .map(|who| Principal::parse(who).expect("a principal"))
        .into(),
});

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, text)) = bytes.split_first() else { return };
    let Ok(text) = parse::before(text, MAX_TEXT_BYTES) else { return };
    std::thread::scope(|scope| {
        // Sanitizers make frames several times as large.
        let judge = std::thread::Builder::new().stack_size(STACK_BYTES * 8);
        judge.spawn_scoped(scope, || check(choice, text)).expect("a thread").join().expect("no panic");
    });
});

fn check(choice: u8, text: &str) {
    let principal = &LAB.principals[usize::from(choice >> 1) % LAB.principals.len()];
    let mode = if choice & 1 == 0 { Mode::Simple } else { Mode::Extended { declared: &[25] } };
    let judgement = judge(text, mode, principal, &LAB.policy, &LAB.catalog, &NoNames);
    assert!(!judgement.statements.is_empty());
    for judged in &judgement.statements {
        assert!(text.get(judged.span.clone()).is_some());
        for name in &judged.names {
            assert!(text.get(name.span.clone()).is_some());
        }
        if let Verdict::Deny(denials) = &judged.verdict {
            assert!(denials.all().iter().all(|denial| {
                denial.at.is_none_or(|at| usize::try_from(at).is_ok_and(|at| text.is_char_boundary(at)))
            }));
        }
    }
    let again = judge(text, mode, principal, &LAB.policy, &LAB.catalog, &NoNames);
    assert_eq!(format!("{judgement:?}"), format!("{again:?}"));
}

/// More would make the fuzzer slow and find nothing else.
const MAX_TEXT_BYTES: usize = 4096;
