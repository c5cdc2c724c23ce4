//! What a process takes, from /proc.

use std::fs;

use crate::error::BenchError;

/// Its resident memory in bytes. /proc/PID/status is told by counters that lag behind; this one walks the mappings.
pub(crate) fn resident_bytes(pid: u32) -> Result<u64, BenchError> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let text = fs::read_to_string(&path).map_err(BenchError::io(format!("read {path}")))?;
    kib(&text, "Rss:").ok_or_else(|| BenchError::Wrong(format!("{path} has no Rss")))
}

/// The highest that its resident memory has been, in bytes, since the last [`forget_peak`].
pub(crate) fn peak_bytes(pid: u32) -> Result<u64, BenchError> {
    let path = format!("/proc/{pid}/status");
    let text = fs::read_to_string(&path).map_err(BenchError::io(format!("read {path}")))?;
    kib(&text, "VmHWM:").ok_or_else(|| BenchError::Wrong(format!("{path} has no VmHWM")))
}

/// From now on the peak is counted anew (proc(5), clear_refs: 5).
pub(crate) fn forget_peak(pid: u32) -> Result<(), BenchError> {
    let path = format!("/proc/{pid}/clear_refs");
    fs::write(&path, "5").map_err(BenchError::io(format!("write {path}")))
}

/// The processor time of all its threads so far, in nanoseconds; none where the kernel does not count it.
pub(crate) fn cpu_ns(pid: u32) -> Option<u64> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    // A thread that ends while it is looked for has no file any more.
    let times = tasks.filter_map(|task| {
        let text = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    Some(times.sum()).filter(|sum| *sum > 0)
}

/// The bytes of a line `name  1792 kB`.
fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn rss_is_read_from_its_line() {
        let text = "55d-7ff ---p 00000000 00:00 0   [rollup]\nRss:                1792 kB\nPss:  206 kB\n";
        assert_eq!(kib(text, "Rss:"), Some(1792 * 1024));
        assert_eq!(kib("Pss: 206 kB", "Rss:"), None);
    }

    #[test]
    fn our_own_process_takes_something() {
        let own = std::process::id();
        assert!(resident_bytes(own).unwrap() > 0);
        forget_peak(own).unwrap();
        assert!(peak_bytes(own).unwrap() > 0);
        assert!(cpu_ns(own).unwrap() > 0);
    }
}
