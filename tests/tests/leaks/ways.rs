//! How a client makes some state, and how it leaves.

use pgmoat_tests::front::{b, e, h, p, q, s};
use pgmoat_tests::{Front, Mode, is_long};

use crate::rows::{Lives, Row, Stays};

/// One way through a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) within: Within,
    pub(crate) end: End,
}

/// What is around the state's making.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    Nothing,
    Error,
    Commit,
    Rollback,
    ErrorAndRollback,
    Savepoint,
    OpenTransaction,
    FailedTransaction,
    /// Parse, Bind, Execute, Sync.
    Batch,
    /// The same with an error before the Sync.
    FailedBatch,
    /// The same with a Flush in the Sync's place.
    OpenBatch,
}

/// How the client leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Terminate,
    /// The socket is closed.
    Gone,
    /// Within a message.
    Torn,
    /// While its statement runs.
    Asleep,
    /// Its statement was cancelled before.
    Cancelled,
    /// Its server process was ended before.
    Killed,
    /// In the middle of a copy-in.
    Copying,
    /// Before it has read an answer.
    Unread,
}

/// What is sent before the state is there, what makes it, and what comes afterwards.
pub(crate) struct Script {
    pub(crate) before: Vec<Front>,
    pub(crate) set: Vec<Front>,
    pub(crate) after: Vec<Front>,
}

impl Way {
    /// What makes this row in this way; none where that makes no sense.
    pub(crate) fn script(self, row: &Row) -> Option<Script> {
        let script = |before: &[&str], after: &[&str]| {
            let queries = |texts: &[&str]| texts.iter().map(|text| q(text)).collect();
            Some(Script { before: queries(before), set: row.set.clone(), after: queries(after) })
        };
        let extended = |last: Vec<Front>| {
            let [Front::Query(sql)] = row.set.as_slice() else { return None };
            let set = [vec![p("", sql), b("", "", &[]), e("", 0)], last].concat();
            Some(Script { before: vec![], set, after: vec![] })
        };
        let alone = row.lives != Lives::Transaction;
        match self.within {
            Within::Nothing => script(&[], &[]).filter(|_| alone),
            Within::Error => script(&[], &[ERROR]).filter(|_| alone),
            Within::Commit => script(&["BEGIN"], &["COMMIT"]),
            Within::Rollback => script(&["BEGIN"], &["ROLLBACK"]),
            Within::ErrorAndRollback => script(&["BEGIN"], &[ERROR, "ROLLBACK"]),
            Within::Savepoint => script(&["BEGIN", "SAVEPOINT s"], &["ROLLBACK TO s", "COMMIT"]),
            Within::OpenTransaction => script(&["BEGIN"], &[]),
            Within::FailedTransaction => script(&["BEGIN"], &[ERROR]),
            Within::Batch => extended(vec![s()]).filter(|_| alone),
            Within::FailedBatch => extended(vec![p("", ERROR), b("", "", &[]), e("", 0), s()]),
            Within::OpenBatch => extended(vec![h()]),
        }
    }

    /// Whether the state is there right after it was made.
    pub(crate) fn shows(self, row: &Row, mode: Mode) -> bool {
        let made = !matches!(self.within, Within::FailedBatch | Within::OpenBatch) && self.end != End::Unread;
        let kept = row.stays != Stays::Forgotten || mode == Mode::Session;
        row.lives != Lives::Never && made && kept
    }

    /// Whether the connection is as good as new afterwards.
    pub(crate) fn leaves_in_peace(self) -> bool {
        let within =
            !matches!(self.within, Within::OpenTransaction | Within::FailedTransaction | Within::OpenBatch);
        within && matches!(self.end, End::Terminate | End::Gone | End::Cancelled)
    }
}

/// The ways that are played with the `number`th row: in short lengths a part, such that a few rows have all of them.
pub(crate) fn ways(number: usize) -> Vec<Way> {
    let all: Vec<Way> =
        WITHIN.iter().flat_map(|within| ENDS.iter().map(|end| Way { within: *within, end: *end })).collect();
    if is_long() {
        return all;
    }
    let plain = Way { within: Within::Nothing, end: End::Terminate };
    let some =
        all.into_iter().enumerate().filter(|(at, way)| *way == plain || at % STRIDE == number % STRIDE);
    some.map(|(_, way)| way).collect()
}

const WITHIN: [Within; 11] = [
    Within::Nothing,
    Within::Error,
    Within::Commit,
    Within::Rollback,
    Within::ErrorAndRollback,
    Within::Savepoint,
    Within::OpenTransaction,
    Within::FailedTransaction,
    Within::Batch,
    Within::FailedBatch,
    Within::OpenBatch,
];

const ENDS: [End; 8] = [
    End::Terminate,
    End::Gone,
    End::Torn,
    End::Asleep,
    End::Cancelled,
    End::Killed,
    End::Copying,
    End::Unread,
];

const ERROR: &str = "SELECT 1 / 0";

/// Has no factor in common with the number of ends: rows take turns with them.
const STRIDE: usize = 13;
