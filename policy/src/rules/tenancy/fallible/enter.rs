//! Notes the occurrences of every level of a statement, before anything is judged.

use super::super::conflict::conflict_exprs;
use super::{Change, Walk};
use crate::resolve::{
    Body, DmlFilter, Expr, ExprNode, From, InsertSource, LevelId, Query, Rel, Source, SourceKind,
    action_exprs, assignment_exprs, children, from_exprs, level_exprs, surroundings,
};

impl<'p, 'c> Walk<'_, 'p, 'c> {
    pub(super) fn enter(&mut self, change: &Change<'p, 'c>) {
        match change {
            Change::Query(query) => self.enter_query(query),
            Change::Insert(insert) => {
                let own = [&insert.target, &insert.excluded].into_iter();
                self.enter_sources(insert.level, own.chain(&insert.old_and_new));
                match &insert.source {
                    InsertSource::DefaultValues => {}
                    InsertSource::Values(rows) => {
                        rows.iter().flatten().for_each(|cell| self.enter_expr(cell))
                    }
                    InsertSource::Query(query) => self.enter_query(query),
                }
                if let Some(conflict) = &insert.conflict {
                    conflict_exprs(conflict, &mut |expr| self.enter_expr(expr));
                }
                insert.returning.iter().for_each(|expr| self.enter_expr(expr));
            }
            Change::Update(update) => {
                self.enter_from(update.level, &update.from);
                self.enter_filter(&update.filter);
                assignment_exprs(&update.set, &mut |expr| self.enter_expr(expr));
                update.returning.iter().for_each(|expr| self.enter_expr(expr));
            }
            Change::Delete(delete) => {
                self.enter_from(delete.level, &delete.from);
                self.enter_filter(&delete.filter);
                delete.returning.iter().for_each(|expr| self.enter_expr(expr));
            }
            Change::Merge(merge) => {
                self.enter_from(merge.level, &merge.from);
                self.enter_expr(&merge.on);
                for action in &merge.actions {
                    action.condition.iter().for_each(|condition| self.enter_expr(condition));
                    action_exprs(&action.then, &mut |expr| self.enter_expr(expr));
                }
                merge.returning.iter().for_each(|expr| self.enter_expr(expr));
            }
        }
    }

    fn enter_filter(&mut self, filter: &'p DmlFilter<'c>) {
        match filter {
            DmlFilter::Condition(condition) => self.enter_expr(condition),
            DmlFilter::Nothing | DmlFilter::CurrentOf(_) => {}
        }
    }

    fn enter_query(&mut self, query: &'p Query<'c>) {
        match &query.body {
            Body::Select(select) => {
                self.enter_from(select.level, &select.from);
                level_exprs(select, &mut |expr| self.enter_expr(expr));
            }
            Body::Values(rows) => rows.iter().flatten().for_each(|cell| self.enter_expr(cell)),
            Body::Set { left, right, .. } => {
                self.enter_query(left);
                self.enter_query(right);
            }
        }
        surroundings(query, &mut |expr| self.enter_expr(expr));
    }

    fn enter_from(&mut self, level: LevelId, from: &'p From<'c>) {
        self.enter_sources(level, from.sources.iter());
        from_exprs(from, &mut |expr| self.enter_expr(expr));
    }

    fn enter_sources(&mut self, level: LevelId, sources: impl Iterator<Item = &'p Source<'c>>) {
        for (rel, source) in (0..).map(Rel).zip(sources) {
            self.sources.insert((level, rel), source);
            if let SourceKind::View { query, .. } | SourceKind::Derived(query) = &source.kind {
                self.enter_query(query);
            }
        }
    }

    fn enter_expr(&mut self, expr: &'p Expr<'c>) {
        if let ExprNode::Sublink(sublink) = &expr.node {
            self.enter_query(&sublink.query);
        }
        children(expr, &mut |child| self.enter_expr(child));
    }
}
