//! Names and patterns that stand for nothing in the database.
//!
//! Something that was to be denied and does not exist by that name is an error: what it meant is
//! open. Anything else is a warning: less is allowed than was meant.

use super::Check;
use crate::catalog::{Relation, is_builtin_schema};
use crate::policy::pattern::{ColumnPattern, Pattern, Placed};
use crate::policy::role::Role;
use crate::policy::{Policy, Problem};

impl Check<'_> {
    pub(super) fn names(&mut self) {
        self.search_path();
        self.tables();
        for role in self.policy.roles.values() {
            self.relations(role);
            self.functions(role);
            self.denied_columns(role);
        }
        self.keys_and_trust();
    }

    fn search_path(&mut self) {
        let Policy { search_path, search_path_place, .. } = self.policy;
        for schema in search_path.iter().filter(|schema| !self.catalog.has_schema(schema)) {
            let message = format!("the database has no schema \"{schema}\"");
            self.problems.push(Problem::warning(search_path_place.clone(), message));
        }
    }

    fn tables(&mut self) {
        for rule in &self.policy.tenancy.rules {
            self.nothing_is_a_warning(&rule.pattern);
        }
    }

    fn relations(&mut self, role: &Role) {
        for pattern in role.relations.allow.written.iter().chain(&role.relations.write_shared.written) {
            self.nothing_is_a_warning(pattern);
        }
        for pattern in &role.relations.deny.written {
            if !self.some_relation(&pattern.what) {
                self.denies_nothing(&pattern.place, "relation", pattern.what.has_star());
            }
        }
    }

    fn nothing_is_a_warning(&mut self, pattern: &Placed<Pattern>) {
        if !self.some_relation(&pattern.what) {
            self.warning(&pattern.place, format!("\"{}\" matches no relation of the database", pattern.what));
        }
    }

    fn some_relation(&self, pattern: &Pattern) -> bool {
        match pattern.exact() {
            Some((schema, name)) => self.catalog.relation(schema, name).is_some(),
            None => {
                self.catalog.relations().any(|relation| covers(pattern, relation)) || pattern.may_be_builtin()
            }
        }
    }

    fn functions(&mut self, role: &Role) {
        for pattern in &role.functions.allow.written {
            if !self.some_function(&pattern.what) {
                let message = format!("\"{}\" matches no function of the database", pattern.what);
                self.warning(&pattern.place, message);
            }
        }
        for pattern in &role.functions.deny.written {
            if !self.some_function(&pattern.what) {
                self.denies_nothing(&pattern.place, "function", pattern.what.has_star());
            }
        }
    }

    fn some_function(&self, pattern: &Pattern) -> bool {
        match pattern.exact() {
            Some((schema, name)) => self.catalog.function_candidates(schema, name).next().is_some(),
            None => {
                let mut all = self.catalog.all_functions();
                all.any(|function| pattern.covers(&function.name.schema, &function.name.name))
                    || pattern.may_be_builtin()
            }
        }
    }

    fn denied_columns(&mut self, role: &Role) {
        for pattern in &role.columns.denied.written {
            if !self.some_column(&pattern.what) {
                self.denies_nothing(&pattern.place, "column", pattern.what.has_star());
            }
        }
    }

    pub(super) fn some_column(&self, pattern: &ColumnPattern) -> bool {
        self.columns(pattern).next().is_some() || pattern.table.may_be_builtin()
    }

    fn denies_nothing(&mut self, place: &crate::policy::Place, what: &str, star: bool) {
        let message = format!("denies nothing: the database has no such {what}");
        if star {
            self.warning(place, message);
        } else {
            self.error(place, message);
        }
    }

    fn keys_and_trust(&mut self) {
        let Policy { tenancy, trusted_rules, trusted_triggers, .. } = self.policy;
        for key in &tenancy.trust_keys {
            let [schema, table, column] = &key.what;
            let relation = self.catalog.relation(schema, table);
            let of_key = |relation: &Relation| {
                relation
                    .foreign_keys
                    .iter()
                    .flat_map(|key| &key.pairs)
                    .any(|pair| pair.column == (&**column).into())
            };
            if relation.is_none_or(|relation| !of_key(relation)) {
                self.warning(&key.place, "the database has no foreign key on such a column");
            } else if let Some(why) = relation.and_then(|relation| relation.distrust(column)) {
                self.error(&key.place, format!("cannot be trusted, and never carries: {why}"));
            } else {
                self.warning(
                    &key.place,
                    "trusted, not proven: a row that crosses tenants can be read through this key",
                );
            }
        }
        for rule in trusted_rules {
            let [schema, table] = &rule.what;
            if self.catalog.relation(schema, table).is_none_or(|relation| relation.rules.is_empty()) {
                self.warning(&rule.place, "the database has no rewrite rule on such a relation");
            }
        }
        for trigger in trusted_triggers {
            let [schema, table, name] = &trigger.what;
            let relation = self.catalog.relation(schema, table);
            if !relation
                .is_some_and(|relation| relation.triggers.iter().any(|trigger| *trigger.name == **name))
            {
                self.warning(&trigger.place, "the database has no such trigger");
            }
        }
    }
}

pub(super) fn covers(pattern: &Pattern, relation: &Relation) -> bool {
    pattern.covers(&relation.name.schema, &relation.name.name)
}

impl Pattern {
    /// The built-in schemas are not listed by the catalog; a pattern with a star that reaches into
    /// one matches something there, or is harmless.
    fn may_be_builtin(&self) -> bool {
        self.exact_schema().is_some_and(is_builtin_schema)
    }
}
