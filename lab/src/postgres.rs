//! Where PostgreSQL's programs are on this machine.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::LabError;

/// One installed PostgreSQL: the folder with its server programs, and its major version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Postgres {
    bin: PathBuf,
    major: u32,
}

impl Postgres {
    /// Finds one: `PGMOAT_PG_BIN`, the PATH, `pg_config --bindir`, then the newest of Debian's versioned folders.
    ///
    /// # Errors
    ///
    /// [`LabError::NoPostgres`] with the places looked at.
    pub fn find() -> Result<Self, LabError> {
        if let Some(bin) = env::var_os("PGMOAT_PG_BIN") {
            // Named by hand: a fault in it is told, not stepped over.
            return Self::at(Path::new(&bin)).ok_or_else(|| LabError::no_postgres(&[bin.into()]));
        }
        let folders = folders();
        folders.iter().find_map(|bin| Self::at(bin)).ok_or_else(|| LabError::no_postgres(&folders))
    }

    /// The one in a given folder, if the folder has a server that runs here.
    #[must_use]
    pub fn at(bin: &Path) -> Option<Self> {
        if !bin.join("initdb").is_file() {
            return None;
        }
        let output =
            Command::new(bin.join("postgres")).arg("--version").stdin(Stdio::null()).output().ok()?;
        let major = major_of(&String::from_utf8_lossy(&output.stdout))?;
        Some(Self { bin: bin.to_owned(), major })
    }

    /// The server's major version, such as 15.
    #[must_use]
    pub fn major(&self) -> u32 {
        self.major
    }

    /// The path of a program such as `psql` or `pgbench`: beside the server, else where another PostgreSQL has it (a
    /// bare server build has no clients), else the bare name.
    #[must_use]
    pub fn tool(&self, name: &str) -> PathBuf {
        let beside = self.bin.join(name);
        if beside.is_file() {
            return beside;
        }
        folders()
            .into_iter()
            .map(|bin| bin.join(name))
            .find(|path| path.is_file())
            .unwrap_or_else(|| name.into())
    }
}

/// Folders that may hold PostgreSQL's programs, best first.
fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
    if let Ok(output) = Command::new("pg_config").arg("--bindir").stdin(Stdio::null()).output() {
        folders.push(String::from_utf8_lossy(&output.stdout).trim_end().into());
    }
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir(DEBIAN)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let version = path.file_name()?.to_str()?.parse().ok()?;
            Some((version, path.join("bin")))
        })
        .collect();
    versions.sort();
    folders.extend(versions.into_iter().rev().map(|(_, bin)| bin));
    folders
}

/// `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)` is 15; betas (`18beta1`) count as their release.
fn major_of(version: &str) -> Option<u32> {
    let number = version.split_whitespace().nth(2)?;
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

const DEBIAN: &str = "/usr/lib/postgresql";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_in_all_their_forms() {
        assert_eq!(major_of("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n"), Some(15));
        assert_eq!(major_of("postgres (PostgreSQL) 18beta1"), Some(18));
        assert_eq!(major_of("sh: not found"), None);
    }

    #[test]
    fn a_folder_without_a_server_is_none() {
        assert_eq!(Postgres::at(Path::new("/")), None);
    }
}
