//! Relations of the built-in schemas, with their columns, and which of both `introspection` lists.
//!
//! A line of the tables: name, `table` or `view`, oid, majors, columns, with tabs between. A view's
//! oid is dealt out by initdb; a negative number of ours stands there. A column is `name:type`;
//! behind a minus sign stands one that is not on the list, behind a plus sign one that is shown
//! where its relation, itself on no list, may be read after all.

use std::sync::{Arc, OnceLock};

use crate::Family;
use crate::catalog::{
    Column, Columns, INFORMATION_SCHEMA, Listing, Major, PG_CATALOG, QualifiedName, Relation, RelationId,
    RelationKind,
};

use super::table::{File, Row, Table, has_major};
use super::types;

/// The relation of that name in that built-in schema.
pub fn lookup(major: Major, schema: &str, name: &str) -> Option<&'static Relation> {
    let table = match schema {
        PG_CATALOG => pg_catalog(),
        INFORMATION_SCHEMA => information_schema(),
        _ => return None,
    };
    table.get(major, name).first()
}

/// Every relation of a built-in schema, in no order.
pub fn all(major: Major, schema: &str) -> impl Iterator<Item = &'static Relation> {
    let table = match schema {
        PG_CATALOG => Some(pg_catalog()),
        INFORMATION_SCHEMA => Some(information_schema()),
        _ => None,
    };
    table.into_iter().flat_map(move |table| table.keys().flat_map(move |key| table.get(major, key)))
}

fn pg_catalog() -> &'static Table<Relation> {
    static TABLE: OnceLock<Table<Relation>> = OnceLock::new();
    TABLE.get_or_init(|| Table::new(PG_CATALOG_FILES, |row, major| parse(PG_CATALOG, row, major)))
}

fn information_schema() -> &'static Table<Relation> {
    static TABLE: OnceLock<Table<Relation>> = OnceLock::new();
    TABLE.get_or_init(|| {
        Table::new(INFORMATION_SCHEMA_FILES, |row, major| parse(INFORMATION_SCHEMA, row, major))
    })
}

fn parse(schema: &str, row: Row, major: Major) -> Option<Relation> {
    let mut fields = row.fields.split('\t');
    let (kind, oid) = (fields.next()?, fields.next()?);
    let (majors, columns) = (fields.next()?, fields.next()?);
    if !has_major(majors, major) {
        return None;
    }
    let columns: Option<Vec<Column>> =
        (1..).zip(columns.split(' ')).map(|(number, field)| column(row.listing, number, field)).collect();
    Some(Relation {
        // Two's complement: ours are far above what PostgreSQL has dealt out.
        id: RelationId(oid.parse::<i32>().ok()?.cast_unsigned()),
        name: QualifiedName { schema: schema.into(), name: row.key.into() },
        kind: match kind {
            "table" => RelationKind::Table,
            "view" => RelationKind::View,
            _ => return None,
        },
        listing: row.listing,
        columns: Columns::new(columns?),
        has_children: false,
        is_partition: false,
        parents: Box::default(),
        row_security: false,
        view_definition: None,
        checks: Box::default(),
        owned_by: None,
        index_leads: Box::default(),
        unique_keys: Vec::new(),
        foreign_keys: Vec::new(),
        rules: Vec::new(),
        triggers: Vec::new(),
    })
}

fn column(relation: Listing, number: i16, field: &str) -> Option<Column> {
    let (field, listing) = match (field.strip_prefix('-'), field.strip_prefix('+')) {
        (Some(field), _) => (field, Listing::Unlisted),
        (None, Some(field)) => (field, Listing::Introspection),
        (None, None) => (field, relation),
    };
    let (name, ty) = field.split_once(':')?;
    let id = types::written(ty);
    let (type_name, family) = match types::by_id(id) {
        Some(ty) => (ty.name.clone(), ty.family.clone()),
        None => (QualifiedName { schema: PG_CATALOG.into(), name: ty.into() }, Family::Unknown),
    };
    // The catalogs' own strings have collation "C"; what has none is not asked.
    let c = QualifiedName { schema: PG_CATALOG.into(), name: Arc::from("C") };
    Some(Column {
        name: name.into(),
        number,
        ty: id,
        type_name,
        typmod: -1,
        family,
        not_null: false,
        default: None,
        default_functions: Box::default(),
        generated: false,
        identity: None,
        collation: Some(c),
        collation_deterministic: Some(true),
        listing,
    })
}

pub(super) const PG_CATALOG_FILES: &[File] = &[
    File { listing: Listing::Introspection, text: include_str!("relations_introspection.tsv") },
    File { listing: Listing::Unlisted, text: include_str!("relations_unlisted.tsv") },
];

pub(super) const INFORMATION_SCHEMA_FILES: &[File] = &[
    File {
        listing: Listing::Introspection,
        text: include_str!("relations_information_schema_introspection.tsv"),
    },
    File { listing: Listing::Unlisted, text: include_str!("relations_information_schema_unlisted.tsv") },
];
