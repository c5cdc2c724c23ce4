//! What a session's principal may see of the database: for errors that name objects, and for the second proof of
//! masks.

use std::sync::Arc;

use pgmoat_policy::catalog::{QualifiedName, Relation, is_builtin_schema};
use pgmoat_policy::policy::{CatalogRule, ColumnRule, Role};
use pgmoat_policy::{Catalog, Policy, Principal, Shown, shown};

/// A principal's view of a catalog under a policy.
#[derive(Debug, Clone)]
pub struct Sight {
    policy: Arc<Policy>,
    catalog: Arc<Catalog>,
    principal: Arc<Principal>,
    column_rules: bool,
}

impl Sight {
    /// The view of a principal.
    pub fn new(policy: Arc<Policy>, catalog: Arc<Catalog>, principal: Arc<Principal>) -> Self {
        let mut sight = Sight { policy, catalog, principal, column_rules: false };
        sight.column_rules =
            sight.role().is_some_and(|role| role.has_any_column_rules() && !role.unrestricted);
        sight
    }

    /// Whether what is described is compared even where the judge found nothing to mask.
    pub(super) fn has_column_rules(&self) -> bool {
        self.column_rules
    }

    /// What the column of a RowDescription is.
    pub(super) fn shown(&self, table: u32, number: i16) -> Shown {
        self.role().map_or(Shown::Denied, |role| shown(role, &self.catalog, table, number))
    }

    /// The relation of that name, where it is in reach (policy 5).
    pub(super) fn relation(&self, schema: &str, name: &str) -> Option<&Relation> {
        let role = self.role()?;
        let reached = if is_builtin_schema(schema) {
            role.system_catalogs != CatalogRule::Deny
        } else {
            let covered = !role.tenant_bound() || self.policy.entry(schema, name).is_some();
            covered && (role.unrestricted || role.allows_relation(schema, name))
        };
        self.catalog.relation(schema, name).filter(|_| reached)
    }

    /// Whether a relation in reach has that column, and the role may name it.
    pub(super) fn column(&self, relation: &Relation, column: &str) -> bool {
        let QualifiedName { schema, name } = &relation.name;
        let denied = self.role().is_none_or(|role| role.column(schema, name, column) == ColumnRule::Denied);
        relation.column(column).is_some() && !denied
    }

    /// Whether a type of that name may be named.
    pub(super) fn ty(&self, schema: &str, name: &str) -> bool {
        let role = self.role();
        let secret = role.is_none_or(|role| role.system_catalogs == CatalogRule::Deny);
        self.catalog.type_named(schema, name).is_some() && (!secret || is_builtin_schema(schema))
    }

    fn role(&self) -> Option<&Role> {
        self.policy.role(&self.principal.role)
    }
}
