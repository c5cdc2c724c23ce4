//! A log larger than the memory that verification may use.

use std::fs;
use std::process::Command;
use std::time::SystemTime;

use pgmoat_audit::{Durability, Entry, Log, LoginFailed, Options};
use pgmoat_tests::{length, pgmoat_binary};

#[test]
fn a_log_of_any_size_is_verified_in_constant_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let bytes = length(96 << 20, 1 << 30);
    let (log, _) = Log::open(Options::new(&path, Durability::None), SystemTime::now().into()).unwrap();
    let reason = "x".repeat(1 << 20);
    let mut written = 0;
    while written < bytes {
        let entry = LoginFailed {
            session: Some(1),
            user: Some("u"),
            database: Some("d"),
            client: Some("127.0.0.1:1"),
            code: Some("28P01"),
            reason: Some(&reason),
            count: 1,
        };
        let _receipt = log.append(SystemTime::now().into(), &Entry::LoginFailed(entry)).unwrap();
        written += 1 << 20;
    }
    log.close(SystemTime::now().into()).unwrap();
    assert!(fs::metadata(&path).unwrap().len() >= bytes);

    // Its data, not its address space: the parser's tables are in that, and threads have large stacks that they do not
    // touch.
    let output = Command::new("prlimit")
        .arg(format!("--data={}", MEMORY_BYTES))
        .arg(pgmoat_binary().unwrap())
        .args(["audit", "verify"])
        .arg(&path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.starts_with("whole: "), "{said}");
}

/// Less than the shorter log.
const MEMORY_BYTES: u64 = 80 << 20;
