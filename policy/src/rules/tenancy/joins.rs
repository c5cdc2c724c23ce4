//! Joins: for which occurrences a condition is a filter (policy 3.2), and keys that carry (3.1).

use std::collections::BTreeSet;

use super::restriction::{Edge, Implied};
use super::{Prover, classes::Scope};
use crate::catalog::{ForeignKey, PG_CATALOG, Relation, RelationKind};
use crate::ir::JoinKind;
use crate::mutants::mutant;
use crate::resolve::*;

/// A condition and the occurrences that it filters.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) implied: Implied,
    pub(super) filters: BTreeSet<Rel>,
}

/// What a level's FROM tree says.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) conditions: Vec<Condition>,
    /// Occurrences that a join may extend with NULLs.
    pub(super) nullable: BTreeSet<Rel>,
}

impl<'c> Prover<'_, 'c> {
    /// The conditions of a FROM tree. `strict` are occurrences that a condition above the tree
    /// rejects where they are NULL: an outer join turns into what that leaves of it.
    pub(super) fn tree(&self, level: LevelId, nodes: &[Node<'c>], strict: &BTreeSet<Rel>) -> Tree {
        let mut tree = Tree::default();
        for node in nodes {
            self.node(level, node, strict, &mut tree);
        }
        tree
    }

    fn node(&self, level: LevelId, node: &Node<'c>, strict: &BTreeSet<Rel>, tree: &mut Tree) {
        let join = match node {
            Node::Leaf(_) => return,
            Node::Join(join) => join,
        };
        let (left, right) = (rels(&join.left), rels(&join.right));
        let kind = reduced(join.kind, &left, &right, strict);
        let filters: BTreeSet<Rel> = match kind {
            JoinKind::Inner => left.union(&right).copied().collect(),
            JoinKind::Left if mutant!(LeftOnFiltersBoth) => left.union(&right).copied().collect(),
            JoinKind::Full if mutant!(FullOnCounts) => left.union(&right).copied().collect(),
            JoinKind::Right if mutant!(RightAsLeft) => right.clone(),
            JoinKind::Left => right.clone(),
            JoinKind::Right => left.clone(),
            JoinKind::Full => BTreeSet::new(),
        };
        match kind {
            JoinKind::Inner => {}
            JoinKind::Left => tree.nullable.extend(&right),
            JoinKind::Right => tree.nullable.extend(&left),
            JoinKind::Full => tree.nullable.extend(left.union(&right)),
        }
        let mut on: Vec<Implied> = join.on.iter().map(|on| self.implied(on, true)).collect();
        on.extend(
            join.using.iter().filter(|pair| pair.builtin).map(|pair| self.equal(&pair.left, &pair.right)),
        );
        // What this join's own condition rejects counts below it, on the sides that it filters.
        let mut below = strict.clone();
        for implied in &on {
            if let Implied::Known(known) = implied {
                let here = known.strict.iter().filter(|(at, _)| *at == level).map(|(_, rel)| *rel);
                below.extend(here.filter(|rel| filters.contains(rel)));
            }
        }
        tree.conditions.extend(on.into_iter().map(|implied| Condition { implied, filters: filters.clone() }));
        self.node(level, &join.left, &below, tree);
        self.node(level, &join.right, &below, tree);
    }

    /// The edges along which foreign keys carry T, from the referencing occurrence to the
    /// referenced one, given the conditions that compare the rest of the key.
    pub(super) fn key_edges(
        &self,
        level: LevelId,
        sources: &[Source<'c>],
        conditions: &[Condition],
    ) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (from, referencing) in occurrences(sources) {
            for key in &referencing.foreign_keys {
                for (to, referenced) in occurrences(sources) {
                    if from == to || referenced.name != key.references {
                        continue;
                    }
                    let sides = Sides { level, from, referencing, to, referenced };
                    edges.extend(self.key_edge(&sides, key, conditions));
                }
            }
        }
        edges
    }

    fn key_edge(&self, sides: &Sides<'_>, key: &ForeignKey, conditions: &[Condition]) -> Option<Edge> {
        let cx = self.cx;
        let (Scope::Scoped { column: own, class }, Scope::Scoped { column: other, class: other_class }) =
            (self.classes.scope(cx, sides.referencing), self.classes.scope(cx, sides.referenced))
        else {
            return None;
        };
        let inherited =
            |relation: &Relation| relation.has_children && relation.kind != RelationKind::PartitionedTable;
        let sound = key.holds()
            && class == other_class
            && !inherited(sides.referencing)
            && !inherited(sides.referenced)
            && key.pairs.iter().all(|pair| &*pair.operator.schema == PG_CATALOG);
        if !sound {
            return None;
        }
        let pairs: Vec<(u32, u32)> = key
            .pairs
            .iter()
            .map(|pair| {
                let column = sides.referencing.columns.position(&pair.column)?;
                let referenced = sides.referenced.columns.position(&pair.referenced)?;
                Some((u32::try_from(column).ok()?, u32::try_from(referenced).ok()?))
            })
            .collect::<Option<_>>()?;
        let paired = pairs.contains(&(own, other)) || mutant!(KeyWithoutTenant);
        let name = &sides.referencing.name;
        let trusted = match &*key.pairs {
            [pair] => cx.policy().trusts_key(&name.schema, &name.name, &pair.column),
            _ => false,
        };
        if !paired && !trusted {
            return None;
        }
        let rest: Vec<(u32, u32)> = pairs.into_iter().filter(|pair| *pair != (own, other)).collect();
        if rest.is_empty() || !(unique(sides.referenced, &rest) || mutant!(KeyWithoutUnique)) {
            return None;
        }
        // Every other pair is compared, where the referenced side is filtered by it.
        let is_compared = |(column, referenced): (u32, u32)| {
            let from = Col { level: sides.level, rel: sides.from, column };
            let to = Col { level: sides.level, rel: sides.to, column: referenced };
            equal_within(conditions, from, to)
        };
        let compared = rest.into_iter().all(is_compared) || mutant!(KeyNotCompared);
        if !compared {
            return None;
        }
        let from = BTreeSet::from([Col { level: sides.level, rel: sides.from, column: own }]);
        let to = Col { level: sides.level, rel: sides.to, column: other };
        if mutant!(KeyBackwards) {
            let own = from.first().copied()?;
            return Some(Edge { from: BTreeSet::from([to]), to: own, carries: true });
        }
        Some(Edge { from, to, carries: true })
    }
}

/// The two ends of a foreign key in a level.
struct Sides<'s> {
    level: LevelId,
    from: Rel,
    referencing: &'s Relation,
    to: Rel,
    referenced: &'s Relation,
}

/// Whether a condition that filters the second column's occurrence says that the two are equal.
fn equal_within(conditions: &[Condition], a: Col, b: Col) -> bool {
    let edge = Edge { from: BTreeSet::from([a]), to: b, carries: false };
    conditions.iter().filter(|condition| condition.filters.contains(&b.rel)).any(|condition| match &condition
        .implied
    {
        Implied::Anything => false,
        Implied::Known(known) => known.edges.contains(&edge),
    })
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

/// The occurrences that are relations themselves.
fn occurrences<'s, 'c>(sources: &'s [Source<'c>]) -> impl Iterator<Item = (Rel, &'c Relation)> + use<'s, 'c> {
    (0..).map(Rel).zip(sources).filter_map(|(rel, source)| Some((rel, source.relation()?)))
}

/// The occurrences below a node.
pub(super) fn rels(node: &Node<'_>) -> BTreeSet<Rel> {
    match node {
        Node::Leaf(rel) => BTreeSet::from([*rel]),
        Node::Join(join) => rels(&join.left).union(&rels(&join.right)).copied().collect(),
    }
}

/// What is left of an outer join where a condition above it rejects NULLs of a side.
fn reduced(kind: JoinKind, left: &BTreeSet<Rel>, right: &BTreeSet<Rel>, strict: &BTreeSet<Rel>) -> JoinKind {
    let left = !left.is_disjoint(strict);
    let right = !right.is_disjoint(strict);
    match (kind, left, right) {
        (JoinKind::Inner, _, _)
        | (JoinKind::Left, _, true)
        | (JoinKind::Right, true, _)
        | (JoinKind::Full, true, true) => JoinKind::Inner,
        (JoinKind::Full, true, _) | (JoinKind::Full, _, true) if mutant!(FullReducedToInner) => {
            JoinKind::Inner
        }
        (JoinKind::Left, _, false) | (JoinKind::Full, true, false) => JoinKind::Left,
        (JoinKind::Right, false, _) | (JoinKind::Full, false, true) => JoinKind::Right,
        (JoinKind::Full, false, false) => JoinKind::Full,
    }
}
