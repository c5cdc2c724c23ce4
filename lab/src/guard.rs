//! The guard: a started process dies with its owner, however the owner ends.
//!
//! `Drop` does not run when a process is killed, aborts (a stack overflow does), or ends with a cluster in a static.
//! So beside each process sits a shell that blocks on a pipe from the owner. A word on the pipe releases it; the
//! pipe's end without a word means that the owner is gone: the shell ends the process and removes its folder.
//!
//! The shell has a process group of its own, so a signal to the owner's group does not take it along. Pipes are
//! close-on-exec, so no other child holds this one open.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};

use crate::LabError;
use crate::account::Account;

/// Watches one process on behalf of its owner. Dropping it releases it.
#[derive(Debug)]
pub(crate) struct Guard {
    shell: Child,
    pipe: Option<ChildStdin>,
}

impl Guard {
    /// Watches `pid`; should the owner vanish, it gets `signal` (a name, as `kill -s` takes it), SIGKILL ten seconds
    /// later, and `remove` is removed.
    pub(crate) fn watch(
        pid: u32,
        signal: &str,
        remove: Option<&Path>,
        account: Account,
    ) -> Result<Self, LabError> {
        let mut shell = account
            .command(Path::new("/bin/sh"), Path::new("/"))
            .args(["-c", SCRIPT, "pgmoat-lab-guard", &pid.to_string(), signal])
            .arg(remove.unwrap_or(Path::new("")))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(LabError::io("start the guard"))?;
        let pipe = shell.stdin.take();
        Ok(Self { shell, pipe })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            // A guard that is gone already has nothing to be told.
            let _ = pipe.write_all(b"released\n");
        }
        let _ = self.shell.wait();
    }
}

const SCRIPT: &str = r#"
read -r word && exit 0
kill -s "$2" "$1"
tries=100
while kill -0 "$1" 2>/dev/null && [ "$tries" -gt 0 ]; do sleep 0.1; tries=$((tries - 1)); done
kill -s KILL "$1" 2>/dev/null
[ -z "$3" ] || rm -rf -- "$3"
"#;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use std::process::Command;
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_vanished_owner_takes_the_process_and_its_folder_along() {
        let folder = tempfile::tempdir().unwrap();
        let mut watched = Command::new("sleep").arg("60").spawn().unwrap();
        let mut guard = Guard::watch(watched.id(), "TERM", Some(folder.path()), Account::Own).unwrap();
        drop(guard.pipe.take()); // what the kernel does for an owner that was killed
        let asked = Instant::now();
        assert!(!watched.wait().unwrap().success());
        guard.shell.wait().unwrap();
        assert!(asked.elapsed() < Duration::from_secs(30));
        assert!(!folder.path().exists());
    }

    #[test]
    fn a_released_guard_leaves_the_process_alone() {
        let mut watched = Command::new("sleep").arg("60").spawn().unwrap();
        drop(Guard::watch(watched.id(), "TERM", None, Account::Own).unwrap());
        sleep(Duration::from_millis(300));
        assert!(watched.try_wait().unwrap().is_none());
        watched.kill().unwrap();
        watched.wait().unwrap();
    }
}
