//! Foreign and unique keys.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{RawName, nullable};

/// A foreign key.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::catalog) struct RawForeignKey {
    /// Referencing columns.
    pub(in crate::catalog) columns: Vec<String>,
    /// DEFERRABLE.
    pub(in crate::catalog) deferrable: bool,
    /// Enforced, no trigger switched off.
    pub(in crate::catalog) enforced: bool,
    /// Its name.
    pub(in crate::catalog) name: String,
    /// ON DELETE.
    pub(in crate::catalog) on_delete: RawKeyAction,
    /// ON UPDATE.
    pub(in crate::catalog) on_update: RawKeyAction,
    /// The equality of each pair.
    pub(in crate::catalog) operators: Vec<RawName>,
    /// The last pair is containment.
    pub(in crate::catalog) period: bool,
    /// Referenced columns, paired with `columns`.
    pub(in crate::catalog) referenced_columns: Vec<String>,
    /// The referenced relation.
    pub(in crate::catalog) references: RawName,
    /// The referencing relation.
    pub(in crate::catalog) relation: RawName,
    /// Every row was checked.
    pub(in crate::catalog) validated: bool,
}

/// `pg_constraint.confdeltype`, `confupdtype`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(in crate::catalog) enum RawKeyAction {
    /// NO ACTION.
    #[serde(rename = "a")]
    NoAction,
    /// RESTRICT.
    #[serde(rename = "r")]
    Restrict,
    /// CASCADE.
    #[serde(rename = "c")]
    Cascade,
    /// SET NULL.
    #[serde(rename = "n")]
    SetNull,
    /// SET DEFAULT.
    #[serde(rename = "d")]
    SetDefault,
}

/// A unique index.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::catalog) struct RawUniqueKey {
    /// Key columns in order.
    pub(in crate::catalog) columns: Vec<RawKeyColumn>,
    /// Is a constraint.
    pub(in crate::catalog) constraint: bool,
    /// DEFERRABLE.
    pub(in crate::catalog) deferrable: bool,
    /// Has expressions.
    pub(in crate::catalog) expressions: bool,
    /// Its name.
    pub(in crate::catalog) name: String,
    /// NULLS NOT DISTINCT.
    pub(in crate::catalog) nulls_not_distinct: bool,
    /// Has a WHERE.
    pub(in crate::catalog) partial: bool,
    /// PRIMARY KEY.
    pub(in crate::catalog) primary: bool,
    /// Its relation.
    pub(in crate::catalog) relation: RawName,
    /// Complete and in use.
    pub(in crate::catalog) valid: bool,
}

/// A key column.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::catalog) struct RawKeyColumn {
    /// Null where the type has none.
    #[serde(deserialize_with = "nullable")]
    pub(in crate::catalog) collation_deterministic: Option<bool>,
    /// The index's collation is the column's.
    pub(in crate::catalog) collation_own: bool,
    /// Null: an expression.
    #[serde(deserialize_with = "nullable")]
    pub(in crate::catalog) name: Option<String>,
    /// The operator class is the type's default.
    pub(in crate::catalog) opclass_default: bool,
}
