//! Types.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{RawCheck, RawName, nullable};

/// A type.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::catalog) struct RawType {
    /// What a domain is over.
    #[serde(deserialize_with = "nullable")]
    pub(in crate::catalog) base: Option<RawName>,
    /// A domain's own checks.
    pub(in crate::catalog) checks: Vec<RawCheck>,
    /// What an array is of.
    #[serde(deserialize_with = "nullable")]
    pub(in crate::catalog) element: Option<RawName>,
    /// What it is.
    pub(in crate::catalog) kind: RawTypeKind,
    /// Its name.
    pub(in crate::catalog) name: String,
    /// A domain's NOT NULL.
    pub(in crate::catalog) not_null: bool,
    /// Its oid.
    pub(in crate::catalog) oid: u32,
    /// The relation whose row type it is.
    #[serde(deserialize_with = "nullable")]
    pub(in crate::catalog) relation: Option<RawName>,
    /// Its schema.
    pub(in crate::catalog) schema: String,
    /// What a range is over.
    #[serde(deserialize_with = "nullable")]
    pub(in crate::catalog) subtype: Option<RawName>,
    /// A domain's length and the like; -1: none.
    pub(in crate::catalog) typmod: i32,
}

/// `pg_type.typtype`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(in crate::catalog) enum RawTypeKind {
    /// Base, arrays too.
    #[serde(rename = "b")]
    Base,
    /// Composite.
    #[serde(rename = "c")]
    Composite,
    /// Domain.
    #[serde(rename = "d")]
    Domain,
    /// Enum.
    #[serde(rename = "e")]
    Enum,
    /// Range.
    #[serde(rename = "r")]
    Range,
    /// Multirange.
    #[serde(rename = "m")]
    Multirange,
    /// Pseudo.
    #[serde(rename = "p")]
    Pseudo,
}
