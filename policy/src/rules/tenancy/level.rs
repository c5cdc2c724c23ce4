//! One query level: the fixpoint of its facts, and the check of what it reads.

use std::collections::{BTreeMap, BTreeSet};

use super::classes::{ClassId, Scope};
use super::joins::{Condition, Rels, Tree};
use super::restriction::{Carries, Edge, Implied, carried};
use super::write::TARGET;
use super::{Demanded, Demands, Facts, Proof, Prover, learn};
use crate::Standing;
use crate::mutants::mutant;
use crate::resolve::{Body, Col, From, Grouping, Key, LevelId, Node, Rel, Select, Source, SourceKind};

/// A level as the fixpoint sees it.
pub(super) struct Level<'l, 'c> {
    pub(super) id: LevelId,
    pub(super) from: &'l From<'c>,
    /// Conditions that every row satisfies: WHERE, HAVING on grouping columns.
    pub(super) conditions: Vec<Condition>,
    /// What is known of its columns from outside.
    pub(super) given: Facts,
}

/// The occurrences whose rows PostgreSQL may read again in a version that is newer than the statement's snapshot, since
/// somebody has changed them meanwhile (EvalPlanQual). Their keys were checked later than what sub-selects read; rows of
/// the same level are compared anew, each as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadAgain {
    None,
    /// It is changed.
    Target,
    /// They are locked.
    All,
}

/// What is known of a level.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Facts about the rows of each occurrence: a proof is `nullable` where such a row itself may
    /// have NULL; that a join may extend the occurrence by NULLs is said by `nullable` below.
    pub(super) facts: Facts,
    pub(super) nullable: BTreeSet<Rel>,
    /// Occurrences of which no row is used at all.
    pub(super) dead: BTreeSet<Rel>,
}

impl<'c> Prover<'_, 'c> {
    /// Every occurrence of a FROM.
    pub(super) fn all_rels(from: &From<'c>) -> Rels {
        Rels::first(from.sources.len())
    }

    /// A SELECT's level.
    pub(super) fn select_level<'l>(
        &self,
        select: &'l Select<'c>,
        demands: &Demands,
        transparent: impl Fn(usize) -> Option<Col>,
    ) -> Level<'l, 'c> {
        self.enter(select.level, &select.from);
        let filters = Self::all_rels(&select.from);
        let mut conditions: Vec<Condition> = Vec::new();
        conditions.extend(
            select.filter.iter().map(|filter| Condition { implied: self.implied(filter, true), filters }),
        );
        if let Some(having) = &select.having {
            let implied = match self.implied(having, true) {
                Implied::Anything => Implied::nothing(),
                Implied::Known(mut known) => {
                    let keys = match mutant!(HavingAlways) {
                        true => known.own.keys().map(|(col, _)| *col).collect(),
                        false => grouping_columns(select),
                    };
                    known.own.retain(|(col, _), _| keys.contains(col));
                    known.edges.retain(|edge| {
                        keys.contains(&edge.to) && edge.from.iter().all(|col| keys.contains(col))
                    });
                    known.strict.clear();
                    Implied::Known(known)
                }
            };
            conditions.push(Condition { implied, filters });
        }
        let mut given = Facts::new();
        for ((demanded, class), proof) in demands {
            let cols = match demanded {
                Demanded::Output(output) => transparent(*output).into_iter().collect(),
                Demanded::Behind(by) => self.columns_behind(select, by, *class, &transparent),
            };
            for col in cols {
                learn(&mut given, (col, *class), proof.clone());
            }
        }
        Level { id: select.level, from: &select.from, conditions, given }
    }

    /// The fixpoint: facts of conditions and of sources, carried along equalities and keys.
    pub(super) fn solve(&self, level: Level<'_, 'c>) -> Outcome {
        let mut strict: BTreeSet<Rel> = BTreeSet::new();
        for condition in &level.conditions {
            if let Implied::Known(known) = &condition.implied {
                let rejected = here(level.id, known.strict.iter().copied());
                strict.extend(rejected.filter(|rel| condition.filters.contains(*rel)));
            }
        }
        strict.extend(level.given.keys().map(|(col, _)| col.rel));
        let Tree { conditions, nullable } = self.tree(level.id, &level.from.items, &strict);
        let all: Vec<Condition> = level.conditions.into_iter().chain(conditions).collect();

        let mut outcome = Outcome { facts: level.given, nullable, dead: BTreeSet::new() };
        let mut edges: Vec<Edge> = Vec::new();
        for condition in &all {
            match &condition.implied {
                Implied::Anything => outcome.dead.extend(condition.filters.iter()),
                Implied::Known(known) => {
                    for ((col, class), proof) in &known.own {
                        let filtered = condition.filters.contains(col.rel) || mutant!(ValidityIgnored);
                        if col.level == level.id && filtered {
                            learn(&mut outcome.facts, (*col, *class), proof.clone());
                        }
                    }
                    let carrying = known.edges.iter().filter(|edge| {
                        edge.carries == Carries::Equal
                            && edge.to.level == level.id
                            && condition.filters.contains(edge.to.rel)
                    });
                    edges.extend(carrying.cloned());
                }
            }
        }
        edges.extend(self.key_edges(level.id, level.from, &all));
        edges.extend(self.passed_on(level.id, level.from, &outcome.nullable));
        self.source_facts(level.id, level.from, &mut outcome);
        self.hidden_facts(level.id, level.from, &mut outcome);
        self.carry(&edges, &mut outcome);
        outcome
    }

    /// What sources yield by themselves.
    fn source_facts(&self, level: LevelId, from: &From<'c>, outcome: &mut Outcome) {
        for (rel, source) in (0..).map(Rel).zip(&from.sources) {
            let outputs = self.source_outputs(source);
            for (column, known) in (0..).zip(&outputs) {
                let Some(ty) = source.column(column) else { continue };
                for (class, proof) in known {
                    let family = self.family_of(ty.ty);
                    if ty.deterministic && self.classes.family(*class) == Some(family) {
                        learn(&mut outcome.facts, (Col { level, rel, column }, *class), proof.clone());
                    }
                }
            }
        }
    }

    /// Columns of this level that sub-selects of LATERAL pass on: where such a row is there, they are
    /// the same.
    fn passed_on(&self, level: LevelId, from: &From<'c>, nullable: &BTreeSet<Rel>) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (rel, source) in (0..).map(Rel).zip(&from.sources) {
            let SourceKind::Derived(query) = &source.kind else { continue };
            let Body::Select(select) = &query.body else { continue };
            let sets = select.group_by.iter().any(|item| matches!(item, Grouping::Sets(_)));
            if query.open || sets {
                continue;
            }
            for (column, target) in (0..).zip(&select.targets) {
                let Some(outer) = target.as_column().filter(|col| col.level == level) else { continue };
                if self.cx.bound.nondeterministic.contains(&outer) {
                    continue;
                }
                let inner = Col { level, rel, column };
                edges.push(Edge { from: BTreeSet::from([outer]), to: inner, carries: Carries::AsIs });
                if !nullable.contains(&rel) {
                    edges.push(Edge { from: BTreeSet::from([inner]), to: outer, carries: Carries::Back });
                }
            }
        }
        edges
    }

    /// Carries facts along edges until nothing is new: each new fact is looked at once.
    fn carry(&self, edges: &[Edge], outcome: &mut Outcome) {
        let Outcome { facts, nullable, .. } = outcome;
        let outer = self.facts.borrow();
        let mut leading: BTreeMap<Col, Vec<&Edge>> = BTreeMap::new();
        for edge in edges {
            for col in &edge.from {
                leading.entry(*col).or_default().push(edge);
            }
        }
        // What is known where edges begin: this level's facts, and outer levels' columns.
        let mut news: Vec<(Col, ClassId)> = leading
            .keys()
            .flat_map(|col| self.classes.ids().map(|class| (*col, class)))
            .filter(|key| facts.contains_key(key) || outer.contains_key(key))
            .collect();
        while let Some((col, class)) = news.pop() {
            for edge in leading.get(&col).into_iter().flatten() {
                self.step();
                let known = |col: &Col| {
                    let key = (*col, class);
                    facts.get(&key).or_else(|| outer.get(&key))
                };
                let proof = match edge.carries {
                    Carries::Nothing => None,
                    Carries::Equal => carried(&edge.from, known),
                    Carries::AsIs => known(&col).cloned().map(|mut proof| {
                        proof.or_null(nullable.contains(&col.rel));
                        proof
                    }),
                    Carries::Back => known(&col).filter(|proof| !proof.nullable).cloned(),
                };
                if let Some(proof) = proof
                    && learn(facts, (edge.to, class), proof)
                {
                    news.push((edge.to, class));
                }
            }
        }
    }

    /// Enters a level's facts where inner levels find them, and judges each source.
    pub(super) fn check_sources(&self, from: &From<'c>, level: LevelId, outcome: &Outcome, again: ReadAgain) {
        self.seen.borrow_mut().insert(level);
        for (key, proof) in &outcome.facts {
            let mut proof = proof.clone();
            proof.or_null(outcome.nullable.contains(&key.0.rel) && !mutant!(OuterNullIgnored));
            learn(&mut self.facts.borrow_mut(), *key, proof);
        }
        let stays = |rel: &Rel| match again {
            ReadAgain::None => true,
            ReadAgain::Target => *rel != TARGET,
            ReadAgain::All => false,
        };
        let read = (0..).map(Rel).take(from.sources.len()).filter(stays);
        self.read.borrow_mut().extend(read.map(|rel| (level, rel)));
        for (rel, source) in (0..).map(Rel).zip(&from.sources) {
            let dead = outcome.dead.contains(&rel) || mutant!(UsingUnchecked) && rel.0 > 0;
            match &source.kind {
                SourceKind::Relation { .. } => {
                    if dead {
                        self.note(source, || Standing::Unused);
                    } else {
                        self.check_relation(level, from, rel, outcome);
                    }
                }
                SourceKind::View { .. } if mutant!(ViewNotExpanded) => {}
                SourceKind::View { query, .. } | SourceKind::Derived(query) => {
                    let told = self.told();
                    match dead {
                        true => self.check_dead(query),
                        false => self.check_query(query, &self.demands_on(level, rel, source, outcome)),
                    }
                    if let SourceKind::View { relation, .. } = &source.kind {
                        let room = self.room(level, from, rel, &outcome.nullable);
                        self.hint_at_view(told, source, relation, room);
                    }
                }
                SourceKind::Cte(id) => {
                    if !dead {
                        let demands = self.demands_on(level, rel, source, outcome);
                        self.refer(*id, demands);
                    }
                }
                SourceKind::Functions(functions) => {
                    functions.iter().for_each(|function| self.check_expr(function));
                }
                SourceKind::Excluded(_) | SourceKind::Missing => {}
            }
        }
        for node in &from.items {
            self.check_node(node);
        }
    }

    fn check_node(&self, node: &Node<'c>) {
        match node {
            Node::Leaf(_) => {}
            Node::Join(join) => {
                self.check_node(&join.left);
                self.check_node(&join.right);
                join.on.iter().for_each(|on| self.check_expr(on));
            }
        }
    }

    /// What is known of a derived source's columns in this level.
    fn demands_on(&self, level: LevelId, rel: Rel, source: &Source<'c>, outcome: &Outcome) -> Demands {
        if source.open {
            return Demands::new();
        }
        outcome
            .facts
            .iter()
            .filter(|((col, _), _)| col.level == level && col.rel == rel)
            // T or NULL is not T: a row with NULL there counts.
            .filter(|(_, proof)| !proof.nullable || mutant!(NullableDemanded))
            .filter_map(|((col, class), proof)| Some(((self.demanded(col.column)?, *class), proof.clone())))
            .collect()
    }

    /// A relation of the catalog: is it restricted?
    fn check_relation(&self, level: LevelId, from: &From<'c>, rel: Rel, outcome: &Outcome) {
        let Some(source) = from.sources.get(rel.0 as usize) else { return };
        let Some(relation) = source.relation() else { return };
        match self.classes.scope(self.cx, relation) {
            Scope::Free => {}
            Scope::NoOwn => {
                self.note(source, || Standing::NoValue);
                self.deny(self.no_own(relation, source));
            }
            Scope::Scoped { column, class } => {
                match outcome.facts.get(&(Col { level, rel, column }, class)) {
                    Some(proof) => {
                        self.note(source, || restricted(proof));
                        self.rely(proof);
                    }
                    None => {
                        let room = self.room(level, from, rel, &outcome.nullable);
                        let denial = self.unrestricted((level, rel), source, relation, (column, class), room);
                        self.note(source, || Standing::Unrestricted { missing: denial.hint.clone() });
                        self.deny(denial);
                    }
                }
            }
        }
    }
}

/// What a proof says to people.
fn restricted(proof: &Proof) -> Standing {
    let params: BTreeSet<u32> = proof.params.iter().map(|(number, _, _)| *number).collect();
    Standing::Restricted { condition: proof.at, params: params.into_iter().collect() }
}

/// The occurrences of this level.
fn here(level: LevelId, strict: impl Iterator<Item = (LevelId, Rel)>) -> impl Iterator<Item = Rel> {
    strict.filter(move |(at, _)| *at == level).map(|(_, rel)| rel)
}

/// The columns that GROUP BY names, inside grouping sets too.
pub(super) fn grouping_columns(select: &Select<'_>) -> BTreeSet<Col> {
    let mut columns = BTreeSet::new();
    for grouping in &select.group_by {
        match grouping {
            Grouping::Key(key) => columns.extend(key_column(select, key)),
            Grouping::Sets(keys) => columns.extend(keys.iter().filter_map(|key| key_column(select, key))),
        }
    }
    columns
}

/// The column that a key is.
pub(super) fn key_column(select: &Select<'_>, key: &Key<'_>) -> Option<Col> {
    let expr = match key {
        Key::Output(at) => select.targets.get(*at)?,
        Key::Expr(expr) => expr,
    };
    expr.as_column()
}
