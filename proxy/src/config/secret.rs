//! Where secrets come from. A secret is never part of an error.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, fmt, fs, thread};

use pgmoat_policy::policy::document::{Content, Key, Node, Section, Shape};
use zeroize::Zeroizing;

use super::load::Load;

/// A secret's source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// An environment variable.
    Env(String),
    /// A file.
    File(PathBuf),
    /// A command for `sh -c`.
    Command(String),
}

/// Why a secret could not be had.
#[derive(Debug)]
pub struct SecretError {
    source: SecretSource,
    fault: String,
}

/// The keys of a secret.
pub(super) static SECRET: Section = Section {
    keys: &[
        Key::optional(
            "env",
            Shape::Text,
            "An environment variable's name. One of the three keys is required.",
        ),
        Key::optional("file", Shape::Text, "A file; one newline at its end is not part of the secret."),
        Key::optional(
            "command",
            Shape::Text,
            "A command for `sh -c` that prints the secret, within ten seconds.",
        ),
    ],
};

impl Load<'_> {
    pub(super) fn secret(&mut self, node: &Node) -> Option<SecretSource> {
        let given: Vec<&Node> = ["env", "file", "command"].iter().filter_map(|key| node.get(key)).collect();
        if given.len() != 1 {
            if !matches!(node.content, Content::Map(_)) {
                return None;
            }
            self.error(&node.place, "write exactly one of \"env\", \"file\" and \"command\"");
            return None;
        }
        let text = |key| node.get(key).and_then(Node::text);
        let env = text("env").map(|name| SecretSource::Env(name.to_owned()));
        let file = || text("file").map(|path| SecretSource::File(self.path(path)));
        env.or_else(file).or_else(|| text("command").map(|line| SecretSource::Command(line.to_owned())))
    }
}

impl SecretSource {
    /// Fetches a text. One newline at its end is not part of it.
    ///
    /// # Errors
    /// There is none, it is empty, longer than 64 KiB, or no UTF-8.
    pub fn fetch(&self) -> Result<Zeroizing<String>, SecretError> {
        text(&self.fetch_bytes()?).map_err(|fault| self.fault(fault))
    }

    /// Fetches the bytes as they are.
    ///
    /// # Errors
    /// There are none, or more than 64 KiB.
    pub fn fetch_bytes(&self) -> Result<Zeroizing<Vec<u8>>, SecretError> {
        let fetched = match self {
            SecretSource::Env(name) => from_env(name),
            SecretSource::File(path) => from_file(path).map_err(|error| error.to_string()),
            SecretSource::Command(command) => from_command(command),
        };
        fetched.map_err(|fault| self.fault(fault))
    }

    fn fault(&self, fault: String) -> SecretError {
        SecretError { source: self.clone(), fault }
    }
}

fn from_file(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    bounded(fs::File::open(path)?)
}

fn from_env(name: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    match env::var(name) {
        Ok(value) => Ok(Zeroizing::new(value.into_bytes())),
        Err(env::VarError::NotPresent) => Err("it is not set".to_owned()),
        Err(env::VarError::NotUnicode(_)) => Err("it is not UTF-8".to_owned()),
    }
}

fn from_command(command: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = shell.spawn().map_err(|error| error.to_string())?;
    let Some(stdout) = child.stdout.take() else { return Err("it has no output".to_owned()) };
    let output = read_in_time(stdout);
    if output.is_err() {
        // It may hold the pipe for ever; a failed kill leaves nothing that we could still do.
        let _ = child.kill();
    }
    let status = child.wait();
    let output = output?;
    match status {
        Ok(status) if status.success() => Ok(output),
        Ok(status) => Err(format!("it ended with {status}")),
        Err(error) => Err(error.to_string()),
    }
}

/// A thread reads, since a pipe cannot be read with a deadline.
fn read_in_time(stdout: ChildStdout) -> Result<Zeroizing<Vec<u8>>, String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // Nobody may be waiting any more.
        let _ = sender.send(bounded(stdout));
    });
    match receiver.recv_timeout(COMMAND_TIMEOUT) {
        Ok(output) => output.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {} seconds", COMMAND_TIMEOUT.as_secs())),
    }
}

fn bounded(source: impl io::Read) -> io::Result<Zeroizing<Vec<u8>>> {
    // As much as is ever read, so that no half of it is left behind by a growing buffer.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_BYTES + 1));
    let limit = u64::try_from(MAX_BYTES + 1).unwrap_or(u64::MAX);
    source.take(limit).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_BYTES {
        return Err(io::Error::other(format!("longer than {MAX_BYTES} bytes")));
    }
    Ok(bytes)
}

fn text(bytes: &[u8]) -> Result<Zeroizing<String>, String> {
    let text = str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let line = text.strip_suffix('\n').unwrap_or(text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    match line {
        "" => Err("it is empty".to_owned()),
        _ => Ok(Zeroizing::new(line.to_owned())),
    }
}

impl fmt::Display for SecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fault = &self.fault;
        match &self.source {
            SecretSource::Env(name) => write!(f, "the environment variable {name}: {fault}"),
            SecretSource::File(path) => write!(f, "the file {}: {fault}", path.display()),
            SecretSource::Command(command) => write!(f, "the command \"{command}\": {fault}"),
        }
    }
}

impl std::error::Error for SecretError {}

/// The longest secret.
const MAX_BYTES: usize = 64 * 1024;
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);
