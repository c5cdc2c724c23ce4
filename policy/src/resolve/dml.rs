//! INSERT, UPDATE, DELETE and MERGE.

use super::Resolver;
use super::bound::*;
use super::from::taken;
use super::output::Targets;
use super::scope::{Item, Scope, What};
use super::uses::*;
use crate::Kind;
use crate::catalog::Relation;
use crate::ir::{self, At, Name};
use crate::mutants::mutant;

/// A target before it is in a scope.
struct Target<'c> {
    source: Source<'c>,
    relation: Option<&'c Relation>,
    /// It has no alias: `schema.name` finds it.
    origin: Option<&'c Relation>,
}

/// The first server with OLD and NEW in RETURNING, as server_version_num says it.
const OLD_AND_NEW: u32 = 180_000;

impl<'c> Resolver<'c> {
    /// The relation that a statement changes: never a CTE.
    fn change_target(&mut self, reference: &ir::RelationRef, kind: Kind) -> Target<'c> {
        let at = reference.path.at;
        let place = self.at(at);
        self.uses.kinds.push((kind, place));
        let alias = reference.alias.as_ref();
        let title = match (alias, reference.path.parts.last()) {
            (Some(alias), _) => alias.name.clone(),
            (None, Some(name)) => name.clone(),
            (None, None) => Name::default(),
        };
        let Some(relation) = self.relation_named(&reference.path) else {
            let source = Source::new(Some(title), SourceKind::Missing, place, Vec::new());
            return Target { source, relation: None, origin: None };
        };
        self.note_relation(relation, Access::Write(kind), at);
        let kind = SourceKind::Relation { relation, only: reference.only };
        let source = Source::new(Some(title), kind, place, Vec::new());
        Target { source, relation: Some(relation), origin: alias.is_none().then_some(relation) }
    }

    fn target_item(&self, name: Option<Name>, origin: Option<&'c Relation>, rel: Rel) -> Item<'c> {
        Item {
            by_name: name.is_some(),
            name,
            origin,
            what: What::Source(rel),
            by_column: true,
            lateral_only: false,
            lateral_ok: true,
        }
    }

    fn set_items(&mut self, items: Vec<Item<'c>>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.items = items;
        }
    }

    fn add_item(&mut self, item: Item<'c>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.items.push(item);
        }
    }

    pub(super) fn insert(&mut self, insert: &ir::Insert) -> Insert<'c> {
        let nesting = self.nesting;
        self.nesting += 1;
        let with = self.with(insert.with.as_ref());
        let level = self.next_level();
        self.scopes.push(Scope::new(level));
        let target = self.change_target(&insert.target, Kind::Insert);
        let relation = target.relation;
        let title = target.source.name.clone();
        let excluded = match relation {
            Some(relation) => SourceKind::Excluded(relation),
            None => SourceKind::Missing,
        };
        let excluded = Source::new(Some("excluded".into()), excluded, target.source.at, Vec::new());
        let item = self.target_item(title, target.origin, Rel(0));
        let excluded_item = self.target_item(Some("excluded".into()), None, Rel(1));
        if let Some(scope) = self.scopes.last_mut() {
            scope.add(target.source);
            scope.add(excluded);
        }
        let source = match &insert.source {
            ir::InsertSource::DefaultValues => InsertSource::DefaultValues,
            ir::InsertSource::Values(rows) => self.in_clause(Clause::InsertValues, |resolver| {
                InsertSource::Values(rows.iter().map(|row| resolver.list(row)).collect())
            }),
            ir::InsertSource::Query(query) => {
                self.keep_unknown = true;
                InsertSource::Query(Box::new(self.query(query)))
            }
        };
        let columns = match &insert.columns {
            Some(columns) => self.written(relation, columns),
            None => all_written(relation, width(&source), insert.at),
        };
        self.note_written(relation, &columns);
        if let InsertSource::Values(rows) = &source {
            rows.iter()
                .flat_map(|row| columns.iter().zip(row))
                .for_each(|(c, cell)| self.given(relation, c, cell));
        }
        let conflict = insert
            .on_conflict
            .as_ref()
            .map(|conflict| self.conflict(conflict, relation, item.clone(), excluded_item));
        self.set_items(vec![item]);
        let (returning, outputs, open) = self.returning(insert.returning.as_ref(), relation);
        let mut scope = self.scopes.pop().unwrap_or_else(|| Scope::new(level));
        self.unwith(insert.with.as_ref());
        self.nesting = nesting;
        let missing = || Source::new(None, SourceKind::Missing, None, Vec::new());
        let mut sources = scope.sources.drain(..);
        Insert {
            with,
            level,
            target: sources.next().unwrap_or_else(missing),
            excluded: sources.next().unwrap_or_else(missing),
            old_and_new: sources.collect(),
            columns,
            source,
            conflict,
            returning,
            outputs,
            open,
            at: insert.at,
        }
    }

    fn conflict(
        &mut self,
        conflict: &ir::OnConflict,
        relation: Option<&'c Relation>,
        target: Item<'c>,
        excluded: Item<'c>,
    ) -> Conflict<'c> {
        self.set_items(vec![target.clone()]);
        let arbiter = match &conflict.arbiter {
            ir::Arbiter::Any => Arbiter::Any,
            ir::Arbiter::Constraint(name) => Arbiter::Constraint(name.clone()),
            ir::Arbiter::Columns { elements, filter } => {
                let mut columns = Vec::new();
                let mut rest = Vec::new();
                for element in elements {
                    let bound = self.expr(&element.expr);
                    let plain = element.opclass.is_none() && element.collation.is_none();
                    match bound.as_column() {
                        Some(col) if col.rel == Rel(0) => columns.push((col.column, plain)),
                        Some(_) | None => rest.push(bound),
                    }
                }
                rest.extend(self.maybe(filter.as_ref()));
                Arbiter::Columns { columns, rest }
            }
        };
        self.set_items(vec![excluded, target]);
        let update = conflict.update.as_ref().map(|assignments| self.assignments(relation, assignments));
        let filter = self.maybe(conflict.filter.as_ref());
        Conflict { arbiter, update, filter, at: self.at(conflict.at) }
    }

    pub(super) fn update(&mut self, update: &ir::Update) -> Update<'c> {
        let nesting = self.nesting;
        self.nesting += 1;
        let with = self.with(update.with.as_ref());
        let (level, relation, items) = self.change_level(&update.target, &update.from, Kind::Update);
        let set = self.assignments(relation, &update.set);
        let filter = self.dml_filter(&update.filter);
        let (returning, outputs, open) = self.returning(update.returning.as_ref(), relation);
        let scope = self.scopes.pop().unwrap_or_else(|| Scope::new(level));
        self.unwith(update.with.as_ref());
        self.nesting = nesting;
        Update { with, level, from: taken(scope, items), set, filter, returning, outputs, open }
    }

    pub(super) fn delete(&mut self, delete: &ir::Delete) -> Delete<'c> {
        let nesting = self.nesting;
        self.nesting += 1;
        let with = self.with(delete.with.as_ref());
        let (level, relation, items) = self.change_level(&delete.target, &delete.using, Kind::Delete);
        let filter = self.dml_filter(&delete.filter);
        let (returning, outputs, open) = self.returning(delete.returning.as_ref(), relation);
        let scope = self.scopes.pop().unwrap_or_else(|| Scope::new(level));
        self.unwith(delete.with.as_ref());
        self.nesting = nesting;
        Delete { with, level, from: taken(scope, items), filter, returning, outputs, open }
    }

    /// Opens the level of an UPDATE, DELETE or MERGE: the target is source 0; the other items
    /// cannot refer to it.
    fn change_level(
        &mut self,
        target: &ir::RelationRef,
        from: &[ir::From],
        kind: Kind,
    ) -> (LevelId, Option<&'c Relation>, Vec<Node<'c>>) {
        let level = self.next_level();
        self.scopes.push(Scope::new(level));
        let target = self.change_target(target, kind);
        let mut item = self.target_item(target.source.name.clone(), target.origin, Rel(0));
        item.lateral_only = true;
        item.lateral_ok = false;
        if let Some(scope) = self.scopes.last_mut() {
            scope.add(target.source);
            scope.items.push(item);
        }
        let mut items = vec![Node::Leaf(Rel(0))];
        items.extend(self.bind_from(from));
        (level, target.relation, items)
    }

    pub(super) fn merge_into(&mut self, merge: &ir::Merge) -> Merge<'c> {
        let nesting = self.nesting;
        self.nesting += 1;
        let with = self.with(merge.with.as_ref());
        let source = std::slice::from_ref(&merge.source);
        let (level, relation, items) = self.change_level(&merge.target, source, Kind::Merge);
        let on = self.expr(&merge.on);
        let all = self.scopes.last().map(|scope| scope.items.clone()).unwrap_or_default();
        let actions = merge
            .actions
            .iter()
            .map(|action| {
                let is_target = |item: &Item<'c>| matches!(item.what, What::Source(Rel(0)));
                let seen = all.iter().filter(|item| match action.when {
                    ir::MergeWhen::Matched => true,
                    ir::MergeWhen::NotMatchedByTarget => !is_target(item),
                    ir::MergeWhen::NotMatchedBySource => is_target(item),
                });
                self.set_items(seen.cloned().collect());
                let condition = self.maybe(action.condition.as_ref());
                let then = self.merge_then(&action.then, relation, merge.at);
                MergeAction { when: action.when, condition, then }
            })
            .collect();
        // RETURNING * has the source's columns first, then the target's.
        let is_target = |item: &Item<'c>| matches!(item.what, What::Source(Rel(0)));
        let (target, sources): (Vec<_>, Vec<_>) = all.into_iter().partition(is_target);
        let (first, last) = if mutant!(MergeTargetFirst) { (target, sources) } else { (sources, target) };
        self.set_items(first.into_iter().chain(last).collect());
        let around = std::mem::replace(&mut self.merge_returning, true);
        let (returning, outputs, open) = self.returning(merge.returning.as_ref(), relation);
        self.merge_returning = around;
        let scope = self.scopes.pop().unwrap_or_else(|| Scope::new(level));
        self.unwith(merge.with.as_ref());
        self.nesting = nesting;
        Merge { with, level, from: taken(scope, items), on, actions, returning, outputs, open }
    }

    fn merge_then(&mut self, then: &ir::MergeThen, relation: Option<&'c Relation>, at: At) -> MergeThen<'c> {
        match then {
            ir::MergeThen::Nothing => MergeThen::Nothing,
            ir::MergeThen::Delete => {
                self.uses.kinds.push((Kind::Delete, at));
                MergeThen::Delete
            }
            ir::MergeThen::Update(assignments) => {
                self.uses.kinds.push((Kind::Update, at));
                MergeThen::Update(self.assignments(relation, assignments))
            }
            ir::MergeThen::Insert { columns, values } => {
                self.uses.kinds.push((Kind::Insert, at));
                let values = values
                    .as_ref()
                    .map(|values| self.in_clause(Clause::InsertValues, |resolver| resolver.list(values)));
                let columns = match columns {
                    Some(columns) => self.written(relation, columns),
                    None => all_written(relation, values.as_ref().map(Vec::len), at),
                };
                self.note_written(relation, &columns);
                MergeThen::Insert { columns, values }
            }
        }
    }

    fn dml_filter(&mut self, filter: &ir::DmlFilter) -> DmlFilter<'c> {
        match filter {
            ir::DmlFilter::Nothing => DmlFilter::Nothing,
            ir::DmlFilter::Condition(condition) => DmlFilter::Condition(self.expr(condition)),
            ir::DmlFilter::CurrentOf { cursor } => {
                let at = cursor.span.as_ref().and_then(|span| u32::try_from(span.start).ok());
                DmlFilter::CurrentOf(self.at(at))
            }
        }
    }

    fn returning(
        &mut self,
        returning: Option<&ir::Returning>,
        relation: Option<&'c Relation>,
    ) -> (Vec<Expr<'c>>, Vec<SourceColumn>, bool) {
        let Some(returning) = returning else { return (Vec::new(), Vec::new(), false) };
        self.old_and_new(returning, relation);
        let Targets { exprs, mut outputs, open, .. } = self.targets(&returning.targets, false);
        if open {
            outputs.iter_mut().for_each(|output| output.ty = ColumnType::UNKNOWN);
        }
        (exprs, outputs, open)
    }

    /// From PostgreSQL 18 on OLD and NEW are the row before and behind the change, by these names or others;
    /// a name of FROM hides the names that nobody asked for.
    fn old_and_new(&mut self, returning: &ir::Returning, relation: Option<&'c Relation>) {
        if self.world.catalog.server_version_num() < OLD_AND_NEW {
            if returning.old.is_some() || returning.new.is_some() {
                self.unsupported(None, "RETURNING WITH");
            }
            return;
        }
        for (alias, usual) in [(&returning.old, "old"), (&returning.new, "new")] {
            let Some(scope) = self.scopes.last_mut() else { return };
            let name = alias.clone().unwrap_or_else(|| usual.into());
            let taken = scope.items.iter().any(|item| item.by_name && item.name.as_ref() == Some(&name));
            if taken && alias.is_some() {
                self.unsupported(None, "RETURNING WITH a name that is taken");
            } else if !taken {
                let kind = relation.map_or(SourceKind::Missing, SourceKind::Excluded);
                let rel = scope.add(Source::new(Some(name.clone()), kind, None, Vec::new()));
                let item = self.target_item(Some(name), None, rel);
                self.add_item(Item { by_column: false, ..item });
            }
        }
    }

    fn assignments(
        &mut self,
        relation: Option<&'c Relation>,
        assignments: &[ir::Assignment],
    ) -> Vec<Assignment<'c>> {
        assignments
            .iter()
            .map(|assignment| match assignment {
                ir::Assignment::One { column, value } => {
                    let written = self.written(relation, std::slice::from_ref(column));
                    self.note_written(relation, &written);
                    let value = self.in_clause(Clause::Set, |resolver| resolver.expr(value));
                    let fallback =
                        Written { column: None, partial: true, subscripts: Vec::new(), at: column.at };
                    let column = written.into_iter().next().unwrap_or(fallback);
                    self.given(relation, &column, &value);
                    Assignment::One { column, value }
                }
                ir::Assignment::Many { columns, value } => {
                    let columns = self.written(relation, columns);
                    self.note_written(relation, &columns);
                    let value = self.in_clause(Clause::Set, |resolver| resolver.expr(value));
                    Assignment::Many { columns, value }
                }
            })
            .collect()
    }

    /// The columns that a statement writes, by place.
    fn written(&mut self, relation: Option<&'c Relation>, columns: &[ir::TargetColumn]) -> Vec<Written<'c>> {
        columns
            .iter()
            .map(|column| {
                let place = relation.and_then(|relation| relation.columns.position(&column.name));
                if let (None, Some(relation)) = (place, relation) {
                    self.unknown_column(
                        column.at,
                        format!(
                            "column \"{}\" of relation \"{}\" does not exist",
                            column.name, relation.name.name
                        ),
                    );
                }
                Written {
                    column: place.and_then(|place| u32::try_from(place).ok()),
                    partial: column.partial,
                    subscripts: self.exprs(&column.subscripts),
                    at: self.at(column.at),
                }
            })
            .collect()
    }

    /// A bare parameter gets the type of the column that it is assigned to.
    fn given(&mut self, relation: Option<&'c Relation>, written: &Written<'c>, value: &Expr<'c>) {
        let column =
            relation.zip(written.column).and_then(|(relation, at)| relation.columns.get(at as usize));
        if let Some(column) = column.filter(|_| !written.partial) {
            self.meets(value, column.ty);
        }
    }

    fn note_written(&mut self, relation: Option<&'c Relation>, columns: &[Written<'c>]) {
        let Some(relation) = relation else { return };
        for written in columns {
            if let Some(column) = written.column {
                let column = UsedColumn::At(column);
                self.uses.columns.push(ColumnUse { relation, column, at: written.at });
            }
        }
    }
}

fn width(source: &InsertSource<'_>) -> Option<usize> {
    match source {
        InsertSource::DefaultValues => Some(0),
        InsertSource::Values(rows) => rows.iter().map(Vec::len).max(),
        InsertSource::Query(query) => (!query.open).then_some(query.outputs.len()),
    }
}

/// INSERT without a column list: the table's first columns, as many as there are values.
fn all_written<'c>(relation: Option<&Relation>, width: Option<usize>, at: At) -> Vec<Written<'c>> {
    let Some(relation) = relation else { return Vec::new() };
    let count = width.unwrap_or(relation.columns.len()).min(relation.columns.len());
    (0..count)
        .map(|column| Written {
            column: u32::try_from(column).ok(),
            partial: false,
            subscripts: Vec::new(),
            at,
        })
        .collect()
}
