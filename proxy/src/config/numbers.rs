//! The numbers of a section: as the file gives them, or else as its table of keys does. So what the reference page calls
//! the default is the default.

use std::time::Duration;

use pgmoat_policy::policy::document::{Node, Presence, Section};

/// A section of the file, if it is there, with its keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers<'n> {
    given: Option<&'n Node>,
    keys: &'static Section,
}

impl<'n> Numbers<'n> {
    pub(super) fn of(given: Option<&'n Node>, keys: &'static Section) -> Self {
        Self { given, keys }
    }

    pub(super) fn number(&self, key: &str) -> u64 {
        self.given(key).unwrap_or_else(|| self.default(key))
    }

    pub(super) fn count(&self, key: &str) -> usize {
        usize::try_from(self.number(key)).unwrap_or(usize::MAX)
    }

    pub(super) fn small(&self, key: &str) -> u32 {
        u32::try_from(self.number(key)).unwrap_or(u32::MAX)
    }

    /// Of a key in milliseconds.
    pub(super) fn duration(&self, key: &str) -> Duration {
        Duration::from_millis(self.number(key))
    }

    /// The same, none for 0.
    pub(super) fn maybe(&self, key: &str) -> Option<Duration> {
        Some(self.duration(key)).filter(|limit| !limit.is_zero())
    }

    /// What the file gives. What is no number, or is out of range, was reported already.
    pub(super) fn given(&self, key: &str) -> Option<u64> {
        u64::try_from(self.given?.get(key)?.integer()?).ok()
    }

    /// 0 for a key that has none.
    fn default(&self, key: &str) -> u64 {
        let known = self.keys.keys.iter().find(|known| known.name == key);
        known.map_or(0, |known| match known.presence {
            Presence::Default(default) => default.parse().unwrap_or(0),
            Presence::Required | Presence::Optional => 0,
        })
    }
}
