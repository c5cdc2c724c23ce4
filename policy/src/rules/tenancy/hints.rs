//! What a person reads: the denials of tenancy, with the smallest change that would pass.

use std::collections::BTreeSet;

use super::Prover;
use super::classes::{ClassId, Scope};
use super::joins::rels;
use super::write::TARGET;
use crate::catalog::{QualifiedName, Relation};
use crate::ir::JoinKind;
use crate::policy::OwnValue;
use crate::resolve::{From, Join, LevelId, Node, Rel, Source};
use crate::{Code, Denial, Object, Rule, Standing};

/// Where a condition on an occurrence can be written so that it restricts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    Where,
    /// ON of the join that may extend it with NULLs.
    On,
    /// ON of the MERGE.
    MergeOn,
    /// Nowhere but in a sub-select in its place.
    Inside,
}

/// How many denials and notes there were.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    denials: usize,
    reached: usize,
}

impl<'c> Prover<'_, 'c> {
    /// A scoped relation that nothing restricts.
    pub(super) fn unrestricted(
        &self,
        place: (LevelId, Rel),
        source: &Source<'c>,
        relation: &Relation,
        (column, class): (u32, ClassId),
        room: Room,
    ) -> Denial {
        let real = self.tenant_column_name(relation).unwrap_or_default();
        let title = source.name.as_deref().unwrap_or(&relation.name.name);
        let visible = source.column_name(column).unwrap_or(&real);
        let mismatch = self.mismatches.borrow().get(&place).copied();
        let (code, at, message) = match mismatch {
            Some(at) => (
                Code::TenantMismatch,
                at.or(source.at),
                format!("\"{title}.{visible}\" is compared with a value that is not the tenant's own"),
            ),
            None => (
                Code::TenantUnproven,
                source.at,
                format!("relation \"{}\" is not restricted to the tenant's rows", relation.name.name),
            ),
        };
        let QualifiedName { schema, name } = &relation.name;
        if !self.cx.role.allows_relation(schema, name) {
            // A view reads it. That it exists may be a secret (policy 5).
            let message = "what a view reads is not restricted to the tenant's rows";
            return Denial::new(Rule::Tenancy, code, at, message.to_owned());
        }
        let denial = Denial::new(Rule::Tenancy, code, at, message).object(object(relation, Some(&real)));
        let Some(own) = self.classes.own(class) else { return denial };
        let mut hint = match room {
            Room::Where | Room::On | Room::MergeOn => condition(title, visible, own, room),
            Room::Inside => {
                let path = format!("{}.{}", quoted(&relation.name.schema), quoted(&relation.name.name));
                let (real, own, title) = (quoted(&real), own.literal(), quoted(title));
                format!("write \"(SELECT * FROM {path} WHERE {real} = {own}) AS {title}\" in its place")
            }
        };
        if code == Code::TenantUnproven && self.is_referenced(relation) {
            hint.push_str(", or join it by a foreign key that contains the tenant column of both tables");
        }
        denial.hint(hint)
    }

    /// Where a condition on an occurrence would count.
    pub(super) fn room(&self, level: LevelId, from: &From<'c>, rel: Rel, nullable: &BTreeSet<Rel>) -> Room {
        match self.merges.borrow().get(&level) {
            Some(only_matched) if rel == TARGET || *only_matched => return Room::MergeOn,
            Some(_) => return Room::Inside,
            None => {}
        }
        if !nullable.contains(&rel) {
            return Room::Where;
        }
        match from.items.iter().find_map(|node| nearest_join(node, rel)) {
            Some(join) if join.on.is_some() && filters(join, rel) => Room::On,
            Some(_) | None => Room::Inside,
        }
    }

    pub(super) fn told(&self) -> Told {
        Told { denials: self.denials.borrow().len(), reached: self.reached.borrow().len() }
    }

    /// What was said of relations inside a view since then: the condition belongs where the client
    /// names the view, if the view shows the tenant column.
    pub(super) fn hint_at_view(&self, told: Told, source: &Source<'c>, view: &Relation, room: Room) {
        let hint = |schema: &str, name: &str| -> Option<String> {
            let relation = self.cx.world.catalog.relation(schema, name)?;
            let Scope::Scoped { class, .. } = self.classes.scope(self.cx, relation) else { return None };
            let column = view.columns.position(&self.tenant_column_name(relation)?)?;
            let visible = source.column_name(u32::try_from(column).ok()?)?;
            let title = source.name.as_deref().unwrap_or(&view.name.name);
            let own = self.classes.own(class).filter(|_| room != Room::Inside)?;
            Some(condition(title, visible, own, room))
        };
        for denial in self.denials.borrow_mut().iter_mut().skip(told.denials) {
            if let (Rule::Tenancy, Some(schema), Some(name)) =
                (denial.rule, &denial.object.schema, &denial.object.table)
            {
                denial.hint = hint(schema, name);
            }
        }
        for reached in self.reached.borrow_mut().iter_mut().skip(told.reached) {
            if let Standing::Unrestricted { missing } = &mut reached.standing {
                *missing = hint(&reached.relation.schema, &reached.relation.name);
            }
        }
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

/// `add "o.tenant_id = 'acme'" to the WHERE clause`.
fn condition(title: &str, column: &str, own: &OwnValue, room: Room) -> String {
    let place = match room {
        Room::Where | Room::Inside => "WHERE clause",
        Room::On => "ON condition of its join",
        Room::MergeOn => "ON condition of the MERGE",
    };
    format!("add \"{}.{} = {}\" to the {place}", quoted(title), quoted(column), own.literal())
}

/// The innermost join that an occurrence stands in.
fn nearest_join<'n, 'c>(node: &'n Node<'c>, rel: Rel) -> Option<&'n Join<'c>> {
    match node {
        Node::Leaf(_) => None,
        Node::Join(join) if rels(node).contains(rel) => {
            let inside = |node: &'n Node<'c>| match node {
                Node::Leaf(_) => None,
                Node::Join(_) => nearest_join(node, rel),
            };
            inside(&join.left).or_else(|| inside(&join.right)).or(Some(join))
        }
        Node::Join(_) => None,
    }
}

/// Whether the join's condition filters the occurrence.
fn filters(join: &Join<'_>, rel: Rel) -> bool {
    match join.kind {
        JoinKind::Inner => true,
        JoinKind::Left => rels(&join.right).contains(rel),
        JoinKind::Right => rels(&join.left).contains(rel),
        JoinKind::Full => false,
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
