//! Names as a text goes along: what it prepares, declares and drops is known to what follows
//! (contracts 1).

use std::cell::Cell;

use crate::keyed::HashMap;
use crate::{Names, Prepared};

/// The client's names, with what the text has done to them so far.
pub(super) struct Session<'n> {
    names: &'n dyn Names,
    prepared: HashMap<Box<str>, Option<Prepared>>,
    cursors: HashMap<Box<str>, bool>,
    dropped_prepared: bool,
    dropped_cursors: bool,
    /// What a name stands for was asked: the verdict is this client's.
    asked: Cell<bool>,
}

impl<'n> Session<'n> {
    pub(super) fn new(names: &'n dyn Names) -> Session<'n> {
        Session {
            names,
            prepared: HashMap::default(),
            cursors: HashMap::default(),
            dropped_prepared: false,
            dropped_cursors: false,
            asked: Cell::new(false),
        }
    }

    pub(super) fn was_asked(&self) -> bool {
        self.asked.get()
    }

    pub(super) fn prepared(&self, name: &str) -> Option<Prepared> {
        self.asked.set(true);
        match self.prepared.get(name) {
            Some(known) => known.clone(),
            None if self.dropped_prepared => None,
            None => self.names.prepared(name),
        }
    }

    pub(super) fn cursor(&self, name: &str) -> bool {
        self.asked.set(true);
        match self.cursors.get(name) {
            Some(known) => *known,
            None => !self.dropped_cursors && self.names.cursor(name),
        }
    }

    pub(super) fn prepare(&mut self, name: &str, prepared: Prepared) {
        self.prepared.insert(name.into(), Some(prepared));
    }

    pub(super) fn deallocate(&mut self, name: &str) {
        self.prepared.insert(name.into(), None);
    }

    pub(super) fn deallocate_all(&mut self) {
        self.prepared.clear();
        self.dropped_prepared = true;
    }

    pub(super) fn declare(&mut self, name: &str) {
        self.cursors.insert(name.into(), true);
    }

    pub(super) fn close(&mut self, name: &str) {
        self.cursors.insert(name.into(), false);
    }

    pub(super) fn close_all(&mut self) {
        self.cursors.clear();
        self.dropped_cursors = true;
    }
}
