//! Outputs that a role reads as NULL (policy 4.5).
//!
//! Two proofs say which they are: the judge's lineage, and the table and column numbers of RowDescription, as PostgreSQL
//! itself found them. Where they disagree, nothing leaves: the session ends and the upstream connection is destroyed.
//! Where nothing was described, the judge's lineage stands alone, and each row's number of columns must be its own.

mod description;
mod row;

use bytes::BytesMut;
use pgmoat_upstream::frame::DecodeError;

use super::Session;
use super::broken::Broken;
use super::queue::{Entry, Fate, What};
use super::terms::Terms;

pub(super) use row::RowMasker;
use row::TooLong;

/// The output columns of a statement, and which of them are NULL to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masks {
    hidden: Box<[bool]>,
}

impl Masks {
    /// Of `outputs` columns these are hidden, counted from 0; none where one of them is not there.
    pub fn new(outputs: usize, hidden: impl IntoIterator<Item = usize>) -> Option<Masks> {
        let mut all = vec![false; outputs].into_boxed_slice();
        for at in hidden {
            *all.get_mut(at)? = true;
        }
        Some(Masks { hidden: all })
    }

    fn hides(&self, at: usize) -> bool {
        self.hidden.get(at).copied().unwrap_or(true)
    }

    fn outputs(&self) -> usize {
        self.hidden.len()
    }

    /// The last hidden column.
    fn last(&self) -> Option<usize> {
        self.hidden.iter().rposition(|hidden| *hidden)
    }
}

impl Session {
    /// Whether the rows that come now have to go through [`Session::mask`].
    pub fn is_masked(&mut self) -> bool {
        self.queue.head().and_then(|entry| masked(entry)).is_some()
    }

    /// Takes the next bytes of DataRow messages that the client may see, however they are cut, and appends what it gets.
    ///
    /// # Errors
    /// They are no DataRows of as many columns as were judged.
    pub fn mask(&mut self, bytes: &[u8], out: &mut BytesMut) -> Result<(), Broken> {
        let masks = self.queue.head().and_then(|entry| masked(entry));
        let Some(masks) = masks else { return Err(Broken::Unasked(b'D')) };
        match self.masker.write(masks, bytes, out) {
            Ok(()) => Ok(()),
            Err(row::Fault::Row(error)) => Err(error.into()),
            Err(row::Fault::Columns { judged, got }) => Err(Broken::Columns { judged, got }),
            Err(row::Fault::TooLong(TooLong)) => {
                self.masker = RowMasker::default();
                self.give_up_rows(out);
                Ok(())
            }
        }
    }

    /// Compares a RowDescription with the terms of what it describes.
    pub(super) fn compare_description(&mut self, body: &[u8]) -> Result<(), Broken> {
        let Some(sight) = self.rules.sight.clone() else { return Ok(()) };
        let Some(entry) = self.queue.head().filter(|entry| matches!(entry.fate, Fate::Forward)) else {
            return Ok(());
        };
        let Some(terms) = described(entry) else { return Ok(()) };
        if terms.masks.is_none() && !sight.has_column_rules() {
            return Ok(());
        }
        description::compare(body, terms.masks.as_ref(), |table, number| sight.shown(table, number))
    }

    /// A row that cannot be masked without more memory than there is for it: the client gets an error, the statement
    /// is cancelled, and what comes of it is dropped.
    fn give_up_rows(&mut self, out: &mut BytesMut) {
        let mut fields = pgmoat_upstream::frame::Fields::new();
        fields.set(b'S', "ERROR");
        fields.set(b'V', "ERROR");
        fields.set(b'C', "54000");
        fields.set(b'M', format!("a row has more than {} bytes before a masked column", row::HELD_BYTES_MAX));
        fields.set(b'D', "code: unsupported");
        fields.set(b'H', "put the masked column before the long one, or leave it out");
        super::error::write_error(&fields, out);
        (self.told, self.events.cancel) = (true, true);
        self.rows.drop_row();
    }
}

/// The masks of what runs.
fn masked(entry: &Entry) -> Option<&Masks> {
    entry.running()?.of_rows().masks.as_ref()
}

/// The terms of what a RowDescription describes.
fn described(entry: &Entry) -> Option<&Terms> {
    match &entry.what {
        What::Query(script) => script.current().map(|terms| terms.of_rows()),
        What::Describe { .. } => entry.terms.as_deref().map(Terms::of_rows),
        What::Execute { .. }
        | What::Parse { .. }
        | What::Bind { .. }
        | What::Close { .. }
        | What::Sync
        | What::CopyEnd => None,
    }
}

fn odd(what: &'static str) -> DecodeError {
    DecodeError::BadValue { what }
}
