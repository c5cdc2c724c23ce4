//! Counting what the limits after the parse are about (policy 4.2).

use crate::ir::Size;

/// A statement's sizes while it is lowered.
#[derive(Debug, Default)]
pub(super) struct Counter {
    depth: usize,
    size: Size,
}

impl Counter {
    /// A node inside the current one.
    pub(super) fn enter(&mut self) {
        self.depth += 1;
        self.size.depth = self.size.depth.max(self.depth);
    }

    /// Back to the one around.
    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Nodes within each other, as many as that, inside the current one.
    pub(super) fn within(&mut self, levels: usize) {
        self.size.depth = self.size.depth.max(self.depth + levels);
    }

    /// A relation reference as written.
    pub(super) fn relation(&mut self) {
        self.size.relations += 1;
    }

    /// IN (…), ARRAY[…], VALUES outside INSERT.
    pub(super) fn list(&mut self, elements: usize) {
        self.size.in_list = self.size.in_list.max(elements);
    }

    /// VALUES of an INSERT.
    pub(super) fn inserted_rows(&mut self, rows: usize) {
        self.size.insert_rows = self.size.insert_rows.max(rows);
    }

    /// UNION, INTERSECT, EXCEPT.
    pub(super) fn set_operation(&mut self) {
        self.size.set_operations += 1;
    }

    /// The terms of an AND or OR.
    pub(super) fn conditions(&mut self, terms: usize) {
        self.size.conditions += terms;
    }

    /// `$n`.
    pub(super) fn parameter(&mut self, number: u32) {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        self.size.parameters = self.size.parameters.max(number);
    }

    /// What was counted.
    pub(super) fn size(&self) -> Size {
        self.size
    }
}
