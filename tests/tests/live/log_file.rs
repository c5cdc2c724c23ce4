//! The audit log as its readers see it: JSON lines, and `pgmoat audit verify`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use pgmoat_tests::pgmoat_binary;
use serde_json::Value;

/// Every whole line.
pub(crate) fn lines(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The lines of one kind.
pub(crate) fn of_kind(log: &Path, kind: &str) -> Vec<Value> {
    lines(log).into_iter().filter(|line| line["kind"] == kind).collect()
}

/// `pgmoat audit verify LOG more…`
pub(crate) fn verify(log: &Path, more: &[&str]) -> Output {
    Command::new(pgmoat_binary().unwrap())
        .args(["audit", "verify"])
        .arg(log)
        .args(more)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The exit status, and all that was said.
pub(crate) fn verdict(log: &Path, more: &[&str]) -> (Option<i32>, String) {
    let output = verify(log, more);
    let said = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

/// Fails unless the chain is whole.
pub(crate) fn assert_whole(log: &Path) {
    let (status, said) = verdict(log, &[]);
    assert_eq!(status, Some(0), "{said}");
}
