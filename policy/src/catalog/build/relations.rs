//! Relations and what hangs on them but keys.

use super::super::format::{
    RawColumn, RawIdentity, RawRelation, RawRelationKind, RawRule, RawRuleEvent, RawTrigger, RawTriggerEvent,
    RawTriggerLevel, RawTriggerTiming,
};
use super::super::{
    CatalogError, Column, Columns, Identity, Index, Listing, OwnedBy, QualifiedName, Relation, RelationId,
    RelationKind, RewriteRule, RuleEvent, Trigger, TriggerEvent, TriggerTiming, TypeId, ViewDefinition,
};
use super::types::{self, Types, type_id};
use super::{Names, meaning, owner};
use crate::keyed::HashMap;

pub(super) fn relations(
    raw: Vec<RawRelation>,
    types: &Types,
    names: &mut Names,
) -> Result<Index<Relation>, CatalogError> {
    let mut relations = Index::default();
    for (at, raw) in raw.into_iter().enumerate() {
        let relation = relation(raw, types, names);
        let width = relation.columns.len();
        if relation.columns.distinct() != width {
            return Err(meaning("relations", at, "two columns have one name"));
        }
        let name = relation.name.clone();
        let there = relations.entry(&name, || relation).is_none_or(|(_, there)| there);
        if there {
            return Err(meaning("relations", at, format!("{name} is there twice")));
        }
    }
    Ok(relations)
}

fn relation(raw: RawRelation, types: &Types, names: &mut Names) -> Relation {
    let columns = raw.columns.into_iter().map(|raw| column(raw, types, names)).collect();
    Relation {
        id: RelationId(raw.oid),
        name: QualifiedName { schema: names.intern(raw.schema), name: names.intern(raw.name) },
        kind: match raw.kind {
            RawRelationKind::Table => RelationKind::Table,
            RawRelationKind::PartitionedTable => RelationKind::PartitionedTable,
            RawRelationKind::View => RelationKind::View,
            RawRelationKind::MaterializedView => RelationKind::MaterializedView,
            RawRelationKind::ForeignTable => RelationKind::ForeignTable,
            RawRelationKind::Sequence => RelationKind::Sequence,
        },
        listing: Listing::User,
        columns: Columns::new(columns),
        has_children: raw.has_children,
        is_partition: raw.is_partition,
        parents: names.list(raw.inherits),
        row_security: raw.row_security,
        view_definition: raw.view_definition.map(ViewDefinition::new),
        checks: names.checks(raw.checks),
        owned_by: raw
            .owned_by
            .map(|raw| OwnedBy { relation: names.qualified(raw.relation), column: names.intern(raw.column) }),
        index_leads: names.interned(raw.index_leads),
        unique_keys: Vec::new(),
        foreign_keys: Vec::new(),
        rules: Vec::new(),
        triggers: Vec::new(),
    }
}

fn column(raw: RawColumn, types: &Types, names: &mut Names) -> Column {
    let type_name = names.qualified(raw.ty);
    let ty = type_id(types, &type_name);
    Column {
        name: names.intern(raw.name),
        number: raw.number,
        family: types::family(types, &type_name),
        ty: if ty == TypeId::NONE { TypeId(raw.type_oid) } else { ty },
        type_name,
        typmod: raw.typmod,
        not_null: raw.not_null,
        default: raw.default.map(Into::into),
        default_functions: names.list(raw.default_functions),
        generated: raw.generated.is_some(),
        identity: raw.identity.map(|identity| match identity {
            RawIdentity::Always => Identity::Always,
            RawIdentity::ByDefault => Identity::ByDefault,
        }),
        collation: raw.collation.map(|name| names.qualified(name)),
        collation_deterministic: raw.collation_deterministic,
        listing: Listing::User,
    }
}

/// The relations by each of their parents.
pub(super) fn children(relations: &Index<Relation>) -> HashMap<QualifiedName, Vec<QualifiedName>> {
    let mut children: HashMap<QualifiedName, Vec<QualifiedName>> = HashMap::default();
    for relation in relations.iter() {
        for parent in &relation.parents {
            children.entry(parent.clone()).or_default().push(relation.name.clone());
        }
    }
    children
}

pub(super) fn rules(
    raw: Vec<RawRule>,
    relations: &mut Index<Relation>,
    names: &mut Names,
) -> Result<(), CatalogError> {
    for (at, raw) in raw.into_iter().enumerate() {
        let relation = owner(relations, &names.qualified(raw.relation), "rules", at)?;
        relation.rules.push(RewriteRule {
            name: names.intern(raw.name),
            event: match raw.event {
                RawRuleEvent::Select => RuleEvent::Select,
                RawRuleEvent::Insert => RuleEvent::Insert,
                RawRuleEvent::Update => RuleEvent::Update,
                RawRuleEvent::Delete => RuleEvent::Delete,
            },
            instead: raw.instead,
            enabled: raw.enabled,
        });
    }
    Ok(())
}

pub(super) fn triggers(
    raw: Vec<RawTrigger>,
    relations: &mut Index<Relation>,
    names: &mut Names,
) -> Result<(), CatalogError> {
    for (at, raw) in raw.into_iter().enumerate() {
        let relation = owner(relations, &names.qualified(raw.relation), "triggers", at)?;
        let events = raw.events.into_iter().map(|event| match event {
            RawTriggerEvent::Insert => TriggerEvent::Insert,
            RawTriggerEvent::Update => TriggerEvent::Update,
            RawTriggerEvent::Delete => TriggerEvent::Delete,
            RawTriggerEvent::Truncate => TriggerEvent::Truncate,
        });
        relation.triggers.push(Trigger {
            name: names.intern(raw.name),
            function: names.qualified(raw.function),
            events: events.collect(),
            row: match raw.level {
                RawTriggerLevel::Row => true,
                RawTriggerLevel::Statement => false,
            },
            timing: match raw.timing {
                RawTriggerTiming::Before => TriggerTiming::Before,
                RawTriggerTiming::After => TriggerTiming::After,
                RawTriggerTiming::Instead => TriggerTiming::Instead,
            },
            enabled: raw.enabled,
        });
    }
    Ok(())
}
