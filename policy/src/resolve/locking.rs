//! FOR UPDATE, FOR SHARE and kin: what they lock, inside derived tables and views too.

use super::Resolver;
use super::bound::*;
use super::scope::Found;
use super::uses::Access;
use crate::catalog::RelationKind;
use crate::ir;
use crate::{Code, Denial, Kind, Rule, SqlState};

impl<'c> Resolver<'c> {
    /// FOR UPDATE and kin: the sources that it names.
    pub(super) fn locking(&mut self, locking: &ir::Locking) -> Vec<Rel> {
        let at = self.at(locking.at);
        self.uses.kinds.push((Kind::Update, at));
        let mut rels = Vec::new();
        if locking.of.is_empty() {
            let count = self.scopes.last().map_or(0, |scope| scope.sources.len());
            rels.extend((0..count).filter_map(|rel| u32::try_from(rel).ok()).map(Rel));
        }
        for named in &locking.of {
            let name = named.path.parts.last().cloned().unwrap_or_default();
            let found = self.scopes.last().and_then(|scope| match scope.item(None, &name) {
                Found::One(item) => match item.what {
                    super::scope::What::Source(rel) => Some(rel),
                    super::scope::What::Join(_) | super::scope::What::Unknown => None,
                },
                Found::Nothing | Found::Several | Found::Forbidden => None,
            });
            match found {
                Some(rel) => rels.push(rel),
                None => {
                    let place = self.at(named.path.at);
                    let message =
                        format!("relation \"{name}\" in FOR UPDATE clause not found in FROM clause");
                    self.deny(
                        Denial::new(Rule::Relations, Code::RelationUnknown, place, message)
                            .sqlstate(SqlState::UNDEFINED_TABLE),
                    );
                }
            }
        }
        self.note_locks(&rels, at);
        rels
    }

    pub(super) fn note_locks(&mut self, rels: &[Rel], at: ir::At) {
        let Some(scope) = self.scopes.last() else { return };
        let mut locked = Vec::new();
        for source in rels.iter().filter_map(|rel| scope.source(*rel)) {
            locked_relations(source, &mut locked);
        }
        for relation in locked {
            self.note_relation(relation, Access::Lock, at);
        }
    }
}

/// What FOR UPDATE over a source locks, inside derived tables and views too.
fn locked_relations<'c>(source: &Source<'c>, locked: &mut Vec<&'c crate::catalog::Relation>) {
    match &source.kind {
        SourceKind::Relation { relation, .. } => locked.push(relation),
        SourceKind::View { relation, .. } => {
            debug_assert_eq!(relation.kind, RelationKind::View, "only views are expanded");
            locked.push(relation);
        }
        SourceKind::Derived(query) => locked_in_query(query, locked),
        SourceKind::Cte(_) | SourceKind::Functions(_) | SourceKind::Excluded(_) | SourceKind::Missing => {}
    }
}

fn locked_in_query<'c>(query: &Query<'c>, locked: &mut Vec<&'c crate::catalog::Relation>) {
    match &query.body {
        Body::Select(select) => {
            select.from.sources.iter().for_each(|source| locked_relations(source, locked));
        }
        Body::Values(_) => {}
        Body::Set { left, right, .. } => {
            locked_in_query(left, locked);
            locked_in_query(right, locked);
        }
    }
}
