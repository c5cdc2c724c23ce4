//! Text out of the files that PostgreSQL and the proxy write while they run.

use std::fs;
use std::path::Path;

/// Whether the server with this process id says in its lock file that it takes connections (line 8 of postmaster.pid,
/// which pg_ctl reads too: `LOCK_FILE_LINE_PM_STATUS` in PostgreSQL's pidfile.h). A crash leaves the file behind.
pub(crate) fn server_is_ready(data: &Path, pid: &str) -> bool {
    fs::read_to_string(data.join("postmaster.pid")).is_ok_and(|file| {
        let mut lines = file.lines().map(str::trim_end);
        lines.next() == Some(pid) && lines.nth(6) == Some("ready")
    })
}

/// The port in the line that the proxy prints when it listens.
pub(crate) fn announced_port(log: &str) -> Option<u16> {
    let (complete, _) = log.rsplit_once('\n')?;
    let line = complete.lines().rev().find_map(|line| line.strip_prefix(ANNOUNCEMENT))?;
    line.rsplit(':').next()?.trim_end().parse().ok()
}

const ANNOUNCEMENT: &str = "pgmoat listening on ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_read_once_its_line_is_whole() {
        assert_eq!(announced_port("pgmoat listening on 127.0.0.1:64"), None);
        assert_eq!(announced_port("a banner\npgmoat listening on 127.0.0.1:6432\nmore"), Some(6432));
        assert_eq!(announced_port("pgmoat listening on [::1]:7\n"), Some(7));
        // After a restart into the same log the last one counts.
        assert_eq!(announced_port("pgmoat listening on h:1\npgmoat listening on h:2\n"), Some(2));
    }
}
