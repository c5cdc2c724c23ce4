//! Whoever runs the proxy: reloads the policy every second, and looks at how much memory it takes.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pgmoat_lab::{POLICY_YAML, Proxy};

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    pub(crate) asked: usize,
    pub(crate) applied: usize,
    pub(crate) refused: usize,
    /// Resident bytes, once a second.
    pub(crate) resident_bytes: Vec<u64>,
}

/// Until it is told to stop.
pub(crate) fn watch(proxy: &mut Proxy, stop: &AtomicBool) -> Watched {
    let mut watched = Watched::default();
    let mut next = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        watched.asked += 1;
        reload(proxy, watched.asked + 1);
        watched.resident_bytes.push(resident_bytes(proxy));
        next += Duration::from_secs(1);
        sleep(next.saturating_duration_since(Instant::now()));
    }
    let log = proxy.log();
    watched.applied = log.matches("read again and are in force").count();
    watched.refused = log.matches("the files are not taken").count();
    watched
}

/// Another version, and another cap, whole at every moment.
fn reload(proxy: &mut Proxy, version: usize) {
    let cap = 1000 - version % 2 * 100;
    let text = POLICY_YAML
        .replace("version: 1\n", &format!("version: {version}\n"))
        .replace("max: 1000,", &format!("max: {cap},"));
    let (path, new) = (proxy.policy_path(), proxy.folder().join("policy.new"));
    fs::write(&new, text).unwrap();
    fs::rename(&new, &path).unwrap();
    proxy.hang_up().unwrap();
}

fn resident_bytes(proxy: &Proxy) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", proxy.pid().unwrap())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() * 1024
}
