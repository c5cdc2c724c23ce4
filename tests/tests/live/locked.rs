//! A table that somebody else has locked: a statement that runs for exactly as long as a test wants.

use pgmoat_lab::SUPERUSER;
use pgmoat_tests::{Raw, Stack};

use crate::patience::eventually;

/// Holds a lock on `app.notes` until it is dropped or released.
pub(crate) struct Locked {
    holder: Raw,
    database: String,
}

/// Reads the table as acme; waits while it is locked.
pub(crate) const READ: &str = "SELECT id FROM app.notes WHERE tenant_id = 'acme' AND id = 3";

impl Locked {
    pub(crate) fn notes(database: &str) -> Self {
        let mut holder = Raw::connect(&Stack::get().direct(SUPERUSER, database)).unwrap();
        holder.send(&["BEGIN", "LOCK TABLE app.notes"].map(pgmoat_tests::front::q)).unwrap();
        holder.expect("C Z(T) C Z(T)").unwrap();
        Self { holder, database: database.to_owned() }
    }

    /// Returns once `count` statements wait for the lock.
    pub(crate) fn until_waiting(&self, count: usize) {
        eventually("a statement waits for the lock", || self.waiting() == count);
    }

    /// How many statements wait for the lock.
    pub(crate) fn waiting(&self) -> usize {
        let sql = format!(
            "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database \
             WHERE NOT l.granted AND d.datname = '{}'",
            self.database
        );
        Stack::get().cluster().psql("postgres", &sql).unwrap().trim().parse().unwrap()
    }

    pub(crate) fn release(mut self) {
        self.holder.send(&[pgmoat_tests::front::q("ROLLBACK")]).unwrap();
        self.holder.expect("C Z(I)").unwrap();
    }
}
