//! The ends of keys: columns that plainly are columns of a relation's row as FROM reads it: the
//! relation's own, or an output of derived tables, CTEs and views that pass it on unchanged.
//!
//! The row's tenant column need not be among those outputs: facts about it are kept for columns that
//! the source has not ([`HIDDEN`], [`BEHIND`]), which nothing in the text can name.
//!
//! INVARIANT: all columns of one end come from one and the same row, or are NULL together (a join
//! that found none): grouping sets, set operations, recursion, changed and locked rows end the way.

use std::rc::Rc;

use super::classes::{ClassId, Scope};
use super::{Demanded, Prover};
use crate::catalog::Relation;
use crate::keyed::HashMap;
use crate::mutants::mutant;
use crate::resolve::{Body, Col, CteBody, From, Grouping, LevelId, Query, Rel, Select, Source, SourceKind};

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
    pub(super) way: Way,
    pub(super) column: u32,
    pub(super) relation: &'c Relation,
}

/// A column whose origin is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct End<'c> {
    pub(super) at: Col,
    pub(super) origin: Origin<'c>,
}

/// The tenant column of the rows of an end, and every column of its source that holds it.
pub(super) struct Owner {
    pub(super) class: ClassId,
    pub(super) columns: Vec<Col>,
}

/// The tenant column of a derived source's row that is no output: this bit, and the first output
/// that is of the same row.
pub(super) const HIDDEN: u32 = 1 << 31;

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

    /// The columns of an end's source that hold its row's tenant column.
    pub(super) fn owner(&self, end: &End<'c>) -> Option<Owner> {
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
    pub(super) fn owned(&self, end: &End<'c>, owner: &Owner, by: &[u32]) -> Vec<Col> {
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
    pub(super) fn end(&self, at: Col) -> Option<End<'c>> {
        let row = (at.level, at.rel);
        let origin = match self.cx.bound.rows.get(&row) {
            Some(relation) => Origin { way: Way::DIRECT, column: at.column, relation },
            None => (*self.origins.borrow().get(&row)?.get(at.column as usize)?)?,
        };
        Some(End { at, origin })
    }

    pub(super) fn end_in(&self, select: &Select<'c>, at: Col) -> Option<End<'c>> {
        let source = select.from.sources.get(at.rel.0 as usize)?;
        Some(End { at, origin: self.origin((at.level, at.rel), source, at.column)? })
    }

    /// The end within a query that an output of it is.
    pub(super) fn output_end(&self, query: &Query<'c>, output: u32) -> Option<End<'c>> {
        let (select, col) = passed_on(query, output)?;
        self.end_in(select, col)
    }

    /// The origins of a source's columns.
    pub(super) fn origins_of(&self, row: Row, source: &Source<'c>) -> Rc<[Option<Origin<'c>>]> {
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
    pub(super) fn plain_query<'s>(&'s self, source: &'s Source<'c>) -> Option<&'s Query<'c>> {
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
}

impl Way {
    pub(super) const DIRECT: Way = Way(0);
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
    pub(super) fn row(&self) -> Row {
        (self.at.level, self.at.rel)
    }
}

/// The column of a query's level that an output plainly is.
fn passed_on<'q, 'c>(query: &'q Query<'c>, output: u32) -> Option<(&'q Select<'c>, Col)> {
    let select = match &query.body {
        // What is locked is read once more, in its newest version.
        Body::Select(select) if !query.open && !query.locks => select,
        Body::Select(_) | Body::Values(_) | Body::Set { .. } => return None,
    };
    let sets = select.group_by.iter().any(|item| matches!(item, Grouping::Sets(_)));
    let col = select.targets.get(output as usize)?.as_column()?;
    (!sets && col.level == select.level).then_some((select, col))
}
