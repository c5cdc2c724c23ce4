//! Transaction mode: what ParameterStatus has told the client, which does not change with its connection.

use std::collections::BTreeMap;

use bytes::{BufMut as _, BytesMut};

use super::Link;
use super::named::APPLICATION_NAME;
use crate::session::Relay;

/// What the client was told.
#[derive(Debug, Default)]
pub(super) struct Told {
    values: BTreeMap<Box<str>, Box<str>>,
    state: State,
    /// It knows all that a connection says whose settings have this fingerprint.
    knows: Option<u64>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It knows what its connection says.
    #[default]
    Current,
    /// It has got another connection.
    Due,
}

impl Told {
    /// What the greeting said: the server's own, with what the client set at start-up.
    pub(super) fn by_greeting<'a>(
        server: impl Iterator<Item = (&'a str, &'a str)>,
        client: &[(Box<str>, Box<str>)],
    ) -> Self {
        let mut values: BTreeMap<Box<str>, Box<str>> =
            server.map(|(name, value)| (name.into(), value.into())).collect();
        for (name, value) in client {
            let known = values.keys().find(|known| known.eq_ignore_ascii_case(name)).cloned();
            known.and_then(|known| values.insert(known, value.clone()));
        }
        Told { values, state: State::Current, knows: None }
    }

    pub(super) fn is_due(&mut self) {
        self.state = State::Due;
    }

    /// Whether it is news.
    fn news(&mut self, name: &str, value: &str) -> bool {
        match self.values.get_mut(name) {
            Some(known) if **known == *value => return false,
            Some(known) => *known = value.into(),
            None => drop(self.values.insert(name.into(), value.into())),
        }
        self.knows = None;
        true
    }
}

impl Link {
    /// The server reports a setting, on a shared connection. While the client's settings are being given what comes is
    /// not the client's doing.
    pub(super) fn setting_reported(&mut self, name: &str, value: &str, own: &mut BytesMut) -> Relay {
        if self.session.is_being_set_up() {
            return Relay::Nothing;
        }
        if name == APPLICATION_NAME {
            return self.name_reported(value, own);
        }
        // A RESET goes back to the service's own, where the client's is what it has asked for at start-up.
        let word = self.info.reported.iter().find(|(own, _)| **own == *name && self.session.lacks(own));
        match word {
            Some((_, word)) if self.told.news(name, word) => {
                put_status(name, word, own);
                Relay::Instead
            }
            None if self.told.news(name, value) => Relay::Same,
            Some(_) | None => Relay::Nothing,
        }
    }

    /// Tells the client what its new connection says otherwise than the one before.
    pub(super) fn tell_settings(&mut self) {
        if self.told.state == State::Current || self.session.is_being_set_up() {
            return;
        }
        let Some(upstream) = self.upstream.as_mut().filter(|upstream| !upstream.scanner.is_open()) else {
            return;
        };
        self.told.state = State::Current;
        let mut news = BytesMut::new();
        let fingerprint = upstream.lease.parameters_fingerprint();
        if self.told.knows != Some(fingerprint) {
            for (name, value) in upstream.lease.parameters() {
                if name != APPLICATION_NAME && self.told.news(name, value) {
                    put_status(name, value, &mut news);
                }
            }
            self.told.knows = Some(fingerprint);
        }
        if let Some(value) = upstream.lease.parameters().get(APPLICATION_NAME) {
            self.named.found(&self.info, &self.session, value, &mut news);
        }
        if self.audience.hears() {
            self.to_client.extend_from_slice(&news);
        }
    }
}

/// ParameterStatus.
pub(super) fn put_status(name: &str, value: &str, out: &mut BytesMut) {
    // Both are shorter than a message may be.
    let bytes = u32::try_from(4 + name.len() + 1 + value.len() + 1).unwrap_or(u32::MAX);
    out.put_u8(b'S');
    out.put_u32(bytes);
    for text in [name, value] {
        out.put_slice(text.as_bytes());
        out.put_u8(0);
    }
}
