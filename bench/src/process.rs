//! What a process takes, from /proc.

use std::fs;

use crate::error::BenchError;

/// Its resident memory in bytes. /proc/PID/status is told by counters that lag behind; this one walks the mappings.
pub(crate) fn resident_bytes(pid: u32) -> Result<u64, BenchError> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let text = fs::read_to_string(&path).map_err(BenchError::io(format!("read {path}")))?;
    rss(&text).ok_or_else(|| BenchError::Wrong(format!("{path} has no Rss")))
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

fn rss(smaps_rollup: &str) -> Option<u64> {
    let line = smaps_rollup.lines().find_map(|line| line.strip_prefix("Rss:"))?;
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
        assert_eq!(rss(text), Some(1792 * 1024));
        assert_eq!(rss("Pss: 206 kB"), None);
    }

    #[test]
    fn our_own_process_takes_something() {
        let own = std::process::id();
        assert!(resident_bytes(own).unwrap() > 0);
        assert!(cpu_ns(own).unwrap() > 0);
    }
}
