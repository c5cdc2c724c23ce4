//! Whether a query level hands a demand of the outside through to a column of its own: nothing
//! between the two may see other tenants' rows (policy 3.3).

use std::collections::{BTreeMap, BTreeSet};

use super::level::{grouping_columns, key_column};
use super::{Demands, Unique};
use crate::catalog::{Relation, RelationKind};
use crate::ir::Name;
use crate::mutants::mutant;
use crate::resolve::{Col, Distinct, Expr, Grouping, Query, Select, SourceKind, Window};

/// The demands that pass what surrounds a query's core: no LIMIT, OFFSET, FETCH, locking clause.
pub(super) fn through(query: &Query<'_>, demands: &Demands) -> Demands {
    let limited = query.limit.is_some() || query.offset.is_some() || query.with_ties;
    let opaque =
        query.open || limited && !mutant!(LimitIsTransparent) || query.locks && !mutant!(LockIsTransparent);
    if opaque { Demands::new() } else { demands.clone() }
}

/// The column of the level that an output plainly is, if nothing in the level can see rows that the
/// output's value excludes.
pub(super) fn transparent(select: &Select<'_>, output: Col, unique: &Unique) -> Option<Col> {
    let col = &output;
    let nature = select.nature;
    let evaluates = (nature.set_returning || nature.volatile) && !mutant!(VolatileIsTransparent);
    if col.level != select.level || evaluates {
        return None;
    }
    let distinct = match &select.distinct {
        Distinct::No | Distinct::Yes => true,
        Distinct::On(keys) => keys.iter().any(|key| key_column(select, key) == Some(*col)),
    };
    let grouped = !select.group_by.is_empty();
    let groups = match (grouped, nature.aggregates || select.having.is_some()) {
        (false, false) => true,
        (false, true) => false,
        (true, _) => grouped_by(select, *col, unique),
    };
    let windows = !nature.windows && select.windows.is_empty()
        || !select.windows.is_empty() && all_partitioned_by(select, *col, unique);
    let distinct = distinct || mutant!(DistinctOnIsTransparent);
    let groups = groups || mutant!(AggregateIsTransparent);
    let windows = windows || mutant!(WindowIsTransparent);
    (distinct && groups && windows).then_some(*col)
}

/// GROUP BY includes the column, or a primary key that determines it.
fn grouped_by(select: &Select<'_>, col: Col, unique: &Unique) -> bool {
    let keys = grouping_columns(select);
    if keys.contains(&col) {
        return true;
    }
    let plain = select.group_by.iter().all(|item| matches!(item, Grouping::Key(_)));
    plain && key_among(select, &keys, col, unique)
}

/// A primary key that determines the column is among these.
fn key_among(select: &Select<'_>, keys: &BTreeSet<Col>, col: Col, unique: &Unique) -> bool {
    let source = select.from.sources.get(col.rel.0 as usize);
    let Some(SourceKind::Relation { relation, only }) = source.map(|source| &source.kind) else {
        return false;
    };
    determined(relation, *only, |column| keys.contains(&Col { level: col.level, rel: col.rel, column }))
        && unique.is_relied_on()
}

/// Whether a non-deferrable primary key is among the columns, and no child table can repeat it.
fn determined(relation: &Relation, only: bool, has: impl Fn(u32) -> bool) -> bool {
    let inherited = relation.has_children && relation.kind != RelationKind::PartitionedTable && !only;
    let Some(key) = relation.primary_key() else { return false };
    !inherited
        && key.columns.iter().all(|column| {
            column
                .name
                .as_deref()
                .and_then(|name| relation.columns.position(name))
                .and_then(|at| u32::try_from(at).ok())
                .is_some_and(&has)
        })
}

/// The PARTITION BY of every window includes the column: its own, or that of a window that it builds upon.
fn all_partitioned_by(select: &Select<'_>, col: Col, unique: &Unique) -> bool {
    let mut named: BTreeMap<&Name, &Window<'_>> = BTreeMap::new();
    for window in &select.windows {
        if let Some(name) = &window.name {
            named.entry(name).or_insert(window);
        }
    }
    // Each window is looked at once, however many build upon it.
    let mut known: BTreeMap<*const Window<'_>, bool> = BTreeMap::new();
    select.windows.iter().all(|window| {
        let mut chain = Vec::new();
        let mut current = Some(window);
        let found = loop {
            let Some(window) = current else { break false };
            let place = std::ptr::from_ref(window);
            // What comes back to itself has none.
            if let Some(found) = known.insert(place, false) {
                known.insert(place, found);
                break found;
            }
            chain.push(place);
            let keys: BTreeSet<Col> = window.partition_by.iter().filter_map(Expr::as_column).collect();
            if keys.contains(&col) || key_among(select, &keys, col, unique) {
                break true;
            }
            current = window.base.as_ref().and_then(|base| named.get(base).copied());
        };
        known.extend(chain.into_iter().map(|place| (place, found)));
        found
    })
}
