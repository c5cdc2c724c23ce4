//! Relations: in reach, and what may be done to them (policy 4.4, 3.4, 3.6).

use super::{Context, setting_row};
use crate::catalog::{Catalog, Listing, Relation, RelationKind, RuleEvent, is_builtin_schema};
use crate::ir::At;
use crate::mutants::mutant;
use crate::policy::{CatalogRule, Entry};
use crate::resolve::{Access, RelationUse};
use crate::{Code, Denial, Kind, Object, Policy, Rule, SqlState};

pub(super) fn judge(cx: &Context<'_, '_>, denials: &mut Vec<Denial>) {
    for used in &cx.bound.uses.relations {
        let denial = if is_builtin_schema(&used.relation.name.schema) {
            catalog(cx, used)
        } else {
            reach(cx, used).or_else(|| change(cx, used)).or_else(|| sample(cx, used))
        };
        denials.extend(denial);
    }
}

/// A system catalog.
fn catalog(cx: &Context<'_, '_>, used: &RelationUse<'_>) -> Option<Denial> {
    let relation = used.relation;
    let name = &relation.name.name;
    let refuse = |message: String| {
        Some(Denial::new(Rule::Relations, Code::CatalogNotAllowed, used.at, message).object(object(relation)))
    };
    match used.access {
        Access::Write(_) | Access::Lock => {
            return refuse(format!("catalog \"{name}\" is for reading only"));
        }
        Access::Read => {}
    }
    match (cx.role.system_catalogs, relation.listing) {
        (CatalogRule::Allow, _) | (CatalogRule::Introspection, Listing::Introspection) => None,
        (CatalogRule::Introspection, Listing::Unlisted)
            if &**name == "pg_settings" && setting_row::is_all(cx) =>
        {
            None
        }
        (CatalogRule::Introspection, Listing::User | Listing::Standard | Listing::Unlisted) => {
            refuse(format!("catalog \"{name}\" is not allowed"))
        }
        (CatalogRule::Deny, _) => Some(Denial::new(
            Rule::Relations,
            Code::CatalogNotAllowed,
            used.at,
            format!("relation \"{name}\" does not exist or is not allowed"),
        )),
    }
}

/// A relation of the user's: allowed, and with a place in tenancy.
fn reach(cx: &Context<'_, '_>, used: &RelationUse<'_>) -> Option<Denial> {
    let relation = used.relation;
    let (schema, name) = (&*relation.name.schema, &*relation.name.name);
    if !used.in_view && !cx.role.allows_relation(schema, name) {
        return Some(refuse(cx, relation, used.at));
    }
    if denied_child(cx, relation) {
        return Some(refuse(cx, relation, used.at));
    }
    cx.tenant?;
    if relation.kind == RelationKind::View && relation.view_definition.is_some() {
        return None;
    }
    let known = match cx.policy().entry(schema, name) {
        Some(Entry::Scoped { column }) => relation.column(column).is_some(),
        Some(Entry::Shared) => true,
        None => false,
    };
    let readable = known && relation.kind != RelationKind::Sequence;
    if !readable {
        return Some(refuse(cx, relation, used.at));
    }
    let child = child_of_others(cx.catalog(), cx.policy(), relation);
    child.filter(|_| !mutant!(ChildOfOthersIgnored)).map(|_| {
        let message = format!("\"{name}\" holds rows of a child that belong to tenants by another entry");
        Denial::new(Rule::Relations, Code::RelationNotAllowed, used.at, message).object(object(relation))
    })
}

/// What may not be read by its own name is not read through its parent either.
fn denied_child(cx: &Context<'_, '_>, relation: &Relation) -> bool {
    cx.catalog()
        .descendants(relation)
        .iter()
        .any(|child| cx.role.relation_denied(&child.name.schema, &child.name.name))
}

/// The first relation whose rows come with its parent's, and belong to tenants by a column that the
/// parent's entry does not name.
pub(crate) fn child_of_others<'c>(
    catalog: &'c Catalog,
    policy: &Policy,
    relation: &Relation,
) -> Option<&'c Relation> {
    let entry = |relation: &Relation| policy.entry(&relation.name.schema, &relation.name.name);
    let own = entry(relation);
    catalog.descendants(relation).into_iter().find(|child| match (entry(child), own) {
        (Some(Entry::Scoped { column }), Some(Entry::Scoped { column: parents })) => column != parents,
        (Some(Entry::Scoped { .. }), Some(Entry::Shared) | None) => true,
        (Some(Entry::Shared) | None, _) => false,
    })
}

/// A change or a lock.
fn change(cx: &Context<'_, '_>, used: &RelationUse<'_>) -> Option<Denial> {
    let relation = used.relation;
    let kind = match used.access {
        Access::Read => return None,
        Access::Write(kind) => Some(kind),
        Access::Lock => None,
    };
    let name = &relation.name.name;
    let (rule, code) = (Rule::Relations, Code::Unsupported);
    match relation.kind {
        RelationKind::Table | RelationKind::PartitionedTable | RelationKind::ForeignTable => {}
        RelationKind::View | RelationKind::MaterializedView | RelationKind::Sequence => {
            let what = if kind.is_some() { "changing" } else { "locking" };
            let message = format!("{what} \"{name}\" is not supported: it is no table");
            return Some(Denial::new(rule, code, used.at, message).object(object(relation)));
        }
    }
    cx.tenant?;
    let (schema, table) = (&*relation.name.schema, &*relation.name.name);
    match cx.policy().entry(schema, table) {
        Some(Entry::Shared) if !cx.role.writes_shared(schema, table) => Some(
            Denial::new(
                rule,
                Code::RelationNotAllowed,
                used.at,
                format!("relation \"{name}\" is shared by all tenants and may only be read"),
            )
            .object(object(relation)),
        ),
        Some(Entry::Shared | Entry::Scoped { .. }) | None => {
            let rewritten = kind.is_some_and(|kind| rewrites(relation, kind));
            (rewritten && !cx.policy().trusts_rules(schema, table)).then(|| {
                let message =
                    format!("relation \"{name}\" has a rewrite rule that the policy does not trust");
                Denial::new(rule, code, used.at, message).object(object(relation))
            })
        }
    }
}

/// Which rows of a tenant are in a sample depends on where the others' lie (policy 3.3).
fn sample(cx: &Context<'_, '_>, used: &RelationUse<'_>) -> Option<Denial> {
    cx.tenant.filter(|_| used.sampled)?;
    let relation = used.relation;
    let scoped =
        cx.is_scoped(relation) || cx.catalog().descendants(relation).iter().any(|child| cx.is_scoped(child));
    scoped.then(|| {
        let message =
            format!("TABLESAMPLE of \"{}\" is not supported: its rows belong to tenants", relation.name.name);
        Denial::new(Rule::Relations, Code::Unsupported, used.at, message).object(object(relation))
    })
}

/// A rewrite rule changes what a statement of that kind does.
fn rewrites(relation: &Relation, kind: Kind) -> bool {
    relation.rules.iter().filter(|rule| rule.enabled).any(|rule| {
        kind == Kind::Merge
            || match rule.event {
                RuleEvent::Select => false,
                RuleEvent::Insert => kind == Kind::Insert,
                // An upsert updates.
                RuleEvent::Update => matches!(kind, Kind::Update | Kind::Insert),
                RuleEvent::Delete => kind == Kind::Delete,
            }
    })
}

/// Out of reach; where existence is a secret, in the words for what does not exist.
fn refuse(cx: &Context<'_, '_>, relation: &Relation, at: At) -> Denial {
    let name = &relation.name;
    match cx.role.system_catalogs {
        CatalogRule::Deny => Denial::new(
            Rule::Relations,
            Code::RelationNotAllowed,
            at,
            format!("relation \"{name}\" does not exist or is not allowed"),
        )
        .sqlstate(SqlState::INSUFFICIENT_PRIVILEGE),
        CatalogRule::Introspection | CatalogRule::Allow => Denial::new(
            Rule::Relations,
            Code::RelationNotAllowed,
            at,
            format!("relation \"{name}\" is not allowed"),
        )
        .object(object(relation)),
    }
}

/// The error's object fields.
pub(super) fn object(relation: &Relation) -> Object {
    Object {
        schema: Some(relation.name.schema.to_string()),
        table: Some(relation.name.name.to_string()),
        column: None,
    }
}
