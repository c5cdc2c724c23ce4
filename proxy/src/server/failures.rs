//! Failed logins in the audit log: a line each, until there are too many of them for that.
//!
//! Anybody may fail to log in, without a password and thousands of times a second; a disk that this fills refuses
//! everybody's statements. So what is over the limits shares one line a second, which has the count of them and what
//! all of them have in common. A failure whose own line could not be written is counted there too.
//!
//! INVARIANT (none is invisible): every failure is in the counts of the chain, but for those of the last second before a
//! kill.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pgmoat_audit::{AppendError, Entry, Log, LoginFailed};

use super::rate::Rate;
use crate::clock;
use crate::shared::Peer;

/// From the first failure without a line of its own to the line for all of them.
pub(super) const FOLDED_FOR: Duration = Duration::from_secs(1);

/// Writes failed logins.
pub(crate) struct Failures {
    rate: Mutex<Rate>,
    folded: Mutex<Option<Folded>>,
}

/// A login that failed.
#[derive(Clone, Copy)]
pub(crate) struct Failed<'a> {
    pub(crate) peer: Peer,
    pub(crate) user: &'a str,
    pub(crate) database: &'a str,
    pub(crate) code: &'a str,
    pub(crate) reason: &'static str,
}

/// Where a failure was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// In a line of its own.
    Alone,
    /// Among others, whose line somebody sees to.
    Folded,
    /// As the first of others: its line has to be written after [`FOLDED_FOR`].
    First,
}

/// Failures that share a line: how many, and what all of them have in common.
struct Folded {
    count: u64,
    user: Option<Box<str>>,
    database: Option<Box<str>>,
    client: Option<Box<str>>,
    code: Option<Box<str>>,
    reason: Option<&'static str>,
}

impl Failures {
    /// With so many lines a second.
    pub(crate) fn new(in_total: u32, per_address: u32) -> Failures {
        Failures { rate: Mutex::new(Rate::new(in_total, per_address)), folded: Mutex::new(None) }
    }

    /// Enters a failure. `session` gives a number for a line of its own.
    pub(crate) fn enter(
        &self,
        failed: Failed<'_>,
        now: Instant,
        audit: &Log,
        session: impl FnOnce() -> u64,
    ) -> Entered {
        if self.rate.lock().admit(failed.peer.ip(), now) && failed.enter(audit, session()).is_ok() {
            return Entered::Alone;
        }
        let mut folded = self.folded.lock();
        match &mut *folded {
            None => {
                *folded = Some(Folded::first(failed));
                Entered::First
            }
            Some(folded) => {
                folded.add(failed);
                Entered::Folded
            }
        }
    }

    /// Writes the line of those that share one; false where the log does not take it, and it is still owed.
    pub(crate) fn write_folded(&self, audit: &Log) -> bool {
        let mut owed = self.folded.lock();
        let Some(folded) = &*owed else { return true };
        // Kept by the log until it is written, full disk or not.
        match audit.append_unawaited(clock::now(), &Entry::LoginFailed(folded.entry())) {
            Ok(()) | Err(AppendError::Closed) => {
                tracing::warn!(
                    count = folded.count,
                    "logins were refused: too many in a second for a line each"
                );
                *owed = None;
                true
            }
            Err(_) => false,
        }
    }
}

impl Failed<'_> {
    fn enter(&self, audit: &Log, session: u64) -> Result<(), AppendError> {
        let client = self.peer.to_string();
        let line = LoginFailed {
            session: Some(session),
            user: Some(self.user),
            database: Some(self.database),
            client: Some(&client),
            code: Some(self.code),
            reason: Some(self.reason),
            count: 1,
        };
        audit.enter(clock::now(), &Entry::LoginFailed(line))?;
        tracing::info!(client, sqlstate = self.code, reason = self.reason, "login refused");
        Ok(())
    }

    /// Where it came from, whatever the port.
    fn from(&self) -> String {
        self.peer.ip().map_or_else(|| self.peer.to_string(), |address| address.to_string())
    }
}

impl Folded {
    fn first(failed: Failed<'_>) -> Folded {
        Folded {
            count: 1,
            user: Some(failed.user.into()),
            database: Some(failed.database.into()),
            client: Some(failed.from().into()),
            code: Some(failed.code.into()),
            reason: Some(failed.reason),
        }
    }

    fn add(&mut self, failed: Failed<'_>) {
        self.count = self.count.saturating_add(1);
        self.user.take_if(|user| **user != *failed.user);
        self.database.take_if(|database| **database != *failed.database);
        self.client.take_if(|client| **client != *failed.from());
        self.code.take_if(|code| **code != *failed.code);
        self.reason.take_if(|reason| *reason != failed.reason);
    }

    fn entry(&self) -> LoginFailed<'_> {
        LoginFailed {
            session: None,
            user: self.user.as_deref(),
            database: self.database.as_deref(),
            client: self.client.as_deref(),
            code: self.code.as_deref(),
            reason: self.reason,
            count: self.count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_several_says_what_they_have_in_common() {
        let peer = |port: u16| Peer::Tcp(([10, 0, 0, 1], port).into());
        let failed =
            Failed { peer: peer(1), user: "ann", database: "lab", code: "28P01", reason: "wrong password" };
        let mut folded = Folded::first(failed);
        folded.add(Failed { peer: peer(2), ..failed });
        let line = folded.entry();
        assert_eq!((line.count, line.session), (2, None));
        assert_eq!((line.user, line.client), (Some("ann"), Some("10.0.0.1")));
        folded.add(Failed { user: "bob", reason: "unknown user", ..failed });
        folded.add(failed);
        let line = folded.entry();
        assert_eq!((line.count, line.user, line.reason), (4, None, None));
        assert_eq!((line.database, line.code), (Some("lab"), Some("28P01")));
    }
}
