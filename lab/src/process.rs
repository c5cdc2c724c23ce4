//! A long-running child: its log, its guard, and the ways to end it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::LabError;
use crate::account::Account;
use crate::guard::Guard;

/// A running child with its standard output and error in a file. Dropping it kills it at once.
#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    child: Child,
    guard: Option<Guard>,
    log: PathBuf,
}

/// What ends a process whose owner vanished, and what is cleared away after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Farewell<'a> {
    /// The signal's name without SIG.
    pub(crate) signal: &'a str,
    /// A folder to remove.
    pub(crate) remove: Option<&'a Path>,
}

impl Process {
    /// Starts `command` with its output appended to `log`.
    pub(crate) fn start(
        command: &mut Command,
        log: &Path,
        account: Account,
        farewell: Farewell<'_>,
    ) -> Result<Self, LabError> {
        let name = command.get_program().to_string_lossy().into_owned();
        let doing = || LabError::io(format!("start {name}"));
        let output = fs::OpenOptions::new().create(true).append(true).open(log).map_err(doing())?;
        let errors = output.try_clone().map_err(doing())?;
        let child = command.stdin(Stdio::null()).stdout(output).stderr(errors).spawn().map_err(doing())?;
        let mut process = Self { name, child, guard: None, log: log.to_owned() };
        process.guard = Some(Guard::watch(process.child.id(), farewell.signal, farewell.remove, account)?);
        Ok(process)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has written so far, standard output and error together.
    pub(crate) fn log(&self) -> String {
        fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// Sends a signal; one that has ended already gets none.
    pub(crate) fn signal(&mut self, signal: Signal) -> Result<(), LabError> {
        if self.status().is_some() {
            return Ok(());
        }
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        match pid {
            Some(pid) => {
                kill_process(pid, signal).map_err(|error| LabError::io("send a signal")(error.into()))
            }
            None => Err(LabError::Unusable("a process without an id".into())),
        }
    }

    /// How it ended, if it has.
    pub(crate) fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Waits for its end, at most `limit`.
    pub(crate) fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let started = Instant::now();
        loop {
            match self.status() {
                Some(status) => return Some(status),
                None if started.elapsed() >= limit => return None,
                None => sleep(POLL),
            }
        }
    }

    /// Polls `ready` until it has a value, the process ends, or `limit` is over.
    pub(crate) fn until<T>(
        &mut self,
        limit: Duration,
        mut ready: impl FnMut() -> Option<T>,
    ) -> Result<T, LabError> {
        let started = Instant::now();
        loop {
            if let Some(value) = ready() {
                return Ok(value);
            }
            if let Some(status) = self.status() {
                return Err(LabError::not_ready(&format!("{} ({status})", self.name), &self.log()));
            }
            if started.elapsed() >= limit {
                return Err(LabError::not_ready(&self.name, &self.log()));
            }
            sleep(POLL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Reap first, release the guard after: a guard never outlives what it could clear away.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.guard = None;
    }
}

const POLL: Duration = Duration::from_millis(10);
