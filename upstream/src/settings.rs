//! The settings on which parser and server must agree, pinned in the start-up packet and watched.
//!
//! Values in the start-up packet are what PostgreSQL itself returns to on RESET and DISCARD, ahead
//! of ALTER ROLE and ALTER DATABASE ... SET.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

/// Start-up settings of a pool's connections. INVARIANT (pins): `client_encoding` is UTF8,
/// `standard_conforming_strings` is on, `search_path` is the policy's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PinnedSettings {
    values: BTreeMap<String, String>,
}

impl PinnedSettings {
    /// Pins `search_path` (schema names, not quoted) and the `others`.
    ///
    /// # Errors
    ///
    /// A name among the others that is pinned already, that is no setting but another field of the
    /// start-up packet, or a NUL.
    pub fn new(search_path: &[String], others: BTreeMap<String, String>) -> Result<Self, SettingsError> {
        let mut values = others;
        for name in values.keys() {
            let lower = name.to_ascii_lowercase();
            if PINNED.contains(&lower.as_str()) {
                return Err(SettingsError::Pinned { name: name.clone() });
            }
            if NO_SETTINGS.contains(&lower.as_str()) || lower.starts_with("_pq_.") || name.is_empty() {
                return Err(SettingsError::NoSetting { name: name.clone() });
            }
        }
        values.insert(CLIENT_ENCODING.to_owned(), "UTF8".to_owned());
        values.insert(STANDARD_CONFORMING_STRINGS.to_owned(), "on".to_owned());
        values.insert(SEARCH_PATH.to_owned(), quoted_list(search_path));
        match values.iter().find(|(name, value)| name.contains('\0') || value.contains('\0')) {
            Some((name, _)) => Err(SettingsError::Nul { name: name.replace('\0', "\\0") }),
            None => Ok(PinnedSettings { values }),
        }
    }

    /// The same and one more.
    ///
    /// # Errors
    ///
    /// As for [`PinnedSettings::new`].
    pub fn with(&self, name: &str, value: &str) -> Result<Self, SettingsError> {
        let one = PinnedSettings::new(&[], BTreeMap::from([(name.to_owned(), value.to_owned())]))?;
        let mut values = one.values;
        values.extend(self.values.clone());
        Ok(PinnedSettings { values })
    }

    /// Names and values, as the start-up packet has them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether a ParameterStatus agrees with the pins. (`search_path` is reported from PostgreSQL 18
    /// on.) Other settings may move: the session's rules for them are elsewhere.
    ///
    /// # Errors
    ///
    /// One of the three has another value than the pinned one.
    pub fn watch(&self, name: &str, value: &str) -> Result<(), PinMoved> {
        let pinned = match self.values.get(name) {
            Some(pinned) if PINNED.contains(&name) => pinned,
            _ => return Ok(()),
        };
        // PostgreSQL writes a list that a client has set its own way.
        if pinned == value || (name == SEARCH_PATH && list(pinned) == list(value)) {
            return Ok(());
        }
        Err(PinMoved { name: name.to_owned(), pinned: pinned.clone(), value: value.to_owned() })
    }
}

/// Settings that every supported server reports at start-up.
pub(crate) const REPORTED: [&str; 2] = [CLIENT_ENCODING, STANDARD_CONFORMING_STRINGS];

const CLIENT_ENCODING: &str = "client_encoding";
const STANDARD_CONFORMING_STRINGS: &str = "standard_conforming_strings";
const SEARCH_PATH: &str = "search_path";
const PINNED: [&str; 3] = [CLIENT_ENCODING, STANDARD_CONFORMING_STRINGS, SEARCH_PATH];
/// Fields of the start-up packet that are no settings.
const NO_SETTINGS: [&str; 4] = ["user", "database", "replication", "options"];

/// PostgreSQL's list syntax: every name quoted, so that none folds and none is `$user`'s kind by
/// accident. An empty list is the empty name, which no schema has.
fn quoted_list(names: &[String]) -> String {
    if names.is_empty() {
        return "\"\"".to_owned();
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
    quoted.join(", ")
}

/// The names in PostgreSQL's list syntax (SplitIdentifierString), unquoted ones folded; `None` if it
/// is not well formed.
fn list(text: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = text.trim_ascii();
    loop {
        let name;
        (name, rest) = identifier(rest)?;
        names.push(name);
        rest = match rest.trim_ascii_start() {
            "" => return Some(names),
            more => more.strip_prefix(',')?.trim_ascii_start(),
        };
    }
}

fn identifier(text: &str) -> Option<(String, &str)> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find(|c: char| c == ',' || c.is_ascii_whitespace()).unwrap_or(text.len());
        let (name, rest) = text.split_at_checked(end)?;
        return (!name.is_empty()).then(|| (name.to_ascii_lowercase(), rest));
    };
    let mut name = String::new();
    loop {
        let (part, behind) = rest.split_once('"')?;
        name.push_str(part);
        let Some(more) = behind.strip_prefix('"') else { return Some((name, behind)) };
        name.push('"');
        rest = more;
    }
}

/// Settings that cannot be pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsError {
    /// It is pinned already, with the only value that is safe.
    Pinned {
        /// The setting.
        name: String,
    },
    /// It is not a setting.
    NoSetting {
        /// What was given.
        name: String,
    },
    /// A NUL in name or value.
    Nul {
        /// The setting.
        name: String,
    },
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingsError::Pinned { name } => write!(f, "{name} is set by pgmoat itself; remove it"),
            SettingsError::NoSetting { name } => {
                write!(f, "{name:?} cannot be set for a connection; remove it")
            }
            SettingsError::Nul { name } => write!(f, "{name:?} has a NUL in its name or value"),
        }
    }
}

impl Error for SettingsError {}

/// A pinned setting has another value: what the parser reads is no longer what the server reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinMoved {
    /// The setting.
    pub name: String,
    /// What it was pinned to.
    pub pinned: String,
    /// What the server says now.
    pub value: String,
}

impl fmt::Display for PinMoved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server reports {} = {:?}, pinned to {:?}", self.name, self.value, self.pinned)
    }
}

impl Error for PinMoved {}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    fn path(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn with(name: &str, value: &str) -> Result<PinnedSettings, SettingsError> {
        PinnedSettings::new(&path(&["app"]), BTreeMap::from([(name.to_owned(), value.to_owned())]))
    }

    #[test]
    fn search_path_is_quoted() {
        let settings = PinnedSettings::new(&path(&["app", "Odd \"one\""]), BTreeMap::new()).unwrap();
        let pairs: Vec<_> = settings.iter().collect();
        assert_eq!(
            pairs,
            [
                ("client_encoding", "UTF8"),
                ("search_path", "\"app\", \"Odd \"\"one\"\"\""),
                ("standard_conforming_strings", "on"),
            ]
        );
        let none = PinnedSettings::new(&[], BTreeMap::new()).unwrap();
        assert_eq!(none.iter().find(|(name, _)| *name == "search_path"), Some(("search_path", "\"\"")));
    }

    #[test]
    fn search_path_is_compared_as_a_list() {
        let settings = PinnedSettings::new(&path(&["app", "Odd \"one\""]), BTreeMap::new()).unwrap();
        for same in ["app, \"Odd \"\"one\"\"\"", "APP ,\"Odd \"\"one\"\"\" ", "\"app\",\"Odd \"\"one\"\"\""] {
            assert_eq!(settings.watch("search_path", same), Ok(()), "{same}");
        }
        for other in
            ["", "app", "app, odd", "\"APP\", \"Odd \"\"one\"\"\"", "app, \"Odd \"\"one\"\"", "app,,x"]
        {
            assert!(settings.watch("search_path", other).is_err(), "{other}");
        }
    }

    #[test]
    fn nothing_can_unpin_or_pass_for_a_setting() {
        assert_eq!(
            with("Client_Encoding", "LATIN1"),
            Err(SettingsError::Pinned { name: "Client_Encoding".into() })
        );
        assert!(with("search_path", "x").is_err());
        for name in ["user", "DATABASE", "replication", "options", "_pq_.x", ""] {
            assert_eq!(with(name, "x"), Err(SettingsError::NoSetting { name: name.into() }));
        }
        assert!(matches!(with("application_name", "a\0user\0postgres"), Err(SettingsError::Nul { .. })));
        assert!(with("app.current_tenant", "acme").is_ok());
    }

    #[test]
    fn one_more_changes_no_other() {
        let settings = with("app.region", "eu").unwrap().with("app.tenant", "acme").unwrap();
        let found = |wanted: &str| settings.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value);
        assert_eq!((found("app.region"), found("app.tenant")), (Some("eu"), Some("acme")));
        assert_eq!(found("search_path"), Some("\"app\""));
        assert!(settings.with("search_path", "x").is_err() && settings.with("app.x", "a\0b").is_err());
    }

    #[test]
    fn only_the_three_are_watched() {
        let settings = with("application_name", "pgmoat").unwrap();
        assert_eq!(settings.watch("client_encoding", "UTF8"), Ok(()));
        assert_eq!(settings.watch("search_path", "\"app\""), Ok(()));
        assert_eq!(settings.watch("application_name", "psql"), Ok(()));
        assert_eq!(settings.watch("TimeZone", "UTC"), Ok(()));
        for (name, value) in [
            ("client_encoding", "SQL_ASCII"),
            ("standard_conforming_strings", "off"),
            ("search_path", "public"),
        ] {
            assert_eq!(settings.watch(name, value).unwrap_err().name, name);
        }
    }
}
