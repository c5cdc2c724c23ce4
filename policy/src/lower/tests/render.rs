//! A compact form of a statement, for tests: everything that is in it, nothing of its places.

use std::fmt::{Display, Write};

use crate::ir::*;

pub(super) fn statement(statement: &Statement) -> String {
    let mut text = body(&statement.body);
    for unsupported in &statement.unsupported {
        write!(text, " !{}", unsupported.what).unwrap();
    }
    text
}

fn joined<T>(items: impl IntoIterator<Item = T>, show: impl Fn(T) -> String, between: &str) -> String {
    items.into_iter().map(show).collect::<Vec<_>>().join(between)
}

fn part(word: &str, value: Option<impl Display>) -> String {
    value.map(|value| format!(" {word} {value}")).unwrap_or_default()
}

fn body(body: &Body) -> String {
    match body {
        Body::Query(node) => query(node),
        Body::Insert(node) => insert(node),
        Body::Update(node) => update(node),
        Body::Delete(node) => delete(node),
        Body::Merge(node) => merge(node),
        Body::Utility(node) => utility(node),
    }
}

pub(super) fn path(path: &Path) -> String {
    path.parts.join(".")
}

fn exprs(list: &[Expr]) -> String {
    joined(list, expr, ", ")
}

pub(super) fn expr(node: &Expr) -> String {
    match node {
        Expr::Const(constant) => value(constant),
        Expr::Param { number, .. } => format!("${number}"),
        Expr::Column(column) => {
            let star = column.star.then(|| "*".into());
            joined(column.parts.iter().cloned().chain(star), |part| part.into(), ".")
        }
        Expr::Call(node) => call(node),
        Expr::Op(node) => op(node),
        Expr::Bool { op, args, .. } => format!("({op:?} {})", exprs(args)),
        Expr::Not(arg, _) => format!("(Not {})", expr(arg)),
        Expr::Is { test, positive, arg, .. } => {
            format!("(Is{} {test:?} {})", if *positive { "" } else { "Not" }, expr(arg))
        }
        Expr::Cast { arg, ty, .. } => format!("{}::{}", expr(arg), type_ref(ty)),
        Expr::Collate { arg, collation, .. } => format!("(Collate {} {})", expr(arg), path(collation)),
        Expr::Sublink(node) => {
            let test = node.test.as_ref().map(expr);
            let op = node.op.as_ref().map(path);
            format!("({:?}{}{} {})", node.kind, part("test", test), part("op", op), query(&node.query))
        }
        Expr::Case { operand, whens, otherwise, .. } => format!(
            "(Case{} {}{})",
            part("of", operand.as_deref().map(expr)),
            joined(whens, |(when, then)| format!("{} -> {}", expr(when), expr(then)), "; "),
            part("else", otherwise.as_deref().map(expr)),
        ),
        Expr::Special { form, args, .. } => format!("{form:?}({})", exprs(args)),
        Expr::Row(args, _) => format!("Row({})", exprs(args)),
        Expr::Array(args, _) => format!("Array[{}]", exprs(args)),
        Expr::Field { arg, field, .. } => format!("(Field {} {field})", expr(arg)),
        Expr::FieldStar(arg, _) => format!("(Field {} *)", expr(arg)),
        Expr::Subscript { arg, indices, .. } => format!("{}[{}]", expr(arg), exprs(indices)),
        Expr::Default(_) => "Default".to_owned(),
        Expr::Unsupported(_) => "Unsupported".to_owned(),
    }
}

fn value(constant: &Const) -> String {
    match constant.value() {
        ConstValue::Null => "null".to_owned(),
        ConstValue::Bool(value) => value.to_string(),
        ConstValue::Integer(value) => value.to_string(),
        ConstValue::Number(value) => format!("#{value}"),
        ConstValue::String(value) => format!("'{value}'"),
        ConstValue::Bits(value) => format!("bits {value}"),
    }
}

fn call(node: &Call) -> String {
    let mut args = joined(
        &node.args,
        |(name, arg)| match name {
            Some(name) => format!("{name} => {}", expr(arg)),
            None => expr(arg),
        },
        ", ",
    );
    for (flag, word) in [(node.star, "*"), (node.distinct, "/distinct"), (node.variadic, "/variadic")] {
        if flag {
            args += word;
        }
    }
    let syntax = if node.sql_syntax { "sql:" } else { "" };
    let word = if node.within_group { "within group" } else { "order by" };
    args += &part(word, (!node.order_by.is_empty()).then(|| sort(&node.order_by)));
    let filter = part("filter", node.filter.as_ref().map(expr));
    format!("{syntax}{}({args}){filter}{}", path(&node.name), part("over", node.over.as_ref().map(window)))
}

fn op(node: &Op) -> String {
    let form = if node.form == OpForm::Plain { String::new() } else { format!("{:?} ", node.form) };
    let right = match &node.right {
        OpRight::One(right) => expr(right),
        OpRight::List(list) => format!("[{}]", exprs(list)),
    };
    format!(
        "({form}{}{} {right})",
        path(&node.name),
        part("", node.left.as_ref().map(expr)).replace("  ", " ")
    )
}

fn type_ref(ty: &TypeRef) -> String {
    let mut text = path(&ty.path);
    for (flag, word) in [(ty.typmods, "()"), (ty.array, "[]"), (ty.setof, " setof"), (ty.pct_type, "%type")] {
        if flag {
            text += word;
        }
    }
    text
}

fn sort(keys: &[SortKey]) -> String {
    joined(keys, |key| format!("{}{}", expr(&key.expr), part("using", key.using.as_ref().map(path))), ", ")
}

fn window(window: &WindowDef) -> String {
    let mut text = String::from("(");
    text += &part("name", window.name.as_ref());
    text += &part("base", window.base.as_ref());
    text += &part("by", (!window.partition_by.is_empty()).then(|| exprs(&window.partition_by)));
    text += &part("order", (!window.order_by.is_empty()).then(|| sort(&window.order_by)));
    text += &part("offsets", (!window.offsets.is_empty()).then(|| exprs(&window.offsets)));
    text + " )"
}

pub(super) fn query(node: &Query) -> String {
    let mut text = with(node.with.as_ref());
    text += &match &node.body {
        QueryBody::Select(node) => select(node),
        QueryBody::Values(rows) => {
            format!("values {}", joined(rows, |row| format!("({})", exprs(row)), ", "))
        }
        QueryBody::Set { op, all, left, right } => {
            format!("{{{}}} {op:?}{} {{{}}}", query(left), if *all { "All" } else { "" }, query(right))
        }
    };
    text += &part("order", (!node.order_by.is_empty()).then(|| sort(&node.order_by)));
    text += &part("limit", node.limit.as_ref().map(expr));
    text += &part("offset", node.offset.as_ref().map(expr));
    if node.with_ties {
        text += " ties";
    }
    for locking in &node.locking {
        text += &format!(" lock [{}]", joined(&locking.of, relation, ", "));
    }
    text
}

fn select(node: &Select) -> String {
    let mut text = match &node.distinct {
        Distinct::No => "select".to_owned(),
        Distinct::Yes => "select distinct".to_owned(),
        Distinct::On(on) => format!("select distinct on ({})", exprs(on)),
    };
    text += &format!(" {}", targets(&node.targets));
    text += &part("into", node.into.as_ref().map(relation));
    text += &part("from", (!node.from.is_empty()).then(|| joined(&node.from, from, ", ")));
    text += &part("where", node.filter.as_ref().map(expr));
    let word = if node.group_distinct { "group distinct" } else { "group" };
    text += &part(word, (!node.group_by.is_empty()).then(|| joined(&node.group_by, grouping, ", ")));
    text += &part("having", node.having.as_ref().map(expr));
    text + &part("windows", (!node.windows.is_empty()).then(|| joined(&node.windows, window, ", ")))
}

fn targets(list: &[Target]) -> String {
    joined(list, |target| format!("{}{}", expr(&target.expr), part("as", target.alias.as_ref())), ", ")
}

fn grouping(node: &Grouping) -> String {
    match node {
        Grouping::Expr(node) => expr(node),
        Grouping::Empty => "()".to_owned(),
        Grouping::Sets(sets) => format!("sets({})", joined(sets, grouping, ", ")),
    }
}

pub(super) fn from(node: &From) -> String {
    match node {
        From::Relation(node) => relation(node),
        From::Subquery { lateral, query: inner, alias: name, .. } => {
            format!("{}({}){}", if *lateral { "lateral " } else { "" }, query(inner), alias(name.as_ref()))
        }
        From::Function(node) => function_from(node),
        From::Join(node) => {
            let on = match &node.on {
                JoinOn::Nothing => String::new(),
                JoinOn::Condition(condition) => format!(" on {}", expr(condition)),
                JoinOn::Using { columns, alias } => {
                    format!(" using ({}){}", columns.join(", "), part("as", alias.as_ref()))
                }
                JoinOn::Natural => " natural".to_owned(),
            };
            let (left, right) = (from(&node.left), from(&node.right));
            format!("[{left} {:?} {right}{on}{}]", node.kind, alias(node.alias.as_ref()))
        }
        From::Unsupported(_) => "Unsupported".to_owned(),
    }
}

fn function_from(node: &FunctionFrom) -> String {
    let functions = joined(
        &node.functions,
        |(function, columns)| format!("{}{}", expr(function), definitions(columns)),
        ", ",
    );
    let mut text = if node.rows_from { format!("rows({functions})") } else { functions };
    if node.lateral {
        text.insert_str(0, "lateral ");
    }
    if node.ordinality {
        text += " ordinality";
    }
    text + &alias(node.alias.as_ref()) + &definitions(&node.columns)
}

fn definitions(columns: &[ColumnDefinition]) -> String {
    let columns = joined(
        columns,
        |column| {
            let collation = part("collate", column.collation.as_ref().map(path));
            format!("{} {}{collation}", column.name, type_ref(&column.ty))
        },
        ", ",
    );
    if columns.is_empty() { columns } else { format!(" <{columns}>") }
}

fn alias(alias: Option<&Alias>) -> String {
    let Some(alias) = alias else { return String::new() };
    let columns = alias.columns.join(", ");
    let columns = if columns.is_empty() { columns } else { format!("({columns})") };
    format!(" as {}{columns}", alias.name)
}

fn relation(node: &RelationRef) -> String {
    let sample = node.sample.as_ref().map_or(String::new(), |sample| {
        format!(" sample {}({})", path(&sample.method), joined(&sample.args, expr, ", "))
    });
    let only = if node.only { "only " } else { "" };
    format!("{only}{}{}{sample}", path(&node.path), alias(node.alias.as_ref()))
}

fn with(with: Option<&With>) -> String {
    let Some(with) = with else { return String::new() };
    let recursive = if with.recursive { " recursive" } else { "" };
    format!("with{recursive} {} ", joined(&with.ctes, cte, ", "))
}

fn cte(node: &Cte) -> String {
    let inner = match &node.body {
        CteBody::Query(node) => query(node),
        CteBody::Insert(node) => insert(node),
        CteBody::Update(node) => update(node),
        CteBody::Delete(node) => delete(node),
        CteBody::Merge(node) => merge(node),
    };
    let mut text = format!("{}({})", node.name, node.columns.join(", "));
    text += &part("materialized", node.materialized);
    text += &format!(" = {{{inner}}}");
    text += &part("search", node.search.as_ref().map(|(by, set)| format!("{} set {set}", by.join(", "))));
    text + &part(
        "cycle",
        node.cycle.as_ref().map(|cycle| {
            let (value, default) = (expr(&cycle.value), expr(&cycle.default));
            format!(
                "{} set {} to {value} default {default} using {}",
                cycle.columns.join(", "),
                cycle.mark,
                cycle.path
            )
        }),
    )
}

fn insert(node: &Insert) -> String {
    let mut text = format!("{}insert {}", with(node.with.as_ref()), relation(&node.target));
    text +=
        &part("columns", node.columns.as_ref().map(|columns| format!("({})", joined(columns, column, ", "))));
    text += &match &node.source {
        InsertSource::DefaultValues => " default values".to_owned(),
        InsertSource::Values(rows) => {
            format!(" values {}", joined(rows, |row| format!("({})", exprs(row)), ", "))
        }
        InsertSource::Query(inner) => format!(" {{{}}}", query(inner)),
    };
    text += &part("conflict", node.on_conflict.as_ref().map(on_conflict));
    text + &returning(node.returning.as_ref())
}

fn column(node: &TargetColumn) -> String {
    let partial = if node.partial { "/part" } else { "" };
    let subscripts = exprs(&node.subscripts);
    format!(
        "{}{partial}{}",
        node.name,
        if subscripts.is_empty() { subscripts } else { format!("[{subscripts}]") }
    )
}

fn on_conflict(node: &OnConflict) -> String {
    let arbiter = match &node.arbiter {
        Arbiter::Any => "any".to_owned(),
        Arbiter::Constraint(name) => format!("constraint {name}"),
        Arbiter::Columns { elements, filter } => {
            let elements = joined(
                elements,
                |element| {
                    let collation = part("collate", element.collation.as_ref().map(path));
                    format!(
                        "{}{collation}{}",
                        expr(&element.expr),
                        part("class", element.opclass.as_ref().map(path))
                    )
                },
                ", ",
            );
            format!("({elements}){}", part("where", filter.as_ref().map(expr)))
        }
    };
    let update = match &node.update {
        Some(set) => format!(" set {}", assignments(set)),
        None => " nothing".to_owned(),
    };
    format!("{arbiter}{update}{}", part("where", node.filter.as_ref().map(expr)))
}

fn assignments(list: &[Assignment]) -> String {
    joined(
        list,
        |assignment| match assignment {
            Assignment::One { column: target, value } => format!("{} = {}", column(target), expr(value)),
            Assignment::Many { columns, value } => {
                format!("({}) = {}", joined(columns, column, ", "), expr(value))
            }
        },
        ", ",
    )
}

fn returning(node: Option<&Returning>) -> String {
    let Some(node) = node else { return String::new() };
    let names = part("old", node.old.as_ref()) + &part("new", node.new.as_ref());
    format!(" returning{names} {}", targets(&node.targets))
}

fn filter(node: &DmlFilter) -> String {
    match node {
        DmlFilter::Nothing => String::new(),
        DmlFilter::Condition(condition) => format!(" where {}", expr(condition)),
        DmlFilter::CurrentOf { cursor } => format!(" where current of {}", name(cursor)),
    }
}

fn update(node: &Update) -> String {
    let mut text = format!("{}update {}", with(node.with.as_ref()), relation(&node.target));
    text += &format!(" set {}", assignments(&node.set));
    text += &part("from", (!node.from.is_empty()).then(|| joined(&node.from, from, ", ")));
    text + &filter(&node.filter) + &returning(node.returning.as_ref())
}

fn delete(node: &Delete) -> String {
    let mut text = format!("{}delete {}", with(node.with.as_ref()), relation(&node.target));
    text += &part("using", (!node.using.is_empty()).then(|| joined(&node.using, from, ", ")));
    text + &filter(&node.filter) + &returning(node.returning.as_ref())
}

fn merge(node: &Merge) -> String {
    let mut text = format!("{}merge {}", with(node.with.as_ref()), relation(&node.target));
    text += &format!(" using {} on {}", from(&node.source), expr(&node.on));
    for action in &node.actions {
        let then = match &action.then {
            MergeThen::Nothing => "nothing".to_owned(),
            MergeThen::Delete => "delete".to_owned(),
            MergeThen::Update(set) => format!("set {}", assignments(set)),
            MergeThen::Insert { columns, values } => format!(
                "insert{}{}",
                part(
                    "columns",
                    columns.as_ref().map(|columns| format!("({})", joined(columns, column, ", ")))
                ),
                part("values", values.as_ref().map(|values| format!("({})", exprs(values)))),
            ),
        };
        text +=
            &format!(" [{:?}{} -> {then}]", action.when, part("and", action.condition.as_ref().map(expr)));
    }
    text + &returning(node.returning.as_ref())
}

fn name(token: &NameToken) -> String {
    let place = token.span.as_ref().map_or("?".to_owned(), |span| format!("{}..{}", span.start, span.end));
    format!("{}@{place}", token.name)
}

fn utility(node: &Utility) -> String {
    match node {
        Utility::Prepare { name: token, types, body: inner } => {
            format!("prepare {} ({}) {}", name(token), joined(types, type_ref, ", "), body(inner))
        }
        Utility::Execute { name: token, args } => format!("execute {} ({})", name(token), exprs(args)),
        Utility::Deallocate { name: token } => {
            format!("deallocate {}", token.as_ref().map_or("all".to_owned(), name))
        }
        Utility::Declare { name: token, hold, binary, query: inner } => {
            format!("declare {} hold={hold} binary={binary} {}", name(token), query(inner))
        }
        Utility::Fetch { name: token, is_move } => format!("fetch {} move={is_move}", name(token)),
        Utility::Close { name: token } => format!("close {}", token.as_ref().map_or("all".to_owned(), name)),
        Utility::Explain { analyze, body: inner } => format!("explain analyze={analyze} {}", body(inner)),
        Utility::Copy(copy) => {
            let what = match &copy.what {
                CopyWhat::Table(table, columns) => format!("{} ({})", relation(table), columns.join(", ")),
                CopyWhat::Statement(inner) => format!("{{{}}}", body(inner)),
            };
            let direction = if copy.from { "from" } else { "to" };
            let binary = if copy.binary { " binary" } else { "" };
            let filter = part("where", copy.filter.as_ref().map(expr));
            format!("copy {what} {direction} {:?}{binary}{filter}", copy.channel)
        }
        Utility::Set(set) => {
            let local = if set.local { "local " } else { "" };
            let action = match &set.action {
                SetAction::To { name, values } => format!("{name} to {}", joined(values, value, ", ")),
                SetAction::Default(name) => format!("{name} default"),
                SetAction::ResetAll => "reset all".to_owned(),
                SetAction::TransactionCharacteristics => "transaction".to_owned(),
                SetAction::Snapshot => "snapshot".to_owned(),
                SetAction::FromCurrent(name) => format!("{name} from current"),
            };
            format!("set {local}{action}")
        }
        Utility::Other { kind, what, relations, call: procedure, opaque } => {
            let kind = kind.map_or("never", crate::Kind::name);
            let opaque = if *opaque { " opaque" } else { "" };
            let call = part("call", procedure.as_deref().map(expr));
            format!("{what} ({kind}{opaque}) [{}]{call}", joined(relations, relation, ", "))
        }
        Utility::Empty
        | Utility::Transaction(_)
        | Utility::Show { .. }
        | Utility::SetConstraints
        | Utility::Discard(_)
        | Utility::Unlisten { .. } => format!("{node:?}"),
    }
}
