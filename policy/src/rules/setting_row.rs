//! The one row of pg_settings that a statement may look at (policy 4.4, 4.7).
//!
//! pg_settings is on no list: it holds paths and others' choices. But what SHOW tells, a driver may
//! ask of it: JDBC reads max_index_keys so before it asks for foreign keys. So a statement passes
//! that reads nothing else, whose condition is `name = 'constant'` alone, of a setting that the role
//! may read; its columns `name` and `setting` are shown, and no other.

use super::{Context, settings};
use crate::ir::OpForm;
use crate::resolve::{Body, ExprNode, Operand, Root, Source, SourceKind};

/// Whether the statement is a query of pg_settings alone for one setting that may be read.
pub(super) fn is_all(cx: &Context<'_, '_>) -> bool {
    let (Root::Query(query), [_]) = (&cx.bound.root, cx.bound.uses.relations.as_slice()) else {
        return false;
    };
    let Body::Select(select) = &query.body else { return false };
    let ([Source { kind: SourceKind::Relation { relation, .. }, .. }], Some(filter)) =
        (select.from.sources.as_slice(), &select.filter)
    else {
        return false;
    };
    let ExprNode::Op(operation) = &filter.node else { return false };
    if operation.form != OpForm::Plain || &*operation.name != "=" || !operation.builtin {
        return false;
    }
    let (Some(left), Operand::One(right)) = (&operation.left, &operation.right) else { return false };
    let (column, ExprNode::Const(constant)) = (left.as_column(), &right.node) else { return false };
    let of_name = column.is_some_and(|column| {
        column.level == select.level
            && relation.columns.get(column.column as usize).is_some_and(|column| &*column.name == "name")
    });
    let readable =
        cx.constants().text(constant).is_some_and(|name| settings::may_read(cx.role, name, None).is_none());
    of_name && readable
}
