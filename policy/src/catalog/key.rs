//! Unique and foreign keys.

use std::sync::Arc;

use super::QualifiedName;

/// A unique index.
#[derive(Debug, Clone)]
pub struct UniqueKey {
    /// The index's name, and the constraint's.
    pub name: Arc<str>,
    /// Its key columns in order.
    pub columns: Box<[KeyColumn]>,
    /// ON CONFLICT ON CONSTRAINT can name it.
    pub constraint: bool,
    /// PRIMARY KEY.
    pub primary: bool,
    /// Complete and in use.
    pub valid: bool,
    /// DEFERRABLE: may be broken inside a transaction.
    pub deferrable: bool,
    /// Has a WHERE.
    pub partial: bool,
    /// Has expressions.
    pub expressions: bool,
    /// NULLs are equal to each other.
    pub nulls_not_distinct: bool,
}

impl UniqueKey {
    /// Whether at most one row at a time has the same values in its columns, compared as the
    /// columns' own equality compares (policy 3.1, keys carry).
    pub fn is_plain(&self) -> bool {
        self.valid
            && !self.deferrable
            && !self.partial
            && !self.expressions
            && self
                .columns
                .iter()
                .all(|column| column.name.is_some() && column.opclass_default && column.collation_own)
    }
}

/// A key column of a unique index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyColumn {
    /// The column; none for an expression.
    pub name: Option<Arc<str>>,
    /// Whether the index's collation is deterministic; none where the type has none.
    pub collation_deterministic: Option<bool>,
    /// The index's collation is the column's own.
    pub collation_own: bool,
    /// The operator class is the type's default.
    pub opclass_default: bool,
}

/// A foreign key.
#[derive(Debug, Clone)]
pub struct ForeignKey {
    /// Its name.
    pub name: Arc<str>,
    /// The referencing relation.
    pub relation: QualifiedName,
    /// The referenced relation.
    pub references: QualifiedName,
    /// The pairs: referencing column, referenced column, the equality that pairs them.
    pub pairs: Box<[KeyPair]>,
    /// DEFERRABLE: may be broken inside a transaction.
    pub deferrable: bool,
    /// Every row was checked.
    pub validated: bool,
    /// It is enforced, and none of its triggers is switched off.
    pub enforced: bool,
    /// The last pair is containment, not equality.
    pub period: bool,
    /// ON DELETE.
    pub on_delete: KeyAction,
    /// ON UPDATE.
    pub on_update: KeyAction,
}

impl ForeignKey {
    /// Whether it holds in every snapshot that a statement can see (policy 3.1, keys carry).
    pub fn holds(&self) -> bool {
        self.validated && self.enforced && !self.deferrable && !self.period
    }
}

/// One pair of a foreign key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPair {
    /// The referencing column.
    pub column: Arc<str>,
    /// The referenced column.
    pub referenced: Arc<str>,
    /// The operator that compares them.
    pub operator: QualifiedName,
}

/// What becomes of referencing rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum KeyAction {
    NoAction,
    Restrict,
    Cascade,
    SetNull,
    SetDefault,
}
