//! Each fault that other proxies have shipped has a test here, or a reason: `results/known-faults.md` says which, and this
//! test that no row and no named test is missing.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

/// The rows of the list, kind by kind.
const ROWS: [(char, &[u32]); 12] = [
    ('A', &[1, 2, 3, 5, 6, 8, 9, 10, 12, 14, 17, 18]),
    ('B', &[1, 3, 4, 5, 6, 7, 9, 13, 14]),
    ('C', &[1, 2, 3, 4, 5, 7, 10, 11, 12, 13, 14, 16, 17, 19, 20, 21, 22]),
    ('D', &[1, 3, 5, 6, 8]),
    ('E', &[1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    ('F', &[1, 2, 3, 5, 6, 7, 8, 10, 11, 13]),
    ('G', &[4, 7, 8, 10, 11, 12, 13, 14, 16, 17, 18, 19]),
    ('H', &[4, 5, 8, 9, 10, 11, 12, 13, 14, 15, 17]),
    ('I', &[1, 2, 3, 4, 6, 11, 16, 18]),
    ('J', &[1, 2, 5, 6, 8]),
    ('K', &[1, 2, 3, 6, 8, 10, 12, 13, 15, 17, 18, 19, 20]),
    // The list has no numbers: in its order.
    ('L', &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]),
];

#[test]
fn every_row_has_its_tests_or_a_reason() {
    let table = fs::read_to_string(tests().join("results/known-faults.md")).unwrap();
    let rows: Vec<(&str, &str)> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "))
        .filter(|(row, _)| *row != "Row")
        .collect();
    let wanted =
        ROWS.iter().flat_map(|(kind, numbers)| numbers.iter().map(move |number| format!("{kind}{number}")));
    assert_eq!(rows.iter().map(|(row, _)| (*row).to_owned()).collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
    let mut missing = Vec::new();
    for (row, held) in rows {
        assert!(held.len() > 20, "{row}: {held}");
        let named = held.split('`').filter(|text| text.contains("::"));
        missing.extend(named.filter(|test| !exists(test)).map(|test| format!("{row}: {test}")));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Whether `binary::module::test` is a function in a file of that name.
fn exists(test: &str) -> bool {
    let parts: Vec<&str> = test.split("::").collect();
    let [binary, module, name] = parts.as_slice() else { return false };
    let folder = match *binary {
        "session" => tests().join("../proxy/src/session/tests"),
        binary => tests().join("tests").join(binary),
    };
    let text = fs::read_to_string(folder.join(module).with_extension("rs")).unwrap_or_default();
    text.contains(&format!("fn {name}("))
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}
