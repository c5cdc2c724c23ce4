//! The limits of policy 2.

use crate::LimitName;

/// What one text or statement may measure; compared by policy 4.1 and 4.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is a key of the policy's `limits:`")]
pub struct Limits {
    pub statement_bytes: usize,
    pub statements: usize,
    pub depth: usize,
    pub relations: usize,
    pub in_list: usize,
    pub insert_rows: usize,
    pub set_operations: usize,
    pub conditions: usize,
    pub parameters: usize,
    pub conflict_rows: usize,
}

impl Limits {
    /// The limit of that name.
    pub fn get(&self, name: LimitName) -> usize {
        match name {
            LimitName::StatementBytes => self.statement_bytes,
            LimitName::Statements => self.statements,
            LimitName::Depth => self.depth,
            LimitName::Relations => self.relations,
            LimitName::InList => self.in_list,
            LimitName::InsertRows => self.insert_rows,
            LimitName::SetOperations => self.set_operations,
            LimitName::Conditions => self.conditions,
            LimitName::Parameters => self.parameters,
            LimitName::ConflictRows => self.conflict_rows,
        }
    }

    pub(super) fn set(&mut self, name: LimitName, value: usize) {
        let limit = match name {
            LimitName::StatementBytes => &mut self.statement_bytes,
            LimitName::Statements => &mut self.statements,
            LimitName::Depth => &mut self.depth,
            LimitName::Relations => &mut self.relations,
            LimitName::InList => &mut self.in_list,
            LimitName::InsertRows => &mut self.insert_rows,
            LimitName::SetOperations => &mut self.set_operations,
            LimitName::Conditions => &mut self.conditions,
            LimitName::Parameters => &mut self.parameters,
            LimitName::ConflictRows => &mut self.conflict_rows,
        };
        *limit = value;
    }
}

impl LimitName {
    /// Every limit, in the order of the documentation.
    pub const ALL: [LimitName; 10] = [
        LimitName::StatementBytes,
        LimitName::Statements,
        LimitName::Depth,
        LimitName::Relations,
        LimitName::InList,
        LimitName::InsertRows,
        LimitName::SetOperations,
        LimitName::Conditions,
        LimitName::Parameters,
        LimitName::ConflictRows,
    ];
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            statement_bytes: 262_144,
            statements: 16,
            depth: 64,
            relations: 64,
            in_list: 8192,
            insert_rows: 10_000,
            set_operations: 64,
            conditions: 4096,
            parameters: 65_535,
            conflict_rows: 100,
        }
    }
}
