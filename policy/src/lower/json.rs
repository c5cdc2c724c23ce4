//! SQL/JSON constructors and query functions.
//!
//! A RETURNING type is a cast of the result, and is kept as one.

use pg_query::protobuf as pb;
use pg_query::protobuf::JsonExprOp;
use pg_query::protobuf::node::Node as N;

use super::{Lower, place};
use crate::ir::{At, Expr, SpecialForm, Sublink, SublinkKind};

impl Lower<'_> {
    /// `x FORMAT JSON`.
    pub(super) fn json_value(&mut self, node: &pb::JsonValueExpr) -> Expr {
        if node.formatted_expr.is_some() {
            return self.unsupported("an analysed JSON value", None);
        }
        self.required(node.raw_expr.as_deref(), None)
    }

    fn json_values(&mut self, node: Option<&pb::JsonValueExpr>, at: At) -> Vec<Expr> {
        match node {
            Some(node) => vec![self.json_value(node)],
            None => vec![self.unsupported("a missing JSON value", at)],
        }
    }

    /// JSON(…).
    pub(super) fn json_parse(&mut self, node: &pb::JsonParseExpr) -> Expr {
        let at = place(node.location);
        let args = self.json_values(node.expr.as_deref(), at);
        self.constructed("JSON", args, node.output.as_ref(), at)
    }

    /// JSON_SCALAR(…).
    pub(super) fn json_scalar(&mut self, node: &pb::JsonScalarExpr) -> Expr {
        let at = place(node.location);
        let args = vec![self.required(node.expr.as_deref(), at)];
        self.constructed("JSON_SCALAR", args, node.output.as_ref(), at)
    }

    /// JSON_SERIALIZE(…).
    pub(super) fn json_serialize(&mut self, node: &pb::JsonSerializeExpr) -> Expr {
        let at = place(node.location);
        let args = self.json_values(node.expr.as_deref(), at);
        self.constructed("JSON_SERIALIZE", args, node.output.as_ref(), at)
    }

    /// JSON_OBJECT(key: value, …).
    pub(super) fn json_object(&mut self, node: &pb::JsonObjectConstructor) -> Expr {
        let at = place(node.location);
        let mut args = Vec::with_capacity(node.exprs.len() * 2);
        for pair in &node.exprs {
            match &pair.node {
                Some(N::JsonKeyValue(pair)) => self.json_pair(pair, &mut args, at),
                _ => self.refuse("a key and value that are none", at),
            }
        }
        self.constructed("JSON_OBJECT", args, node.output.as_ref(), at)
    }

    fn json_pair(&mut self, pair: &pb::JsonKeyValue, args: &mut Vec<Expr>, at: At) {
        args.push(self.required(pair.key.as_deref(), at));
        args.extend(self.json_values(pair.value.as_deref(), at));
    }

    /// JSON_ARRAY(value, …).
    pub(super) fn json_array(&mut self, node: &pb::JsonArrayConstructor) -> Expr {
        let at = place(node.location);
        self.counter.list(node.exprs.len());
        let args = self.expr_list(&node.exprs);
        self.constructed("JSON_ARRAY", args, node.output.as_ref(), at)
    }

    /// JSON_ARRAY(SELECT …).
    pub(super) fn json_array_query(&mut self, node: &pb::JsonArrayQueryConstructor) -> Expr {
        let at = place(node.location);
        let query = self.query_node(node.query.as_deref());
        let sublink = Sublink { kind: SublinkKind::Array, test: None, op: None, query, at };
        let args = vec![Expr::Sublink(Box::new(sublink))];
        self.constructed("JSON_ARRAY", args, node.output.as_ref(), at)
    }

    /// JSON_OBJECTAGG(key: value).
    pub(super) fn json_object_agg(&mut self, node: &pb::JsonObjectAgg) -> Expr {
        let Some(aggregate) = self.json_aggregate(node.constructor.as_deref()) else {
            return Expr::Unsupported(None);
        };
        let at = place(aggregate.location);
        let mut args = Vec::new();
        match node.arg.as_deref() {
            Some(pair) => self.json_pair(pair, &mut args, at),
            None => self.refuse("a missing JSON value", at),
        }
        self.returning_type(
            Expr::Special { form: SpecialForm::JsonAggregate("JSON_OBJECTAGG"), args, at },
            aggregate.output.as_ref(),
            at,
        )
    }

    /// JSON_ARRAYAGG(value).
    pub(super) fn json_array_agg(&mut self, node: &pb::JsonArrayAgg) -> Expr {
        let Some(aggregate) = self.json_aggregate(node.constructor.as_deref()) else {
            return Expr::Unsupported(None);
        };
        let at = place(aggregate.location);
        let args = self.json_values(node.arg.as_deref(), at);
        self.returning_type(
            Expr::Special { form: SpecialForm::JsonAggregate("JSON_ARRAYAGG"), args, at },
            aggregate.output.as_ref(),
            at,
        )
    }

    /// What the two aggregates share; FILTER, ORDER BY and OVER have no place in a special form.
    fn json_aggregate<'n>(
        &mut self,
        node: Option<&'n pb::JsonAggConstructor>,
    ) -> Option<&'n pb::JsonAggConstructor> {
        let plain =
            node.filter(|node| node.agg_filter.is_none() && node.agg_order.is_empty() && node.over.is_none());
        if plain.is_none() {
            let at = node.and_then(|node| place(node.location));
            self.refuse("a JSON aggregate with FILTER, ORDER BY or OVER", at);
        }
        plain
    }

    /// JSON_VALUE, JSON_QUERY, JSON_EXISTS: context, path, PASSING, and the DEFAULTs.
    pub(super) fn json_query(&mut self, node: &pb::JsonFuncExpr) -> Expr {
        let at = place(node.location);
        let what = match node.op() {
            JsonExprOp::JsonExistsOp => "JSON_EXISTS",
            JsonExprOp::JsonQueryOp => "JSON_QUERY",
            JsonExprOp::JsonValueOp => "JSON_VALUE",
            JsonExprOp::JsonTableOp | JsonExprOp::Undefined => {
                return self.unsupported("an unknown form of SQL/JSON", at);
            }
        };
        let mut args = self.json_values(node.context_item.as_deref(), at);
        args.push(self.required(node.pathspec.as_deref(), at));
        for argument in &node.passing {
            match &argument.node {
                Some(N::JsonArgument(argument)) => {
                    args.extend(self.json_values(argument.val.as_deref(), at));
                }
                _ => self.refuse("an argument of PASSING that is none", at),
            }
        }
        for behavior in [node.on_empty.as_deref(), node.on_error.as_deref()].into_iter().flatten() {
            args.extend(behavior.expr.as_deref().map(|default| self.expr(default)));
        }
        let special = Expr::Special { form: SpecialForm::JsonQuery(what), args, at };
        self.returning_type(special, node.output.as_ref(), at)
    }

    fn constructed(
        &mut self,
        what: &'static str,
        args: Vec<Expr>,
        output: Option<&pb::JsonOutput>,
        at: At,
    ) -> Expr {
        let special = Expr::Special { form: SpecialForm::JsonConstructor(what), args, at };
        self.returning_type(special, output, at)
    }

    fn returning_type(&mut self, expr: Expr, output: Option<&pb::JsonOutput>, at: At) -> Expr {
        match output.and_then(|output| output.type_name.as_ref()) {
            Some(ty) => Expr::Cast { arg: Box::new(expr), ty: self.type_ref(Some(ty)), at },
            None => expr,
        }
    }
}
