//! Masks: a masked column appears only as plain output, through any number of plain projections
//! (policy 4.5).
//!
//! Each query has a *lineage*: for every output column the mask that it must carry, because the
//! column is a masked one handed through. Everything else that looks at such a column is refused.
//! Columns of catalogs that are on no list are handed through as NULL by the same rule.

use std::cell::RefCell;

use super::Context;
use super::columns::object;
use crate::catalog::{Listing, Relation, is_builtin_schema};
use crate::ir::{SetOp, SublinkKind};
use crate::keyed::HashMap;
use crate::policy::{CatalogRule, ColumnRule};
use crate::resolve::{
    Arbiter, Assignment, Body, Col, CteBody, CteId, Delete, Distinct, DmlFilter, Expr, ExprNode, From,
    Grouping, Insert, InsertSource, Key, LevelId, Merge, Node, Query, Rel, Root, Select, SourceKind, Update,
    With, action_exprs, assignment_exprs, children, written_exprs,
};
use crate::{Code, Denial, Mask, MaskAt, Object, Rule};

/// Why and how an output is masked.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hidden {
    mask: Mask,
    /// It is a catalog's unlisted column, not one that the role masks.
    catalog: bool,
    column: Object,
}

type Lineage = Vec<Option<Hidden>>;

/// Judges the statement; the masks of its own output, and how many outputs there are if any is masked.
pub(super) fn judge(cx: &Context<'_, '_>, denials: &mut Vec<Denial>) -> (Vec<MaskAt>, usize) {
    let catalogs = cx.role.system_catalogs == CatalogRule::Introspection
        && cx.bound.uses.relations.iter().any(|used| is_builtin_schema(&used.relation.name.schema));
    if !cx.role.has_any_column_rules() && !catalogs {
        return (Vec::new(), 0);
    }
    let walk =
        Walk { cx, sources: RefCell::default(), ctes: RefCell::default(), denials: RefCell::default() };
    let lineage = match &cx.bound.root {
        Root::Query(query) => walk.query(query),
        Root::Insert(insert) => walk.insert(insert),
        Root::Update(update) => walk.update(update),
        Root::Delete(delete) => walk.delete(delete),
        Root::Merge(merge) => walk.merge(merge),
        Root::Nothing => Lineage::new(),
    };
    denials.append(&mut walk.denials.borrow_mut());
    let outputs = lineage.len();
    let hidden = lineage.into_iter().enumerate();
    let masks: Vec<MaskAt> =
        hidden.filter_map(|(output, hidden)| Some(MaskAt { output, mask: hidden?.mask })).collect();
    let outputs = if masks.is_empty() { 0 } else { outputs };
    (masks, outputs)
}

struct Walk<'p, 'c> {
    cx: &'p Context<'p, 'c>,
    /// What the columns of the occurrences met so far carry; relations are asked each time.
    sources: RefCell<HashMap<(LevelId, Rel), Occurrence<'c>>>,
    ctes: RefCell<HashMap<CteId, Lineage>>,
    denials: RefCell<Vec<Denial>>,
}

#[derive(Clone)]
enum Occurrence<'c> {
    Relation(&'c Relation),
    Columns(Lineage),
}

impl<'c> Walk<'_, 'c> {
    fn query(&self, query: &Query<'c>) -> Lineage {
        self.query_of(query, None)
    }

    /// A query; `cte` is the recursive CTE whose body it is: the self-reference carries what the
    /// first branch does.
    fn query_of(&self, query: &Query<'c>, cte: Option<CteId>) -> Lineage {
        self.with(&query.with);
        let lineage = match &query.body {
            Body::Select(select) => self.select(select),
            Body::Values(rows) => {
                rows.iter().flatten().for_each(|cell| self.expr(cell));
                vec![None; query.outputs.len()]
            }
            Body::Set { op, all, left, right } => {
                let left = self.query(left);
                if let Some(id) = cte {
                    self.ctes.borrow_mut().insert(id, left.clone());
                }
                let right = self.query(right);
                if cte.is_some() {
                    self.new_in_recursion(&left, &right);
                }
                self.set_operation(*op, *all, left, right)
            }
        };
        for key in &query.order_by {
            self.key(key, &lineage);
        }
        query.limit.iter().chain(&query.offset).for_each(|expr| self.expr(expr));
        lineage
    }

    /// The self-reference was taken to carry what the first branch does: a later turn must not
    /// bring a masked column where that has none.
    fn new_in_recursion(&self, first: &Lineage, recursive: &Lineage) {
        for (first, recursive) in first.iter().zip(recursive) {
            if let (None, Some(hidden)) = (first, recursive) {
                self.refuse(hidden, None);
            }
        }
    }

    fn with(&self, with: &With) {
        for id in with {
            let Some(cte) = self.cx.bound.cte(*id) else { continue };
            let mut lineage = match &cte.body {
                CteBody::Query(query) => self.query_of(query, cte.recursive.then_some(*id)),
                CteBody::Insert(insert) => self.insert(insert),
                CteBody::Update(update) => self.update(update),
                CteBody::Delete(delete) => self.delete(delete),
                CteBody::Merge(merge) => self.merge(merge),
                CteBody::Pending => Lineage::new(),
            };
            lineage.resize(cte.columns.len(), None);
            // What SEARCH and CYCLE add holds the values that they look at.
            for hidden in cte.keys.iter().filter_map(|key| lineage.get(*key)?.as_ref()) {
                self.refuse(hidden, None);
            }
            self.ctes.borrow_mut().insert(*id, lineage);
        }
    }

    fn select(&self, select: &Select<'c>) -> Lineage {
        self.from(select.level, &select.from);
        let lineage: Lineage = select.targets.iter().map(|target| self.output(target)).collect();
        select.filter.iter().chain(&select.having).for_each(|expr| self.expr(expr));
        for grouping in &select.group_by {
            match grouping {
                Grouping::Key(key) => self.key(key, &lineage),
                Grouping::Sets(keys) => keys.iter().for_each(|key| self.key(key, &lineage)),
            }
        }
        match &select.distinct {
            Distinct::No => {}
            Distinct::Yes => lineage.iter().flatten().for_each(|hidden| self.refuse(hidden, None)),
            Distinct::On(keys) => keys.iter().for_each(|key| self.key(key, &lineage)),
        }
        for window in &select.windows {
            window.partition_by.iter().chain(&window.rest).for_each(|expr| self.expr(expr));
        }
        lineage
    }

    fn from(&self, level: LevelId, from: &From<'c>) {
        // LATERAL items see the earlier ones: in order, each before what follows.
        for (rel, source) in (0..).map(Rel).zip(&from.sources) {
            let occurrence = match &source.kind {
                SourceKind::Relation { relation, .. } | SourceKind::Excluded(relation) => {
                    Occurrence::Relation(relation)
                }
                SourceKind::View { query, .. } | SourceKind::Derived(query) => {
                    Occurrence::Columns(self.query(query))
                }
                SourceKind::Cte(id) => {
                    Occurrence::Columns(self.ctes.borrow().get(id).cloned().unwrap_or_default())
                }
                SourceKind::Functions(functions) => {
                    functions.iter().for_each(|function| self.expr(function));
                    Occurrence::Columns(Lineage::new())
                }
                SourceKind::Missing => Occurrence::Columns(Lineage::new()),
            };
            // A source whose columns are not known hides what it carries.
            if let (true, Occurrence::Columns(lineage)) = (source.open, &occurrence) {
                lineage.iter().flatten().for_each(|hidden| self.refuse(hidden, source.at));
            }
            self.sources.borrow_mut().insert((level, rel), occurrence);
        }
        from.items.iter().for_each(|node| self.node(node));
    }

    fn node(&self, node: &Node<'c>) {
        match node {
            Node::Leaf(_) => {}
            Node::Join(join) => {
                self.node(&join.left);
                self.node(&join.right);
                join.on.iter().for_each(|on| self.expr(on));
                for pair in &join.using {
                    self.expr(&pair.left);
                    self.expr(&pair.right);
                }
            }
        }
    }

    fn set_operation(&self, op: SetOp, all: bool, left: Lineage, right: Lineage) -> Lineage {
        let plain = op == SetOp::Union && all;
        left.into_iter()
            .zip(right)
            .map(|(left, right)| match (left, right) {
                (None, None) => None,
                (Some(hidden), None) | (None, Some(hidden)) if plain => Some(hidden),
                (Some(left), Some(right)) if plain && left.mask == right.mask => Some(left),
                (left, right) => {
                    left.iter().chain(&right).for_each(|hidden| self.refuse(hidden, None));
                    left.or(right)
                }
            })
            .collect()
    }

    /// A sort or grouping key looks at what it names.
    fn key(&self, key: &Key<'c>, outputs: &Lineage) {
        match key {
            Key::Output(at) => {
                if let Some(hidden) = outputs.get(*at).and_then(Option::as_ref) {
                    self.refuse(hidden, None);
                }
            }
            Key::Expr(expr) => self.expr(expr),
        }
    }

    /// An output column: a masked column may stand here plainly, if its place is certain.
    fn output(&self, expr: &Expr<'c>) -> Option<Hidden> {
        let hidden = if let Some(col) = expr.as_column() {
            self.hidden(col)
        } else if let ExprNode::Sublink(sublink) = &expr.node
            && sublink.kind == SublinkKind::Scalar
        {
            self.query(&sublink.query).into_iter().next().flatten()
        } else {
            self.expr(expr);
            None
        };
        if let (Some(hidden), true) = (&hidden, self.cx.bound.uncertain_places) {
            self.refuse(hidden, expr.at);
        }
        hidden
    }

    /// Any other place: it may look at no masked column.
    fn expr(&self, expr: &Expr<'c>) {
        if let Some(hidden) = expr.as_column().and_then(|col| self.hidden(col)) {
            self.refuse(&hidden, expr.at);
        } else if let ExprNode::WholeRow { level, rel } = &expr.node {
            self.whole_row(*level, *rel, expr);
        } else if let ExprNode::Sublink(sublink) = &expr.node {
            let lineage = self.query(&sublink.query);
            if sublink.kind != SublinkKind::Exists {
                lineage.iter().flatten().for_each(|hidden| self.refuse(hidden, expr.at));
            }
        }
        children(expr, &mut |child| self.expr(child));
    }

    fn whole_row(&self, level: LevelId, rel: Rel, expr: &Expr<'c>) {
        let occurrence = self.sources.borrow().get(&(level, rel)).cloned();
        match occurrence {
            Some(Occurrence::Relation(relation)) => {
                for at in 0..relation.columns.len() {
                    let column = u32::try_from(at).unwrap_or(u32::MAX);
                    if let Some(hidden) = self.hidden(Col { level, rel, column }) {
                        self.refuse(&hidden, expr.at);
                    }
                }
            }
            Some(Occurrence::Columns(lineage)) => {
                lineage.iter().flatten().for_each(|hidden| self.refuse(hidden, expr.at));
            }
            None => {}
        }
    }

    /// What a column carries.
    fn hidden(&self, col: Col) -> Option<Hidden> {
        let relation = match self.sources.borrow().get(&(col.level, col.rel))? {
            Occurrence::Columns(lineage) => return lineage.get(col.column as usize).cloned().flatten(),
            Occurrence::Relation(relation) => *relation,
        };
        let column = relation.columns.get(col.column as usize)?;
        if is_builtin_schema(&relation.name.schema) {
            let listed = column.listing == Listing::Introspection
                || self.cx.role.system_catalogs == CatalogRule::Allow;
            return (!listed).then(|| Hidden {
                mask: Mask::Null,
                catalog: true,
                column: object(relation, &column.name),
            });
        }
        let masked = |relation: &Relation| {
            let name = &relation.name;
            match self.cx.role.column(&name.schema, &name.name, &column.name) {
                ColumnRule::Masked(mask) => Some(mask.clone()),
                ColumnRule::Plain | ColumnRule::Denied => None,
            }
        };
        let mask = masked(relation)
            .or_else(|| self.cx.catalog().descendants(relation).into_iter().find_map(masked))?;
        Some(Hidden { mask, catalog: false, column: object(relation, &column.name) })
    }

    fn refuse(&self, hidden: &Hidden, at: crate::ir::At) {
        let name = hidden.column.column.as_deref().unwrap_or_default();
        let (code, message) = match hidden.catalog {
            true => (Code::ColumnNotAllowed, format!("catalog column \"{name}\" is not allowed here")),
            false => {
                (Code::MaskedColumnUse, format!("masked column \"{name}\" may only be a plain output column"))
            }
        };
        self.denials
            .borrow_mut()
            .push(Denial::new(Rule::Columns, code, at, message).object(hidden.column.clone()));
    }

    // ---- changes ----

    fn insert(&self, insert: &Insert<'c>) -> Lineage {
        self.with(&insert.with);
        let sources = [&insert.target, &insert.excluded].into_iter().chain(&insert.old_and_new);
        for (rel, source) in (0..).map(Rel).zip(sources) {
            if let Some(relation) = source.shape() {
                let occurrence = Occurrence::Relation(relation);
                self.sources.borrow_mut().insert((insert.level, rel), occurrence);
            }
        }
        match &insert.source {
            InsertSource::DefaultValues => {}
            InsertSource::Values(rows) => rows.iter().flatten().for_each(|cell| self.expr(cell)),
            InsertSource::Query(query) => {
                let lineage = self.query(query);
                lineage.iter().flatten().for_each(|hidden| self.refuse(hidden, insert.at));
            }
        }
        written_exprs(&insert.columns, &mut |expr| self.expr(expr));
        if let Some(conflict) = &insert.conflict {
            match &conflict.arbiter {
                // A key column of the arbiter is compared by the index, not shown.
                Arbiter::Any | Arbiter::Constraint(_) => {}
                Arbiter::Columns { rest, .. } => rest.iter().for_each(|expr| self.expr(expr)),
            }
            conflict.update.iter().for_each(|set| self.assignments(set));
            conflict.filter.iter().for_each(|filter| self.expr(filter));
        }
        insert.returning.iter().map(|target| self.output(target)).collect()
    }

    fn update(&self, update: &Update<'c>) -> Lineage {
        self.with(&update.with);
        self.from(update.level, &update.from);
        self.assignments(&update.set);
        self.filter(&update.filter);
        update.returning.iter().map(|target| self.output(target)).collect()
    }

    fn delete(&self, delete: &Delete<'c>) -> Lineage {
        self.with(&delete.with);
        self.from(delete.level, &delete.from);
        self.filter(&delete.filter);
        delete.returning.iter().map(|target| self.output(target)).collect()
    }

    fn merge(&self, merge: &Merge<'c>) -> Lineage {
        self.with(&merge.with);
        self.from(merge.level, &merge.from);
        self.expr(&merge.on);
        for action in &merge.actions {
            action.condition.iter().for_each(|condition| self.expr(condition));
            action_exprs(&action.then, &mut |expr| self.expr(expr));
        }
        merge.returning.iter().map(|target| self.output(target)).collect()
    }

    fn filter(&self, filter: &DmlFilter<'c>) {
        match filter {
            DmlFilter::Condition(condition) => self.expr(condition),
            DmlFilter::Nothing | DmlFilter::CurrentOf(_) => {}
        }
    }

    fn assignments(&self, set: &[Assignment<'c>]) {
        assignment_exprs(set, &mut |expr| self.expr(expr));
    }
}
