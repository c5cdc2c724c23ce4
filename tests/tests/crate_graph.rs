//! The crate graph is a build rule: four leaves that never import one another, one translator, and
//! heavy dependencies only where they belong.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, MetadataCommand};

/// Who may use which crate of ours, tests and benches included.
const OURS: [(&str, &[&str]); 7] = [
    ("pgmoat-policy", &[]),
    ("pgmoat-upstream", &[]),
    ("pgmoat-audit", &[]),
    ("pgmoat-lab", &[]),
    ("pgmoat", &["pgmoat-policy", "pgmoat-upstream", "pgmoat-audit"]),
    ("pgmoat-tests", &["pgmoat-policy", "pgmoat-audit", "pgmoat-upstream", "pgmoat-lab"]),
    ("pgmoat-bench", &["pgmoat-policy", "pgmoat-audit", "pgmoat-lab"]),
];

/// Dependencies with one home (outside of tests).
const HOMES: [(&str, &[&str]); 9] = [
    ("pg_query", &["pgmoat-policy"]),
    ("prost", &["pgmoat-policy"]),
    ("pgwire", &["pgmoat"]),
    ("serde_yaml", &["pgmoat-policy"]),
    ("tokio", &["pgmoat-upstream", "pgmoat"]),
    ("rustls", &["pgmoat-upstream", "pgmoat"]),
    ("clap", &["pgmoat"]),
    ("axum", &["pgmoat"]),
    ("prometheus-client", &["pgmoat"]),
];

fn direct_dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = MetadataCommand::new()
        .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo metadata runs");
    metadata
        .packages
        .iter()
        .map(|package| {
            let names = package.dependencies.iter().filter(|d| d.kind != DependencyKind::Development);
            (package.name.to_string(), names.map(|d| d.name.clone()).collect())
        })
        .collect()
}

#[test]
fn our_crates_import_only_whom_they_may() {
    let graph = direct_dependencies();
    assert_eq!(
        graph.keys().map(String::as_str).collect::<BTreeSet<_>>(),
        OURS.iter().map(|(name, _)| *name).collect()
    );
    for (name, allowed) in OURS {
        for dependency in graph.get(name).unwrap().iter().filter(|d| d.starts_with("pgmoat")) {
            assert!(allowed.contains(&dependency.as_str()), "{name} must not import {dependency}");
        }
    }
}

#[test]
fn heavy_dependencies_stay_at_home() {
    let graph = direct_dependencies();
    for (dependency, homes) in HOMES {
        for (name, dependencies) in &graph {
            let harness = matches!(name.as_str(), "pgmoat-tests" | "pgmoat-bench" | "pgmoat-lab");
            assert!(
                harness || homes.contains(&name.as_str()) || !dependencies.contains(dependency),
                "{name} must not depend on {dependency}"
            );
        }
        assert!(
            graph.values().any(|d| d.contains(dependency)),
            "{dependency} is in the rule but nobody uses it"
        );
    }
}

#[test]
fn one_version_and_one_provider_of_rustls() {
    let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock")).unwrap();
    assert_eq!(lock.matches("name = \"rustls\"\n").count(), 1, "one rustls for the whole process");
    assert!(!lock.contains("name = \"aws-lc-rs\"\n"), "a second provider panics at the first builder");
    assert_eq!(lock.matches("name = \"pg_query\"\n").count(), 1, "one parser");
}
