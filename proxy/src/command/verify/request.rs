//! A line of a batch, read strictly.

use pgmoat_policy::Principal;
use serde::Deserialize;
use serde_json::Value;

use crate::command::source::Source;

/// What is to be judged.
#[derive(Debug)]
pub(super) struct Request {
    /// Comes back with the answer.
    pub(super) id: Value,
    pub(super) sql: String,
    pub(super) principal: Principal,
    pub(super) protocol: Protocol,
}

/// The protocol by which it comes.
#[derive(Debug)]
pub(super) enum Protocol {
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
pub(super) enum Param {
    /// NULL.
    Null(()),
    /// In text format.
    Text(String),
    /// In binary format.
    Binary(Hex),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, try_from = "RawHex")]
pub(super) struct Hex(pub(super) Vec<u8>);

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
    protocol: Option<Word>,
    params: Option<Vec<Param>>,
    types: Option<Vec<u32>>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Simple,
    Extended,
    Parse,
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
        let protocol = protocol(line.protocol, line.params, line.types)?;
        Ok(Request { id: line.id, sql: line.sql, principal, protocol })
    }
}

fn protocol(
    word: Option<Word>,
    params: Option<Vec<Param>>,
    types: Option<Vec<u32>>,
) -> Result<Protocol, String> {
    match (word, params, types) {
        (None | Some(Word::Simple), None, None) => Ok(Protocol::Simple),
        (None | Some(Word::Extended), Some(values), types) => {
            Ok(Protocol::Bind { types: types.unwrap_or_default(), values })
        }
        (Some(Word::Parse), None, types) => Ok(Protocol::Parse { types: types.unwrap_or_default() }),
        (Some(Word::Extended), None, _) => Err("\"protocol\": \"extended\" needs \"params\"".to_owned()),
        (None, None, Some(_)) => {
            Err("\"types\" without \"params\" and without \"protocol\": \"parse\"".to_owned())
        }
        (Some(Word::Simple), ..) => Err("a simple query has neither \"params\" nor \"types\"".to_owned()),
        (Some(Word::Parse), Some(_), _) => Err("\"protocol\": \"parse\" has no \"params\"".to_owned()),
    }
}

impl TryFrom<RawHex> for Hex {
    type Error = String;

    fn try_from(RawHex { hex }: RawHex) -> Result<Hex, String> {
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
