//! A policy against a database: `golden/policy-check/NAME.yaml` against the lab's catalog gives
//! `NAME.txt`. With `PGMOAT_BLESS=1` the texts are written anew.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use pgmoat_policy::{Catalog, Policy};

#[test]
fn what_the_database_contradicts_is_reported() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden");
    let catalog = Catalog::parse(&fs::read_to_string(folder.join("lab-catalog.json")).unwrap()).unwrap();
    for name in ["lab", "misfits"] {
        let file = folder.join("policy-check").join(name);
        let text = fs::read_to_string(file.with_extension("yaml")).unwrap();
        let policy = Policy::load(&text, "policy.yaml").unwrap().policy;
        let mut report = String::new();
        for problem in policy.check(&catalog) {
            writeln!(report, "{problem}").unwrap();
        }
        let golden = file.with_extension("txt");
        if env::var_os("PGMOAT_BLESS").is_some() {
            fs::write(&golden, &report).unwrap();
        }
        assert_eq!(report, fs::read_to_string(golden).unwrap_or_default(), "{name}");
    }
}

#[test]
fn the_labs_policy_fits_its_database() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden");
    let catalog = Catalog::parse(&fs::read_to_string(folder.join("lab-catalog.json")).unwrap()).unwrap();
    let text = fs::read_to_string(folder.join("policy-check/lab.yaml")).unwrap();
    let policy = Policy::load(&text, "policy.yaml").unwrap().policy;
    assert!(policy.check(&catalog).iter().all(|problem| !problem.is_error()));
}
