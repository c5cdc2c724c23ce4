//! Joins: for which occurrences a condition is a filter (policy 3.2).

use std::collections::BTreeSet;

use super::Prover;
use super::restriction::Implied;
use crate::ir::JoinKind;
use crate::mutants::mutant;
use crate::resolve::{LevelId, Node, Rel};

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
