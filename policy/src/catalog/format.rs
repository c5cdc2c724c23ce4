//! The JSON form, key by key (contracts 5). `policy/schema/catalog.json` is generated from here.
//!
//! Every key is always there: what is absent is null. [`nullable`] makes serde insist on that.

mod cast;
mod function;
mod key;
mod relation;
mod ty;

pub(super) use cast::*;
pub(super) use function::*;
pub(super) use key::*;
pub(super) use relation::*;
pub(super) use ty::*;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

/// The form that this program reads.
pub(super) const FORMAT: u32 = 1;

/// A catalog as text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A database's catalog, format 1")]
pub(super) struct RawCatalog {
    /// Casts that somebody created.
    pub(super) casts: Vec<RawCast>,
    /// The database's own name.
    pub(super) database: String,
    /// Installed extensions.
    pub(super) extensions: Vec<RawExtension>,
    /// Foreign keys.
    pub(super) foreign_keys: Vec<RawForeignKey>,
    /// The form's number: 1.
    pub(super) format: u32,
    /// Functions outside built-in pg_catalog.
    pub(super) functions: Vec<RawFunction>,
    /// Operators outside built-in pg_catalog.
    pub(super) operators: Vec<RawOperator>,
    /// Tables, views, sequences.
    pub(super) relations: Vec<RawRelation>,
    /// Rewrite rules.
    pub(super) rules: Vec<RawRule>,
    /// Schemas without the system's.
    pub(super) schemas: Vec<String>,
    /// UTF8.
    pub(super) server_encoding: String,
    /// 150004 is 15.4.
    pub(super) server_version_num: u32,
    /// Triggers without the system's.
    pub(super) triggers: Vec<RawTrigger>,
    /// Types outside built-in pg_catalog, row types and array types too.
    pub(super) types: Vec<RawType>,
    /// Unique indexes.
    pub(super) unique_keys: Vec<RawUniqueKey>,
}

/// An object's name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawName {
    /// Its own.
    pub(super) name: String,
    /// Its schema's.
    pub(super) schema: String,
}

/// An extension.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawExtension {
    /// Its name.
    pub(super) name: String,
    /// Its objects' schema.
    pub(super) schema: String,
    /// Its version.
    pub(super) version: String,
}

/// Null or a value, but present: serde takes a missing `Option` for null, except where it is told
/// how to read it.
fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(from)
}
