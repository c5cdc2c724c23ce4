//! What a process has in memory.

use std::fs;

use pgmoat_tests::Proxied;

/// The proxy's resident set, in bytes.
pub(crate) fn resident_bytes(proxied: &Proxied) -> u64 {
    let pid = proxied.proxy.pid().unwrap();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kibibytes: u64 = line.trim().strip_suffix("kB").unwrap().trim().parse().unwrap();
    kibibytes * 1024
}

/// Fails if the resident set has grown by more than a bound in bytes.
pub(crate) fn assert_bounded(proxied: &Proxied, before: u64, bound: u64) {
    let after = resident_bytes(proxied);
    assert!(after <= before + bound, "{before} bytes before, {after} after: more than {bound} more");
}
