//! Calls whose place or arguments matter: nextval, random, set_config, current_setting
//! (policy 3.10, 4.7).

use super::{Context, settings};
use crate::catalog::{CallRule, RelationKind, is_builtin_schema};
use crate::ir::At;
use crate::resolve::*;
use crate::{Code, Denial, Rule};

pub(super) fn judge(cx: &Context<'_, '_>, denials: &mut Vec<Denial>) {
    for used in &cx.bound.uses.functions {
        let Some(function) = used.candidates.first() else { continue };
        let denial = match function.rule {
            CallRule::Plain | CallRule::LettingGo => None,
            CallRule::Nextval => nextval(cx, used),
            CallRule::Random => random(cx, used),
            CallRule::SetConfig => set_config(cx, used),
            CallRule::CurrentSetting => current_setting(cx, used),
        };
        denials.extend(denial);
    }
}

fn refuse(at: At, message: impl Into<String>) -> Option<Denial> {
    Some(Denial::new(Rule::Functions, Code::FunctionNotAllowed, at, message))
}

/// Where a call counts only the tenant's own rows: rows to insert or set, the outermost target
/// list, or a target list in a statement without a scoped relation.
fn well_placed(cx: &Context<'_, '_>, place: Place) -> bool {
    cx.tenant.is_none()
        || match place.clause {
            Clause::InsertValues | Clause::Set => true,
            Clause::Target => place.outermost || !cx.touches_scoped(),
            Clause::OrderBy | Clause::Elsewhere => false,
        }
}

fn nextval(cx: &Context<'_, '_>, used: &FunctionUse<'_>) -> Option<Denial> {
    let at = used.path.at;
    if used.in_view || !well_placed(cx, used.place) {
        return refuse(at, "nextval is not allowed here: it would count rows");
    }
    let named = match used.args.first().map(|arg| &arg.value) {
        Some(ArgValue::Const(constant)) => cx.constants.text(constant),
        Some(ArgValue::Param | ArgValue::CatalogColumn | ArgValue::Tableoid | ArgValue::Other) | None => None,
    };
    let sequence = named.and_then(|name| relation_in_text(cx, name));
    let own = sequence.filter(|relation| relation.kind == RelationKind::Sequence).is_some_and(|sequence| {
        let (schema, name) = match &sequence.owned_by {
            Some(owner) => (&owner.relation.schema, &owner.relation.name),
            None => (&sequence.name.schema, &sequence.name.name),
        };
        cx.role.allows_relation(schema, name)
    });
    match own {
        true => None,
        false => refuse(at, "nextval takes the name of a sequence of an allowed relation"),
    }
}

fn random(cx: &Context<'_, '_>, used: &FunctionUse<'_>) -> Option<Denial> {
    let sorts = used.place.clause == Clause::OrderBy && used.place.outermost;
    let free = !used.in_view && (well_placed(cx, used.place) || sorts);
    match free || !cx.touches_scoped() {
        true => None,
        false => refuse(used.path.at, "random is not allowed here: it would be drawn for other rows"),
    }
}

fn set_config(cx: &Context<'_, '_>, used: &FunctionUse<'_>) -> Option<Denial> {
    let at = used.path.at;
    let alone = match &cx.bound.root {
        Root::Query(query) => match &query.body {
            Body::Select(select) => select.from.sources.is_empty() && select.filter.is_none(),
            Body::Values(_) | Body::Set { .. } => false,
        },
        Root::Insert(_) | Root::Update(_) | Root::Delete(_) | Root::Merge(_) | Root::Nothing => false,
    };
    let place = used.place;
    let constants: Vec<_> = used
        .args
        .iter()
        .filter_map(|arg| match &arg.value {
            ArgValue::Const(constant) => Some(constant),
            ArgValue::Param | ArgValue::CatalogColumn | ArgValue::Tableoid | ArgValue::Other => None,
        })
        .collect();
    let [name, value, _] = constants.as_slice() else {
        return refuse(at, "set_config takes three constants");
    };
    let several = cx
        .bound
        .uses
        .functions
        .iter()
        .filter(|used| used.candidates.first().is_some_and(|f| f.rule == CallRule::SetConfig))
        .count()
        > 1;
    if several {
        return refuse(at, "only one set_config is allowed in a statement");
    }
    if !alone || used.in_view || !place.whole || !place.outermost || place.clause != Clause::Target {
        return refuse(at, "set_config stands only as a whole output of a SELECT without FROM");
    }
    let Some(name) = cx.constants.text(name) else {
        return refuse(at, "set_config takes three constants");
    };
    let value = settings::text(cx.constants, value);
    let values = match name.eq_ignore_ascii_case("search_path") {
        // Here the value is a list by itself.
        true => match value.split(',').map(single_identifier).collect::<Option<Vec<_>>>() {
            Some(names) => names,
            None => return refuse(at, "the value of search_path is not a list of names"),
        },
        false => vec![value],
    };
    settings::may_write(cx.policy(), cx.role, name, &values, at)
}

fn single_identifier(text: &str) -> Option<String> {
    match identifiers(text)?.as_slice() {
        [name] => Some(name.clone()),
        _ => None,
    }
}

fn current_setting(cx: &Context<'_, '_>, used: &FunctionUse<'_>) -> Option<Denial> {
    let name = match used.args.first().map(|arg| &arg.value) {
        Some(ArgValue::Const(constant)) => cx.constants.text(constant),
        Some(ArgValue::Param | ArgValue::CatalogColumn | ArgValue::Tableoid | ArgValue::Other) | None => None,
    };
    match name {
        Some(name) => settings::may_read(cx.role, name, used.path.at),
        None => refuse(used.path.at, "current_setting takes a constant name"),
    }
}

/// The relation that a text names, as a cast to regclass reads it: its parts fold unless quoted.
pub(super) fn relation_in_text<'c>(cx: &Context<'_, 'c>, text: &str) -> Option<&'c crate::catalog::Relation> {
    let parts = identifiers(text)?;
    let catalog = cx.catalog();
    match parts.as_slice() {
        [name] => std::iter::once("pg_catalog")
            .chain(cx.policy().search_path().iter().map(|schema| &**schema))
            .find_map(|schema| catalog.relation(schema, name)),
        [schema, name] => catalog.relation(schema, name),
        [database, schema, name] if *database == *catalog.database() => catalog.relation(schema, name),
        _ => None,
    }
}

/// Whether a relation that a text names may be known of by name.
pub(super) fn nameable(cx: &Context<'_, '_>, relation: &crate::catalog::Relation) -> bool {
    is_builtin_schema(&relation.name.schema)
        || cx.role.allows_relation(&relation.name.schema, &relation.name.name)
}

/// A qualified name taken apart as PostgreSQL's stringToQualifiedNameList does.
pub(super) fn identifiers(text: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = text.trim_matches(|c: char| c.is_ascii_whitespace());
    loop {
        let (part, after) = if let Some(quoted) = rest.strip_prefix('"') {
            let mut name = String::new();
            let mut chars = quoted.char_indices().peekable();
            let mut end = None;
            while let Some((at, c)) = chars.next() {
                if c != '"' {
                    name.push(c);
                } else if chars.peek().is_some_and(|(_, next)| *next == '"') {
                    name.push('"');
                    chars.next();
                } else {
                    end = Some(at + 1);
                    break;
                }
            }
            (name, quoted.get(end?..)?)
        } else {
            let end = rest.find(|c: char| c == '.' || c.is_ascii_whitespace()).unwrap_or(rest.len());
            (rest.get(..end)?.to_ascii_lowercase(), rest.get(end..)?)
        };
        if part.is_empty() || !part.is_ascii() && part.len() > 63 {
            return None;
        }
        parts.push(part);
        let after = after.trim_start_matches(|c: char| c.is_ascii_whitespace());
        match after.strip_prefix('.') {
            Some(next) => rest = next.trim_start_matches(|c: char| c.is_ascii_whitespace()),
            None if after.is_empty() => return Some(parts),
            None => return None,
        }
    }
}
