//! A schema-qualified name.

use std::fmt;
use std::sync::Arc;

/// The name of an object and of the schema that it is in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QualifiedName {
    /// The schema.
    pub schema: Arc<str>,
    /// The object's own name.
    pub name: Arc<str>,
}

impl QualifiedName {
    /// Whether it is this name.
    pub fn is(&self, schema: &str, name: &str) -> bool {
        *self.schema == *schema && *self.name == *name
    }
}

impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.schema, self.name)
    }
}
