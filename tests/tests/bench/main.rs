//! The measuring harness fails where what it measures is wrong: a run with a wrong verdict, a mask that does not mask
//! or a failed request ends with exit status 1 and says what, whatever the figures.
//!
//! The harness is run as people run it, on a pgmoat that is wrong: `PGMOAT_BIN` names a script.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod gate;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use pgmoat_tests::pgmoat_binary;
use tempfile::TempDir;

/// How a run ended.
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs the harness on this pgmoat.
fn bench(pgmoat: &Path, options: &[&str]) -> Ended {
    let harness = pgmoat_binary().unwrap().with_file_name("pgmoat-bench");
    assert!(harness.is_file(), "{} is missing: cargo build -p pgmoat-bench", harness.display());
    let output = Command::new(harness).args(options).env("PGMOAT_BIN", pgmoat).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

/// A pgmoat that is a shell script; `$PGMOAT` in it is the real one.
fn script(folder: &TempDir, body: &str) -> PathBuf {
    let path = folder.path().join("pgmoat");
    let real = pgmoat_binary().unwrap();
    fs::write(&path, format!("#!/bin/sh\nPGMOAT='{}'\n{body}\n", real.display())).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A pgmoat whose policy was edited before it starts.
fn edited(folder: &TempDir, sed: &str) -> PathBuf {
    script(folder, &format!("[ \"$1\" = run ] && sed -i '{sed}' policy.yaml\nexec \"$PGMOAT\" \"$@\""))
}

/// Fails with this in its words, and no figures.
fn fails(pgmoat: &Path, options: &[&str], words: &str) {
    let Ended { code, stdout, stderr } = bench(pgmoat, options);
    assert_eq!(code, Some(1), "{stdout}{stderr}");
    assert!(stderr.contains(words), "{stderr}");
    assert_eq!(stdout, "");
}

#[test]
fn a_batch_that_allows_everything_fails_the_run() {
    let folder = TempDir::new().unwrap();
    let allow = script(
        &folder,
        "n=0; while read -r line; do echo \"{\\\"id\\\":$n,\\\"allowed\\\":true}\"; n=$((n+1)); done",
    );
    fails(&allow, &["--suite", "cli", "--iters", "1", "--lines", "8"], "wrong verdict: cli");
}

#[test]
fn answers_out_of_order_fail_the_run() {
    let folder = TempDir::new().unwrap();
    let reversed = script(&folder, "\"$PGMOAT\" \"$@\" | tac");
    fails(&reversed, &["--suite", "cli", "--iters", "1", "--lines", "8"], "wrong verdict: cli, line 0");
}

#[test]
fn another_tenant_s_row_fails_the_run() {
    let folder = TempDir::new().unwrap();
    let shared = edited(
        &folder,
        "s/- { match: \"app.plans\", shared: true }/- { match: \"app.orders\", shared: true }/",
    );
    fails(&shared, &["--suite", "proxy", "--small", "--iters", "1"], "another tenant's row is not refused");
}

#[test]
fn a_mask_that_does_not_mask_fails_the_run() {
    let folder = TempDir::new().unwrap();
    let bare = edited(&folder, "/app.people.email/d");
    fails(&bare, &["--suite", "masking", "--small", "--iters", "1"], "wrong verdict: masking");
}

/// Four upstream connections for 32 clients that keep theirs: the fifth waits in vain.
#[test]
fn a_request_that_fails_fails_the_run() {
    let folder = TempDir::new().unwrap();
    let narrow = script(
        &folder,
        "[ \"$1\" = run ] && sed -i 's/size: 64, wait_timeout_ms: 5000/size: 4, wait_timeout_ms: 500/' pgmoat.yaml\n\
         exec \"$PGMOAT\" \"$@\"",
    );
    fails(&narrow, &["--suite", "proxy", "--small", "--iters", "1"], "requests failed, the first with 53300");
}

/// And what is right passes: the same suites that are made to fail above.
#[test]
fn a_right_pgmoat_passes() {
    let options = [
        "--suite",
        "cli,http,masking,library",
        "--small",
        "--iters",
        "1",
        "--lines",
        "40",
        "--json",
        "report.json",
    ];
    let folder = TempDir::new().unwrap();
    let report = folder.path().join("report.json");
    let mut options = options.to_vec();
    let path = report.to_str().unwrap().to_owned();
    *options.last_mut().unwrap() = &path;
    let Ended { code, stdout, stderr } = bench(&pgmoat_binary().unwrap(), &options);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("## Goals"), "{stdout}");
    let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
    for key in ["samples", "p50", "p90", "p99", "p99_9", "max", "mean", "throughput_per_s", "errors", "gate"]
    {
        assert!(report["rows"].as_array().unwrap().iter().all(|row| row.get(key).is_some()), "{key}");
    }
    for key in ["host", "load", "versions", "configuration", "goals"] {
        assert!(report.get(key).is_some(), "{key}");
    }
}
