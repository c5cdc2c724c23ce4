//! Masks on columns that are not there, or that cannot carry them.

use super::Check;
use super::names::covers;
use crate::catalog::{Column, Relation, TypeKind};
use crate::policy::pattern::ColumnPattern;
use crate::policy::{ColumnRule, Role};
use crate::{Family, Mask};

impl<'a> Check<'a> {
    pub(super) fn masks(&mut self) {
        for role in self.policy.roles.values() {
            self.masks_of(role);
        }
    }

    fn masks_of(&mut self, role: &Role) {
        for (pattern, mask) in role.columns.masked.written.iter().zip(&role.columns.masks) {
            if !self.some_column(&pattern.what) {
                self.error(&pattern.place, "masks nothing: the database has no such column");
            }
            let columns: Vec<_> = self.columns(&pattern.what).collect();
            for (relation, column) in columns {
                let name = format!("{}.{}", relation.name, column.name);
                if needs_text(&mask.what) && !self.is_text(column) {
                    let message = format!(
                        "{name} has type {}, which this kind of mask cannot be for",
                        column.type_name
                    );
                    self.error(&pattern.place, message);
                }
                let (schema, table) = (&relation.name.schema, &relation.name.name);
                if role.column(schema, table, &column.name) == ColumnRule::Denied {
                    self.warning(&pattern.place, format!("never used: {name} is denied to this role"));
                }
            }
        }
    }

    /// The columns that a pattern stands for, outside the built-in schemas.
    pub(super) fn columns<'p>(
        &self,
        pattern: &'p ColumnPattern,
    ) -> impl Iterator<Item = (&'a Relation, &'a Column)> + use<'a, 'p> {
        let relations = self.catalog.relations().filter(|relation| covers(&pattern.table, relation));
        relations.flat_map(|relation| {
            let columns = relation.columns.iter();
            columns
                .filter(|column| pattern.covers(&relation.name.schema, &relation.name.name, &column.name))
                .map(move |column| (relation, column))
        })
    }

    /// Its values are texts; of a domain, those below it.
    fn is_text(&self, column: &Column) -> bool {
        let mut ty = column.ty;
        for _ in 0..DOMAINS_DEEP_MAX {
            let Some(found) = self.catalog.type_of(ty) else { return false };
            let TypeKind::Domain { base, .. } = found.kind else {
                return found.family == Family::Text || is_blank_padded(&found.family);
            };
            ty = base;
        }
        false
    }
}

fn is_blank_padded(family: &Family) -> bool {
    matches!(family, Family::Other(schema, name) if &**schema == "pg_catalog" && &**name == "bpchar")
}

fn needs_text(mask: &Mask) -> bool {
    match mask {
        Mask::Null => false,
        Mask::Fixed(_) | Mask::Partial { .. } | Mask::Hash | Mask::Token => true,
    }
}

/// Domains over domains that are followed.
const DOMAINS_DEEP_MAX: usize = 32;
