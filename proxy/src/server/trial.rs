//! What a server makes of a client's start-up settings, asked before the client is greeted.
//!
//! PostgreSQL refuses a value that it does not know when a session starts, and greets with its own words (`German` is
//! `German, DMY`). The session's own upstream connection comes with its first statement only, so another one is asked,
//! in a transaction that leaves nothing behind, and its answer is kept for a while: applications start all their
//! sessions alike. A server that does not answer in time refuses nobody: then what the client has said is repeated, and
//! what is wrong with it shows at the first statement.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

use parking_lot::Mutex;
use pgmoat_upstream::{ExchangeError, Target, connect, question};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::startup_settings::Settings;
use crate::shared::Parameters;

/// For one database: asks, and remembers.
pub(crate) struct Trials {
    target: Target,
    asking: Semaphore,
    known: Mutex<HashMap<Settings, (Instant, Tried)>>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub(crate) enum Tried {
    /// The server takes them, and reports these, in its own words.
    Good(Settings),
    /// It would refuse the session, with this SQLSTATE and message.
    Refused(String, String),
    /// It has not answered.
    Unknown,
}

impl Trials {
    /// At this server, as the proxy logs in there.
    pub(crate) fn new(target: Target) -> Trials {
        Trials { target, asking: Semaphore::new(ASKING_MAX), known: Mutex::default() }
    }

    /// Asks for settings that the policy lets pass; `reported` is what the server reports of a session.
    pub(crate) async fn ask(&self, settings: &Settings, reported: &Parameters) -> Tried {
        let tried: Settings = settings.iter().filter(|(name, _)| is_tried(name)).cloned().collect();
        if tried.is_empty() {
            return Tried::Good(Vec::new());
        }
        let now = Instant::now();
        if let Some((asked, known)) = self.known.lock().get(&tried)
            && now.saturating_duration_since(*asked) < KEPT_FOR
        {
            return known.clone();
        }
        let answer = timeout(TIME_LIMIT, self.try_out(&tried, reported)).await.unwrap_or(Tried::Unknown);
        if !matches!(answer, Tried::Unknown) {
            let mut known = self.known.lock();
            if known.len() >= KNOWN_MAX {
                known.clear();
            }
            known.insert(tried, (now, answer.clone()));
        }
        answer
    }

    async fn try_out(&self, settings: &Settings, reported: &Parameters) -> Tried {
        let Ok(_one_of_few) = self.asking.acquire().await else { return Tried::Unknown };
        let names: Vec<&str> = reported
            .iter()
            .map(|(name, _)| &**name)
            .filter(|name| settings.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)))
            .collect();
        let Ok(mut connection) = connect(&self.target).await else { return Tried::Unknown };
        let sql = script(settings, &names);
        match question(&mut connection, &sql, TIME_LIMIT).await {
            Ok(cells) => {
                // One row of the settings is before those of the names.
                let said = names.into_iter().zip(cells.into_iter().skip(1));
                Tried::Good(said.map(|(name, value)| (name.into(), value.into())).collect())
            }
            Err(ExchangeError::Server(fields)) => match (fields.sqlstate(), fields.message()) {
                // The value or the name. Whatever else is wrong is not the client's.
                (Some(code), Some(message)) if code.starts_with("22") || code.starts_with("42") => {
                    Tried::Refused(code.to_owned(), message.to_owned())
                }
                _ => Tried::Unknown,
            },
            Err(_) => Tried::Unknown,
        }
    }
}

/// Any application_name is taken, and it often has a number in it; the pinned settings were compared already.
fn is_tried(name: &str) -> bool {
    !["application_name", "client_encoding", "search_path", "standard_conforming_strings"]
        .iter()
        .any(|other| name.eq_ignore_ascii_case(other))
}

/// Sets them for the transaction that this is asked in, then reads these names. A timeout that is set is set last: it
/// would end the rest.
fn script(settings: &Settings, names: &[&str]) -> String {
    let is_timeout = |name: &str| name.to_ascii_lowercase().ends_with("timeout");
    let set = |late: bool| {
        let mut sql = String::from("SELECT ''");
        for (name, value) in settings.iter().filter(|(name, _)| is_timeout(name) == late) {
            // Writing to a String does not fail.
            let _ = write!(sql, ", pg_catalog.set_config({}, {}, true)", literal(name), literal(value));
        }
        sql
    };
    let names: Vec<String> = names.iter().map(|name| literal(name)).collect();
    let names = format!("ARRAY[{}]::pg_catalog.text[]", names.join(", "));
    format!(
        "{}; SELECT pg_catalog.current_setting(name) FROM pg_catalog.unnest({names}) AS name; {}",
        set(false),
        set(true)
    )
}

/// A string constant; standard_conforming_strings is pinned on.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Connections that ask at one time, beside those of the pool.
const ASKING_MAX: usize = 2;
/// From a login's question to its answer.
const TIME_LIMIT: Duration = Duration::from_secs(2);
/// How long an answer is believed: the server's defaults, which are part of it, may change.
const KEPT_FOR: Duration = Duration::from_secs(60);
/// Answers that are kept; a start-up packet has at most 10,000 bytes.
const KNOWN_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_literals_and_timeouts_come_last() {
        let settings = vec![("statement_timeout".into(), "1".into()), ("DateStyle".into(), "it's".into())];
        assert_eq!(
            script(&settings, &["DateStyle"]),
            "SELECT '', pg_catalog.set_config('DateStyle', 'it''s', true); \
             SELECT pg_catalog.current_setting(name) FROM pg_catalog.unnest(ARRAY['DateStyle']::pg_catalog.text[]) AS name; \
             SELECT '', pg_catalog.set_config('statement_timeout', '1', true)"
        );
        assert!(!is_tried("Application_Name") && is_tried("TimeZone"));
    }
}
