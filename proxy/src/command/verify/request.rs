//! A line of a batch, read strictly.

use pgmoat_policy::Principal;
use serde::Deserialize;
use serde_json::Value;

use crate::command::source::Source;

/// What is to be judged.
#[derive(Debug)]
pub(in crate::command) struct Request {
    /// Comes back with the answer.
    pub(in crate::command) id: Value,
    pub(in crate::command) sql: String,
    pub(in crate::command) principal: Principal,
    pub(in crate::command) protocol: Protocol,
}

/// The protocol by which it comes.
#[derive(Debug)]
pub(in crate::command) enum Protocol {
    /// A Query.
    Simple,
    /// A Parse.
    Parse { types: Vec<u32> },
    /// A Parse and a Bind.
    Bind { types: Vec<u32>, values: Vec<Param> },
}

/// A bound value.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a value is a string, null or {\"hex\": \"…\"}")]
pub(in crate::command) enum Param {
    /// NULL.
    Null(()),
    /// In text format.
    Text(String),
    /// In binary format.
    Binary(Hex),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, try_from = "RawHex")]
pub(in crate::command) struct Hex(pub(in crate::command) Vec<u8>);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHex {
    hex: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default)]
    id: Value,
    sql: String,
    #[serde(rename = "as")]
    principal: Option<String>,
    user: Option<String>,
    protocol: Option<String>,
    params: Option<Vec<Param>>,
    types: Option<Vec<u32>>,
}

impl Request {
    /// Reads a line; a line that names nobody is `default`'s.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(line: &[u8], source: &Source, default: Option<&Principal>) -> Result<Request, String> {
        let line: Line = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let principal = match (&line.principal, &line.user, default) {
            (Some(text), None, _) => source.principal(text)?,
            (None, Some(name), _) => source.user(name)?,
            (None, None, Some(default)) => default.clone(),
            (Some(_), Some(_), _) => return Err("both \"as\" and \"user\"".to_owned()),
            (None, None, None) => return Err("neither \"as\" nor \"user\", and no default".to_owned()),
        };
        let protocol = protocol(line.protocol.as_deref(), line.params, line.types)?;
        Ok(Request { id: line.id, sql: line.sql, principal, protocol })
    }
}

/// The protocol that a word, values and types ask for.
///
/// # Errors
/// They do not fit each other.
pub(in crate::command) fn protocol(
    word: Option<&str>,
    params: Option<Vec<Param>>,
    types: Option<Vec<u32>>,
) -> Result<Protocol, String> {
    match (word, params, types) {
        (None | Some("simple"), None, None) => Ok(Protocol::Simple),
        (None | Some("extended"), Some(values), types) => {
            Ok(Protocol::Bind { types: types.unwrap_or_default(), values })
        }
        (Some("parse"), None, types) => Ok(Protocol::Parse { types: types.unwrap_or_default() }),
        (Some("extended"), None, _) => Err("\"protocol\": \"extended\" needs \"params\"".to_owned()),
        (None, None, Some(_)) => {
            Err("\"types\" without \"params\" and without \"protocol\": \"parse\"".to_owned())
        }
        (Some("simple"), ..) => Err("a simple query has neither \"params\" nor \"types\"".to_owned()),
        (Some("parse"), Some(_), _) => Err("\"protocol\": \"parse\" has no \"params\"".to_owned()),
        (Some(other), ..) => Err(format!("unknown protocol \"{other}\", expected simple, extended or parse")),
    }
}

impl TryFrom<RawHex> for Hex {
    type Error = String;

    fn try_from(RawHex { hex }: RawHex) -> Result<Hex, String> {
        Hex::read(&hex)
    }
}

impl Hex {
    /// Reads pairs of hexadecimal digits.
    ///
    /// # Errors
    /// They are not.
    pub(in crate::command) fn read(hex: &str) -> Result<Hex, String> {
        let digits: Option<Vec<u32>> = hex.chars().map(|digit| digit.to_digit(16)).collect();
        let digits = digits.filter(|digits| digits.len().is_multiple_of(2));
        let digits = digits.ok_or("\"hex\" is not pairs of hexadecimal digits")?;
        let bytes = digits.chunks_exact(2).map(|pair| match pair {
            [high, low] => u8::try_from(high << 4 | low).unwrap_or_default(),
            _ => 0,
        });
        Ok(Hex(bytes.collect()))
    }
}
