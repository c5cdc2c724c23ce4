//! The operating-system account that the server runs as: PostgreSQL refuses to run as root.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::LabError;

/// Who runs the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Account {
    /// We ourselves; we are not root.
    Own,
    /// We are root, and it is somebody else.
    Other { uid: u32, gid: u32 },
}

impl Account {
    /// The account to use here: our own, or, for root, `postgres` or else `nobody`.
    pub(crate) fn for_server() -> Result<Self, LabError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self::Own);
        }
        let passwd = fs::read_to_string("/etc/passwd").map_err(LabError::io("read /etc/passwd"))?;
        ["postgres", "nobody"].into_iter().find_map(|name| Self::listed(&passwd, name)).ok_or_else(|| {
            LabError::Unusable(
                "PostgreSQL does not run as root, and there is neither a postgres nor a nobody".into(),
            )
        })
    }

    /// A command that runs as this account, in a process group of its own: Ctrl-C is for us, we stop it in order.
    pub(crate) fn command(self, program: &Path, working_directory: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(working_directory).process_group(0);
        match self {
            Self::Own => {}
            Self::Other { uid, gid } => {
                command.uid(uid).gid(gid);
            }
        }
        command
    }

    /// Makes `path` (not what is in it) the account's.
    pub(crate) fn give(self, path: &Path) -> Result<(), LabError> {
        match self {
            Self::Own => Ok(()),
            Self::Other { uid, gid } => {
                chown(path, Some(uid), Some(gid)).map_err(LabError::io(format!("chown {}", path.display())))
            }
        }
    }

    pub(crate) fn uid(self) -> u32 {
        match self {
            Self::Own => rustix::process::geteuid().as_raw(),
            Self::Other { uid, .. } => uid,
        }
    }

    /// Whether the account can work in a folder: a home of mode 0700 above it keeps others out.
    pub(crate) fn reaches(self, folder: &Path) -> bool {
        self.command(Path::new("true"), folder)
            .stdin(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    fn listed(passwd: &str, name: &str) -> Option<Self> {
        let line = passwd.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        let uid = fields.next()?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(Self::Other { uid, gid })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        let passwd =
            "root:x:0:0::/root:/bin/sh\npostgresql:x:9:9::/:/bin/sh\npostgres:x:101:104:,,,:/v:/bin/bash\n";
        assert_eq!(Account::listed(passwd, "postgres"), Some(Account::Other { uid: 101, gid: 104 }));
        assert_eq!(Account::listed(passwd, "nobody"), None);
    }
}
