//! Which columns look like a tenant's: by type, by name, and by how many tables share them.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{Column, QualifiedName, Relation, RelationKind};
use crate::{Catalog, Family};

/// The tables of each schema, and the tenant column of each schema that has one.
pub(super) struct Guess<'c> {
    tables: BTreeMap<&'c str, Vec<&'c Relation>>,
    columns: BTreeMap<&'c str, &'c str>,
}

impl<'c> Guess<'c> {
    pub(super) fn of(catalog: &'c Catalog) -> Guess<'c> {
        let mut tables: BTreeMap<&str, Vec<&Relation>> = BTreeMap::new();
        for relation in catalog.relations().filter(|relation| is_table(relation)) {
            tables.entry(&relation.name.schema).or_default().push(relation);
        }
        let telling = telling_name(tables.values().flatten().copied());
        let columns = tables
            .iter()
            .filter_map(|(schema, tables)| Some((*schema, schema_column(tables, telling)?)))
            .collect();
        Guess { tables, columns }
    }

    /// The schemas with tables; those with a tenant column first.
    pub(super) fn schemas(&self) -> impl Iterator<Item = &'c str> {
        let (with, without): (Vec<&str>, Vec<&str>) =
            self.tables.keys().partition(|schema| self.columns.contains_key(**schema));
        with.into_iter().chain(without)
    }

    pub(super) fn tables(&self, schema: &str) -> impl Iterator<Item = &'c Relation> {
        self.tables.get(schema).into_iter().flatten().copied()
    }

    /// A schema's tenant column, and in how many of its tables it is.
    pub(super) fn column(&self, schema: &str) -> Option<(&'c str, (usize, usize))> {
        let column = *self.columns.get(schema)?;
        let (has, all) = self
            .tables(schema)
            .fold((0, 0), |(has, all), table| (has + usize::from(usable(table, column)), all + 1));
        Some((column, (has, all)))
    }

    /// The schemas with a tenant column, and the column.
    pub(super) fn scoped(&self) -> impl Iterator<Item = (&'c str, &'c str)> {
        self.columns.iter().map(|(schema, column)| (*schema, *column))
    }

    /// The tenant column of a table, if it has its schema's.
    pub(super) fn tenant_column(&self, table: &Relation) -> Option<&'c str> {
        let column = *self.columns.get(&*table.name.schema)?;
        usable(table, column).then_some(column)
    }

    /// Columns of scoped tables whose names say that not everybody needs them.
    pub(super) fn personal(&self) -> impl Iterator<Item = (&'c QualifiedName, &'c str)> {
        let scoped = self.columns.keys().flat_map(|schema| self.tables(schema));
        scoped.flat_map(|table| {
            let named = table.columns.iter().map(|column| &*column.name);
            named.filter(|name| is_personal(name)).map(|name| (&table.name, name))
        })
    }
}

/// The tenant-like name that most tables have.
fn telling_name<'c>(tables: impl Iterator<Item = &'c Relation>) -> Option<&'c str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for table in tables {
        for column in table.columns.iter().filter(|column| allowed(column) && rank(&column.name).is_some()) {
            *counts.entry(&column.name).or_default() += 1;
        }
    }
    // Of two names in as many tables, the more telling one.
    counts
        .into_iter()
        .filter(|(_, count)| *count >= FEWEST_TABLES)
        .max_by_key(|(name, count)| (*count, std::cmp::Reverse(rank(name))))
        .map(|(name, _)| name)
}

/// The telling name if a table of the schema has it; else the one column that most of its tables
/// share and that is no table's whole key.
fn schema_column<'c>(tables: &[&'c Relation], telling: Option<&'c str>) -> Option<&'c str> {
    let has = |name: &str| tables.iter().filter(|table| usable(table, name)).count();
    if let Some(name) = telling.filter(|name| has(name) * 2 > tables.len()) {
        return Some(name);
    }
    let names: BTreeSet<&str> =
        tables.iter().flat_map(|table| &*table.columns).map(|column| &*column.name).collect();
    let shared = names.into_iter().filter(|name| {
        let key = tables.iter().any(|table| is_whole_key(table, name));
        !key && !is_common(name) && has(name) >= FEWEST_TABLES && has(name) * 2 > tables.len()
    });
    shared.max_by_key(|name| has(name)).or_else(|| telling.filter(|name| has(name) >= FEWEST_TABLES))
}

fn usable(table: &Relation, column: &str) -> bool {
    table.column(column).is_some_and(allowed)
}

/// What a tenant column can be (policy 3).
fn allowed(column: &Column) -> bool {
    let family = match column.family {
        Family::Text | Family::Integer | Family::Uuid | Family::Enum(..) => true,
        Family::Boolean | Family::Other(..) | Family::Unknown => false,
    };
    family && column.collation_deterministic != Some(false)
}

fn is_table(relation: &Relation) -> bool {
    match relation.kind {
        RelationKind::Table
        | RelationKind::PartitionedTable
        | RelationKind::MaterializedView
        | RelationKind::ForeignTable => !relation.is_partition,
        RelationKind::View | RelationKind::Sequence => false,
    }
}

fn is_whole_key(table: &Relation, name: &str) -> bool {
    table.primary_key().is_some_and(|key| match &*key.columns {
        [only] => only.name.as_deref() == Some(name),
        _ => false,
    })
}

/// How telling a name is; less is more.
fn rank(name: &str) -> Option<usize> {
    let name = name.to_ascii_lowercase();
    TELLING.iter().position(|telling| name.contains(telling))
}

fn is_common(name: &str) -> bool {
    COMMON.iter().any(|common| name.eq_ignore_ascii_case(common))
}

fn is_personal(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PERSONAL.iter().any(|personal| name.contains(personal))
}

/// Fewer tables than this share nothing.
const FEWEST_TABLES: usize = 2;
const TELLING: [&str; 8] =
    ["tenant", "organization", "organisation", "org_id", "workspace", "company", "account", "customer_id"];
const COMMON: [&str; 14] = [
    "id",
    "uuid",
    "name",
    "title",
    "code",
    "type",
    "kind",
    "status",
    "state",
    "version",
    "position",
    "created_by",
    "updated_by",
    "description",
];
const PERSONAL: [&str; 9] =
    ["ssn", "password", "passwd", "secret", "api_key", "token", "iban", "card_number", "birth"];
