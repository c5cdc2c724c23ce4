//! Relations, with their columns, checks, rules and triggers.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{RawName, nullable};

/// A relation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::catalog) struct RawRelation {
    /// CHECK constraints.
    pub(in crate::catalog) checks: Vec<RawCheck>,
    /// Columns by number.
    pub(in crate::catalog) columns: Vec<RawColumn>,
    /// Has inheritance children or partitions.
    pub(in crate::catalog) has_children: bool,
    /// Columns that an index leads with.
    pub(in crate::catalog) index_leads: Vec<String>,
    /// Parents.
    pub(in crate::catalog) inherits: Vec<RawName>,
    /// Is a partition.
    pub(in crate::catalog) is_partition: bool,
    /// What it is.
    pub(in crate::catalog) kind: RawRelationKind,
    /// Its name.
    pub(in crate::catalog) name: String,
    /// Its oid.
    pub(in crate::catalog) oid: u32,
    /// A sequence's column.
    #[serde(deserialize_with = "nullable")]
    pub(in crate::catalog) owned_by: Option<RawOwnedBy>,
    /// Row-level security is on.
    pub(in crate::catalog) row_security: bool,
    /// Its schema.
    pub(in crate::catalog) schema: String,
    /// A view's query.
    #[serde(deserialize_with = "nullable")]
    pub(in crate::catalog) view_definition: Option<String>,
}

/// `pg_class.relkind`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(in crate::catalog) enum RawRelationKind {
    /// Table.
    #[serde(rename = "r")]
    Table,
    /// Partitioned table.
    #[serde(rename = "p")]
    PartitionedTable,
    /// View.
    #[serde(rename = "v")]
    View,
    /// Materialized view.
    #[serde(rename = "m")]
    MaterializedView,
    /// Foreign table.
    #[serde(rename = "f")]
    ForeignTable,
    /// Sequence.
    #[serde(rename = "S")]
    Sequence,
}

/// A CHECK.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::catalog) struct RawCheck {
    /// `CHECK (…)`.
    pub(in crate::catalog) expression: String,
    /// What it calls outside built-in pg_catalog.
    pub(in crate::catalog) functions: Vec<RawName>,
    /// Its name.
    pub(in crate::catalog) name: String,
}

/// A column.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::catalog) struct RawColumn {
    /// Null where the type has none.
    #[serde(deserialize_with = "nullable")]
    pub(in crate::catalog) collation: Option<RawName>,
    /// Null where the type has none.
    #[serde(deserialize_with = "nullable")]
    pub(in crate::catalog) collation_deterministic: Option<bool>,
    /// The default's or the generated column's expression.
    #[serde(deserialize_with = "nullable")]
    pub(in crate::catalog) default: Option<String>,
    /// What it calls outside built-in pg_catalog.
    pub(in crate::catalog) default_functions: Vec<RawName>,
    /// Stored or virtual.
    #[serde(deserialize_with = "nullable")]
    pub(in crate::catalog) generated: Option<RawGenerated>,
    /// Always or by default.
    #[serde(deserialize_with = "nullable")]
    pub(in crate::catalog) identity: Option<RawIdentity>,
    /// Its name.
    pub(in crate::catalog) name: String,
    /// NOT NULL for every row.
    pub(in crate::catalog) not_null: bool,
    /// `attnum`.
    pub(in crate::catalog) number: i16,
    /// Its type.
    #[serde(rename = "type")]
    pub(in crate::catalog) ty: RawName,
    /// Its type's oid.
    pub(in crate::catalog) type_oid: u32,
    /// -1: none.
    pub(in crate::catalog) typmod: i32,
}

/// `pg_attribute.attgenerated`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(in crate::catalog) enum RawGenerated {
    /// STORED.
    #[serde(rename = "s")]
    Stored,
    /// VIRTUAL.
    #[serde(rename = "v")]
    Virtual,
}

/// `pg_attribute.attidentity`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(in crate::catalog) enum RawIdentity {
    /// ALWAYS.
    #[serde(rename = "a")]
    Always,
    /// BY DEFAULT.
    #[serde(rename = "d")]
    ByDefault,
}

/// A sequence's column.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::catalog) struct RawOwnedBy {
    /// The column.
    pub(in crate::catalog) column: String,
    /// Its relation.
    pub(in crate::catalog) relation: RawName,
}

/// A rewrite rule.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::catalog) struct RawRule {
    /// Fires in an ordinary session.
    pub(in crate::catalog) enabled: bool,
    /// What it rewrites.
    pub(in crate::catalog) event: RawRuleEvent,
    /// INSTEAD.
    pub(in crate::catalog) instead: bool,
    /// Its name.
    pub(in crate::catalog) name: String,
    /// Its relation.
    pub(in crate::catalog) relation: RawName,
}

/// What a rule rewrites.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::catalog) enum RawRuleEvent {
    Select,
    Insert,
    Update,
    Delete,
}

/// A trigger.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::catalog) struct RawTrigger {
    /// Fires in an ordinary session.
    pub(in crate::catalog) enabled: bool,
    /// On what.
    pub(in crate::catalog) events: Vec<RawTriggerEvent>,
    /// What it calls.
    pub(in crate::catalog) function: RawName,
    /// For each row or statement.
    pub(in crate::catalog) level: RawTriggerLevel,
    /// Its name.
    pub(in crate::catalog) name: String,
    /// Its relation.
    pub(in crate::catalog) relation: RawName,
    /// When.
    pub(in crate::catalog) timing: RawTriggerTiming,
}

/// What a trigger fires on.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::catalog) enum RawTriggerEvent {
    Insert,
    Update,
    Delete,
    Truncate,
}

/// How often a trigger fires.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::catalog) enum RawTriggerLevel {
    Row,
    Statement,
}

/// When a trigger fires.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::catalog) enum RawTriggerTiming {
    Before,
    After,
    Instead,
}
