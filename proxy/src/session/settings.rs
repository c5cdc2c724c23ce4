//! The client's start-up settings upstream: a RESET or DISCARD ALL makes them go back to the service's own, where a
//! direct connection's would go back to what its client had asked for. So they are given again, by the proxy itself,
//! as soon as nothing is open.

use super::{Input, Session};

/// What has become of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Settings {
    /// They are there.
    #[default]
    Kept,
    /// Something was sent that makes some of them go. So far these have, unless their transaction is rolled back.
    Risked(Lost),
    /// These have to be given again, before anything else of the client's.
    Owed(Lost),
}

/// Which of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lost {
    None,
    These(Vec<Box<str>>),
    All,
}

impl Settings {
    /// What makes them go is being sent (so far it has lost none), or has run.
    pub(super) fn lose(&mut self, more: Lost) {
        *self = match std::mem::take(self) {
            Settings::Kept => Settings::Risked(more),
            Settings::Risked(lost) => Settings::Risked(lost.and(more)),
            Settings::Owed(lost) => Settings::Owed(lost.and(more)),
        };
    }

    /// What the transaction has done is undone.
    pub(super) fn roll_back(&mut self) {
        if let Settings::Risked(lost) = self {
            *lost = Lost::None;
        }
    }

    /// Nothing is owed or open any more.
    fn come_to_rest(&mut self) {
        *self = match std::mem::take(self) {
            Settings::Kept | Settings::Risked(Lost::None) => Settings::Kept,
            Settings::Risked(lost) | Settings::Owed(lost) => Settings::Owed(lost),
        };
    }
}

impl Lost {
    fn and(self, more: Lost) -> Lost {
        match (self, more) {
            (Lost::All, _) | (_, Lost::All) => Lost::All,
            (Lost::None, lost) | (lost, Lost::None) => lost,
            (Lost::These(mut names), Lost::These(more)) => {
                names.extend(more);
                names.sort_unstable();
                names.dedup();
                if names.len() > LOST_NAMES_MAX { Lost::All } else { Lost::These(names) }
            }
        }
    }
}

impl Session {
    /// Settings of the client's are lost, or may be by what was sent, and not given again yet.
    pub fn is_letting_go(&self) -> bool {
        self.settings != Settings::Kept
    }

    /// What was sent may make upstream lose the client's start-up settings, and will end without another message of
    /// the client's: they can be given again before the next one.
    pub fn loses_settings(&self) -> bool {
        match self.settings {
            Settings::Kept => false,
            Settings::Risked(_) => self.queue.ends_synced() && !self.takes_copy_data(),
            Settings::Owed(_) => true,
        }
    }

    /// Whether some have to be given again now.
    pub fn owes_settings(&self) -> bool {
        matches!(self.settings, Settings::Owed(_))
    }

    /// The names of those that are given again now; empty for all of them.
    pub fn settings_are_given(&mut self) -> Vec<Box<str>> {
        match std::mem::take(&mut self.settings) {
            Settings::Owed(Lost::These(names)) | Settings::Risked(Lost::These(names)) => names,
            Settings::Kept
            | Settings::Owed(Lost::None | Lost::All)
            | Settings::Risked(Lost::None | Lost::All) => Vec::new(),
        }
    }

    /// The server is outside a transaction.
    pub(super) fn give_settings_back(&mut self) {
        if self.queue.is_empty() && self.input == Input::Synced {
            self.settings.come_to_rest();
        }
    }
}

/// Settings that are noted one by one as lost; with more of them all are given again.
const LOST_NAMES_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn these(names: &[&str]) -> Lost {
        Lost::These(names.iter().map(|name| Box::from(*name)).collect())
    }

    #[test]
    fn only_what_has_run_and_stays_is_given_again() {
        let mut settings = Settings::default();
        settings.lose(Lost::None);
        settings.come_to_rest();
        assert_eq!(settings, Settings::Kept);
        settings.lose(these(&["TimeZone"]));
        settings.roll_back();
        settings.come_to_rest();
        assert_eq!(settings, Settings::Kept);
        for name in ["b", "a", "b"] {
            settings.lose(these(&[name]));
        }
        settings.come_to_rest();
        settings.roll_back();
        assert_eq!(settings, Settings::Owed(these(&["a", "b"])));
    }

    #[test]
    fn more_names_than_are_kept_are_all_of_them() {
        let mut settings = Settings::default();
        for number in 0..=LOST_NAMES_MAX {
            settings.lose(these(&[&number.to_string()]));
        }
        assert_eq!(settings, Settings::Risked(Lost::All));
    }
}
