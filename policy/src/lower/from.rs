//! FROM, relations, aliases.

use pg_query::protobuf as pb;
use pg_query::protobuf::JoinType as J;
use pg_query::protobuf::node::Node as N;

use super::expr::expr_place;
use super::node::{Class, FromNode, classify};
use super::{Lower, list, name, optional_name, place};
use crate::ir::{
    Alias, At, ColumnDefinition, Expr, From, FunctionFrom, Join, JoinKind, JoinOn, Path, RelationRef, Sample,
};

impl Lower<'_> {
    /// The comma-separated items of FROM and USING.
    pub(super) fn sources(&mut self, nodes: &[pb::Node]) -> Vec<From> {
        nodes.iter().map(|node| self.source(node)).collect()
    }

    /// One item, a level deeper.
    pub(super) fn source(&mut self, node: &pb::Node) -> From {
        self.nested(|lower| match classify(node) {
            Class::From(node) => lower.source_node(node),
            Class::Expr(_) => lower.not_in_from("an expression in FROM"),
            Class::Statement(_) => lower.not_in_from("a statement in FROM"),
            Class::Part(what) | Class::Analysed(what) => lower.not_in_from(what),
            Class::Nothing => lower.not_in_from("nothing in FROM"),
        })
    }

    fn source_node(&mut self, node: FromNode<'_>) -> From {
        match node {
            FromNode::Relation(node) => From::Relation(self.relation(node)),
            FromNode::Sample(node) => self.sample(node),
            FromNode::Subquery(node) => self.subquery(node),
            FromNode::Function(node) => From::Function(self.function_from(node)),
            FromNode::Join(node) => From::Join(Box::new(self.join(node))),
            FromNode::Other(what, location) => {
                self.refuse(what, place(location));
                From::Unsupported(place(location))
            }
        }
    }

    fn not_in_from(&mut self, what: &'static str) -> From {
        self.refuse(what, None);
        From::Unsupported(None)
    }

    fn subquery(&mut self, node: &pb::RangeSubselect) -> From {
        let query = self.query_node(node.subquery.as_deref());
        let at = query.at;
        let alias = self.alias(node.alias.as_ref());
        From::Subquery { lateral: node.lateral, query: Box::new(query), alias, at }
    }

    /// A relation by its name.
    pub(super) fn relation(&mut self, node: &pb::RangeVar) -> RelationRef {
        self.counter.relation();
        let at = place(node.location);
        let parts = [&node.catalogname, &node.schemaname, &node.relname];
        let mut parts: Vec<_> = parts.into_iter().filter_map(|part| optional_name(part)).collect();
        if parts.is_empty() {
            self.refuse("a relation without a name", at);
            parts.push(name(""));
        }
        let alias = self.alias(node.alias.as_ref());
        RelationRef { path: Path { parts, at }, only: !node.inh, alias, sample: None }
    }

    /// A relation with TABLESAMPLE: the grammar puts nothing else there.
    fn sample(&mut self, node: &pb::RangeTableSample) -> From {
        let at = place(node.location);
        let Some(pb::Node { node: Some(N::RangeVar(relation)) }) = node.relation.as_deref() else {
            self.refuse("TABLESAMPLE of what is no relation", at);
            return From::Unsupported(at);
        };
        let mut relation = self.relation(relation);
        let mut args: Vec<Expr> = node.args.iter().map(|arg| self.expr(arg)).collect();
        args.extend(node.repeatable.as_deref().map(|seed| self.expr(seed)));
        relation.sample = Some(Box::new(Sample { method: self.path(&node.method, at), args }));
        From::Relation(relation)
    }

    /// A relation that has to be there.
    pub(super) fn target(&mut self, node: Option<&pb::RangeVar>) -> RelationRef {
        match node {
            Some(node) => self.relation(node),
            None => self.relation(&pb::RangeVar { location: -1, ..pb::RangeVar::default() }),
        }
    }

    /// AS name (columns).
    pub(super) fn alias(&mut self, node: Option<&pb::Alias>) -> Option<Alias> {
        let node = node?;
        Some(Alias { name: name(&node.aliasname), columns: self.name_list(&node.colnames) })
    }

    fn function_from(&mut self, node: &pb::RangeFunction) -> FunctionFrom {
        let functions: Vec<_> = node.functions.iter().map(|item| self.function(item)).collect();
        let alias = self.alias(node.alias.as_ref());
        let columns = self.column_definitions(&node.coldeflist);
        let at = functions.first().and_then(|(function, _)| expr_place(function));
        FunctionFrom {
            lateral: node.lateral,
            rows_from: node.is_rowsfrom,
            functions,
            ordinality: node.ordinality,
            alias,
            columns,
            at,
        }
    }

    /// A function with its column definitions: the parser makes a list of the two.
    fn function(&mut self, item: &pb::Node) -> (Expr, Vec<ColumnDefinition>) {
        match list(item) {
            Some([function]) => (self.expr(function), Vec::new()),
            Some([function, columns]) => {
                let definitions = match (&columns.node, list(columns)) {
                    (None, _) => Vec::new(),
                    (_, Some(columns)) => self.column_definitions(columns),
                    (_, None) => {
                        self.refuse("a column definition list that is none", None);
                        Vec::new()
                    }
                };
                (self.expr(function), definitions)
            }
            _ => (self.unsupported("a function of an unknown form in FROM", None), Vec::new()),
        }
    }

    fn column_definitions(&mut self, nodes: &[pb::Node]) -> Vec<ColumnDefinition> {
        let mut columns = Vec::with_capacity(nodes.len());
        for node in nodes {
            match &node.node {
                Some(N::ColumnDef(node)) => columns.push(self.column_definition(node)),
                _ => self.refuse("a column definition that is none", None),
            }
        }
        columns
    }

    fn column_definition(&mut self, node: &pb::ColumnDef) -> ColumnDefinition {
        let at = place(node.location);
        if node.raw_default.is_some() || !node.constraints.is_empty() {
            self.refuse("a constraint in a column definition list", at);
        }
        let clause = node.coll_clause.as_deref();
        let collation = clause.map(|clause| self.path(&clause.collname, place(clause.location)));
        let ty = self.type_ref(node.type_name.as_ref());
        ColumnDefinition { name: name(&node.colname), ty, collation, at }
    }

    fn join(&mut self, node: &pb::JoinExpr) -> Join {
        let left = match node.larg.as_deref() {
            // A chain `a JOIN b JOIN c` is one level.
            Some(pb::Node { node: Some(N::JoinExpr(left)) }) if left.alias.is_none() => {
                From::Join(Box::new(self.join(left)))
            }
            left => self.join_side(left),
        };
        let right = self.join_side(node.rarg.as_deref());
        let at = from_place(&left);
        let kind = match node.jointype() {
            J::JoinInner => JoinKind::Inner,
            J::JoinLeft => JoinKind::Left,
            J::JoinFull => JoinKind::Full,
            J::JoinRight => JoinKind::Right,
            J::Undefined
            | J::JoinSemi
            | J::JoinAnti
            | J::JoinRightSemi
            | J::JoinRightAnti
            | J::JoinUniqueOuter
            | J::JoinUniqueInner => {
                self.refuse("a join of an unknown kind", at);
                JoinKind::Full
            }
        };
        let on = self.join_on(node);
        let alias = self.alias(node.alias.as_ref());
        Join { kind, left, right, on, alias, at }
    }

    fn join_side(&mut self, node: Option<&pb::Node>) -> From {
        match node {
            Some(node) => self.source(node),
            None => self.not_in_from("a join without a side"),
        }
    }

    fn join_on(&mut self, node: &pb::JoinExpr) -> JoinOn {
        match node.quals.as_deref() {
            Some(condition) => JoinOn::Condition(self.expr(condition)),
            None if node.is_natural => JoinOn::Natural,
            None if node.using_clause.is_empty() => JoinOn::Nothing,
            None => JoinOn::Using {
                columns: self.name_list(&node.using_clause),
                alias: self.alias(node.join_using_alias.as_ref()).map(|alias| alias.name),
            },
        }
    }
}

/// Where an item of FROM begins, as far as known.
fn from_place(from: &From) -> At {
    match from {
        From::Relation(relation) => relation.path.at,
        From::Subquery { at, .. } | From::Unsupported(at) => *at,
        From::Function(function) => function.at,
        From::Join(join) => join.at,
    }
}
