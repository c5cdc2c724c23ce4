//! What a program says when it is asked something.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

/// The trimmed standard output of a program that succeeds; nothing where it is missing or fails.
pub(crate) fn command_output(program: impl AsRef<OsStr>, arguments: &[&str]) -> Option<String> {
    let output =
        Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
