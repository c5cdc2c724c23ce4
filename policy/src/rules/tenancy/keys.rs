//! Keys that carry (policy 3.1): what a row of the tenant's refers to by a foreign key that contains
//! both tenant columns is the tenant's, too.
//!
//! An **end** of a key is a column that plainly is a column of a relation's row as FROM reads it:
//! the relation's own, or an output of derived tables, CTEs and views that pass it on unchanged. The
//! row's tenant column need not be among those outputs: facts about it are kept for columns that the
//! source has not ([`HIDDEN`], [`BEHIND`]), which nothing in the text can name.
//!
//! INVARIANT: all columns of one end come from one and the same row, or are NULL together (a join
//! that found none): grouping sets, set operations, recursion and changed rows end the way.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::classes::{ClassId, Scope};
use super::joins::Condition;
use super::level::Outcome;
use super::restriction::{Carries, Edge, Implied, Known};
use super::{Demanded, Demands, Facts, Proof, Prover, learn};
use crate::Family;
use crate::catalog::{Column, ForeignKey, PG_CATALOG, Relation, RelationKind};
use crate::mutants::mutant;
use crate::resolve::{
    Body, Col, CteBody, Expr, From, Grouping, LevelId, Query, Rel, Select, Source, SourceKind,
};

/// An occurrence in a level.
pub(super) type Row = (LevelId, Rel);

/// The way to a row from an occurrence that passes it on: through which occurrences of the queries
/// inside. Two references to one CTE are two rows, though what is inside of both is the same.
///
/// INVARIANT: outputs of one occurrence whose ways are the same are of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Way(usize);

/// Every way there is but the one of a relation's own columns.
#[derive(Debug, Default)]
pub(super) struct Ways(HashMap<(Row, Way), Way>);

/// The relation's column that a column plainly is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'c> {
    way: Way,
    column: u32,
    relation: &'c Relation,
}

/// A column whose origin is known.
#[derive(Debug, Clone, Copy)]
struct End<'c> {
    at: Col,
    origin: Origin<'c>,
}

/// Columns of a referencing row that are compared with columns of a referenced one.
#[derive(Debug, Default)]
struct Compared<'c> {
    pairs: Vec<Pair<'c>>,
}

/// A column of a referencing row that is compared with one of a referenced row.
#[derive(Debug, Clone, Copy)]
struct Pair<'c> {
    from: End<'c>,
    to: End<'c>,
    /// The referenced column's number where the comparison is looked at from: its source's, or the
    /// sub-select's output.
    by: u32,
}

/// A referencing row and a referenced one: the occurrence of each, and the way from there.
type Rows = (Row, Way, Row, Way);

/// The tenant column of the rows of an end, and every column of its source that holds it.
struct Owner {
    class: ClassId,
    columns: Vec<Col>,
}

/// The tenant column of a derived source's row that is no output: this bit, and the first output
/// that is of the same row.
const HIDDEN: u32 = 1 << 31;

/// The same, where a key says that it is T: this bit, and where [`Prover::behind`] has the outputs
/// that are equal to a key of T's.
const BEHIND: u32 = 1 << 30;

impl<'c> Prover<'_, 'c> {
    /// Notes which columns the derived sources of a FROM pass on.
    pub(super) fn enter(&self, level: LevelId, from: &From<'c>) {
        if self.carriers {
            for (rel, source) in (0..).map(Rel).zip(&from.sources) {
                if source.relation().is_none() {
                    self.origins_of((level, rel), source);
                }
            }
        }
    }

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

    /// What a fact about a column of a derived source demands of its query.
    pub(super) fn demanded(&self, column: u32) -> Option<Demanded> {
        match (column & HIDDEN != 0, column & BEHIND != 0) {
            (true, _) => None,
            (false, true) => {
                self.behind.borrow().get((column & !BEHIND) as usize).cloned().map(Demanded::Behind)
            }
            (false, false) => Some(Demanded::Output(column as usize)),
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

    // ---- ends ----

    /// The columns of an end's source that hold its row's tenant column.
    fn owner(&self, end: &End<'c>) -> Option<Owner> {
        let Scope::Scoped { column: own, class } = self.classes.scope(self.cx, end.origin.relation) else {
            return None;
        };
        let Col { level, rel, .. } = end.at;
        if end.origin.way == Way::DIRECT {
            return Some(Owner { class, columns: vec![Col { level, rel, column: own }] });
        }
        let origins = self.origins.borrow().get(&(level, rel)).map(Rc::clone)?;
        let of_row: Vec<(u32, u32)> = (0..)
            .zip(origins.iter())
            .filter_map(|(at, origin)| origin.filter(|o| o.way == end.origin.way).map(|o| (at, o.column)))
            .collect();
        let (first, _) = of_row.first()?;
        let outputs = of_row.iter().filter(|(_, column)| *column == own).map(|(at, _)| *at);
        let columns = outputs.chain([HIDDEN | first]).map(|column| Col { level, rel, column }).collect();
        Some(Owner { class, columns })
    }

    /// The columns about which a key speaks whose other columns are `by`.
    fn owned(&self, end: &End<'c>, owner: &Owner, by: &[u32]) -> Vec<Col> {
        let mut columns = owner.columns.clone();
        if end.origin.way != Way::DIRECT {
            let mut behind = self.behind.borrow_mut();
            let at = behind.iter().position(|known| known == by).unwrap_or_else(|| {
                behind.push(by.to_vec());
                behind.len() - 1
            });
            columns.extend(u32::try_from(at).ok().map(|at| Col { column: BEHIND | at, ..end.at }));
        }
        columns
    }

    /// The end that a column is.
    fn end(&self, at: Col) -> Option<End<'c>> {
        let row = (at.level, at.rel);
        let origin = match self.cx.bound.rows.get(&row) {
            Some(relation) => Origin { way: Way::DIRECT, column: at.column, relation },
            None => (*self.origins.borrow().get(&row)?.get(at.column as usize)?)?,
        };
        Some(End { at, origin })
    }

    fn end_in(&self, select: &Select<'c>, at: Col) -> Option<End<'c>> {
        let source = select.from.sources.get(at.rel.0 as usize)?;
        Some(End { at, origin: self.origin((at.level, at.rel), source, at.column)? })
    }

    /// The end within a query that an output of it is.
    fn output_end(&self, query: &Query<'c>, output: u32) -> Option<End<'c>> {
        let (select, col) = passed_on(query, output)?;
        self.end_in(select, col)
    }

    /// The origins of a source's columns.
    fn origins_of(&self, row: Row, source: &Source<'c>) -> Rc<[Option<Origin<'c>>]> {
        if let Some(known) = self.origins.borrow().get(&row) {
            return Rc::clone(known);
        }
        let origins: Rc<[Option<Origin<'c>>]> = match self.plain_query(source) {
            Some(query) => (0..)
                .zip(&query.outputs)
                .map(|(at, _)| Some(self.passed(&self.output_end(query, at)?)))
                .collect(),
            None => Rc::default(),
        };
        self.origins.borrow_mut().insert(row, Rc::clone(&origins));
        origins
    }

    /// What an end inside a query is for those who read that query.
    fn passed(&self, end: &End<'c>) -> Origin<'c> {
        Origin { way: self.ways.borrow_mut().through(end.row(), end.origin.way), ..end.origin }
    }

    fn origin(&self, row: Row, source: &Source<'c>, column: u32) -> Option<Origin<'c>> {
        match source.relation() {
            Some(relation) => Some(Origin { way: Way::DIRECT, column, relation }),
            None => *self.origins_of(row, source).get(column as usize)?,
        }
    }

    /// The query that a derived source is: not one that refers to itself, nor one that changes rows
    /// (its keys are checked later).
    fn plain_query<'s>(&'s self, source: &'s Source<'c>) -> Option<&'s Query<'c>> {
        match &source.kind {
            SourceKind::View { query, .. } | SourceKind::Derived(query) => Some(query),
            SourceKind::Cte(id) => {
                let cte = self.cx.bound.cte(*id).filter(|cte| !cte.recursive)?;
                match &cte.body {
                    CteBody::Query(query) => Some(query),
                    CteBody::Insert(_)
                    | CteBody::Update(_)
                    | CteBody::Delete(_)
                    | CteBody::Merge(_)
                    | CteBody::Pending => None,
                }
            }
            SourceKind::Relation { .. }
            | SourceKind::Functions(_)
            | SourceKind::Excluded(_)
            | SourceKind::Missing => None,
        }
    }

    // ---- the catalog's keys ----

    /// A foreign key that carries, all of whose other columns are compared: an end of each side, and
    /// the referenced side's columns, by their numbers.
    fn carried_by_key(&self, compared: &Compared<'c>) -> Option<(End<'c>, End<'c>, Vec<u32>)> {
        let Pair { from, to, .. } = *compared.pairs.first()?;
        let (referencing, referenced) = (from.origin.relation, to.origin.relation);
        let keys = referencing.foreign_keys.iter().filter(|key| key.references == referenced.name);
        let mut carrying = keys.filter_map(|key| self.rest_of_key(referencing, referenced, key));
        carrying.find_map(|rest| {
            let by: Option<Vec<u32>> = rest.iter().map(|pair| compared.column(*pair)).collect();
            match by {
                None if mutant!(KeyNotCompared) => Some((from, to, Vec::new())),
                by => by.map(|by| (from, to, by)),
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
        let sound = key.holds()
            && class == other_class
            && !inherited(referencing)
            && !inherited(referenced)
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

impl Way {
    const DIRECT: Way = Way(0);
}

impl Ways {
    /// The way that leads through this occurrence first.
    fn through(&mut self, row: Row, way: Way) -> Way {
        if mutant!(ReferencesAreOneRow) && way != Way::DIRECT {
            return way;
        }
        let new = Way(self.0.len() + 1);
        *self.0.entry((row, way)).or_insert(new)
    }
}

impl End<'_> {
    /// The occurrence of its source.
    fn row(&self) -> Row {
        (self.at.level, self.at.rel)
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

/// The column of a query's level that an output plainly is.
fn passed_on<'q, 'c>(query: &'q Query<'c>, output: u32) -> Option<(&'q Select<'c>, Col)> {
    let select = match &query.body {
        Body::Select(select) if !query.open => select,
        Body::Select(_) | Body::Values(_) | Body::Set { .. } => return None,
    };
    let sets = select.group_by.iter().any(|item| matches!(item, Grouping::Sets(_)));
    let col = select.targets.get(output as usize)?.as_column()?;
    (!sets && col.level == select.level).then_some((select, col))
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
