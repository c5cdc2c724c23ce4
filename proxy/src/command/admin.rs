//! `pgmoat admin token`: a token for the HTTP listener, and its hash for the configuration.

use std::io::{self, Write as _};

use clap::{Args, Subcommand};

use super::failure::{Exit, Failure};
use crate::admin::make_token;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Admin,
}

#[derive(Debug, Subcommand)]
enum Admin {
    /// Print a new token, which is shown this once, and an entry for `admin.tokens` with its hash
    Token(Token),
}

#[derive(Debug, Args)]
struct Token {
    /// What the audit log calls it
    name: String,
    /// A role that may be asked for with it, again and again for several; all roles by default
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<String>,
}

impl Arguments {
    pub(super) fn execute(self) -> Result<Exit, Failure> {
        match self.command {
            Admin::Token(token) => token.execute(),
        }
    }
}

impl Token {
    fn execute(self) -> Result<Exit, Failure> {
        let Token { name, roles } = self;
        for text in std::iter::once(&name).chain(&roles) {
            if text.is_empty() || text.contains(char::is_control) {
                return Err(Failure::Usage("names are not empty and have no control characters".to_owned()));
            }
        }
        let (token, hash) = make_token()
            .map_err(|error| Failure::Failed(format!("the system has no randomness: {error}")))?;
        let roles: Vec<String> = roles.iter().map(|role| quoted(role)).collect();
        let roles = if roles.is_empty() { String::new() } else { format!(", roles: [{}]", roles.join(", ")) };
        let mut out = io::stdout().lock();
        writeln!(out, "{}", &*token)?;
        writeln!(out, "- {{ name: {}, hash: {}{roles} }}", quoted(&name), quoted(&hash.text()))?;
        Ok(Exit::Yes)
    }
}

/// JSON's strings are YAML's.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
