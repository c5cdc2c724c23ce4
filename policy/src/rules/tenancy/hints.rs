//! What a person reads: the denials of tenancy, with the smallest change that would pass.

use super::Prover;
use super::classes::ClassId;
use crate::catalog::Relation;
use crate::policy::OwnValue;
use crate::resolve::*;
use crate::{Code, Denial, Object, Rule};

impl<'c> Prover<'_, 'c> {
    /// A scoped relation that nothing restricts.
    pub(super) fn unrestricted(
        &self,
        level: LevelId,
        rel: Rel,
        source: &Source<'c>,
        relation: &Relation,
        class: ClassId,
        nullable: bool,
    ) -> Denial {
        let column = self.classes.column(class).map(|class| class.column.clone());
        let column = self.tenant_column_name(relation).or(column).unwrap_or_default();
        let title = source.name.as_deref().unwrap_or(&relation.name.name);
        let mismatch = self.mismatches.borrow().get(&(level, rel)).copied();
        let (code, at, message) = match mismatch {
            Some(at) => (
                Code::TenantMismatch,
                at.or(source.at),
                format!("\"{title}.{column}\" is compared with a value that is not the tenant's own"),
            ),
            None => (
                Code::TenantUnproven,
                source.at,
                format!("relation \"{}\" is not restricted to the tenant's rows", relation.name.name),
            ),
        };
        let place = if nullable { "ON condition of its join" } else { "WHERE clause" };
        let mut hint = match self.classes.own(class) {
            Some(own) => {
                format!("add \"{}.{} = {}\" to the {place}", quoted(title), quoted(&column), literal(own))
            }
            None => format!("add a condition on the tenant column to the {place}"),
        };
        if code == Code::TenantUnproven && self.is_referenced(relation) {
            hint.push_str(", or join it by a foreign key that contains the tenant column of both tables");
        }
        Denial::new(Rule::Tenancy, code, at, message).hint(hint).object(object(relation, Some(&column)))
    }

    /// The tenant has no value in that relation's tenant column.
    pub(super) fn no_own(&self, relation: &Relation, source: &Source<'c>) -> Denial {
        Denial::new(
            Rule::Tenancy,
            Code::TenantUnproven,
            source.at,
            format!(
                "relation \"{}\" has no rows of this tenant: the policy maps no value for it",
                relation.name.name
            ),
        )
        .object(object(relation, None))
    }

    pub(super) fn tenant_column_name(&self, relation: &Relation) -> Option<std::sync::Arc<str>> {
        match self.cx.policy().entry(&relation.name.schema, &relation.name.name)? {
            crate::policy::Entry::Scoped { column } => Some(column.clone()),
            crate::policy::Entry::Shared => None,
        }
    }

    /// Another relation of the statement has a foreign key to it.
    fn is_referenced(&self, relation: &Relation) -> bool {
        self.cx
            .bound
            .uses
            .relations
            .iter()
            .any(|used| used.relation.foreign_keys.iter().any(|key| key.references == relation.name))
    }
}

/// The error's object fields.
pub(super) fn object(relation: &Relation, column: Option<&str>) -> Object {
    Object {
        schema: Some(relation.name.schema.to_string()),
        table: Some(relation.name.name.to_string()),
        column: column.map(str::to_owned),
    }
}

/// A name as SQL writes it.
fn quoted(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// A tenant's value as SQL writes it.
pub(super) fn literal(own: &OwnValue) -> String {
    let text = own.text();
    match own {
        OwnValue::Integer(_) => text,
        OwnValue::Text(_) | OwnValue::Uuid(_) | OwnValue::Enum(_) => {
            format!("'{}'", text.replace('\'', "''"))
        }
    }
}
