//! The gate: a count that is above its baseline ends the run with exit status 1, a time that fell behind with 3, and each
//! is named with its figure, its baseline and its bound.

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

    // A baseline in which the longest queries took a nanosecond, which counts as five microseconds: a time alone.
    let earlier: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let changed = |name: &str, p50: u64| {
        let mut baseline = earlier.clone();
        let mut rows = baseline["rows"].as_array_mut().unwrap().iter_mut();
        let row = rows.find(|row| row["name"] == name && row["target"] == "pgmoat").unwrap();
        assert_eq!(row["gate"], true);
        (row["p50"], row["p50_of_rounds"]) = (json!(p50), json!([]));
        fs::write(&path, baseline.to_string()).unwrap();
        run(&["--baseline", &path, "--max-regress", "1"])
    };
    let Ended { code, stderr, .. } = changed("t5_report/cold", 1);
    assert_eq!(code, Some(3), "{stderr}");
    let told = ["library, t5_report/cold: p50 ", "in the baseline 0.0 µs", "the bound is 100 %"];
    assert!(told.iter().all(|words| stderr.contains(words)), "{stderr}");

    // A count is not a matter of the machine.
    let Ended { code, stderr, .. } = changed("t5_report/cold/allocations", 1);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("library, t5_report/cold/allocations: "), "{stderr}");
    assert!(stderr.contains(" counted, in the baseline 1: the bound is 1"), "{stderr}");

    fs::write(&path, "{\"rows\": []}").unwrap();
    assert_eq!(run(&["--baseline", &path]).code, Some(2), "a baseline without a calibration is none");
}
