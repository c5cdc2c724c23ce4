//! The gate: a figure that fell behind its baseline ends the run with exit status 1, and is named.

use std::fs;

use pgmoat_tests::pgmoat_binary;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Ended, bench};

const LIBRARY: [&str; 5] = ["--suite", "library", "--small", "--iters", "1"];

#[test]
fn a_figure_that_fell_behind_its_baseline_fails_the_run() {
    let (folder, pgmoat) = (TempDir::new().unwrap(), pgmoat_binary().unwrap());
    let path = folder.path().join("baseline.json").to_str().unwrap().to_owned();
    let run = |more: &[&str]| bench(&pgmoat, &[&LIBRARY, more].concat());
    assert_eq!(run(&["--json", &path]).code, Some(0));

    // Whatever the machine does meanwhile, nothing becomes ten thousand times slower.
    let Ended { code, stderr, .. } = run(&["--baseline", &path, "--max-regress", "10000"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));

    // A baseline in which the longest queries took a nanosecond, which counts as five microseconds.
    let mut baseline: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    for row in baseline["rows"].as_array_mut().unwrap() {
        if row["name"] == "t5_report/cold" && row["target"] == "pgmoat" {
            assert_eq!(row["gate"], true);
            row["p50"] = json!(1);
        }
    }
    fs::write(&path, baseline.to_string()).unwrap();
    let Ended { code, stderr, .. } = run(&["--baseline", &path, "--max-regress", "1"]);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("t5_report/cold: p50 grew by"), "{stderr}");

    fs::write(&path, "{\"rows\": []}").unwrap();
    assert_eq!(run(&["--baseline", &path]).code, Some(2), "a baseline without a calibration is none");
}
