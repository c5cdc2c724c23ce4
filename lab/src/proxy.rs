//! A running pgmoat: a program, a folder with its files, and the address that it announces.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::account::Account;
use crate::process::{Farewell, Process};
use crate::tail::announced_port;
use crate::{LabError, ProxyConfig, User};

/// A proxy as a process. Dropping it kills the process and, unless the folder was given, removes its files.
#[derive(Debug)]
pub struct Proxy {
    binary: PathBuf,
    env: Vec<(String, String)>,
    process: Option<Process>,
    port: u16,
    folder: PathBuf,
    temporary: Option<TempDir>, // last: removed after the process has ended
}

impl Proxy {
    /// Writes pgmoat.yaml and policy.yaml into a temporary folder, starts `binary run -c pgmoat.yaml` there and waits
    /// until it says that it listens.
    ///
    /// # Errors
    ///
    /// [`LabError::NotReady`] with what the program said, if it ends or stays silent.
    pub fn start(binary: &Path, config: &ProxyConfig) -> Result<Self, LabError> {
        let folder =
            tempfile::Builder::new().prefix("pgmoat-").tempdir().map_err(LabError::io("make a folder"))?;
        fs::write(folder.path().join("policy.yaml"), &config.policy)
            .map_err(LabError::io("write policy.yaml"))?;
        let yaml = config.yaml("policy.yaml");
        fs::write(folder.path().join("pgmoat.yaml"), yaml).map_err(LabError::io("write pgmoat.yaml"))?;
        let path = folder.path().to_owned();
        Self::launch(binary, config.env.clone(), path, Some(folder))
    }

    /// Starts `binary run -c pgmoat.yaml` in a folder that has that file already and is kept.
    ///
    /// # Errors
    ///
    /// As [`Proxy::start`].
    pub fn start_in(binary: &Path, folder: &Path, env: &[(String, String)]) -> Result<Self, LabError> {
        Self::launch(binary, env.to_vec(), folder.to_owned(), None)
    }

    fn launch(
        binary: &Path,
        env: Vec<(String, String)>,
        folder: PathBuf,
        temporary: Option<TempDir>,
    ) -> Result<Self, LabError> {
        let mut proxy = Self { binary: binary.to_owned(), env, process: None, port: 0, folder, temporary };
        proxy.start_again()?;
        Ok(proxy)
    }

    /// Starts an ended proxy again with the same files; a configured port 0 gives another port. A running one stays as
    /// it is.
    ///
    /// # Errors
    ///
    /// As [`Proxy::start`].
    pub fn start_again(&mut self) -> Result<(), LabError> {
        if self.process.as_mut().is_some_and(|process| process.status().is_none()) {
            return Ok(());
        }
        let mut command = Command::new(&self.binary);
        command.arg("run").arg("-c").arg(self.config_path()).current_dir(&self.folder);
        command.envs(self.env.iter().map(|(name, value)| (name, value))).process_group(0);
        let log = self.log_path();
        let before = fs::metadata(&log).map_or(0, |file| file.len());
        let farewell = Farewell { signal: "TERM", remove: self.temporary.as_ref().map(TempDir::path) };
        let mut process = Process::start(&mut command, &log, Account::Own, farewell)?;
        self.port = process.until(START_LIMIT, || announced_port(&written_since(&log, before)))?;
        self.process = Some(process);
        Ok(())
    }

    /// The port that it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Process::pid)
    }

    /// A connection string for a user of the lab, with the password.
    #[must_use]
    pub fn dsn(&self, user: &str, database: &str) -> String {
        let password = User::named(user).map(User::password).unwrap_or_default();
        format!("postgresql://{user}:{password}@127.0.0.1:{}/{database}", self.port)
    }

    /// The folder that it runs in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its configuration file.
    #[must_use]
    pub fn config_path(&self) -> PathBuf {
        self.folder.join("pgmoat.yaml")
    }

    /// Its policy file.
    #[must_use]
    pub fn policy_path(&self) -> PathBuf {
        self.folder.join("policy.yaml")
    }

    /// Its audit log, where [`ProxyConfig::lab`] puts it.
    #[must_use]
    pub fn audit_path(&self) -> PathBuf {
        self.folder.join("audit.jsonl")
    }

    /// All that it has written to standard output and error, over all its starts.
    #[must_use]
    pub fn log(&self) -> String {
        written_since(&self.log_path(), 0)
    }

    /// SIGKILL, and waits for the end.
    pub fn kill9(&mut self) {
        self.process = None;
    }

    /// SIGTERM: asks it to drain; does not wait.
    ///
    /// # Errors
    ///
    /// [`LabError::Io`] from kill(2).
    pub fn terminate(&mut self) -> Result<(), LabError> {
        self.signal(Signal::TERM)
    }

    /// SIGHUP: asks it to load its files again.
    ///
    /// # Errors
    ///
    /// [`LabError::Io`] from kill(2).
    pub fn hang_up(&mut self) -> Result<(), LabError> {
        self.signal(Signal::HUP)
    }

    /// How it ended, waiting at most `limit` for the end.
    pub fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        self.process.as_mut()?.wait(limit)
    }

    fn signal(&mut self, signal: Signal) -> Result<(), LabError> {
        self.process.as_mut().map_or(Ok(()), |process| process.signal(signal))
    }

    fn log_path(&self) -> PathBuf {
        self.folder.join("pgmoat.log")
    }
}

/// The text of a log from a byte on.
fn written_since(log: &Path, from: u64) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    String::from_utf8_lossy(bytes.get(from..).unwrap_or_default()).into_owned()
}

const START_LIMIT: Duration = Duration::from_secs(30);
