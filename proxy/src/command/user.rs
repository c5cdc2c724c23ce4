//! `pgmoat user add`: a user's entry for the configuration, with a verifier in place of the
//! password.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};

use clap::{Args, Subcommand};
use zeroize::Zeroizing;

use super::failure::{Exit, Failure};
use crate::config;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: User,
}

#[derive(Debug, Subcommand)]
enum User {
    /// Print an entry for `users`; the password is asked for, or read from standard input
    Add(Add),
}

#[derive(Debug, Args)]
struct Add {
    /// The name to log in with
    name: String,
    /// The role of the policy
    #[arg(long)]
    role: String,
    /// The tenant, where the role has `tenant: required`
    #[arg(long)]
    tenant: Option<String>,
    /// The verifier that the user has: the entry has both, so that the old password and the new one are good
    #[arg(long, value_name = "VERIFIER")]
    beside: Option<String>,
}

impl Arguments {
    pub(super) fn execute(self) -> Result<Exit, Failure> {
        match self.command {
            User::Add(add) => add.execute(),
        }
    }
}

impl Add {
    fn execute(self) -> Result<Exit, Failure> {
        let Add { name, role, tenant, beside } = self;
        for text in [Some(&name), Some(&role), tenant.as_ref()].into_iter().flatten() {
            if text.is_empty() || text.contains(char::is_control) {
                return Err(Failure::Usage("names are not empty and have no control characters".to_owned()));
            }
        }
        let password = password()?;
        if password.is_empty() {
            return Err(Failure::Usage("the password is empty".to_owned()));
        }
        let verifier = match &beside {
            // PostgreSQL's own form: SASLprep, a random salt, 4096 iterations.
            None => quoted(&postgres_protocol::password::scram_sha_256(password.as_bytes())),
            Some(old) => {
                let known =
                    config::verifier(old).map_err(|fault| Failure::Usage(format!("--beside: {fault}")))?;
                format!("[{}, {}]", quoted(&known.beside(&password)), quoted(old))
            }
        };
        let tenant = tenant.map(|tenant| format!(", tenant: {}", quoted(&tenant))).unwrap_or_default();
        writeln!(
            io::stdout().lock(),
            "- {{ name: {}, verifier: {}, role: {}{tenant} }}",
            quoted(&name),
            verifier,
            quoted(&role),
        )?;
        Ok(Exit::Yes)
    }
}

/// From a terminal twice, unseen; else the first line.
fn password() -> Result<Zeroizing<String>, Failure> {
    let failed = |error: io::Error| Failure::Failed(format!("the password cannot be read: {error}"));
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        let mut line = Zeroizing::new(String::with_capacity(MAX_PASSWORD_BYTES));
        let mut bounded = stdin.lock().take(MAX_PASSWORD_BYTES as u64);
        bounded.read_line(&mut line).map_err(failed)?;
        let password = line.strip_suffix('\n').unwrap_or(&line);
        let password = password.strip_suffix('\r').unwrap_or(password);
        return Ok(Zeroizing::new(password.to_owned()));
    }
    let first = Zeroizing::new(rpassword::prompt_password("Password: ").map_err(failed)?);
    let second = Zeroizing::new(rpassword::prompt_password("Again: ").map_err(failed)?);
    if first != second {
        return Err(Failure::Usage("the two passwords differ".to_owned()));
    }
    Ok(first)
}

/// JSON's strings are YAML's.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// PostgreSQL's clients send at most 1024 bytes of SASL message; no password comes near.
const MAX_PASSWORD_BYTES: usize = 4096;
