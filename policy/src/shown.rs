//! What a described output column is to a role: the second proof beside the judge's own lineage.
//!
//! RowDescription names the table and the column number that an output comes from, as PostgreSQL itself found them.
//! Where that says "masked" and the judge does not, or the other way round, one of the two is wrong.

use crate::catalog::{Catalog, Column, Listing, Relation, RelationId, RelationKind, is_builtin_schema};
use crate::policy::{CatalogRule, ColumnRule, Role};

/// What an output column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// A column that the role may read as it is.
    Plain,
    /// A column that the role reads masked, or that is answered NULL.
    Masked,
    /// A column that the role may not read at all.
    Denied,
    /// Not a column of a table that is known: an expression, a view's column, a table of later.
    Unknown,
}

/// What the column `number` of the relation `table` is to a role. (0 and 0: an expression.)
pub fn shown(role: &Role, catalog: &Catalog, table: u32, number: i16) -> Shown {
    let Some(relation) = catalog.relation_of(RelationId(table)) else { return Shown::Unknown };
    let Some(column) = relation.columns.iter().find(|column| column.number == number) else {
        return Shown::Unknown;
    };
    if is_builtin_schema(&relation.name.schema) {
        return of_catalog(role, column);
    }
    match relation.kind {
        RelationKind::Table
        | RelationKind::PartitionedTable
        | RelationKind::MaterializedView
        | RelationKind::ForeignTable => of_table(role, catalog, relation, column),
        // It counts by what it reads, which is not said.
        RelationKind::View | RelationKind::Sequence => Shown::Unknown,
    }
}

fn of_catalog(role: &Role, column: &Column) -> Shown {
    match (role.system_catalogs, column.listing) {
        (CatalogRule::Allow, _) | (CatalogRule::Introspection, Listing::Introspection) => Shown::Plain,
        (CatalogRule::Introspection, Listing::User | Listing::Standard | Listing::Unlisted) => Shown::Masked,
        (CatalogRule::Deny, _) => Shown::Denied,
    }
}

/// A table's rule for a column holds for its children's rows too, and theirs for what is read through it.
fn of_table(role: &Role, catalog: &Catalog, relation: &Relation, column: &Column) -> Shown {
    let rule = |relation: &Relation| role.column(&relation.name.schema, &relation.name.name, &column.name);
    let own = as_ruled(rule(relation));
    let below = catalog.descendants(relation).into_iter().map(|child| as_ruled(rule(child)));
    below.fold(own, Shown::max_with)
}

fn as_ruled(rule: ColumnRule<'_>) -> Shown {
    match rule {
        ColumnRule::Plain => Shown::Plain,
        ColumnRule::Masked(_) => Shown::Masked,
        ColumnRule::Denied => Shown::Denied,
    }
}

impl Shown {
    fn max_with(self, other: Shown) -> Shown {
        match (self, other) {
            (Shown::Denied, _) | (_, Shown::Denied) => Shown::Denied,
            (Shown::Masked, _) | (_, Shown::Masked) => Shown::Masked,
            (Shown::Plain | Shown::Unknown, Shown::Plain | Shown::Unknown) => self,
        }
    }
}
