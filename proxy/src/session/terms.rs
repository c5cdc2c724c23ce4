//! What holds while an allowed statement runs: its obligations as the wire keeps them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pgmoat_policy::{BindCheck, ErrorPosture, NameSpace, Oid, Over, RowCap};
use pgmoat_upstream::Prepared;

use super::account::Share;
use super::edit::Edit;
use super::lasting::{Lasting, TransactionStep};
use super::mask::Masks;
use super::name::UpstreamName;
use super::snapshot::Snapshot;

/// The terms under which one statement was let through.
#[derive(Debug, Clone)]
pub struct Terms {
    /// Values to check at Bind.
    pub binds: Vec<BindCheck>,
    /// How many rows may leave.
    pub cap: Option<RowCap>,
    /// What becomes of errors and notices.
    pub errors: ErrorPosture,
    /// What the session does once it has run.
    pub after: After,
    /// It is about tenants' rows: its errors count against the budget, its notices are not shown (policy 3.9).
    pub scoped: bool,
    /// That its rows are the tenant's is known by unique keys alone.
    pub by_unique_keys: bool,
    /// Outputs that are NULL to the client.
    pub masks: Option<Masks>,
    /// Where the text that is sent differs from the client's.
    pub edits: Vec<Edit>,
    /// The client's names in it, in their order.
    pub names: Vec<Named>,
    /// It does nothing but read: to say that it has failed needs no undoing.
    pub reads: bool,
    /// What it leaves on its connection.
    pub lasting: Lasting,
    /// Prepared statements that its text names.
    pub needs: Vec<Arc<Statement>>,
}

/// A name in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// What it is a name of.
    pub space: NameSpace,
    /// The client's name.
    pub name: Arc<str>,
    /// What was sent in its place.
    pub upstream: UpstreamName,
}

impl Terms {
    /// The terms of its rows: FETCH's are the cursor's.
    pub fn of_rows(&self) -> &Terms {
        self.fetched().map_or(self, |portal| &portal.terms)
    }

    /// What its rows are counted by: FETCH's with the cursor's own, others by `own`.
    pub(super) fn counter<'a>(&'a self, own: &'a Counter) -> &'a Counter {
        self.fetched().map_or(own, |portal| &portal.rows)
    }

    fn fetched(&self) -> Option<&Portal> {
        match &self.after {
            After::Fetched { portal } => Some(portal),
            After::Nothing
            | After::Prepared { .. }
            | After::Declared { .. }
            | After::Deallocated(_)
            | After::DeallocatedAll
            | After::Closed(_)
            | After::ClosedAll
            | After::DiscardedAll
            | After::CopiedIn
            | After::CatalogChanged => None,
        }
    }
}

/// What a statement that has run means for the session.
#[derive(Debug, Clone)]
pub enum After {
    /// Nothing.
    Nothing,
    /// PREPARE under the client's name; none where the name is taken, so that it must fail.
    Prepared {
        /// The client's name.
        name: Arc<str>,
        /// What it stands for then.
        statement: Option<Arc<Statement>>,
    },
    /// DECLARE under the client's name.
    Declared {
        /// The client's name.
        name: Arc<str>,
        /// The cursor.
        portal: Arc<Portal>,
    },
    /// FETCH or MOVE.
    Fetched {
        /// The cursor.
        portal: Arc<Portal>,
    },
    /// DEALLOCATE of one statement, by the client's name.
    Deallocated(Arc<str>),
    /// DEALLOCATE ALL.
    DeallocatedAll,
    /// CLOSE of one portal, by the client's name.
    Closed(Arc<str>),
    /// CLOSE ALL.
    ClosedAll,
    /// DISCARD ALL: names and settings.
    DiscardedAll,
    /// COPY FROM STDIN: the client sends data while it runs.
    CopiedIn,
    /// The catalog may have changed.
    CatalogChanged,
}

/// A prepared statement that was let through.
#[derive(Debug)]
pub struct Statement {
    /// Its text, as it was judged.
    pub text: Arc<str>,
    /// The declared parameter types.
    pub declared: Arc<[Oid]>,
    /// What it is called upstream.
    pub upstream: UpstreamName,
    /// The terms.
    pub terms: Arc<Terms>,
    /// The rules that it was judged by.
    pub generation: u64,
    /// Its shape, as the audit log names it.
    pub shape: Option<u64>,
    /// Its text's share of what the session may keep.
    pub share: Share,
    /// What it is made again of on other connections.
    pub prepared: Option<Arc<Prepared>>,
    /// Counts it among those that are not, where connections are shared.
    pub fixed: Option<Share>,
}

impl Statement {
    /// Whether it is transaction control, which means the same under any settings.
    pub(super) fn is_plain(&self) -> bool {
        self.terms.lasting.transaction != TransactionStep::None
    }
}

/// A portal whose Bind was let through.
#[derive(Debug)]
pub struct Portal {
    /// What it runs.
    pub statement: Arc<Statement>,
    /// What it is called upstream.
    pub upstream: UpstreamName,
    /// The terms, of the time of the Bind.
    pub terms: Arc<Terms>,
    /// The rules that it was judged by.
    pub generation: u64,
    /// The audit entry of the Bind; 0 for a cursor.
    pub decision: u64,
    /// It outlives its transaction (WITH HOLD).
    pub hold: bool,
    /// The rows that have left, over all Executes.
    pub rows: Counter,
}

impl Portal {
    /// Whether its rows are the tenant's by unique keys alone, and one may stand for two rows by now. What has begun goes
    /// on by the snapshot that it began with; what has not may take one now (EXECUTE, COPY, DECLARE).
    pub fn sees_double(&self, snapshot: Snapshot) -> bool {
        let begun = self.rows.delivered() > 0;
        self.terms.by_unique_keys && !begun && snapshot.doubles_keys()
    }

    /// The same cursor, opened anew.
    pub(super) fn opened_by(&self, decision: u64) -> Portal {
        Portal {
            statement: Arc::clone(&self.statement),
            upstream: self.upstream,
            terms: Arc::clone(&self.terms),
            generation: self.generation,
            decision,
            hold: self.hold,
            rows: Counter::default(),
        }
    }
}

/// Rows of one statement or portal against its cap. (Atomic only because portals are shared with the reply
/// queue; one task counts.)
#[derive(Debug, Default)]
pub struct Counter {
    delivered: AtomicU64,
    surplus: AtomicU64,
}

/// What becomes of rows that begin now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// So many more may pass.
    Pass(u64),
    /// They are dropped.
    Drop,
}

impl Counter {
    /// What becomes of the next rows.
    pub fn allowance(&self, cap: Option<RowCap>) -> Allowance {
        let Some(cap) = cap else { return Allowance::Pass(u64::MAX) };
        match cap.max.saturating_sub(self.delivered()) {
            0 => Allowance::Drop,
            left => Allowance::Pass(left),
        }
    }

    /// Counts rows that were passed.
    pub fn deliver(&self, rows: u64) {
        self.delivered.fetch_add(rows, Ordering::Relaxed);
    }

    /// Counts rows that were dropped.
    pub fn drop_rows(&self, rows: u64) {
        self.surplus.fetch_add(rows, Ordering::Relaxed);
    }

    /// Rows that were passed.
    pub fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }

    /// Rows that were dropped.
    pub fn surplus(&self) -> u64 {
        self.surplus.load(Ordering::Relaxed)
    }

    /// Whether the statement has to end with an error: over an `error` cap, or further over a `cut` cap than
    /// `drain_rows`, which there is outside a transaction block only.
    pub fn overrun(&self, cap: Option<RowCap>, drain_rows: Option<u64>) -> bool {
        match cap.map(|cap| cap.over) {
            None => false,
            Some(Over::Error) => self.surplus() > 0,
            Some(Over::Cut) => drain_rows.is_some_and(|max| self.surplus() > max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_goes_on_reading_and_an_error_does_not() {
        let cut = Some(RowCap { max: 2, over: Over::Cut });
        let error = Some(RowCap { max: 2, over: Over::Error });
        let rows = Counter::default();
        assert_eq!(rows.allowance(cut), Allowance::Pass(2));
        rows.deliver(2);
        assert_eq!(rows.allowance(cut), Allowance::Drop);
        assert!(!rows.overrun(error, Some(9)));
        rows.drop_rows(1);
        assert!(rows.overrun(error, None) && !rows.overrun(cut, Some(9)) && !rows.overrun(None, Some(0)));
        rows.drop_rows(9);
        assert!(rows.overrun(cut, Some(9)) && !rows.overrun(cut, None));
    }
}
