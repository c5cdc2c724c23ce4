//! The seed: schema, rows and policy of the lab, compiled in so that a test needs no path.

/// Roles, schemas, relations and functions of the lab.
pub const SCHEMA_SQL: &str = include_str!("../schema.sql");

/// The lab's rows, the same on every run.
pub const DATA_SQL: &str = include_str!("../data.sql");

/// The lab's policy file.
pub const POLICY_YAML: &str = include_str!("../policy.yaml");
