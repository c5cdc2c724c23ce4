//! What a connection has of its last users that the next one needs to know of, where it is handed on as it is.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

/// Travels with its connection from lease to lease; empty after a reset.
#[derive(Debug)]
pub struct Carried {
    /// Settings, by their folded names, that are not what the connection started with.
    pub settings: Arc<BTreeMap<Box<str>, Box<str>>>,
    /// Prepared statements.
    pub statements: Statements,
    /// Whether currval and lastval may tell what another user has drawn.
    pub sequences: Sequences,
    /// What the plans that it keeps were made under.
    pub plans: Plans,
}

impl Default for Carried {
    fn default() -> Self {
        // A hand-over makes one, and throws it away.
        static NO_SETTINGS: LazyLock<Arc<BTreeMap<Box<str>, Box<str>>>> = LazyLock::new(Arc::default);
        Carried {
            settings: Arc::clone(&NO_SETTINGS),
            statements: Statements::default(),
            sequences: Sequences::default(),
            plans: Plans::default(),
        }
    }
}

/// What a connection's cached plans, its functions' too, were made under: their constants stand for what the settings of
/// that moment made of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Plans {
    /// The settings that the connection has.
    #[default]
    Alike,
    /// Others too, perhaps, by this user's doing.
    MovedBy(u64),
    /// Names that stood for temporary objects, or for what a transaction has taken back.
    Shadowed,
}

/// What a connection's sequence functions tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sequences {
    /// Nothing was drawn since the last reset.
    #[default]
    Untouched,
    /// A user may have drawn.
    Drawn,
}

/// What a prepared statement was made of.
#[derive(Debug, PartialEq, Eq)]
pub struct Prepared {
    /// Its text, as it was sent.
    pub text: Arc<str>,
    /// The declared parameter types.
    pub types: Arc<[u32]>,
    /// The settings that its meaning depends on, as a number.
    pub settings: u64,
}

/// A connection's prepared statements by the numbers in their names, with the order of their last uses.
#[derive(Debug, Default)]
pub struct Statements {
    by_number: HashMap<u64, (Arc<Prepared>, u64)>,
    by_age: BTreeMap<u64, u64>,
    /// Counts uses.
    clock: u64,
    /// Of all texts.
    bytes: usize,
}

impl Statements {
    /// What stands under that number.
    pub fn get(&self, number: u64) -> Option<&Arc<Prepared>> {
        self.by_number.get(&number).map(|(prepared, _)| prepared)
    }

    /// Notes a use.
    pub fn touch(&mut self, number: u64) {
        let Some((_, age)) = self.by_number.get_mut(&number) else { return };
        self.by_age.remove(age);
        self.clock += 1;
        *age = self.clock;
        self.by_age.insert(self.clock, number);
    }

    /// Notes that it was made.
    pub fn insert(&mut self, number: u64, prepared: Arc<Prepared>) {
        self.remove(number);
        self.clock += 1;
        self.bytes += prepared.text.len();
        self.by_age.insert(self.clock, number);
        self.by_number.insert(number, (prepared, self.clock));
    }

    /// Notes that it has gone.
    pub fn remove(&mut self, number: u64) {
        if let Some((prepared, age)) = self.by_number.remove(&number) {
            self.by_age.remove(&age);
            self.bytes -= prepared.text.len();
        }
    }

    /// Notes that all have gone.
    pub fn clear(&mut self) {
        *self = Statements { clock: self.clock, ..Statements::default() };
    }

    /// Those that were used longest ago, as many as there are too many of once `more` are added. None of `spared` is
    /// among them.
    pub fn surplus(&self, more: usize, spared: impl Fn(u64) -> bool) -> Vec<u64> {
        let (mut count, mut bytes) = (self.by_number.len() + more, self.bytes);
        let mut surplus = Vec::new();
        for number in self.by_age.values().filter(|number| !spared(**number)) {
            if count <= STATEMENTS_MAX && bytes <= TEXT_BYTES_MAX {
                break;
            }
            count -= 1;
            bytes -= self.get(*number).map_or(0, |prepared| prepared.text.len());
            surplus.push(*number);
        }
        surplus
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_number.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_number.is_empty()
    }
}

/// Prepared statements of one connection.
const STATEMENTS_MAX: usize = 500;
/// Their texts together, in bytes.
const TEXT_BYTES_MAX: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(bytes: usize) -> Arc<Prepared> {
        Arc::new(Prepared { text: "x".repeat(bytes).into(), types: Arc::from([]), settings: 0 })
    }

    #[test]
    fn the_least_recently_used_are_surplus() {
        let mut statements = Statements::default();
        for number in 0..STATEMENTS_MAX as u64 {
            statements.insert(number, prepared(1));
        }
        assert!(statements.surplus(0, |_| false).is_empty());
        statements.touch(0);
        assert_eq!(statements.surplus(2, |number| number == 2), [1, 3]);
        statements.remove(1);
        statements.remove(3);
        assert!(statements.surplus(2, |_| false).is_empty());
        assert_eq!(statements.len(), STATEMENTS_MAX - 2);
    }

    #[test]
    fn texts_are_counted_once() {
        let mut statements = Statements::default();
        statements.insert(1, prepared(TEXT_BYTES_MAX));
        statements.insert(1, prepared(TEXT_BYTES_MAX));
        assert!(statements.surplus(1, |_| false).is_empty());
        statements.insert(2, prepared(1));
        assert_eq!(statements.surplus(0, |_| false), [1]);
        statements.clear();
        assert!(statements.is_empty() && statements.bytes == 0 && statements.by_age.is_empty());
    }
}
