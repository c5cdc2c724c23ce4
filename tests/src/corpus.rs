//! The corpus: statements with the verdict that they must get, one JSON object a line.

use std::io;

use serde::Deserialize;

/// One statement and its verdict.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its stable name.
    pub id: String,
    /// What kind of statement it is.
    pub family: String,
    /// A user of the lab's configuration.
    pub principal: String,
    /// How it is sent.
    pub protocol: Protocol,
    /// The text.
    pub sql: String,
    /// Bound values in text format, for the extended protocol.
    #[serde(default)]
    pub params: Vec<Option<String>>,
    /// What must be decided.
    pub expect: Expect,
    /// A denial has one of these: a policy code or an SQLSTATE. Empty for an allowed statement.
    pub codes: Vec<String>,
    /// The reason.
    pub why: String,
}

/// How a statement is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// One Query message.
    Simple,
    /// Parse, Bind and Execute.
    Extended,
}

/// A verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expect {
    /// Let through.
    Allow,
    /// Refused.
    Deny,
}

/// What attackers try, with a few harmless neighbours.
///
/// # Errors
///
/// A line that is no case, with its number.
pub fn attack() -> io::Result<Vec<Case>> {
    read("attack.jsonl", include_str!("../corpus/attack.jsonl"))
}

/// What honest clients send.
///
/// # Errors
///
/// A line that is no case, with its number.
pub fn benign() -> io::Result<Vec<Case>> {
    read("benign.jsonl", include_str!("../corpus/benign.jsonl"))
}

fn read(name: &str, text: &str) -> io::Result<Vec<Case>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty());
    lines
        .map(|(at, line)| {
            serde_json::from_str(line)
                .map_err(|error| io::Error::other(format!("{name}:{}: {error}", at + 1)))
        })
        .collect()
}
