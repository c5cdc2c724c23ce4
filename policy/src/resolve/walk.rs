//! Walks over bound trees: one exhaustive list of what is inside what.

use super::bound::*;
use crate::mutants::mutant;

/// The direct operands of an expression, without those of a sub-select.
pub(crate) fn children<'e, 'c>(expr: &'e Expr<'c>, visit: &mut dyn FnMut(&'e Expr<'c>)) {
    match &expr.node {
        ExprNode::Const(_)
        | ExprNode::Param(_)
        | ExprNode::Column(_)
        | ExprNode::System { .. }
        | ExprNode::WholeRow { .. }
        | ExprNode::Default
        | ExprNode::Refused => {}
        ExprNode::Merged(args)
        | ExprNode::Bool { args, .. }
        | ExprNode::Row(args)
        | ExprNode::Array(args)
        | ExprNode::Other(args) => args.iter().for_each(visit),
        ExprNode::Not(arg)
        | ExprNode::Is { arg, .. }
        | ExprNode::Cast { arg, .. }
        | ExprNode::Collate { arg, .. } => visit(arg),
        ExprNode::Op(op) => {
            if let Some(left) = &op.left {
                visit(left);
            }
            match &op.right {
                Operand::One(right) => visit(right),
                Operand::List(list) => list.iter().for_each(visit),
            }
        }
        ExprNode::Sublink(sublink) => {
            if let Some(test) = &sublink.test {
                visit(test);
            }
        }
        ExprNode::Call(call) => call.args.iter().chain(&call.rest).for_each(visit),
    }
}

/// Every column that an expression reads, sub-selects' included.
pub(crate) fn columns<'e, 'c>(expr: &'e Expr<'c>, visit: &mut dyn FnMut(Col)) {
    if let Some((level, rel)) = expr.row() {
        visit(expr.as_column().unwrap_or(Col { level, rel, column: u32::MAX }));
    }
    if let ExprNode::Sublink(sublink) = &expr.node {
        query_exprs(&sublink.query, &mut |inner| columns(inner, visit));
    }
    children(expr, &mut |child| columns(child, visit));
}

/// Whether an expression reads a column or has a sub-select.
pub(super) fn reads(expr: &Expr<'_>) -> bool {
    let mut found = matches!(expr.node, ExprNode::Sublink(_));
    columns(expr, &mut |_| found = true);
    children(expr, &mut |child| found |= reads(child));
    found
}

/// Every expression that stands directly in a query, its branches, and its derived tables (not in
/// the sub-selects of those expressions, not in its CTEs).
pub(crate) fn query_exprs<'e, 'c>(query: &'e Query<'c>, visit: &mut dyn FnMut(&'e Expr<'c>)) {
    match &query.body {
        Body::Select(select) => select_exprs(select, visit),
        Body::Values(rows) => rows.iter().flatten().for_each(&mut *visit),
        Body::Set { left, right, .. } => {
            query_exprs(left, visit);
            query_exprs(right, visit);
        }
    }
    surroundings(query, visit);
}

/// ORDER BY, LIMIT and OFFSET.
pub(crate) fn surroundings<'e, 'c>(query: &'e Query<'c>, visit: &mut dyn FnMut(&'e Expr<'c>)) {
    query.order_by.iter().for_each(|key| key_expr(key, visit));
    query.limit.iter().chain(&query.offset).for_each(visit);
}

fn key_expr<'e, 'c>(key: &'e Key<'c>, visit: &mut dyn FnMut(&'e Expr<'c>)) {
    match key {
        Key::Output(_) => {}
        Key::Expr(expr) => visit(expr),
    }
}

fn select_exprs<'e, 'c>(select: &'e Select<'c>, visit: &mut dyn FnMut(&'e Expr<'c>)) {
    from_exprs(&select.from, visit);
    for source in &select.from.sources {
        match &source.kind {
            SourceKind::Derived(query) | SourceKind::View { query, .. } => {
                query_exprs(query, visit);
            }
            SourceKind::Relation { .. }
            | SourceKind::Cte(_)
            | SourceKind::Functions(_)
            | SourceKind::Excluded(_)
            | SourceKind::Missing => {}
        }
    }
    level_exprs(select, visit);
}

/// Every expression of a level that is not in FROM.
pub(crate) fn level_exprs<'e, 'c>(select: &'e Select<'c>, visit: &mut dyn FnMut(&'e Expr<'c>)) {
    select.filter.iter().chain(&select.having).chain(&select.targets).for_each(&mut *visit);
    for grouping in &select.group_by {
        match grouping {
            Grouping::Key(key) => key_expr(key, visit),
            Grouping::Sets(keys) => keys.iter().for_each(|key| key_expr(key, visit)),
        }
    }
    match &select.distinct {
        Distinct::No | Distinct::Yes => {}
        Distinct::On(keys) => keys.iter().for_each(|key| key_expr(key, visit)),
    }
    for window in &select.windows {
        window.partition_by.iter().chain(&window.rest).for_each(&mut *visit);
    }
}

/// Every expression that stands in a FROM: conditions, merged columns, functions.
pub(crate) fn from_exprs<'e, 'c>(from: &'e From<'c>, visit: &mut dyn FnMut(&'e Expr<'c>)) {
    from.items.iter().for_each(|node| node_exprs(node, visit));
    for source in &from.sources {
        match &source.kind {
            SourceKind::Functions(functions) => functions.iter().for_each(&mut *visit),
            SourceKind::Relation { .. }
            | SourceKind::View { .. }
            | SourceKind::Derived(_)
            | SourceKind::Cte(_)
            | SourceKind::Excluded(_)
            | SourceKind::Missing => {}
        }
    }
}

fn node_exprs<'e, 'c>(node: &'e Node<'c>, visit: &mut dyn FnMut(&'e Expr<'c>)) {
    match node {
        Node::Leaf(_) => {}
        Node::Join(join) => {
            node_exprs(&join.left, visit);
            node_exprs(&join.right, visit);
            join.on.iter().for_each(&mut *visit);
            for pair in &join.using {
                visit(&pair.left);
                visit(&pair.right);
            }
        }
    }
}

/// Every expression of assignments.
pub(crate) fn assignment_exprs<'e, 'c>(
    assignments: &'e [Assignment<'c>],
    visit: &mut dyn FnMut(&'e Expr<'c>),
) {
    for assignment in assignments {
        match assignment {
            Assignment::One { column, value } => {
                written_exprs(std::slice::from_ref(column), visit);
                visit(value);
            }
            Assignment::Many { columns, value } => {
                written_exprs(columns, visit);
                visit(value);
            }
        }
    }
}

/// Every expression of what a MERGE action does.
pub(crate) fn action_exprs<'e, 'c>(then: &'e MergeThen<'c>, visit: &mut dyn FnMut(&'e Expr<'c>)) {
    match then {
        MergeThen::Nothing | MergeThen::Delete => {}
        MergeThen::Update(set) => assignment_exprs(set, visit),
        MergeThen::Insert { columns, values } => {
            if !mutant!(SubscriptsUnchecked) {
                written_exprs(columns, visit);
            }
            values.iter().flatten().for_each(visit);
        }
    }
}

/// The subscripts of columns that are written.
pub(crate) fn written_exprs<'e, 'c>(columns: &'e [Written<'c>], visit: &mut dyn FnMut(&'e Expr<'c>)) {
    columns.iter().flat_map(|column| &column.subscripts).for_each(visit);
}
