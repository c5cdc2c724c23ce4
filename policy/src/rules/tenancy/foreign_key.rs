//! The foreign keys of the catalog that carry, and what has to be compared for one.

use super::Prover;
use super::classes::Scope;
use super::ends::End;
use crate::Family;
use crate::catalog::{Column, ForeignKey, PG_CATALOG, Relation, RelationKind};
use crate::mutants::mutant;

/// Columns of a referencing row that are compared with columns of a referenced one.
#[derive(Debug, Default)]
pub(super) struct Compared<'c> {
    pub(super) pairs: Vec<Pair<'c>>,
}

/// A column of a referencing row that is compared with one of a referenced row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'c> {
    pub(super) from: End<'c>,
    pub(super) to: End<'c>,
    /// The referenced column's number where the comparison is looked at from: its source's, or the
    /// sub-select's output.
    pub(super) by: u32,
}

impl<'c> Prover<'_, 'c> {
    /// A foreign key that carries, all of whose other columns are compared: an end of each side, and
    /// the referenced side's columns, by their numbers.
    pub(super) fn carried_by_key(&self, compared: &Compared<'c>) -> Option<(End<'c>, End<'c>, Vec<u32>)> {
        let Pair { from, to, .. } = *compared.pairs.first()?;
        let (referencing, referenced) = (from.origin.relation, to.origin.relation);
        let keys = referencing.foreign_keys.iter().filter(|key| key.references == referenced.name);
        let mut carrying = keys.filter_map(|key| self.rest_of_key(referencing, referenced, key));
        carrying.find_map(|rest| {
            let by: Option<Vec<u32>> = rest.iter().map(|pair| compared.column(*pair)).collect();
            match by {
                None if mutant!(KeyNotCompared) => Some((from, to, Vec::new())),
                by => by.filter(|_| self.unique.is_relied_on()).map(|by| (from, to, by)),
            }
        })
    }

    /// The pairs of a key beside the tenant columns, if it carries.
    fn rest_of_key(
        &self,
        referencing: &Relation,
        referenced: &Relation,
        key: &ForeignKey,
    ) -> Option<Vec<(u32, u32)>> {
        let cx = self.cx;
        let (Scope::Scoped { column: own, class }, Scope::Scoped { column: other, class: other_class }) =
            (self.classes.scope(cx, referencing), self.classes.scope(cx, referenced))
        else {
            return None;
        };
        let inherited =
            |relation: &Relation| relation.has_children && relation.kind != RelationKind::PartitionedTable;
        // Checked against the newest rows, where a repeatable snapshot still shows what stood there before (ri_triggers.c).
        let checked_ahead = referenced.kind == RelationKind::PartitionedTable;
        let sound = key.holds()
            && class == other_class
            && !inherited(referencing)
            && !inherited(referenced)
            && !checked_ahead
            && key.pairs.iter().all(|pair| &*pair.operator.schema == PG_CATALOG);
        if !sound {
            return None;
        }
        let mut pairs = Vec::with_capacity(key.pairs.len());
        for pair in &key.pairs {
            let column = referencing.columns.position(&pair.column)?;
            let other = referenced.columns.position(&pair.referenced)?;
            if !same_values(referencing, column, referenced, other) {
                return None;
            }
            pairs.push((u32::try_from(column).ok()?, u32::try_from(other).ok()?));
        }
        let paired = pairs.contains(&(own, other)) || mutant!(KeyWithoutTenant);
        let name = &referencing.name;
        let trusted = match &*key.pairs {
            [pair] => {
                cx.policy().trusts_key(&name.schema, &name.name, &pair.column)
                    && (referencing.distrust(&pair.column).is_none() || mutant!(TrustedByEveryName))
            }
            _ => false,
        };
        pairs.retain(|pair| *pair != (own, other));
        let unique = unique(referenced, &pairs) || mutant!(KeyWithoutUnique);
        ((paired || trusted) && !pairs.is_empty() && unique).then_some(pairs)
    }
}

impl Compared<'_> {
    /// The referenced side's number of a pair that is compared.
    fn column(&self, (column, referenced): (u32, u32)) -> Option<u32> {
        self.pairs
            .iter()
            .find(|pair| pair.from.origin.column == column && pair.to.origin.column == referenced)
            .map(|pair| pair.by)
    }
}

/// Whether equal columns of a key are equal for every operator that may compare them: of one type, or
/// of one family whose values are compared alike.
fn same_values(referencing: &Relation, column: usize, referenced: &Relation, other: usize) -> bool {
    let (Some(column), Some(other)) = (referencing.columns.get(column), referenced.columns.get(other)) else {
        return false;
    };
    // The join may compare by a collation of the one, under which several rows match one key.
    let bytewise = |column: &Column| column.collation_deterministic != Some(false);
    if !(bytewise(column) && bytewise(other) || mutant!(KeyCollationIgnored)) {
        return false;
    }
    let alike = match column.family {
        Family::Text | Family::Integer => column.family == other.family,
        Family::Uuid | Family::Enum(..) | Family::Boolean | Family::Other(..) | Family::Unknown => false,
    };
    column.ty == other.ty || alike
}

/// Whether the referenced columns of these pairs are a unique key by themselves.
fn unique(relation: &Relation, pairs: &[(u32, u32)]) -> bool {
    relation.unique_keys.iter().filter(|key| key.is_plain()).any(|key| {
        key.columns.iter().all(|column| {
            column
                .name
                .as_deref()
                .and_then(|name| relation.columns.position(name))
                .is_some_and(|at| pairs.iter().any(|(_, referenced)| *referenced as usize == at))
        })
    })
}
