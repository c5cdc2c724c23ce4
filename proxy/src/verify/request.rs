//! A line of a batch, read strictly.

use std::borrow::Cow;

use pgmoat_policy::Principal;
use serde::Deserialize;
use serde_json::Value;

use super::basis::Basis;

/// What is to be judged.
#[derive(Debug)]
pub(crate) struct Request<'l> {
    /// Comes back with the answer.
    pub(crate) id: Value,
    pub(crate) sql: Cow<'l, str>,
    pub(crate) principal: Principal,
    pub(crate) protocol: Protocol,
}

/// The protocol by which it comes.
#[derive(Debug)]
pub(crate) enum Protocol {
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
pub(crate) enum Param {
    /// NULL.
    Null(()),
    /// In text format.
    Text(String),
    /// In binary format.
    Binary(Hex),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, try_from = "RawHex")]
pub(crate) struct Hex(pub(crate) Vec<u8>);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHex {
    hex: String,
}

/// A line, before what it names is looked up. Most texts have no escapes: they stay where they are.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Draft<'l> {
    #[serde(default)]
    id: Value,
    #[serde(borrow)]
    sql: Cow<'l, str>,
    #[serde(rename = "as", borrow)]
    principal: Option<Text<'l>>,
    #[serde(borrow)]
    user: Option<Text<'l>>,
    #[serde(borrow)]
    database: Option<Text<'l>>,
    #[serde(borrow)]
    protocol: Option<Text<'l>>,
    params: Option<Vec<Param>>,
    types: Option<Vec<u32>>,
}

/// serde borrows for a `Cow` that stands for itself, not for one inside an `Option`.
#[derive(Debug, Deserialize)]
struct Text<'l>(#[serde(borrow)] Cow<'l, str>);

impl<'l> Draft<'l> {
    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn read(line: &'l [u8]) -> Result<Draft<'l>, String> {
        serde_json::from_slice(line).map_err(|error| error.to_string())
    }

    /// The database that it names.
    pub(crate) fn database(&self) -> Option<&str> {
        self.database.as_ref().map(|Text(name)| &**name)
    }

    /// With what it names looked up; a line that names nobody is `default`'s.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn request(
        self,
        basis: &Basis<'_>,
        default: Option<&Principal>,
    ) -> Result<Request<'l>, String> {
        let principal = match (&self.principal, &self.user, default) {
            (Some(Text(text)), None, _) => basis.principal(text)?,
            (None, Some(Text(name)), _) => basis.user(name)?,
            (None, None, Some(default)) => default.clone(),
            (Some(_), Some(_), _) => return Err("both \"as\" and \"user\"".to_owned()),
            (None, None, None) => return Err("neither \"as\" nor \"user\", and no default".to_owned()),
        };
        let word = self.protocol.as_ref().map(|Text(word)| &**word);
        let protocol = protocol(word, self.params, self.types)?;
        Ok(Request { id: self.id, sql: self.sql, principal, protocol })
    }
}

impl<'l> Request<'l> {
    /// Reads a line where there is one database alone; a line that names nobody is `default`'s.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn read(
        line: &'l [u8],
        basis: &Basis<'_>,
        default: Option<&Principal>,
    ) -> Result<Request<'l>, String> {
        let draft = Draft::read(line)?;
        match draft.database() {
            Some(_) => Err("\"database\" is for HTTP: here there is one".to_owned()),
            None => draft.request(basis, default),
        }
    }
}

/// The protocol that a word, values and types ask for.
///
/// # Errors
/// They do not fit each other.
pub(crate) fn protocol(
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
    pub(crate) fn read(hex: &str) -> Result<Hex, String> {
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
