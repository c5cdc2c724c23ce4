//! Function calls.

use pg_query::protobuf as pb;
use pg_query::protobuf::CoercionForm;
use pg_query::protobuf::node::Node as N;

use super::{Lower, name, optional_name, place};
use crate::ir::{Call, Expr, Name, WindowDef};

impl Lower<'_> {
    /// A call; `made` where the place tells that the grammar made it.
    pub(super) fn call(&mut self, node: &pb::FuncCall, made: bool) -> Call {
        let at = place(node.location);
        let args = node.args.iter().map(|arg| self.argument(arg)).collect();
        let order_by = self.sort_keys(&node.agg_order);
        let filter = node.agg_filter.as_deref().map(|filter| self.expr(filter));
        let over = node.over.as_deref().map(|window| self.over(window));
        Call {
            name: self.path(&node.funcname, at),
            sql_syntax: made || node.funcformat() == CoercionForm::CoerceSqlSyntax,
            args,
            variadic: node.func_variadic,
            star: node.agg_star,
            distinct: node.agg_distinct,
            order_by,
            within_group: node.agg_within_group,
            filter,
            over,
            at,
        }
    }

    fn argument(&mut self, node: &pb::Node) -> (Option<Name>, Expr) {
        match &node.node {
            Some(N::NamedArgExpr(named)) => {
                let at = place(named.location);
                (Some(name(&named.name)), self.required(named.arg.as_deref(), at))
            }
            _ => (None, self.expr(node)),
        }
    }

    /// OVER w names a window, OVER (w …) starts from one; the parser has two fields for it.
    fn over(&mut self, node: &pb::WindowDef) -> WindowDef {
        let window = self.window(node);
        WindowDef { base: optional_name(&node.name).or(window.base), ..window }
    }
}
