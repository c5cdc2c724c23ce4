//! Joins: for which occurrences a condition is a filter (policy 3.2).

use std::collections::BTreeSet;

use super::Prover;
use super::restriction::Implied;
use crate::ir::JoinKind;
use crate::mutants::mutant;
use crate::resolve::{Join, LevelId, Node, Rel};

/// A condition and the occurrences that it filters.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) implied: Implied,
    pub(super) filters: Rels,
}

/// Neighbours: FROM numbers its occurrences in the order of the text, so that those below a node are
/// one stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rels {
    first: u32,
    end: u32,
}

impl Rels {
    pub(super) const NONE: Rels = Rels { first: 0, end: 0 };

    /// The first ones of a level.
    pub(super) fn first(count: usize) -> Rels {
        Rels { first: 0, end: u32::try_from(count).unwrap_or(0) }
    }

    pub(super) fn contains(self, rel: Rel) -> bool {
        (self.first..self.end).contains(&rel.0)
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Rel> {
        (self.first..self.end).map(Rel)
    }

    /// Both, which are neighbours; none, should they not be: a condition filters no more than it does.
    fn and(self, next: Rels) -> Rels {
        if self.end == next.first { Rels { first: self.first, end: next.end } } else { Rels::NONE }
    }
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
        let kind = reduced(join.kind, left, right, strict);
        let filters = match kind {
            JoinKind::Inner => left.and(right),
            JoinKind::Left if mutant!(LeftOnFiltersBoth) => left.and(right),
            JoinKind::Full if mutant!(FullOnCounts) => left.and(right),
            JoinKind::Right if mutant!(RightAsLeft) => right,
            JoinKind::Left => right,
            JoinKind::Right => left,
            JoinKind::Full => Rels::NONE,
        };
        match kind {
            JoinKind::Inner => {}
            JoinKind::Left => tree.nullable.extend(right.iter()),
            JoinKind::Right => tree.nullable.extend(left.iter()),
            JoinKind::Full => tree.nullable.extend(left.iter().chain(right.iter())),
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
                below.extend(here.filter(|rel| filters.contains(*rel)));
            }
        }
        tree.conditions.extend(on.into_iter().map(|implied| Condition { implied, filters }));
        self.node(level, &join.left, &below, tree);
        self.node(level, &join.right, &below, tree);
    }
}

/// The occurrences below a node.
pub(super) fn rels(node: &Node<'_>) -> Rels {
    Rels { first: edge(node, |join| &join.left), end: edge(node, |join| &join.right).saturating_add(1) }
}

/// The outermost occurrence of a node, on the side that is taken of each join.
fn edge(mut node: &Node<'_>, side: for<'j, 'c> fn(&'j Join<'c>) -> &'j Node<'c>) -> u32 {
    loop {
        match node {
            Node::Leaf(rel) => return rel.0,
            Node::Join(join) => node = side(join),
        }
    }
}

/// What is left of an outer join where a condition above it rejects NULLs of a side.
fn reduced(kind: JoinKind, left: Rels, right: Rels, strict: &BTreeSet<Rel>) -> JoinKind {
    let rejected = |rels: Rels| strict.range(Rel(rels.first)..Rel(rels.end.max(rels.first))).next().is_some();
    let (left, right) = (rejected(left), rejected(right));
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
