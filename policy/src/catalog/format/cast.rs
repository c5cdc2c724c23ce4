//! Casts.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{RawName, nullable};

/// A cast.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::catalog) struct RawCast {
    /// When PostgreSQL applies it.
    pub(in crate::catalog) context: RawCastContext,
    /// With method f.
    #[serde(deserialize_with = "nullable")]
    pub(in crate::catalog) function: Option<RawName>,
    /// How.
    pub(in crate::catalog) method: RawCastMethod,
    /// From.
    pub(in crate::catalog) source: RawName,
    /// To.
    pub(in crate::catalog) target: RawName,
}

/// `pg_cast.castcontext`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(in crate::catalog) enum RawCastContext {
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
pub(in crate::catalog) enum RawCastMethod {
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
