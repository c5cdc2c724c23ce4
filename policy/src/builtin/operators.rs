//! Operators of `pg_catalog`, every signature, and which list has it.
//!
//! A line of the table: name, left operand, right operand, result, function, majors, list, with
//! tabs between; a prefix operator has `-` for the left one.

use std::sync::OnceLock;

use crate::catalog::{Listing, Major, Operator, PG_CATALOG, QualifiedName};

use super::table::{File, Row, Table, has_major};
use super::types;

/// The signatures of that operator; none where there is no such operator.
pub fn lookup(major: Major, name: &str) -> &'static [Operator] {
    table().get(major, name)
}

/// Every signature, in no order.
pub fn all(major: Major) -> impl Iterator<Item = &'static Operator> {
    table().keys().flat_map(move |key| table().get(major, key))
}

fn table() -> &'static Table<Operator> {
    static TABLE: OnceLock<Table<Operator>> = OnceLock::new();
    TABLE.get_or_init(|| Table::new(FILES, parse))
}

fn parse(row: Row, major: Major) -> Option<Operator> {
    let mut fields = row.fields.split('\t');
    let (left, right, result) = (fields.next()?, fields.next()?, fields.next()?);
    let (function, majors, list) = (fields.next()?, fields.next()?, fields.next()?);
    if !has_major(majors, major) {
        return None;
    }
    let name = |name: &str| QualifiedName { schema: PG_CATALOG.into(), name: name.into() };
    Some(Operator {
        name: name(row.key),
        left: (left != "-").then(|| types::written(left)),
        right: types::written(right),
        result: types::written(result),
        function: name(function),
        listing: match list {
            "standard" => Listing::Standard,
            "introspection" => Listing::Introspection,
            _ => return None,
        },
    })
}

pub(super) const FILES: &[File] = &[File { listing: Listing::Standard, text: include_str!("operators.tsv") }];
