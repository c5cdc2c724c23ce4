//! The JSON form, key by key (contracts 5). `policy/schema/catalog.json` is generated from here.
//!
//! Every key is always there: what is absent is null. [`nullable`] makes serde insist on that.

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

/// A cast.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCast {
    /// When PostgreSQL applies it.
    pub(super) context: RawCastContext,
    /// With method f.
    #[serde(deserialize_with = "nullable")]
    pub(super) function: Option<RawName>,
    /// How.
    pub(super) method: RawCastMethod,
    /// From.
    pub(super) source: RawName,
    /// To.
    pub(super) target: RawName,
}

/// `pg_cast.castcontext`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(super) enum RawCastContext {
    /// Explicit.
    #[serde(rename = "e")]
    Explicit,
    /// Assignment.
    #[serde(rename = "a")]
    Assignment,
    /// Implicit.
    #[serde(rename = "i")]
    Implicit,
}

/// `pg_cast.castmethod`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(super) enum RawCastMethod {
    /// By a function.
    #[serde(rename = "f")]
    Function,
    /// By output and input.
    #[serde(rename = "i")]
    InOut,
    /// Same bytes.
    #[serde(rename = "b")]
    Binary,
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

/// A foreign key.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawForeignKey {
    /// Referencing columns.
    pub(super) columns: Vec<String>,
    /// DEFERRABLE.
    pub(super) deferrable: bool,
    /// Enforced, no trigger switched off.
    pub(super) enforced: bool,
    /// Its name.
    pub(super) name: String,
    /// ON DELETE.
    pub(super) on_delete: RawKeyAction,
    /// ON UPDATE.
    pub(super) on_update: RawKeyAction,
    /// The equality of each pair.
    pub(super) operators: Vec<RawName>,
    /// The last pair is containment.
    pub(super) period: bool,
    /// Referenced columns, paired with `columns`.
    pub(super) referenced_columns: Vec<String>,
    /// The referenced relation.
    pub(super) references: RawName,
    /// The referencing relation.
    pub(super) relation: RawName,
    /// Every row was checked.
    pub(super) validated: bool,
}

/// `pg_constraint.confdeltype`, `confupdtype`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(super) enum RawKeyAction {
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

/// One signature of a function.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFunction {
    /// All arguments, output ones too.
    pub(super) arguments: Vec<RawArgument>,
    /// How many trailing input arguments have a default.
    pub(super) defaults: usize,
    /// What it is.
    pub(super) kind: RawFunctionKind,
    /// Its name.
    pub(super) name: String,
    /// Its oid.
    #[expect(dead_code, reason = "part of the form; a signature is its own identity")]
    pub(super) oid: u32,
    /// What it returns.
    pub(super) returns: RawName,
    /// SETOF.
    pub(super) returns_set: bool,
    /// Its schema.
    pub(super) schema: String,
    /// SECURITY DEFINER.
    pub(super) security_definer: bool,
    /// STRICT.
    pub(super) strict: bool,
    /// The last input argument is VARIADIC.
    pub(super) variadic: bool,
    /// How volatile.
    pub(super) volatility: RawVolatility,
}

/// An argument.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawArgument {
    /// In, out, both, variadic, table.
    pub(super) mode: RawArgumentMode,
    /// Its name.
    #[serde(deserialize_with = "nullable")]
    pub(super) name: Option<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub(super) ty: RawName,
}

/// `pg_proc.proargmodes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub(super) enum RawArgumentMode {
    /// IN.
    #[serde(rename = "i")]
    In,
    /// OUT.
    #[serde(rename = "o")]
    Out,
    /// INOUT.
    #[serde(rename = "b")]
    InOut,
    /// VARIADIC.
    #[serde(rename = "v")]
    Variadic,
    /// RETURNS TABLE.
    #[serde(rename = "t")]
    Table,
}

/// `pg_proc.prokind`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(super) enum RawFunctionKind {
    /// Function.
    #[serde(rename = "f")]
    Plain,
    /// Procedure.
    #[serde(rename = "p")]
    Procedure,
    /// Aggregate.
    #[serde(rename = "a")]
    Aggregate,
    /// Window function.
    #[serde(rename = "w")]
    Window,
}

/// `pg_proc.provolatile`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(super) enum RawVolatility {
    /// IMMUTABLE.
    #[serde(rename = "i")]
    Immutable,
    /// STABLE.
    #[serde(rename = "s")]
    Stable,
    /// VOLATILE.
    #[serde(rename = "v")]
    Volatile,
}

/// One signature of an operator.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawOperator {
    /// What it calls.
    pub(super) function: RawName,
    /// The left operand; null: a prefix operator.
    #[serde(deserialize_with = "nullable")]
    pub(super) left: Option<RawName>,
    /// Its name.
    pub(super) name: String,
    /// Its oid.
    #[expect(dead_code, reason = "part of the form; a signature is its own identity")]
    pub(super) oid: u32,
    /// The result.
    pub(super) result: RawName,
    /// The right operand.
    pub(super) right: RawName,
    /// Its schema.
    pub(super) schema: String,
}

/// A relation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRelation {
    /// CHECK constraints.
    pub(super) checks: Vec<RawCheck>,
    /// Columns by number.
    pub(super) columns: Vec<RawColumn>,
    /// Has inheritance children or partitions.
    pub(super) has_children: bool,
    /// Columns that an index leads with.
    pub(super) index_leads: Vec<String>,
    /// Parents.
    pub(super) inherits: Vec<RawName>,
    /// Is a partition.
    pub(super) is_partition: bool,
    /// What it is.
    pub(super) kind: RawRelationKind,
    /// Its name.
    pub(super) name: String,
    /// Its oid.
    pub(super) oid: u32,
    /// A sequence's column.
    #[serde(deserialize_with = "nullable")]
    pub(super) owned_by: Option<RawOwnedBy>,
    /// Row-level security is on.
    pub(super) row_security: bool,
    /// Its schema.
    pub(super) schema: String,
    /// A view's query.
    #[serde(deserialize_with = "nullable")]
    pub(super) view_definition: Option<String>,
}

/// `pg_class.relkind`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(super) enum RawRelationKind {
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
pub(super) struct RawCheck {
    /// `CHECK (…)`.
    pub(super) expression: String,
    /// What it calls outside built-in pg_catalog.
    pub(super) functions: Vec<RawName>,
    /// Its name.
    pub(super) name: String,
}

/// A column.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawColumn {
    /// Null where the type has none.
    #[serde(deserialize_with = "nullable")]
    pub(super) collation: Option<RawName>,
    /// Null where the type has none.
    #[serde(deserialize_with = "nullable")]
    pub(super) collation_deterministic: Option<bool>,
    /// The default's or the generated column's expression.
    #[serde(deserialize_with = "nullable")]
    pub(super) default: Option<String>,
    /// What it calls outside built-in pg_catalog.
    pub(super) default_functions: Vec<RawName>,
    /// Stored or virtual.
    #[serde(deserialize_with = "nullable")]
    pub(super) generated: Option<RawGenerated>,
    /// Always or by default.
    #[serde(deserialize_with = "nullable")]
    pub(super) identity: Option<RawIdentity>,
    /// Its name.
    pub(super) name: String,
    /// NOT NULL for every row.
    pub(super) not_null: bool,
    /// `attnum`.
    pub(super) number: i16,
    /// Its type.
    #[serde(rename = "type")]
    pub(super) ty: RawName,
    /// Its type's oid.
    pub(super) type_oid: u32,
    /// -1: none.
    pub(super) typmod: i32,
}

/// `pg_attribute.attgenerated`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(super) enum RawGenerated {
    /// STORED.
    #[serde(rename = "s")]
    Stored,
    /// VIRTUAL.
    #[serde(rename = "v")]
    Virtual,
}

/// `pg_attribute.attidentity`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(super) enum RawIdentity {
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
pub(super) struct RawOwnedBy {
    /// The column.
    pub(super) column: String,
    /// Its relation.
    pub(super) relation: RawName,
}

/// A rewrite rule.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRule {
    /// Fires in an ordinary session.
    pub(super) enabled: bool,
    /// What it rewrites.
    pub(super) event: RawRuleEvent,
    /// INSTEAD.
    pub(super) instead: bool,
    /// Its name.
    pub(super) name: String,
    /// Its relation.
    pub(super) relation: RawName,
}

/// What a rule rewrites.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawRuleEvent {
    Select,
    Insert,
    Update,
    Delete,
}

/// A trigger.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTrigger {
    /// Fires in an ordinary session.
    pub(super) enabled: bool,
    /// On what.
    pub(super) events: Vec<RawTriggerEvent>,
    /// What it calls.
    pub(super) function: RawName,
    /// For each row or statement.
    pub(super) level: RawTriggerLevel,
    /// Its name.
    pub(super) name: String,
    /// Its relation.
    pub(super) relation: RawName,
    /// When.
    pub(super) timing: RawTriggerTiming,
}

/// What a trigger fires on.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawTriggerEvent {
    Insert,
    Update,
    Delete,
    Truncate,
}

/// How often a trigger fires.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawTriggerLevel {
    Row,
    Statement,
}

/// When a trigger fires.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawTriggerTiming {
    Before,
    After,
    Instead,
}

/// A type.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawType {
    /// What a domain is over.
    #[serde(deserialize_with = "nullable")]
    pub(super) base: Option<RawName>,
    /// A domain's own checks.
    pub(super) checks: Vec<RawCheck>,
    /// What an array is of.
    #[serde(deserialize_with = "nullable")]
    pub(super) element: Option<RawName>,
    /// What it is.
    pub(super) kind: RawTypeKind,
    /// Its name.
    pub(super) name: String,
    /// A domain's NOT NULL.
    pub(super) not_null: bool,
    /// Its oid.
    pub(super) oid: u32,
    /// The relation whose row type it is.
    #[serde(deserialize_with = "nullable")]
    pub(super) relation: Option<RawName>,
    /// Its schema.
    pub(super) schema: String,
    /// What a range is over.
    #[serde(deserialize_with = "nullable")]
    pub(super) subtype: Option<RawName>,
    /// A domain's length and the like; -1: none.
    pub(super) typmod: i32,
}

/// `pg_type.typtype`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(super) enum RawTypeKind {
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

/// A unique index.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawUniqueKey {
    /// Key columns in order.
    pub(super) columns: Vec<RawKeyColumn>,
    /// Is a constraint.
    pub(super) constraint: bool,
    /// DEFERRABLE.
    pub(super) deferrable: bool,
    /// Has expressions.
    pub(super) expressions: bool,
    /// Its name.
    pub(super) name: String,
    /// NULLS NOT DISTINCT.
    pub(super) nulls_not_distinct: bool,
    /// Has a WHERE.
    pub(super) partial: bool,
    /// PRIMARY KEY.
    pub(super) primary: bool,
    /// Its relation.
    pub(super) relation: RawName,
    /// Complete and in use.
    pub(super) valid: bool,
}

/// A key column.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawKeyColumn {
    /// Null where the type has none.
    #[serde(deserialize_with = "nullable")]
    pub(super) collation_deterministic: Option<bool>,
    /// The index's collation is the column's.
    pub(super) collation_own: bool,
    /// Null: an expression.
    #[serde(deserialize_with = "nullable")]
    pub(super) name: Option<String>,
    /// The operator class is the type's default.
    pub(super) opclass_default: bool,
}

/// Null or a value, but present: serde takes a missing `Option` for null, except where it is told
/// how to read it.
fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(from)
}
