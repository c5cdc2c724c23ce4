//! The folder `lab/run`: what is up, and how `up` and `down` meet.
//!
//! Who holds the lock on `lock` is the lab; `port` is written when it is ready; `stop` is `down`'s request. No process
//! ids: a lab that was killed holds no lock, and its guards have taken its processes along.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pgmoat_lab::LabError;

/// `lab/run`.
#[derive(Debug)]
pub(crate) struct Site {
    run: PathBuf,
}

/// The right to be the lab, until it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    _lock: File,
}

impl Site {
    /// The run folder of the lab in `folder`.
    pub(crate) fn at(folder: &str) -> Result<Self, LabError> {
        let run = Path::new(folder).join("run");
        fs::create_dir_all(&run).map_err(|source| io("make lab/run", source))?;
        let run = run.canonicalize().map_err(|source| io("find lab/run", source))?;
        Ok(Self { run })
    }

    pub(crate) fn run(&self) -> &Path {
        &self.run
    }

    /// Where the output of a detached lab goes.
    pub(crate) fn log(&self) -> PathBuf {
        self.run.join("lab.log")
    }

    /// Becomes the lab; none if another process is.
    pub(crate) fn hold(&self) -> Result<Option<Held>, LabError> {
        let lock = File::create(self.run.join("lock")).map_err(|source| io("open lab/run/lock", source))?;
        match lock.try_lock() {
            Ok(()) => {
                for leftover in [self.port_file(), self.stop_file()] {
                    remove(&leftover)?;
                }
                Ok(Some(Held { _lock: lock }))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(io("lock lab/run/lock", source)),
        }
    }

    /// Says that the lab is ready.
    pub(crate) fn ready(&self, port: u16) -> Result<(), LabError> {
        let unfinished = self.run.join("port.unfinished");
        fs::write(&unfinished, port.to_string())
            .and_then(|()| fs::rename(&unfinished, self.port_file()))
            .map_err(|source| io("write lab/run/port", source))
    }

    /// The proxy's port, once the lab is ready.
    pub(crate) fn port(&self) -> Option<u16> {
        fs::read_to_string(self.port_file()).ok()?.parse().ok()
    }

    /// The port of a lab that somebody else holds, waiting for it to be ready.
    pub(crate) fn port_of_another(&self) -> Result<u16, LabError> {
        let started = Instant::now();
        while started.elapsed() < READY_LIMIT {
            if let Some(port) = self.port() {
                return Ok(port);
            }
            sleep(POLL);
        }
        Err(LabError::Unusable("another lab/up is starting, and does not get ready; see lab/run".to_owned()))
    }

    /// Asks the lab to end.
    pub(crate) fn request_stop(&self) -> Result<(), LabError> {
        fs::write(self.stop_file(), "").map_err(|source| io("write lab/run/stop", source))
    }

    pub(crate) fn is_stop_requested(&self) -> bool {
        self.stop_file().exists()
    }

    fn port_file(&self) -> PathBuf {
        self.run.join("port")
    }

    fn stop_file(&self) -> PathBuf {
        self.run.join("stop")
    }
}

pub(crate) fn io(doing: &str, source: std::io::Error) -> LabError {
    LabError::Io { doing: doing.to_owned(), source }
}

fn remove(path: &Path) -> Result<(), LabError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(io("clear lab/run", source)),
        Ok(()) | Err(_) => Ok(()),
    }
}

const READY_LIMIT: Duration = Duration::from_secs(120);
pub(crate) const POLL: Duration = Duration::from_millis(100);
