//! The client's start-up settings upstream, where a RESET or DISCARD ALL has let them go: given again by the proxy itself
//! as soon as nothing is open. One that fails, or is rolled back, has let nothing go (see [`super::variables`]).

use pgmoat_policy::renews_snapshot;

use super::Session;
use super::variables::Change;

impl Session {
    /// The client has asked for these at start-up.
    pub fn starts_with(&mut self, settings: &[(Box<str>, Box<str>)]) {
        self.variables = super::Variables::new(settings.iter().map(|(name, value)| (&**name, &**value)));
        let mut isolation = settings.iter().filter(|(name, _)| name.eq_ignore_ascii_case(ISOLATION));
        if !isolation.all(|(_, level)| renews_snapshot(level)) {
            self.keep_snapshots();
        }
    }

    /// Its transactions may keep their snapshots.
    pub fn keep_snapshots(&mut self) {
        self.snapshot.always_keep();
    }

    /// Whether a start-up setting has gone and was not given again yet: what upstream says of it is not the client's.
    pub fn lacks(&self, name: &str) -> bool {
        self.variables.lacks(name)
    }

    /// What was sent may make upstream lose the client's start-up settings, and will end without another message of
    /// the client's: they can be given again before the next one.
    pub fn loses_settings(&self) -> bool {
        let answered = self.queue.ends_synced() && !self.takes_copy_data();
        self.owes_settings() || (answered && self.variables.lets_go())
    }

    /// Whether some have to be given again now.
    pub fn owes_settings(&self) -> bool {
        self.is_quiet() && self.variables.misses()
    }

    /// What the client wants a setting to be, at the session's level; none: its default.
    pub fn wants(&self, name: &str) -> Option<&str> {
        self.variables.wanted(name)
    }

    /// What the connection has to be given again.
    pub fn give_missing(&mut self) -> Vec<Change> {
        self.variables.give_missing()
    }
}

/// The setting that a transaction's isolation level begins with.
const ISOLATION: &str = "default_transaction_isolation";
