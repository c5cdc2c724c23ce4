//! What views reach: their definitions, expanded as the judge expands them (policy 3.3).

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::catalog::{QualifiedName, Relation, RelationKind};
use crate::policy::{Policy, Role};
use crate::{Catalog, Mode, NoNames, Principal, explain};

/// A view that some role may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewReach {
    /// The view.
    pub view: QualifiedName,
    /// Every relation in its definition, views in it expanded.
    pub reaches: Vec<QualifiedName>,
    /// Of these, the ones that no line of `tenancy.tables` is about: they put the view out of reach
    /// of tenants.
    pub uncovered: Vec<QualifiedName>,
}

impl Policy {
    /// What every view reaches that some role may use.
    ///
    /// The thread needs a stack of [`crate::STACK_BYTES`].
    pub fn views(&self, catalog: &Catalog) -> Vec<ViewReach> {
        let views = catalog.relations().filter(|relation| relation.kind == RelationKind::View);
        views
            .filter_map(|view| {
                let allows = |role: &&Role| role.allows_relation(&view.name.schema, &view.name.name);
                self.roles().find(allows).map(|role| self.reach(view, role, catalog))
            })
            .collect()
    }

    fn reach(&self, view: &Relation, role: &Role, catalog: &Catalog) -> ViewReach {
        // Whose name the tenant has changes nothing about what is reached.
        let tenant = role.tenant_bound().then(|| Arc::from("tenant"));
        let principal = Principal { role: Arc::clone(&role.name), tenant };
        let text = format!("SELECT FROM {}.{}", quoted(&view.name.schema), quoted(&view.name.name));
        let explained = explain(&text, Mode::Simple, &principal, self, catalog, &NoNames);
        let inside = explained.statements.into_iter().flatten().filter(|reached| reached.in_view);
        let reaches: BTreeSet<QualifiedName> =
            inside.map(|reached| reached.relation).filter(|name| *name != view.name).collect();
        let covered = |name: &&QualifiedName| {
            let is_view = catalog
                .relation(&name.schema, &name.name)
                .is_some_and(|relation| relation.kind == RelationKind::View);
            is_view || self.entry(&name.schema, &name.name).is_some()
        };
        let uncovered = reaches.iter().filter(|name| !covered(name)).cloned().collect();
        ViewReach { view: view.name.clone(), reaches: reaches.into_iter().collect(), uncovered }
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
