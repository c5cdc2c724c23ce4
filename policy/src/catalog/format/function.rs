//! Functions and operators.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{RawName, nullable};

/// One signature of a function.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::catalog) struct RawFunction {
    /// All arguments, output ones too.
    pub(in crate::catalog) arguments: Vec<RawArgument>,
    /// How many trailing input arguments have a default.
    pub(in crate::catalog) defaults: usize,
    /// What it is.
    pub(in crate::catalog) kind: RawFunctionKind,
    /// Its name.
    pub(in crate::catalog) name: String,
    /// Its oid.
    #[expect(dead_code, reason = "part of the form; a signature is its own identity")]
    pub(in crate::catalog) oid: u32,
    /// Whether it may run in parallel workers.
    pub(in crate::catalog) parallel: RawParallel,
    /// What it returns.
    pub(in crate::catalog) returns: RawName,
    /// SETOF.
    pub(in crate::catalog) returns_set: bool,
    /// Its schema.
    pub(in crate::catalog) schema: String,
    /// SECURITY DEFINER.
    pub(in crate::catalog) security_definer: bool,
    /// STRICT.
    pub(in crate::catalog) strict: bool,
    /// The last input argument is VARIADIC.
    pub(in crate::catalog) variadic: bool,
    /// How volatile.
    pub(in crate::catalog) volatility: RawVolatility,
}

/// An argument.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::catalog) struct RawArgument {
    /// In, out, both, variadic, table.
    pub(in crate::catalog) mode: RawArgumentMode,
    /// Its name.
    #[serde(deserialize_with = "nullable")]
    pub(in crate::catalog) name: Option<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub(in crate::catalog) ty: RawName,
}

/// `pg_proc.proargmodes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub(in crate::catalog) enum RawArgumentMode {
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
pub(in crate::catalog) enum RawFunctionKind {
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

/// `pg_proc.proparallel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub(in crate::catalog) enum RawParallel {
    /// PARALLEL SAFE.
    #[serde(rename = "s")]
    Safe,
    /// PARALLEL RESTRICTED.
    #[serde(rename = "r")]
    Restricted,
    /// PARALLEL UNSAFE.
    #[serde(rename = "u")]
    Unsafe,
}

/// `pg_proc.provolatile`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(in crate::catalog) enum RawVolatility {
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
pub(in crate::catalog) struct RawOperator {
    /// What it calls.
    pub(in crate::catalog) function: RawName,
    /// The left operand; null: a prefix operator.
    #[serde(deserialize_with = "nullable")]
    pub(in crate::catalog) left: Option<RawName>,
    /// Its name.
    pub(in crate::catalog) name: String,
    /// Its oid.
    #[expect(dead_code, reason = "part of the form; a signature is its own identity")]
    pub(in crate::catalog) oid: u32,
    /// The result.
    pub(in crate::catalog) result: RawName,
    /// The right operand.
    pub(in crate::catalog) right: RawName,
    /// Its schema.
    pub(in crate::catalog) schema: String,
}
