//! INSERT, UPDATE, DELETE, MERGE.

use pg_query::protobuf as pb;
use pg_query::protobuf::ReturningOptionKind as ReturningOption;
use pg_query::protobuf::node::Node as N;
use pg_query::protobuf::{CmdType, MergeMatchKind, OnConflictAction, OverridingKind};

use super::{Lower, name, optional_name, place};
use crate::ir::{
    Arbiter, ArbiterElement, Assignment, At, ColumnRef, Delete, DmlFilter, Expr, Insert, InsertSource, Merge,
    MergeAction, MergeThen, MergeWhen, OnConflict, Returning, TargetColumn, Update,
};

impl Lower<'_> {
    /// INSERT.
    pub(super) fn insert(&mut self, node: &pb::InsertStmt) -> Insert {
        self.nested(|lower| {
            let with = lower.with(node.with_clause.as_ref());
            let target = lower.target(node.relation.as_ref());
            let at = target.path.at;
            lower.overriding(node.r#override(), at);
            let columns = (!node.cols.is_empty()).then(|| lower.columns(&node.cols));
            let source = lower.insert_source(node.select_stmt.as_deref());
            let on_conflict = node.on_conflict_clause.as_deref().and_then(|clause| lower.on_conflict(clause));
            let returning = lower.returning(node.returning_clause.as_ref());
            Insert { with, target, columns, source, on_conflict, returning, at }
        })
    }

    /// OVERRIDING USER VALUE throws given values away: what is written is not what is stored.
    fn overriding(&mut self, kind: OverridingKind, at: At) {
        match kind {
            OverridingKind::Undefined
            | OverridingKind::OverridingNotSet
            | OverridingKind::OverridingSystemValue => {}
            OverridingKind::OverridingUserValue => self.refuse("OVERRIDING USER VALUE", at),
        }
    }

    fn insert_source(&mut self, node: Option<&pb::Node>) -> InsertSource {
        let Some(node) = node else { return InsertSource::DefaultValues };
        if let Some(N::SelectStmt(select)) = &node.node {
            let bare = select.with_clause.is_none()
                && select.sort_clause.is_empty()
                && select.limit_count.is_none()
                && select.limit_offset.is_none()
                && select.locking_clause.is_empty();
            if bare && !select.values_lists.is_empty() {
                self.counter.inserted_rows(select.values_lists.len());
                return InsertSource::Values(self.rows(&select.values_lists));
            }
        }
        InsertSource::Query(Box::new(self.query_node(Some(node))))
    }

    fn on_conflict(&mut self, node: &pb::OnConflictClause) -> Option<OnConflict> {
        let at = place(node.location);
        let update = match node.action() {
            OnConflictAction::OnconflictNothing => None,
            OnConflictAction::OnconflictUpdate => Some(&node.target_list),
            OnConflictAction::Undefined | OnConflictAction::OnconflictNone => {
                self.refuse("ON CONFLICT of an unknown kind", at);
                return None;
            }
        };
        let arbiter = self.arbiter(node.infer.as_deref());
        let update = update.map(|targets| self.assignments(targets));
        let filter = node.where_clause.as_deref().map(|node| self.expr(node));
        Some(OnConflict { arbiter, update, filter, at })
    }

    fn arbiter(&mut self, node: Option<&pb::InferClause>) -> Arbiter {
        let Some(node) = node else { return Arbiter::Any };
        let elements: Vec<_> =
            node.index_elems.iter().filter_map(|node| self.arbiter_element(node)).collect();
        let filter = node.where_clause.as_deref().map(|node| self.expr(node));
        match optional_name(&node.conname) {
            Some(name) if elements.is_empty() && filter.is_none() => Arbiter::Constraint(name),
            Some(_) => {
                self.refuse("ON CONFLICT with columns and a constraint", place(node.location));
                Arbiter::Any
            }
            None => Arbiter::Columns { elements, filter },
        }
    }

    fn arbiter_element(&mut self, node: &pb::Node) -> Option<ArbiterElement> {
        let Some(N::IndexElem(node)) = &node.node else {
            self.refuse("an element of ON CONFLICT that is none", None);
            return None;
        };
        if !node.opclassopts.is_empty() {
            self.refuse("an operator class with options in ON CONFLICT", None);
        }
        let expr = match (node.expr.as_deref(), optional_name(&node.name)) {
            (Some(expr), None) => self.expr(expr),
            (None, Some(name)) => Expr::Column(ColumnRef { parts: vec![name], star: false, at: None }),
            (Some(_), Some(_)) | (None, None) => {
                self.unsupported("an element of ON CONFLICT of an unknown form", None)
            }
        };
        let collation = self.optional_path(&node.collation, None);
        let opclass = self.optional_path(&node.opclass, None);
        Some(ArbiterElement { expr, collation, opclass })
    }

    /// UPDATE.
    pub(super) fn update(&mut self, node: &pb::UpdateStmt) -> Update {
        self.nested(|lower| {
            let with = lower.with(node.with_clause.as_ref());
            let target = lower.target(node.relation.as_ref());
            let set = lower.assignments(&node.target_list);
            let from = lower.sources(&node.from_clause);
            let filter = lower.dml_filter(node.where_clause.as_deref());
            let returning = lower.returning(node.returning_clause.as_ref());
            let at = target.path.at;
            Update { with, target, set, from, filter, returning, at }
        })
    }

    /// DELETE.
    pub(super) fn delete(&mut self, node: &pb::DeleteStmt) -> Delete {
        self.nested(|lower| {
            let with = lower.with(node.with_clause.as_ref());
            let target = lower.target(node.relation.as_ref());
            let using = lower.sources(&node.using_clause);
            let filter = lower.dml_filter(node.where_clause.as_deref());
            let returning = lower.returning(node.returning_clause.as_ref());
            let at = target.path.at;
            Delete { with, target, using, filter, returning, at }
        })
    }

    fn dml_filter(&mut self, node: Option<&pb::Node>) -> DmlFilter {
        let Some(node) = node else { return DmlFilter::Nothing };
        let Some(N::CurrentOfExpr(current)) = &node.node else {
            return DmlFilter::Condition(self.expr(node));
        };
        if current.cursor_param != 0 {
            self.refuse("CURRENT OF a parameter", None);
        }
        DmlFilter::CurrentOf { cursor: self.names.current_of(&current.cursor_name) }
    }

    /// RETURNING.
    pub(super) fn returning(&mut self, node: Option<&pb::ReturningClause>) -> Option<Returning> {
        let node = node?;
        let mut returning = Returning { targets: Vec::new(), old: None, new: None };
        for option in &node.options {
            let Some(N::ReturningOption(option)) = &option.node else {
                self.refuse("an option of RETURNING that is none", None);
                continue;
            };
            let slot = match option.option() {
                ReturningOption::ReturningOptionOld => &mut returning.old,
                ReturningOption::ReturningOptionNew => &mut returning.new,
                ReturningOption::Undefined => {
                    self.refuse("an unknown option of RETURNING", place(option.location));
                    continue;
                }
            };
            *slot = Some(name(&option.value));
        }
        returning.targets = self.targets(&node.exprs);
        Some(returning)
    }

    /// SET. The parser makes one target a column of `(a, b) = …`, each with the whole source and
    /// its own number; they come in order, and the source is read with the first.
    pub(super) fn assignments(&mut self, nodes: &[pb::Node]) -> Vec<Assignment> {
        let mut assignments = Vec::with_capacity(nodes.len());
        let mut targets = nodes.iter();
        while let Some(node) = targets.next() {
            let Some(N::ResTarget(target)) = &node.node else {
                self.refuse("an assignment that is none", None);
                continue;
            };
            let at = place(target.location);
            let first = self.column(target);
            let value = target.val.as_deref();
            let Some(N::MultiAssignRef(many)) = value.and_then(|value| value.node.as_ref()) else {
                let value = self.required(value, at);
                assignments.push(Assignment::One { column: first, value });
                continue;
            };
            let more = usize::try_from(many.ncolumns).unwrap_or(0).saturating_sub(1);
            let mut columns = vec![first];
            for node in targets.by_ref().take(more) {
                match &node.node {
                    Some(N::ResTarget(target)) if is_part_of(target, columns.len() + 1) => {
                        let column = self.column(target);
                        columns.push(column);
                    }
                    _ => self.refuse("an assignment to several columns out of order", at),
                }
            }
            if many.colno != 1 || columns.len() != more + 1 {
                self.refuse("an assignment to several columns out of order", at);
            }
            let value = self.required(many.source.as_deref(), at);
            assignments.push(Assignment::Many { columns, value });
        }
        assignments
    }

    /// INSERT's column list.
    fn columns(&mut self, nodes: &[pb::Node]) -> Vec<TargetColumn> {
        let mut columns = Vec::with_capacity(nodes.len());
        for node in nodes {
            match &node.node {
                Some(N::ResTarget(target)) if target.val.is_none() => {
                    columns.push(self.column(target));
                }
                _ => self.refuse("a column that is none", None),
            }
        }
        columns
    }

    fn column(&mut self, node: &pb::ResTarget) -> TargetColumn {
        TargetColumn {
            name: name(&node.name),
            partial: !node.indirection.is_empty(),
            subscripts: self.subscripts(&node.indirection),
            at: place(node.location),
        }
    }

    /// MERGE.
    pub(super) fn merge(&mut self, node: &pb::MergeStmt) -> Merge {
        self.nested(|lower| {
            let with = lower.with(node.with_clause.as_ref());
            let target = lower.target(node.relation.as_ref());
            let at = target.path.at;
            let source = match node.source_relation.as_deref() {
                Some(source) => lower.source(source),
                None => lower.source(&pb::Node { node: None }),
            };
            let on = lower.required(node.join_condition.as_deref(), at);
            let actions = node.merge_when_clauses.iter().filter_map(|node| lower.action(node, at));
            let actions = actions.collect();
            let returning = lower.returning(node.returning_clause.as_ref());
            Merge { with, target, source, on, actions, returning, at }
        })
    }

    fn action(&mut self, node: &pb::Node, at: At) -> Option<MergeAction> {
        let Some(N::MergeWhenClause(node)) = &node.node else {
            self.refuse("an action of MERGE that is none", at);
            return None;
        };
        let when = match node.match_kind() {
            MergeMatchKind::MergeWhenMatched => MergeWhen::Matched,
            MergeMatchKind::MergeWhenNotMatchedBySource => MergeWhen::NotMatchedBySource,
            MergeMatchKind::MergeWhenNotMatchedByTarget => MergeWhen::NotMatchedByTarget,
            MergeMatchKind::Undefined => {
                self.refuse("an action of MERGE of an unknown kind", at);
                return None;
            }
        };
        self.overriding(node.r#override(), at);
        let condition = node.condition.as_deref().map(|node| self.expr(node));
        let then = match node.command_type() {
            CmdType::CmdNothing => MergeThen::Nothing,
            CmdType::CmdDelete => MergeThen::Delete,
            CmdType::CmdUpdate => MergeThen::Update(self.assignments(&node.target_list)),
            CmdType::CmdInsert => MergeThen::Insert {
                columns: (!node.target_list.is_empty()).then(|| self.columns(&node.target_list)),
                values: (!node.values.is_empty()).then(|| self.expr_list(&node.values)),
            },
            CmdType::Undefined
            | CmdType::CmdUnknown
            | CmdType::CmdSelect
            | CmdType::CmdMerge
            | CmdType::CmdUtility => {
                self.refuse("an action of MERGE of an unknown kind", at);
                return None;
            }
        };
        Some(MergeAction { when, condition, then })
    }
}

/// Whether this is column `number` of an assignment to several.
fn is_part_of(target: &pb::ResTarget, number: usize) -> bool {
    let value = target.val.as_deref().and_then(|value| value.node.as_ref());
    matches!(value, Some(N::MultiAssignRef(many)) if usize::try_from(many.colno) == Ok(number))
}
