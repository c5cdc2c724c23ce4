//! The folder of a cluster: made once with initdb, temporary or kept.
//!
//! `data/` is PostgreSQL's, `server.log` the server's output, `superuser-password` what initdb was given.

use std::fmt;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::account::Account;
use crate::cluster::{Home, SUPERUSER};
use crate::{DATA_SQL, LabError, Postgres, SCHEMA_SQL};

/// A prepared folder.
pub(crate) struct Place {
    folder: Folder,
    superuser_password: String,
    fingerprint: String,
}

enum Folder {
    Temporary(TempDir),
    Kept(PathBuf),
}

impl Place {
    /// Makes or finds the folder, and a data directory in it.
    pub(crate) fn prepare(home: &Home, postgres: &Postgres, account: Account) -> Result<Self, LabError> {
        let folder = match home {
            Home::Temporary => Folder::Temporary(temporary(account)?),
            Home::Kept(path) => Folder::Kept(kept(path, account)?),
        };
        let fingerprint = fingerprint(postgres);
        let mut place = Self { folder, superuser_password: String::new(), fingerprint };
        if matches!(place.folder, Folder::Kept(_)) {
            former_server_ends(&place.data());
            place.clear_unless_whole()?;
        }
        let secret = place.folder().join("superuser-password");
        if place.data().join("PG_VERSION").is_file() {
            place.superuser_password =
                fs::read_to_string(&secret).map_err(LabError::io("read the password"))?;
            return Ok(place);
        }
        place.superuser_password = random_password()?;
        fs::write(&secret, &place.superuser_password).map_err(LabError::io("write the password"))?;
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600))
            .map_err(LabError::io("write the password"))?;
        account.give(&secret)?;
        // A system without C.UTF-8 has C at least; the encoding is UTF8 either way.
        place
            .initdb(postgres, account, &secret, "C.UTF-8")
            .or_else(|_| place.initdb(postgres, account, &secret, "C"))?;
        Ok(place)
    }

    /// A temporary folder with a copy of a running server's data, made to follow that server.
    pub(crate) fn copy_of(
        dsn: &str,
        superuser_password: &str,
        postgres: &Postgres,
        account: Account,
    ) -> Result<Self, LabError> {
        let place = Self {
            folder: Folder::Temporary(temporary(account)?),
            superuser_password: superuser_password.to_owned(),
            fingerprint: fingerprint(postgres),
        };
        let mut command = account.command(&postgres.tool("pg_basebackup"), place.folder());
        command.arg("-D").arg(place.data()).arg("-d").arg(dsn);
        command.args(["--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream", "--no-sync"]);
        let output = command.stdin(Stdio::null()).output().map_err(LabError::io("run pg_basebackup"))?;
        if output.status.success() { Ok(place) } else { Err(LabError::failed("pg_basebackup", &output)) }
    }

    pub(crate) fn folder(&self) -> &Path {
        match &self.folder {
            Folder::Temporary(folder) => folder.path(),
            Folder::Kept(path) => path,
        }
    }

    /// The folder, if it is to go with its owner.
    pub(crate) fn temporary(&self) -> Option<&Path> {
        match &self.folder {
            Folder::Temporary(folder) => Some(folder.path()),
            Folder::Kept(_) => None,
        }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder().join("data")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.folder().join("server.log")
    }

    pub(crate) fn superuser_password(&self) -> &str {
        &self.superuser_password
    }

    /// Notes that all the data of this seed is in: a kept folder is used again from now on.
    pub(crate) fn seal(&self) -> Result<(), LabError> {
        fs::write(self.folder().join(SEAL), &self.fingerprint).map_err(LabError::io("write the seal"))
    }

    /// Clears a kept folder that was not finished, or holds another seed or another server version's data.
    fn clear_unless_whole(&self) -> Result<(), LabError> {
        let seal = fs::read_to_string(self.folder().join(SEAL)).unwrap_or_default();
        if seal == self.fingerprint || !self.data().exists() {
            return Ok(());
        }
        fs::remove_dir_all(self.data()).map_err(LabError::io("remove the data of another seed"))
    }

    fn initdb(
        &self,
        postgres: &Postgres,
        account: Account,
        secret: &Path,
        locale: &str,
    ) -> Result<(), LabError> {
        let mut command = account.command(&postgres.tool("initdb"), self.folder());
        command.arg("-D").arg(self.data()).arg("--pwfile").arg(secret).args(["-U", SUPERUSER, "-E", "UTF8"]);
        command.args(["--auth-host=scram-sha-256", "--auth-local=reject", "--locale", locale]);
        if self.temporary().is_some() {
            command.arg("--no-sync");
        }
        let output = command.stdin(Stdio::null()).output().map_err(LabError::io("run initdb"))?;
        if output.status.success() { Ok(()) } else { Err(LabError::failed("initdb", &output)) }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").field("folder", &self.folder()).finish_non_exhaustive()
    }
}

fn temporary(account: Account) -> Result<TempDir, LabError> {
    let folder =
        tempfile::Builder::new().prefix("pgmoat-lab-").tempdir().map_err(LabError::io("make a folder"))?;
    account.give(folder.path())?;
    Ok(folder)
}

/// The folder itself, or its stand-in where the server's account cannot reach it (a checkout below /root).
fn kept(path: &Path, account: Account) -> Result<PathBuf, LabError> {
    let own = own_folder(path, account)?;
    if account.reaches(&own) {
        return Ok(own);
    }
    let _ = fs::remove_dir(&own); // an empty one would mislead; one with something in it stays
    let name = hex(Sha256::digest(own.as_os_str().as_encoded_bytes()).get(..8).unwrap_or_default());
    own_folder(&Path::new("/var/tmp").join(format!("pgmoat-lab-{name}")), account)
}

/// Makes a folder of the account's, or takes one that is. /var/tmp is everybody's: another owner's is refused.
fn own_folder(path: &Path, account: Account) -> Result<PathBuf, LabError> {
    let doing = || LabError::io(format!("make {}", path.display()));
    if !path.exists() {
        fs::create_dir_all(path).map_err(doing())?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(doing())?;
        account.give(path)?;
    }
    let path = path.canonicalize().map_err(doing())?;
    let owner = fs::metadata(&path).map_err(doing())?.uid();
    if owner != account.uid() {
        return Err(LabError::Unusable(format!(
            "{} belongs to user {owner}, and PostgreSQL would run as user {}; remove the folder",
            path.display(),
            account.uid()
        )));
    }
    Ok(path)
}

/// What a kept folder's data depends on.
fn fingerprint(postgres: &Postgres) -> String {
    let seed = Sha256::new().chain_update(SCHEMA_SQL).chain_update(DATA_SQL).finalize();
    format!("{} {}", postgres.major(), hex(&seed))
}

/// A server whose owner was interrupted a moment ago is on its way down: its guard sees to that. Waits for it.
fn former_server_ends(data: &Path) {
    let started = Instant::now();
    let running = || {
        let file = fs::read_to_string(data.join("postmaster.pid")).ok()?;
        let pid = Pid::from_raw(file.lines().next()?.trim().parse().ok()?)?;
        // EPERM, too, means that somebody has this number.
        (test_kill_process(pid) != Err(Errno::SRCH)).then_some(())
    };
    while running().is_some() && started.elapsed() < FORMER_SERVER_LIMIT {
        sleep(Duration::from_millis(50));
    }
}

fn random_password() -> Result<String, LabError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| LabError::Unusable(format!("no randomness: {error}")))?;
    Ok(hex(&bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const SEAL: &str = "whole";
const FORMER_SERVER_LIMIT: Duration = Duration::from_secs(15);
