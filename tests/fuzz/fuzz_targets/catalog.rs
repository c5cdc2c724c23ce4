//! Any catalog: it is read whole, or refused in words; never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pgmoat_policy::{Catalog, Policy};

fuzz_target!(|text: &str| {
    match Catalog::parse(text) {
        Ok(catalog) => {
            let policy = include_str!("../../../lab/policy.yaml");
            let loaded = Policy::load(policy, "policy.yaml").expect("the lab's policy");
            let _ = loaded.policy.check(&catalog);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
