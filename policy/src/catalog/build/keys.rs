//! Unique and foreign keys: each hangs on its relation, and names columns that are there.

use super::super::format::{RawForeignKey, RawKeyAction, RawUniqueKey};
use super::super::{CatalogError, ForeignKey, Index, KeyAction, KeyColumn, KeyPair, Relation, UniqueKey};
use super::{Names, meaning, owner};

pub(super) fn unique_keys(
    raw: Vec<RawUniqueKey>,
    relations: &mut Index<Relation>,
    names: &mut Names,
) -> Result<(), CatalogError> {
    for (at, raw) in raw.into_iter().enumerate() {
        let relation = owner(relations, &names.qualified(raw.relation), "unique_keys", at)?;
        let columns = raw.columns.into_iter().map(|raw| KeyColumn {
            name: raw.name.map(|name| names.intern(name)),
            collation_deterministic: raw.collation_deterministic,
            collation_own: raw.collation_own,
            opclass_default: raw.opclass_default,
        });
        let columns: Box<[KeyColumn]> = columns.collect();
        let known = |column: &KeyColumn| {
            column.name.as_ref().is_none_or(|name| relation.columns.position(name).is_some())
        };
        if columns.is_empty() || !columns.iter().all(known) {
            return Err(meaning("unique_keys", at, "its columns are not the relation's"));
        }
        relation.unique_keys.push(UniqueKey {
            name: names.intern(raw.name),
            columns,
            constraint: raw.constraint,
            primary: raw.primary,
            valid: raw.valid,
            deferrable: raw.deferrable,
            partial: raw.partial,
            expressions: raw.expressions,
            nulls_not_distinct: raw.nulls_not_distinct,
        });
    }
    Ok(())
}

pub(super) fn foreign_keys(
    raw: Vec<RawForeignKey>,
    relations: &mut Index<Relation>,
    names: &mut Names,
) -> Result<(), CatalogError> {
    for (at, raw) in raw.into_iter().enumerate() {
        let count = raw.columns.len();
        if count == 0 || raw.referenced_columns.len() != count || raw.operators.len() != count {
            return Err(meaning("foreign_keys", at, "its columns and operators are not paired"));
        }
        let key = foreign_key(raw, names);
        let referenced = owner(relations, &key.references, "foreign_keys", at)?;
        if !key.pairs.iter().all(|pair| referenced.column(&pair.referenced).is_some()) {
            return Err(meaning("foreign_keys", at, "it references columns that are not there"));
        }
        let relation = owner(relations, &key.relation, "foreign_keys", at)?;
        if !key.pairs.iter().all(|pair| relation.column(&pair.column).is_some()) {
            return Err(meaning("foreign_keys", at, "its columns are not the relation's"));
        }
        relation.foreign_keys.push(key);
    }
    Ok(())
}

fn foreign_key(raw: RawForeignKey, names: &mut Names) -> ForeignKey {
    let pairs = raw.columns.into_iter().zip(raw.referenced_columns).zip(raw.operators);
    ForeignKey {
        name: names.intern(raw.name),
        relation: names.qualified(raw.relation),
        references: names.qualified(raw.references),
        pairs: pairs
            .map(|((column, referenced), operator)| KeyPair {
                column: names.intern(column),
                referenced: names.intern(referenced),
                operator: names.qualified(operator),
            })
            .collect(),
        deferrable: raw.deferrable,
        validated: raw.validated,
        enforced: raw.enforced,
        period: raw.period,
        on_delete: key_action(raw.on_delete),
        on_update: key_action(raw.on_update),
    }
}

const fn key_action(raw: RawKeyAction) -> KeyAction {
    match raw {
        RawKeyAction::NoAction => KeyAction::NoAction,
        RawKeyAction::Restrict => KeyAction::Restrict,
        RawKeyAction::Cascade => KeyAction::Cascade,
        RawKeyAction::SetNull => KeyAction::SetNull,
        RawKeyAction::SetDefault => KeyAction::SetDefault,
    }
}
