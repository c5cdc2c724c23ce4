//! The session's `application_name`: upstream it is the user's (pg_stat_activity), the client is told of its own.
//!
//! What a client set at start-up, or itself since, is what ParameterStatus tells it, and only where it does not know it
//! already. SHOW tells what the server has.

use bytes::BytesMut;

use super::Link;
use super::told::put_status;
use crate::session::{Relay, Session};
use crate::shared::SessionInfo;

/// The setting that PostgreSQL shows beside each backend.
pub(super) const APPLICATION_NAME: &str = "application_name";

/// What both sides take for the name.
#[derive(Debug)]
pub(super) struct Named {
    /// What the server made of the proxy's name for the session, once it was given.
    upstream: Option<Box<str>>,
    /// What the client was told last.
    told: Box<str>,
}

impl Named {
    pub(super) fn new(info: &SessionInfo) -> Self {
        Named { upstream: None, told: info.application_name.clone() }
    }

    /// A shared connection has this application_name, once it was given the client's settings.
    pub(super) fn found(&mut self, info: &SessionInfo, session: &Session, value: &str, out: &mut BytesMut) {
        let own = info.settings.iter().find(|(name, _)| **name == *APPLICATION_NAME);
        let is_own = own.is_some_and(|(_, own)| session.wants(APPLICATION_NAME) == Some(own));
        if is_own && self.upstream.as_deref() != Some(value) {
            self.upstream = Some(value.into());
        }
        let shown = if is_own { &*info.application_name } else { value };
        if *shown != *self.told {
            self.told = shown.into();
            put_status(APPLICATION_NAME, shown, out);
        }
    }
}

/// The settings that upstream gets, with the proxy's name for the session among them.
pub(super) fn with_own_name(mut info: SessionInfo) -> SessionInfo {
    info.settings.retain(|(name, _)| !name.eq_ignore_ascii_case(APPLICATION_NAME));
    info.settings.push((APPLICATION_NAME.into(), format!("pgmoat/{}", info.user).into()));
    info
}

impl Link {
    /// The server reports another application_name.
    pub(super) fn name_reported(&mut self, value: &str, own: &mut BytesMut) -> Relay {
        if self.session.is_being_set_up() {
            self.named.upstream = Some(value.into());
        }
        // A reset goes back to the server's own, which is none, until the proxy's is given again.
        let is_own = self.named.upstream.as_deref() == Some(value)
            || (value.is_empty() && self.session.lacks(APPLICATION_NAME));
        let shown = if is_own { &*self.info.application_name } else { value };
        if *shown == *self.named.told {
            return Relay::Nothing;
        }
        self.named.told = shown.into();
        if !is_own {
            return Relay::Same;
        }
        put_status(APPLICATION_NAME, &self.named.told, own);
        Relay::Instead
    }
}
