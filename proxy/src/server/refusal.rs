//! How a login ends that makes no session.

use std::borrow::Cow;

use super::scram::LoginError;
use super::users::{Full, User};

/// Why a login ends: the client gets the SQLSTATE and the message, the audit gets the reason.
pub(super) struct Failure {
    pub(super) sqlstate: Cow<'static, str>,
    pub(super) message: String,
    pub(super) reason: &'static str,
}

/// The end of a login.
pub(super) enum End {
    /// The client is told why.
    Fatal(Failure),
    /// Nothing is said: the client is gone, or PostgreSQL would say nothing either.
    Silent,
    /// A CancelRequest was handled.
    Cancelled,
}

impl From<std::io::Error> for End {
    fn from(_: std::io::Error) -> End {
        End::Silent
    }
}

pub(super) fn failure(sqlstate: &'static str, message: &str, reason: &'static str) -> Failure {
    Failure { sqlstate: sqlstate.into(), message: message.to_owned(), reason }
}

pub(super) fn too_many(full: Full, user: &User) -> End {
    let (whose, reason) = match full {
        Full::User => (format!("role \"{}\"", user.name), "too many connections of the user"),
        Full::Tenant => {
            (format!("the tenant of role \"{}\"", user.name), "too many connections of the tenant")
        }
    };
    End::Fatal(failure("53300", &format!("too many connections for {whose}"), reason))
}

/// `reason` is why no password, or not this one, is right.
pub(super) fn rejected(error: &LoginError, user: &str, reason: &'static str) -> End {
    End::Fatal(match error {
        LoginError::Malformed(message) => failure("08P01", message, "malformed SCRAM message"),
        LoginError::Downgrade => {
            failure("28000", "SCRAM channel binding negotiation error", "channel binding downgraded")
        }
        LoginError::Unbound => {
            failure("28000", "SCRAM channel binding check failed", "channel binding failed")
        }
        LoginError::Rejected => {
            let message = format!("password authentication failed for user \"{user}\"");
            failure("28P01", &message, reason)
        }
    })
}
