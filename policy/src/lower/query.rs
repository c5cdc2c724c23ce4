//! Queries: SELECT, VALUES, set operations, WITH.

use pg_query::protobuf as pb;
use pg_query::protobuf::node::Node as N;
use pg_query::protobuf::{CteMaterialize, GroupingSetKind, LimitOption, SetOperation};

use super::node::{Class, StatementNode, classify};
use super::{Lower, list, name, optional_name, place};
use crate::ir::{
    At, Cte, CteBody, Cycle, Distinct, Expr, Grouping, Locking, Name, Query, QueryBody, Select, SetOp,
    SortKey, Target, WindowDef, With,
};

impl Lower<'_> {
    /// A query, a level deeper.
    pub(super) fn query(&mut self, node: &pb::SelectStmt) -> Query {
        self.nested(|lower| lower.query_here(node))
    }

    /// A query in a place where the grammar has nothing else.
    pub(super) fn query_node(&mut self, node: Option<&pb::Node>) -> Query {
        match node.map(|node| &node.node) {
            Some(Some(N::SelectStmt(node))) => self.query(node),
            _ => {
                self.refuse("a sub-select that is none", None);
                self.query(&pb::SelectStmt::default())
            }
        }
    }

    fn query_here(&mut self, node: &pb::SelectStmt) -> Query {
        let with = self.with(node.with_clause.as_ref());
        let body = self.query_body(node);
        let order_by = self.sort_keys(&node.sort_clause);
        let offset = node.limit_offset.as_deref().map(|node| self.expr(node));
        let limit = node.limit_count.as_deref().map(|node| self.expr(node));
        let locking = node.locking_clause.iter().map(|node| self.locking(node)).collect();
        let at = body_place(&body);
        Query {
            with,
            body,
            order_by,
            limit,
            offset,
            with_ties: node.limit_option() == LimitOption::WithTies,
            locking,
            at,
        }
    }

    fn query_body(&mut self, node: &pb::SelectStmt) -> QueryBody {
        let op = match node.op() {
            SetOperation::SetopUnion => SetOp::Union,
            SetOperation::SetopIntersect => SetOp::Intersect,
            SetOperation::SetopExcept => SetOp::Except,
            SetOperation::SetopNone | SetOperation::Undefined => {
                if node.values_lists.is_empty() {
                    return QueryBody::Select(Box::new(self.select(node)));
                }
                self.counter.list(node.values_lists.len());
                return QueryBody::Values(self.rows(&node.values_lists));
            }
        };
        self.counter.set_operation();
        let left = self.branch(node.larg.as_deref(), node.op);
        let right = self.branch(node.rarg.as_deref(), SetOperation::SetopNone.into());
        QueryBody::Set { op, all: node.all, left: Box::new(left), right: Box::new(right) }
    }

    /// A branch of a set operation; a chain of one operation is one level.
    fn branch(&mut self, node: Option<&pb::SelectStmt>, chained: i32) -> Query {
        match node {
            Some(node) if node.op == chained => self.query_here(node),
            Some(node) => self.query(node),
            None => self.query_node(None),
        }
    }

    /// The rows of VALUES.
    pub(super) fn rows(&mut self, nodes: &[pb::Node]) -> Vec<Vec<Expr>> {
        let mut rows = Vec::with_capacity(nodes.len());
        for node in nodes {
            match list(node) {
                Some(row) => rows.push(self.expr_list(row)),
                None => self.refuse("a row of VALUES that is none", None),
            }
        }
        rows
    }

    fn select(&mut self, node: &pb::SelectStmt) -> Select {
        let distinct = self.distinct(&node.distinct_clause);
        let targets = self.targets(&node.target_list);
        let into = node.into_clause.as_deref().map(|into| self.target(into.rel.as_ref()));
        let from = self.sources(&node.from_clause);
        let filter = node.where_clause.as_deref().map(|node| self.expr(node));
        let group_by = node.group_clause.iter().map(|node| self.grouping(node)).collect();
        let having = node.having_clause.as_deref().map(|node| self.expr(node));
        let windows = node.window_clause.iter().filter_map(|node| self.window_node(node)).collect();
        Select {
            distinct,
            targets,
            into,
            from,
            filter,
            group_by,
            group_distinct: node.group_distinct,
            having,
            windows,
        }
    }

    /// Plain DISTINCT is a list of one hole.
    fn distinct(&mut self, nodes: &[pb::Node]) -> Distinct {
        match nodes {
            [] => Distinct::No,
            [pb::Node { node: None }] => Distinct::Yes,
            columns => Distinct::On(self.expr_list(columns)),
        }
    }

    /// A target list or RETURNING's.
    pub(super) fn targets(&mut self, nodes: &[pb::Node]) -> Vec<Target> {
        let mut targets = Vec::with_capacity(nodes.len());
        for node in nodes {
            let Some(N::ResTarget(node)) = &node.node else {
                self.refuse("a target that is none", None);
                continue;
            };
            let at = place(node.location);
            if !node.indirection.is_empty() {
                self.refuse("a subscript after a target's name", at);
            }
            let expr = self.required(node.val.as_deref(), at);
            targets.push(Target { expr, alias: optional_name(&node.name), at });
        }
        targets
    }

    fn grouping(&mut self, node: &pb::Node) -> Grouping {
        let Some(N::GroupingSet(node)) = &node.node else {
            return Grouping::Expr(self.expr(node));
        };
        match node.kind() {
            GroupingSetKind::GroupingSetEmpty => Grouping::Empty,
            GroupingSetKind::GroupingSetRollup
            | GroupingSetKind::GroupingSetCube
            | GroupingSetKind::GroupingSetSets => self.nested(|lower| {
                Grouping::Sets(node.content.iter().map(|node| lower.grouping(node)).collect())
            }),
            GroupingSetKind::GroupingSetSimple | GroupingSetKind::Undefined => {
                self.refuse("a grouping set of an unknown kind", place(node.location));
                Grouping::Empty
            }
        }
    }

    /// ORDER BY, wherever it stands.
    pub(super) fn sort_keys(&mut self, nodes: &[pb::Node]) -> Vec<SortKey> {
        let mut keys = Vec::with_capacity(nodes.len());
        for node in nodes {
            let Some(N::SortBy(node)) = &node.node else {
                self.refuse("a sort key that is none", None);
                continue;
            };
            let at = place(node.location);
            let expr = self.required(node.node.as_deref(), at);
            keys.push(SortKey { expr, using: self.optional_path(&node.use_op, at) });
        }
        keys
    }

    fn window_node(&mut self, node: &pb::Node) -> Option<WindowDef> {
        if let Some(N::WindowDef(node)) = &node.node {
            let window = self.window(node);
            Some(WindowDef { name: optional_name(&node.name), ..window })
        } else {
            self.refuse("a window that is none", None);
            None
        }
    }

    /// A window without its own name.
    pub(super) fn window(&mut self, node: &pb::WindowDef) -> WindowDef {
        let offsets = [node.start_offset.as_deref(), node.end_offset.as_deref()];
        WindowDef {
            name: None,
            base: optional_name(&node.refname),
            partition_by: self.expr_list(&node.partition_clause),
            order_by: self.sort_keys(&node.order_clause),
            offsets: offsets.into_iter().flatten().map(|node| self.expr(node)).collect(),
            at: place(node.location),
        }
    }

    fn locking(&mut self, node: &pb::Node) -> Locking {
        let Some(N::LockingClause(node)) = &node.node else {
            self.refuse("a locking clause that is none", None);
            return Locking { of: Vec::new(), at: None };
        };
        let mut of = Vec::with_capacity(node.locked_rels.len());
        for relation in &node.locked_rels {
            match &relation.node {
                Some(N::RangeVar(relation)) => of.push(self.relation(relation)),
                _ => self.refuse("a locked relation that is none", None),
            }
        }
        let at = of.first().and_then(|relation| relation.path.at);
        Locking { of, at }
    }

    /// WITH.
    pub(super) fn with(&mut self, node: Option<&pb::WithClause>) -> Option<With> {
        let node = node?;
        let mut ctes = Vec::with_capacity(node.ctes.len());
        for cte in &node.ctes {
            match &cte.node {
                Some(N::CommonTableExpr(cte)) => ctes.push(self.cte(cte)),
                _ => self.refuse("a common table expression that is none", None),
            }
        }
        Some(With { recursive: node.recursive, ctes })
    }

    fn cte(&mut self, node: &pb::CommonTableExpr) -> Cte {
        let at = place(node.location);
        let columns = self.name_list(&node.aliascolnames);
        let body = self.nested(|lower| lower.cte_body(node.ctequery.as_deref(), at));
        let search = node.search_clause.as_ref().map(|search| self.search(search));
        let cycle = node.cycle_clause.as_deref().map(|cycle| self.cycle(cycle));
        let materialized = match node.ctematerialized() {
            CteMaterialize::Always => Some(true),
            CteMaterialize::Never => Some(false),
            CteMaterialize::Default | CteMaterialize::CtematerializeUndefined => None,
        };
        Cte { name: name(&node.ctename), columns, materialized, body, search, cycle, at }
    }

    fn cte_body(&mut self, node: Option<&pb::Node>, at: At) -> CteBody {
        let Some(Class::Statement(node)) = node.map(classify) else {
            self.refuse("a common table expression without a statement", at);
            return CteBody::Query(Box::new(self.query(&pb::SelectStmt::default())));
        };
        match node {
            StatementNode::Select(node) => CteBody::Query(Box::new(self.query(node))),
            StatementNode::Insert(node) => CteBody::Insert(Box::new(self.insert(node))),
            StatementNode::Update(node) => CteBody::Update(Box::new(self.update(node))),
            StatementNode::Delete(node) => CteBody::Delete(Box::new(self.delete(node))),
            StatementNode::Merge(node) => CteBody::Merge(Box::new(self.merge(node))),
            StatementNode::Transaction(_)
            | StatementNode::Set(_)
            | StatementNode::Show(_)
            | StatementNode::SetConstraints
            | StatementNode::Discard(_)
            | StatementNode::Prepare(_)
            | StatementNode::Execute(_)
            | StatementNode::Deallocate(_)
            | StatementNode::Declare(_)
            | StatementNode::Fetch(_)
            | StatementNode::Close(_)
            | StatementNode::Copy(_)
            | StatementNode::Explain(_)
            | StatementNode::Unlisten(_)
            | StatementNode::Call(_)
            | StatementNode::Other(_) => {
                self.refuse("a utility statement as a common table expression", at);
                CteBody::Query(Box::new(self.query(&pb::SelectStmt::default())))
            }
        }
    }

    fn search(&mut self, node: &pb::CteSearchClause) -> (Vec<Name>, Name) {
        (self.name_list(&node.search_col_list), name(&node.search_seq_column))
    }

    fn cycle(&mut self, node: &pb::CteCycleClause) -> Cycle {
        let at = place(node.location);
        Cycle {
            columns: self.name_list(&node.cycle_col_list),
            mark: name(&node.cycle_mark_column),
            value: self.required(node.cycle_mark_value.as_deref(), at),
            default: self.required(node.cycle_mark_default.as_deref(), at),
            path: name(&node.cycle_path_column),
        }
    }
}

/// The parser gives a query no place; its first item has one.
fn body_place(body: &QueryBody) -> At {
    match body {
        QueryBody::Select(select) => select.targets.first().and_then(|target| target.at),
        QueryBody::Set { left, .. } => left.at,
        QueryBody::Values(_) => None,
    }
}
