//! Which of several servers will do: libpq's `target_session_attrs`, by what servers report at the login.
//!
//! PostgreSQL reports `in_hot_standby` and `default_transaction_read_only` from version 14 on, so nobody has to be asked.

use std::collections::BTreeMap;
use std::fmt;

/// What a server must be, in libpq's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SessionAttributes {
    /// Any server.
    #[default]
    Any,
    /// One that takes writes: no standby, and transactions are not read-only by default.
    ReadWrite,
    /// One that does not.
    ReadOnly,
    /// No standby.
    Primary,
    /// A standby.
    Standby,
    /// A standby; if there is none, any.
    PreferStandby,
}

/// A server that is not what is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsuitable {
    /// What is asked for.
    pub wanted: SessionAttributes,
    /// What it is.
    pub found: &'static str,
}

/// How a server meets what is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    Wanted,
    /// If there is no other.
    SecondChoice,
    No(Unsuitable),
}

impl SessionAttributes {
    /// All of them.
    pub const ALL: [SessionAttributes; 6] = [
        SessionAttributes::Any,
        SessionAttributes::ReadWrite,
        SessionAttributes::ReadOnly,
        SessionAttributes::Primary,
        SessionAttributes::Standby,
        SessionAttributes::PreferStandby,
    ];

    /// libpq's word for it.
    pub fn name(self) -> &'static str {
        match self {
            SessionAttributes::Any => "any",
            SessionAttributes::ReadWrite => "read-write",
            SessionAttributes::ReadOnly => "read-only",
            SessionAttributes::Primary => "primary",
            SessionAttributes::Standby => "standby",
            SessionAttributes::PreferStandby => "prefer-standby",
        }
    }

    /// From libpq's word.
    pub fn from_name(name: &str) -> Option<Self> {
        SessionAttributes::ALL.into_iter().find(|attributes| attributes.name() == name)
    }

    /// Whether only one server at a time can be it: one that no longer is has been replaced.
    pub(crate) fn is_one_server(self) -> bool {
        match self {
            SessionAttributes::ReadWrite | SessionAttributes::Primary => true,
            SessionAttributes::Any
            | SessionAttributes::ReadOnly
            | SessionAttributes::Standby
            | SessionAttributes::PreferStandby => false,
        }
    }

    /// How a session that reports these settings after its login meets it.
    pub(crate) fn fit(self, parameters: &BTreeMap<String, String>) -> Fit {
        let (standby, read_only) = (is_on(parameters, IN_HOT_STANDBY), is_on(parameters, READ_ONLY));
        let no = |found| Fit::No(Unsuitable { wanted: self, found });
        match (self, standby, read_only) {
            (SessionAttributes::Any, ..) => Fit::Wanted,
            (_, None, _) => no("does not say whether it is a standby"),
            (SessionAttributes::ReadWrite | SessionAttributes::Primary, Some(true), _) => no(A_STANDBY),
            (SessionAttributes::ReadWrite, _, Some(true)) => no("is read-only"),
            (SessionAttributes::ReadWrite | SessionAttributes::Primary, Some(false), _) => Fit::Wanted,
            (SessionAttributes::ReadOnly, Some(true), _) | (SessionAttributes::ReadOnly, _, Some(true)) => {
                Fit::Wanted
            }
            (SessionAttributes::ReadOnly, Some(false), _) => no("takes writes"),
            (SessionAttributes::Standby | SessionAttributes::PreferStandby, Some(true), _) => Fit::Wanted,
            (SessionAttributes::Standby, Some(false), _) => no("is no standby"),
            (SessionAttributes::PreferStandby, Some(false), _) => Fit::SecondChoice,
        }
    }

    /// Whether the server is still what it was at the login, by what it has reported since. What a client can set for
    /// itself does not count.
    pub(crate) fn still_fits(self, parameters: &BTreeMap<String, String>) -> bool {
        match self {
            SessionAttributes::ReadWrite | SessionAttributes::Primary => {
                is_on(parameters, IN_HOT_STANDBY) == Some(false)
            }
            SessionAttributes::Standby => is_on(parameters, IN_HOT_STANDBY) == Some(true),
            SessionAttributes::Any | SessionAttributes::ReadOnly | SessionAttributes::PreferStandby => true,
        }
    }
}

fn is_on(parameters: &BTreeMap<String, String>, name: &str) -> Option<bool> {
    parameters.get(name).map(|value| value == "on")
}

const IN_HOT_STANDBY: &str = "in_hot_standby";
const READ_ONLY: &str = "default_transaction_read_only";
const A_STANDBY: &str = "is a standby";

impl fmt::Display for Unsuitable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server {}, and target_session_attrs is {}", self.found, self.wanted.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of libpq's documentation, for a primary, a primary that is read-only by default, and a standby.
    #[test]
    fn servers_fit_as_libpq_says() {
        let server = |standby: &str, read_only: &str| {
            BTreeMap::from([
                (IN_HOT_STANDBY.to_owned(), standby.to_owned()),
                (READ_ONLY.to_owned(), read_only.to_owned()),
            ])
        };
        let servers = [server("off", "off"), server("off", "on"), server("on", "off")];
        for (attributes, expected) in [
            (SessionAttributes::Any, "www"),
            (SessionAttributes::ReadWrite, "w--"),
            (SessionAttributes::ReadOnly, "-ww"),
            (SessionAttributes::Primary, "ww-"),
            (SessionAttributes::Standby, "--w"),
            (SessionAttributes::PreferStandby, "22w"),
        ] {
            let found: String = servers
                .iter()
                .map(|parameters| match attributes.fit(parameters) {
                    Fit::Wanted => 'w',
                    Fit::SecondChoice => '2',
                    Fit::No(_) => '-',
                })
                .collect();
            assert_eq!(found, expected, "{}", attributes.name());
            assert_eq!(SessionAttributes::from_name(attributes.name()), Some(attributes));
        }
        assert_eq!(SessionAttributes::from_name("master"), None);
    }

    #[test]
    fn a_server_that_does_not_say_will_do_for_any_alone() {
        for attributes in SessionAttributes::ALL {
            let fits = attributes.fit(&BTreeMap::new()) == Fit::Wanted;
            assert_eq!(fits, attributes == SessionAttributes::Any);
        }
    }
}
