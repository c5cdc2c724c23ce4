//! Tenant columns that cannot be one, and what of a schema opens the exclusions of policy 1.

use super::Check;
use super::names::covers;
use crate::Family;
use crate::catalog::{Column, ForeignKey, KeyAction, PG_CATALOG, QualifiedName, Relation, RelationKind};
use crate::policy::{Entry, Place, Problem, listed};
use crate::rules::child_of_others;

impl Check<'_> {
    pub(super) fn tenancy(&mut self) {
        self.uncovered();
        for relation in self.catalog.relations().filter(|relation| has_entry(relation.kind)) {
            let (schema, name) = (&relation.name.schema, &relation.name.name);
            let Some(number) = self.policy.tenancy.index.first(schema, name) else { continue };
            let Some(rule) = self.policy.tenancy.rules.get(number) else { continue };
            let place = &rule.pattern.place;
            if let Some(child) = child_of_others(self.catalog, self.policy, relation) {
                let message = format!(
                    "{}: {} is read with it and belongs to tenants by another entry: both are out of reach there",
                    relation.name, child.name
                );
                self.warning(place, message);
            }
            let Some(tenant) = &rule.column else { continue };
            match relation.column(tenant) {
                None => {
                    let message = format!("{} has no column \"{tenant}\": it is out of reach", relation.name);
                    self.warning(place, message);
                }
                Some(column) => self.scoped(place, relation, column),
            }
        }
    }

    /// Relations that a role may use and that no line of `tenancy.tables` is about: made after the
    /// policy was written, as a rule.
    fn uncovered(&mut self) {
        for role in self.policy.roles.values().filter(|role| role.tenant_bound()) {
            for pattern in &role.relations.allow.written {
                let relations = self.catalog.relations().filter(|relation| has_entry(relation.kind));
                let names: Vec<String> = relations
                    .filter(|relation| covers(&pattern.what, relation))
                    .map(|relation| &relation.name)
                    .filter(|name| !role.relation_denied(&name.schema, &name.name))
                    .filter(|name| self.policy.entry(&name.schema, &name.name).is_none())
                    .map(ToString::to_string)
                    .collect();
                if !names.is_empty() {
                    let message = format!(
                        "no line of tenancy.tables is about {}: out of reach of tenants",
                        listed(&names)
                    );
                    let problem = Problem::warning(pattern.place.clone(), message);
                    let help = "name a tenant column, or shared: true, or take the relation out of the role";
                    self.problems.push(problem.help(help));
                }
            }
        }
    }

    fn scoped(&mut self, place: &Place, relation: &Relation, tenant: &Column) {
        let name = &relation.name;
        match &tenant.family {
            Family::Text | Family::Integer | Family::Uuid | Family::Enum(..) => {}
            Family::Boolean | Family::Other(..) | Family::Unknown => {
                let message = format!(
                    "{name}.{} has type {}, which no tenant column can have",
                    tenant.name, tenant.type_name
                );
                return self.error(place, message);
            }
        }
        if tenant.collation_deterministic == Some(false) {
            self.error(
                place,
                format!(
                    "{name}.{} has a nondeterministic collation: different texts are equal there",
                    tenant.name
                ),
            );
        }
        if tenant.generated {
            let message = format!("{name}.{} is generated: tenants can change no row", tenant.name);
            self.warning(place, message);
        }
        if relation.is_partition {
            return;
        }
        if !tenant.not_null && relation.kind != RelationKind::MaterializedView {
            self.warning(place, format!("{name}.{} can be null: such rows are nobody's", tenant.name));
        }
        let indexed = matches!(relation.kind, RelationKind::ForeignTable)
            || relation.index_leads.contains(&tenant.name);
        if !indexed {
            let message = format!(
                "{name} has no index that leads with \"{}\": timing tells of other tenants' rows",
                tenant.name
            );
            self.warning(place, message);
        }
        self.keys(place, relation, tenant);
        self.code(place, relation);
    }

    fn keys(&mut self, place: &Place, relation: &Relation, tenant: &Column) {
        let name = &relation.name;
        let has = |columns: &[crate::catalog::KeyColumn]| {
            columns.iter().any(|column| column.name.as_ref() == Some(&tenant.name))
        };
        let unique: Vec<&str> =
            relation.unique_keys.iter().filter(|key| !has(&key.columns)).map(|key| &*key.name).collect();
        if !unique.is_empty() {
            let message = format!(
                "{name}: unique without \"{}\", so a taken key of another tenant shows: {}",
                tenant.name,
                unique.join(", ")
            );
            self.warning(place, message);
        }
        for key in &relation.foreign_keys {
            let Some(crossing) = self.crosses(relation, key, tenant) else { continue };
            let what = if crossing.cascades {
                "and what happens to a referenced row happens to another tenant's"
            } else {
                "so it can point at another tenant's row"
            };
            let message = format!(
                "{name}: foreign key {} to {} lacks the tenant columns, {what}",
                key.name, key.references
            );
            self.warning(place, message);
        }
    }

    /// Whether a key leads from one scoped relation to another without pairing their tenants.
    fn crosses(&self, relation: &Relation, key: &ForeignKey, tenant: &Column) -> Option<Crossing> {
        let Some(Entry::Scoped { column }) = self.policy.entry(&key.references.schema, &key.references.name)
        else {
            return None;
        };
        let paired = key.pairs.iter().any(|pair| pair.column == tenant.name && pair.referenced == *column)
            || relation.proves(key, &tenant.name, column);
        let acts = |action| match action {
            KeyAction::NoAction | KeyAction::Restrict => false,
            KeyAction::Cascade | KeyAction::SetNull | KeyAction::SetDefault => true,
        };
        (!paired).then(|| Crossing { cascades: acts(key.on_delete) || acts(key.on_update) })
    }

    /// Code that runs with a write, and that no verdict looks into.
    fn code(&mut self, place: &Place, relation: &Relation) {
        let name = &relation.name;
        let rules = relation.rules.iter().filter(|rule| rule.enabled);
        let triggers = relation.triggers.iter().filter(|trigger| trigger.enabled);
        if !self.policy.trusts_rules(&name.schema, &name.name) {
            for rule in rules {
                let message =
                    format!("{name}: writes are refused, rewrite rule {} changes what they do", rule.name);
                self.warning(place, message);
            }
        }
        for trigger in triggers.filter(|trigger| own(&trigger.function)) {
            if !self.policy.trusts_trigger(&name.schema, &name.name, &trigger.name) {
                let message = format!(
                    "{name}: trigger {} runs {}, which no verdict looks into",
                    trigger.name, trigger.function
                );
                self.warning(place, message);
            }
        }
        let defaults = relation.columns.iter().flat_map(|column| &column.default_functions);
        let checks = relation.checks.iter().flat_map(|check| &check.functions);
        let mut called: Vec<String> =
            defaults.chain(checks).filter(|name| own(name)).map(ToString::to_string).collect();
        called.sort_unstable();
        called.dedup();
        if !called.is_empty() {
            let message =
                format!("{name}: defaults or checks call {}, which no verdict looks into", called.join(", "));
            self.warning(place, message);
        }
    }
}

/// How a foreign key crosses tenants.
struct Crossing {
    cascades: bool,
}

/// Entries are for what holds rows (policy 2).
fn has_entry(kind: RelationKind) -> bool {
    match kind {
        RelationKind::Table
        | RelationKind::PartitionedTable
        | RelationKind::MaterializedView
        | RelationKind::ForeignTable => true,
        RelationKind::View | RelationKind::Sequence => false,
    }
}

fn own(function: &QualifiedName) -> bool {
    &*function.schema != PG_CATALOG
}
