//! Rows against their caps (contracts 7). Messages are not changed: rows pass, or are dropped.

use pgmoat_policy::{Over, RowCap};
use pgmoat_upstream::frame::Fields;

use super::Session;
use super::broken::Broken;
use super::queue::{Entry, Fate, What};
use super::terms::{Allowance, Counter};

/// What becomes of the rows that come.
#[derive(Debug, Default)]
pub(super) struct RowFlow {
    /// Delivered by what is at the head of the queue.
    pub(super) delivered: u64,
    row: Row,
}

/// The row that was begun last, whose rest may still come.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Row {
    #[default]
    Passes,
    Dropped,
}

impl RowFlow {
    fn pass(&mut self, begun: u64) {
        self.delivered += begun;
        self.row = Row::Passes;
    }

    pub(super) fn drop_row(&mut self) {
        self.row = Row::Dropped;
    }

    /// What comes next is no row's rest.
    pub(super) fn end_row(&mut self) {
        self.row = Row::Passes;
    }
}

impl Session {
    /// How many rows may begin in the next run, for the scanner's `limit`. `open`: a row that was begun goes on.
    pub fn row_limit(&mut self, open: bool) -> u64 {
        match self.allowance() {
            Allowance::Pass(rows) => rows,
            // First to the end of the row that may pass, then one by one of those that may not.
            Allowance::Drop if open && self.rows.row == Row::Passes => 0,
            Allowance::Drop => u64::MAX,
        }
    }

    /// A run of DataRow (`D`) or CopyData (`d`) has come in which so many rows begin; true if the client gets it.
    ///
    /// # Errors
    /// Nothing that is owed has rows.
    pub fn rows(&mut self, tag: u8, begun: u64) -> Result<bool, Broken> {
        if begun == 0 {
            return Ok(self.rows.row == Row::Passes);
        }
        let allowance = self.allowance();
        let (drain_rows, copies_out, told) = (self.drain_rows(), self.copy.is_out(), self.told);
        let Some(entry) = self.queue.head() else { return Err(Broken::Unasked(tag)) };
        if (tag == b'd') != copies_out {
            return Err(Broken::Unasked(tag));
        }
        let shown = match entry.fate {
            Fate::Forward => !told,
            Fate::Skip => false,
            Fate::Quiet | Fate::Try | Fate::Given | Fate::Perhaps | Fate::Fail | Fate::Replace(_) => {
                return Err(Broken::Unasked(tag));
            }
        };
        let Some((cap, counter)) = counted(entry) else {
            // Rows of the proxy's own statement.
            self.rows.drop_row();
            return if shown { Err(Broken::Unasked(tag)) } else { Ok(false) };
        };
        let pass = shown && matches!(allowance, Allowance::Pass(_));
        let mut cancel = false;
        if pass {
            counter.deliver(begun);
        } else if shown {
            let before = counter.overrun(cap, drain_rows);
            counter.drop_rows(begun);
            cancel = !before && counter.overrun(cap, drain_rows);
        }
        if pass {
            self.rows.pass(begun);
        } else {
            self.rows.drop_row();
        }
        self.events.cancel |= cancel;
        Ok(pass)
    }

    /// How many surplus rows are read before a statement is cancelled; none inside a transaction block, which is not
    /// failed for that.
    pub(super) fn drain_rows(&self) -> Option<u64> {
        (!self.in_block()).then_some(self.limits.drain_rows)
    }

    /// Whether the last message runs under a cap that may make it fail: what follows has to wait, since the server
    /// would run it before it is known.
    pub fn may_fail_by_rows(&self) -> bool {
        let cap = self.queue.last().filter(|entry| matches!(entry.fate, Fate::Forward)).and_then(counted);
        let alone = |entry: &Entry| !matches!(&entry.what, What::Query(script) if script.terms.len() > 1);
        cap.is_some_and(|(cap, _)| cap.is_some_and(|cap| cap.over == Over::Error))
            && self.queue.last().is_some_and(alone)
    }

    fn allowance(&mut self) -> Allowance {
        match self.queue.head().and_then(|entry| counted(entry)) {
            Some((cap, counter)) => counter.allowance(cap),
            None => Allowance::Pass(u64::MAX),
        }
    }
}

/// The cap and the rows of what runs.
pub(super) fn counted(entry: &Entry) -> Option<(Option<RowCap>, &Counter)> {
    match &entry.what {
        What::Query(script) => {
            script.current().map(|terms| (terms.of_rows().cap, terms.counter(&script.rows)))
        }
        What::Execute { portal: Some(portal), .. } => {
            Some((portal.terms.of_rows().cap, portal.terms.counter(&portal.rows)))
        }
        What::Execute { portal: None, .. }
        | What::Parse { .. }
        | What::Bind { .. }
        | What::Describe { .. }
        | What::Close { .. }
        | What::Sync
        | What::CopyEnd => None,
    }
}

/// The notice about rows that were cut.
pub(super) fn cut_notice(cap: Option<RowCap>, counter: &Counter) -> Option<Fields> {
    let cap = cap.filter(|_| counter.surplus() > 0)?;
    let mut fields = Fields::new();
    fields.set(b'S', "NOTICE");
    fields.set(b'V', "NOTICE");
    fields.set(b'C', "01000");
    fields.set(
        b'M',
        format!(
            "result cut after {} of {} rows",
            counter.delivered(),
            counter.delivered() + counter.surplus()
        ),
    );
    fields.set(b'H', format!("the role's limit is {} rows; the command tag counts all of them", cap.max));
    Some(fields)
}

/// The error of a statement that had more rows than its cap lets out.
pub(super) fn put_overrun(cap: Option<RowCap>, fields: &mut Fields) {
    let max = cap.map_or(0, |cap| cap.max);
    fields.set(b'C', "53400");
    fields.set(b'M', format!("statement returned more than {max} rows"));
    fields.set(b'D', "code: limit_rows");
    fields.set(b'H', format!("add LIMIT {max}, or ask for fewer rows"));
    fields.remove(b'P');
}
