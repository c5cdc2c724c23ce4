//! Relation occurrences and their columns.

use super::{CteId, Expr, Query};
use crate::catalog::{Column, Relation, TypeId};
use crate::ir::{At, Name};

/// A relation occurrence.
#[derive(Debug)]
pub(crate) struct Source<'c> {
    /// How the statement refers to it: its alias, or its name.
    pub(crate) name: Option<Name>,
    pub(crate) kind: SourceKind<'c>,
    pub(crate) at: At,
    /// The renamed or made columns; empty for a relation without renames, whose columns are the
    /// catalog's.
    columns: Vec<SourceColumn>,
    /// Its columns are not known: any name may be one of it, and none proves anything.
    pub(crate) open: bool,
}

impl<'c> Source<'c> {
    pub(in crate::resolve) fn new(
        name: Option<Name>,
        kind: SourceKind<'c>,
        at: At,
        columns: Vec<SourceColumn>,
    ) -> Source<'c> {
        let open = matches!(kind, SourceKind::Missing);
        Source { name, kind, at, columns, open }
    }

    /// The same with columns that nobody knows.
    pub(in crate::resolve) fn opened(mut self) -> Source<'c> {
        self.open = true;
        self.columns.clear();
        self
    }

    /// The relation, where it is one itself (not a view, which is its query).
    pub(crate) fn relation(&self) -> Option<&'c Relation> {
        match &self.kind {
            SourceKind::Relation { relation, .. } => Some(relation),
            SourceKind::View { .. }
            | SourceKind::Derived(_)
            | SourceKind::Cte(_)
            | SourceKind::Functions(_)
            | SourceKind::Excluded(_)
            | SourceKind::Missing => None,
        }
    }

    /// The relation whose rows it has, or rows of whose shape.
    pub(crate) fn shape(&self) -> Option<&'c Relation> {
        match &self.kind {
            SourceKind::Relation { relation, .. } | SourceKind::Excluded(relation) => Some(relation),
            SourceKind::View { .. }
            | SourceKind::Derived(_)
            | SourceKind::Cte(_)
            | SourceKind::Functions(_)
            | SourceKind::Missing => None,
        }
    }

    /// Type and collation of a column.
    pub(crate) fn column(&self, column: u32) -> Option<ColumnType> {
        let at = column as usize;
        match self.shape() {
            Some(relation) => relation.columns.get(at).map(ColumnType::of),
            None => self.columns.get(at).map(|column| column.ty),
        }
    }

    /// How many columns it has.
    pub(crate) fn width(&self) -> usize {
        self.shape().map_or(self.columns.len(), |relation| relation.columns.len())
    }

    /// The name of a column.
    pub(crate) fn column_name(&self, column: u32) -> Option<&str> {
        let at = column as usize;
        match (self.columns.get(at), self.shape()) {
            (Some(column), _) => Some(&column.name),
            (None, Some(relation)) => relation.columns.get(at).map(|column| &*column.name),
            (None, None) => None,
        }
    }

    /// The places of the columns of that name: none, one, or (of a derived table) several.
    pub(in crate::resolve) fn places(&self, name: &str) -> Vec<u32> {
        match self.shape() {
            Some(relation) if self.columns.is_empty() => {
                relation.columns.position(name).and_then(|at| u32::try_from(at).ok()).into_iter().collect()
            }
            Some(_) | None => (0..)
                .zip(&self.columns)
                .filter(|(_, column)| *column.name == *name)
                .map(|(at, _)| at)
                .collect(),
        }
    }
}

#[derive(Debug)]
pub(crate) enum SourceKind<'c> {
    /// A table or anything else that has rows of its own.
    Relation { relation: &'c Relation, only: bool },
    /// A plain view: its definition, bound in its own scope.
    View { relation: &'c Relation, query: Box<Query<'c>> },
    /// A sub-select.
    Derived(Box<Query<'c>>),
    /// A CTE.
    Cte(CteId),
    /// Functions in FROM.
    Functions(Vec<Expr<'c>>),
    /// EXCLUDED of an upsert, and OLD and NEW of RETURNING: rows of this relation's shape that
    /// are not read from it.
    Excluded(&'c Relation),
    /// Something that is refused already: any name may be a column of it.
    Missing,
}

/// A column that a source or a query yields.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SourceColumn {
    pub(crate) name: Name,
    pub(crate) ty: ColumnType,
}

/// What the proofs need to know of a column's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ColumnType {
    pub(crate) ty: TypeId,
    /// Equal values have equal bytes, as far as the collation goes.
    pub(crate) deterministic: bool,
}

impl ColumnType {
    pub(crate) const UNKNOWN: ColumnType = ColumnType { ty: TypeId::NONE, deterministic: false };

    pub(in crate::resolve) fn of(column: &Column) -> ColumnType {
        ColumnType { ty: column.ty, deterministic: column.collation_deterministic != Some(false) }
    }
}
