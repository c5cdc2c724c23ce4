//! The command line as people use it: arguments, output and exit codes of the binary.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod audit;
mod batch;
mod check;
mod database;
mod doctor;
mod explain;
mod golden;
mod other;
mod policy;
mod verify;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, thread};

use pgmoat_lab::POLICY_YAML;
use pgmoat_tests::pgmoat_binary;
use tempfile::TempDir;

/// A folder with the lab's policy and catalog.
struct Folder {
    folder: TempDir,
}

/// How a command ended.
struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Folder {
    fn new() -> Folder {
        let folder = Folder { folder: TempDir::new().unwrap() };
        folder.write("policy.yaml", POLICY_YAML);
        let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../policy/golden/lab-catalog.json");
        folder.write("catalog.json", &fs::read_to_string(golden).unwrap());
        folder
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `pgmoat` in the folder.
    fn pgmoat(&self, arguments: &[&str]) -> Ended {
        self.pgmoat_with(arguments, "", &[])
    }

    /// The same with standard input and environment.
    fn pgmoat_with(&self, arguments: &[&str], stdin: &str, env: &[(&str, &str)]) -> Ended {
        let mut child = self.command(arguments).envs(env.iter().copied()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let stdin = stdin.to_owned();
        // A command that reads nothing closes the pipe: that is no failure of the test.
        let writer = thread::spawn(move || drop(input.write_all(stdin.as_bytes())));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Ended {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(pgmoat_binary().unwrap());
        command.args(arguments).current_dir(self.folder.path());
        command.env_remove("PGPASSWORD").env_remove("PGMOAT_LOG");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// `verify` against the folder's policy and catalog.
    fn verify(&self, arguments: &[&str]) -> Ended {
        self.pgmoat(&[&VERIFY, arguments].concat())
    }
}

fn exists(path: &Path) -> bool {
    path.try_exists().unwrap()
}

const VERIFY: [&str; 5] = ["verify", "-p", "policy.yaml", "--catalog", "catalog.json"];
