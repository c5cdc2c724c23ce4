//! Any policy file: it is loaded whole, or there is at least one problem in words; never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pgmoat_policy::{Catalog, Policy};

fuzz_target!(|text: &str| {
    match Policy::load(text, "policy.yaml") {
        Ok(loaded) => {
            let catalog = include_str!("../../../policy/golden/lab-catalog.json");
            let catalog = Catalog::parse(catalog).expect("the lab's catalog");
            let _ = loaded.policy.check(&catalog);
        }
        Err(problems) => {
            assert!(problems.iter().all(|problem| !problem.message.is_empty()) && !problems.is_empty())
        }
    }
});
