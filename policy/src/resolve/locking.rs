//! FOR UPDATE, FOR SHARE and kin: what they lock, inside derived tables and views too.

use super::Resolver;
use super::bound::*;
use super::scope::Found;
use super::uses::Access;
use crate::catalog::{Relation, RelationKind};
use crate::ir;
use crate::mutants::mutant;
use crate::{Code, Denial, Kind, Rule, SqlState};

impl<'c> Resolver<'c> {
    /// FOR UPDATE and kin: the sources that it names, or all, and what is inside of them.
    pub(super) fn locking(&mut self, locking: &ir::Locking) {
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
        let Some(scope) = self.scopes.last_mut() else { return };
        let mut locked = Vec::new();
        for rel in rels {
            if let Some(source) = scope.sources.get_mut(rel.0 as usize) {
                lock(source, &mut locked);
            }
        }
        for relation in locked {
            self.note_relation(relation, Access::Lock, at);
        }
    }
}

/// PostgreSQL's transformLockingClause: a derived table or a view gets the clause itself, and so all that
/// is in it. A CTE does not.
fn lock<'c>(source: &mut Source<'c>, locked: &mut Vec<&'c Relation>) {
    match &mut source.kind {
        SourceKind::Relation { relation, .. } => locked.push(relation),
        SourceKind::View { relation, query } => {
            debug_assert_eq!(relation.kind, RelationKind::View, "only views are expanded");
            locked.push(relation);
            lock_query(query, &mut Vec::new());
        }
        SourceKind::Derived(query) => lock_query(query, locked),
        SourceKind::Cte(_) | SourceKind::Functions(_) | SourceKind::Excluded(_) | SourceKind::Missing => {}
    }
}

fn lock_query<'c>(query: &mut Query<'c>, locked: &mut Vec<&'c Relation>) {
    query.locks = true;
    match &mut query.body {
        Body::Select(select) => select.from.sources.iter_mut().for_each(|source| {
            lock(source, locked);
            if let (true, SourceKind::Derived(inner)) = (mutant!(LockStopsInside), &mut source.kind) {
                inner.locks = false;
            }
        }),
        Body::Values(_) => {}
        Body::Set { left, right, .. } => {
            lock_query(left, locked);
            lock_query(right, locked);
        }
    }
}
