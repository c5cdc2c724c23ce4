//! Keys that carry (policy 3.1): what a row of the tenant's refers to by a foreign key that contains
//! both tenant columns is the tenant's, too.
//!
//! What is compared is found by its ends ([`super::ends`]); which of the catalog's keys that is, and
//! whether it carries, says [`super::foreign_key`].

use std::collections::{BTreeMap, BTreeSet};

use super::classes::{ClassId, Scope};
use super::ends::{End, HIDDEN, Origin, Row, Way};
use super::foreign_key::{Compared, Pair};
use super::joins::Condition;
use super::level::Outcome;
use super::restriction::{Carries, Edge, Implied, Known};
use super::{Demanded, Demands, Facts, Proof, Prover, learn};
use crate::catalog::ForeignKey;
use crate::mutants::mutant;
use crate::resolve::{Col, Expr, From, LevelId, Query, Rel, Select};

/// A referencing row and a referenced one: the occurrence of each, and the way from there.
type Rows = (Row, Way, Row, Way);

impl<'c> Prover<'_, 'c> {
    /// Whether a relation of the statement has a foreign key to another one with tenants' rows.
    pub(super) fn has_carriers(cx: &super::Context<'_, '_>) -> bool {
        let used = &cx.bound.uses.relations;
        let referenced = |key: &ForeignKey| {
            used.iter().any(|other| other.relation.name == key.references && cx.is_scoped(other.relation))
        };
        used.iter().any(|one| cx.is_scoped(one.relation) && one.relation.foreign_keys.iter().any(referenced))
    }

    /// The edges along which foreign keys carry T within a level, and into it from the levels around:
    /// from the referencing row to the referenced one, where conditions that filter the latter compare
    /// the rest of the key.
    pub(super) fn key_edges(&self, level: LevelId, from: &From<'c>, conditions: &[Condition]) -> Vec<Edge> {
        if !self.carriers {
            return Vec::new();
        }
        let mut compared: BTreeMap<Rows, Compared<'c>> = BTreeMap::new();
        for condition in conditions {
            let Implied::Known(known) = &condition.implied else { continue };
            let filtered = known.edges.iter().filter(|edge| {
                edge.carries == Carries::Nothing
                    && edge.to.level == level
                    && condition.filters.contains(edge.to.rel)
            });
            for edge in filtered {
                for col in &edge.from {
                    if col.level == level || self.read.borrow().contains(&(col.level, col.rel)) {
                        self.compare_ends(&mut compared, self.end(*col), self.end(edge.to), edge.to.column);
                    }
                }
            }
        }
        if mutant!(KeyNotCompared) {
            every_pair(level, from, &mut compared);
        }
        compared.values().flat_map(|compared| self.edges_of(compared)).collect()
    }

    fn compare_ends(
        &self,
        compared: &mut BTreeMap<Rows, Compared<'c>>,
        from: Option<End<'c>>,
        to: Option<End<'c>>,
        by: u32,
    ) {
        if let (Some(from), Some(to)) = (from, to)
            && from.row() != to.row()
        {
            let rows = (from.row(), from.origin.way, to.row(), to.origin.way);
            compared.entry(rows).or_default().pairs.push(Pair { from, to, by });
        }
    }

    fn edges_of(&self, compared: &Compared<'c>) -> Vec<Edge> {
        let Some((from, to, by)) = self.carried_by_key(compared) else { return Vec::new() };
        let (Some(referencing), Some(referenced)) = (self.owner(&from), self.owner(&to)) else {
            return Vec::new();
        };
        let mut ends: Vec<(Col, Col)> = Vec::new();
        for one in &referencing.columns {
            ends.extend(self.owned(&to, &referenced, &by).into_iter().map(|other| (*one, other)));
        }
        let edge = |(from, to): (Col, Col)| match mutant!(KeyBackwards) {
            true => Edge { from: BTreeSet::from([to]), to: from, carries: Carries::Equal },
            false => Edge { from: BTreeSet::from([from]), to, carries: Carries::Equal },
        };
        ends.into_iter().map(edge).collect()
    }

    // ---- IN (SELECT …) ----

    /// `key IN (SELECT referencing column …)`: of the rows that it lets pass, the tenant column is T
    /// where it is T in every row of the sub-select.
    pub(super) fn member_keys(&self, known: &mut Known, fields: &[Expr<'c>], query: &Query<'c>) {
        if !self.carriers {
            return;
        }
        let mut compared = BTreeMap::new();
        for (at, field) in (0..).zip(fields) {
            if let Some(to) = field.as_column() {
                self.compare_ends(&mut compared, self.output_end(query, at), self.end(to), to.column);
            }
        }
        for compared in compared.values() {
            let Some((from, to, by)) = self.carried_by_key(compared) else { continue };
            let Some(referenced) = self.owner(&to) else { continue };
            let Some(mut proof) = self.inside(query, &from, referenced.class) else { continue };
            proof.nullable = false;
            for col in self.owned(&to, &referenced, &by) {
                learn(&mut known.own, (col, referenced.class), proof.clone());
            }
            known.strict.insert((to.at.level, to.at.rel));
        }
    }

    /// `referencing column IN (SELECT key …)`, where the referencing row is T's: what the sub-select
    /// need yield.
    pub(super) fn demand_keys(&self, demands: &mut Demands, fields: &[Expr<'c>], query: &Query<'c>) {
        if !self.carriers {
            return;
        }
        let mut compared = BTreeMap::new();
        for (at, field) in (0..).zip(fields) {
            let read = |col: &Col| self.read.borrow().contains(&(col.level, col.rel));
            let from = field.as_column().filter(read).and_then(|col| self.end(col));
            let to = self.output_end(query, at);
            let by = to.filter(|_| mutant!(OutputsAreColumns)).map_or(at, |to| to.at.column);
            self.compare_ends(&mut compared, from, to, by);
        }
        for compared in compared.values() {
            let Some((from, _, by)) = self.carried_by_key(compared) else { continue };
            let Some(referencing) = self.owner(&from) else { continue };
            let facts = self.facts.borrow();
            let known = referencing.columns.iter().find_map(|col| facts.get(&(*col, referencing.class)));
            if let Some(proof) = known {
                let proof = Proof { nullable: false, ..proof.clone() };
                demands.insert((Demanded::Behind(by), referencing.class), proof);
            }
        }
    }

    // ---- hidden columns ----

    /// The column of a level whose being T a demand on a key's outputs means, where every one of them
    /// is handed through; a source that is derived itself has two.
    pub(super) fn columns_behind(
        &self,
        select: &Select<'c>,
        by: &[u32],
        class: ClassId,
        transparent: impl Fn(usize) -> Option<Col>,
    ) -> Vec<Col> {
        let cols: Option<Vec<Col>> = by.iter().map(|output| transparent(*output as usize)).collect();
        let Some(cols) = cols else { return Vec::new() };
        let Some(first) = cols.first().filter(|first| cols.iter().all(|col| col.rel == first.rel)) else {
            return Vec::new();
        };
        let Some(end) = self.end_in(select, *first) else { return Vec::new() };
        match self.owner(&end) {
            Some(owner) if owner.class == class => {
                self.owned(&end, &owner, &cols.iter().map(|col| col.column).collect::<Vec<_>>())
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// What derived sources are known to be by themselves, where it is no output that says it.
    pub(super) fn hidden_facts(&self, level: LevelId, from: &From<'c>, outcome: &mut Outcome) {
        if !self.carriers {
            return;
        }
        for (rel, source) in (0..).map(Rel).zip(&from.sources) {
            let Some(query) = self.plain_query(source) else { continue };
            let mut seen = BTreeSet::new();
            let origins = self.origins_of((level, rel), source);
            for (column, origin) in (0..).zip(origins.iter()) {
                let Some(origin) = origin.filter(|origin| seen.insert(origin.way)) else { continue };
                let Scope::Scoped { class, .. } = self.classes.scope(self.cx, origin.relation) else {
                    continue;
                };
                let end = self.output_end(query, column);
                if let Some(proof) = end.and_then(|end| self.inside(query, &end, class)) {
                    let hidden = Col { level, rel, column: HIDDEN | column };
                    learn(&mut outcome.facts, (hidden, class), proof);
                }
            }
        }
    }

    /// How the rows of an end inside a query are known to be T's, without any help from outside.
    fn inside(&self, query: &Query<'c>, end: &End<'c>, class: ClassId) -> Option<Proof> {
        let owner = self.owner(end).filter(|owner| owner.class == class)?;
        self.outputs_of(query);
        let facts: Facts = self.inside_of(query);
        owner.columns.iter().find_map(|col| facts.get(&(*col, class)).cloned())
    }
}

/// What the mutant that compares nothing takes for compared.
fn every_pair<'c>(level: LevelId, from: &From<'c>, compared: &mut BTreeMap<Rows, Compared<'c>>) {
    let ends: Vec<End<'c>> = (0..)
        .map(Rel)
        .zip(&from.sources)
        .filter_map(|(rel, source)| {
            let origin = Origin { way: Way::DIRECT, column: u32::MAX, relation: source.relation()? };
            Some(End { at: Col { level, rel, column: u32::MAX }, origin })
        })
        .collect();
    for one in &ends {
        for other in ends.iter().filter(|other| other.row() != one.row()) {
            let rows = (one.row(), Way::DIRECT, other.row(), Way::DIRECT);
            compared.entry(rows).or_default().pairs.push(Pair { from: *one, to: *other, by: u32::MAX });
        }
    }
}
