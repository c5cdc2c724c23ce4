//! Type families: which types compare as one value space.
//!
//! A tenant equality and an edge between two tenant columns need both operands in one family
//! (policy 3); nothing else needs exact typing. [`Family::Unknown`] proves nothing.

use std::sync::Arc;

/// A type family.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Family {
    /// text, varchar: equal bytes are equal values.
    Text,
    /// smallint, integer, bigint.
    Integer,
    /// uuid.
    Uuid,
    /// One enum type, by schema and name.
    Enum(Arc<str>, Arc<str>),
    /// boolean.
    Boolean,
    /// Any other type that is known, by schema and name: it takes part in no tenant proof.
    Other(Arc<str>, Arc<str>),
    /// Not known: proves nothing.
    Unknown,
}

/// A tenant column as the policy's `tenants:` maps it: by name and family (contracts 1).
///
/// Obligations name this, never a tenant's value, so that a verdict can be shared by all tenants.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TenantColumnClass {
    /// The column's name.
    pub column: Arc<str>,
    /// Its family.
    pub family: Family,
}
