//! Calls whose place or arguments matter: nextval, random, set_config, current_setting
//! (policy 3.10, 4.7).

use super::{Context, settings};
use crate::catalog::{CallRule, RelationKind, TypeId, is_builtin_schema};
use crate::ir::At;
use crate::resolve::{Arg, ArgValue, Body, Clause, FunctionUse, Place, Root};
use crate::{BindCheck, Code, Denial, Must, Rule, TextArgument};

pub(super) fn judge(cx: &Context<'_, '_>, denials: &mut Vec<Denial>, binds: &mut Vec<BindCheck>) {
    for used in &cx.bound.uses.functions {
        let Some(function) = used.candidates.first() else { continue };
        let denial = match function.rule {
            CallRule::Plain | CallRule::LettingGo => None,
            CallRule::Nextval => nextval(cx, used),
            CallRule::Random => random(cx, used),
            CallRule::SetConfig => set_config(cx, used, binds),
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

/// The outermost level groups or aggregates rows of tenants: what its targets evaluate for each
/// row, they evaluate before HAVING.
fn aggregates(cx: &Context<'_, '_>) -> bool {
    let Root::Query(query) = &cx.bound.root else { return false };
    match &query.body {
        Body::Select(select) => {
            let grouped = select.nature.aggregates || !select.group_by.is_empty() || select.having.is_some();
            grouped && cx.touches_scoped()
        }
        Body::Values(_) | Body::Set { .. } => false,
    }
}

fn nextval(cx: &Context<'_, '_>, used: &FunctionUse<'_>) -> Option<Denial> {
    let at = used.path.at;
    let aggregated = used.place.clause == Clause::Target && cx.tenant.is_some() && aggregates(cx);
    if used.in_view || !well_placed(cx, used.place) || aggregated {
        return refuse(at, "nextval is not allowed here: it would count rows");
    }
    let named = match used.args.first().map(|arg| &arg.value) {
        Some(ArgValue::Const(constant)) => cx.constants().text(constant),
        Some(ArgValue::Param(_) | ArgValue::CatalogColumn | ArgValue::Tableoid | ArgValue::Other) | None => {
            None
        }
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

fn set_config(cx: &Context<'_, '_>, used: &FunctionUse<'_>, binds: &mut Vec<BindCheck>) -> Option<Denial> {
    let at = used.path.at;
    if !cx.bound.is_called_once(used) {
        return refuse(at, "set_config stands only as a whole output of a SELECT without FROM");
    }
    let texts = || refuse(at, "set_config takes constants or parameters");
    let [name, value, local] = used.args.as_slice() else { return texts() };
    let argument = |arg: &Arg| settings::argument(cx.constants(), &arg.value);
    let (Some(name), Some(set), Some(_)) = (argument(name), argument(value), argument(local)) else {
        return texts();
    };
    let lets_go = matches!(&value.value, ArgValue::Const(constant) if constant.is_null());
    let named = match name {
        TextArgument::Constant(ref name) => Some(&**name),
        TextArgument::Bound(_) => None,
    };
    match (named, &set) {
        (Some(name), _) if lets_go => {
            // What the client set at its own start-up comes back once for the statement.
            let several = calls_of(cx, CallRule::SetConfig) > 1;
            let together = || refuse(at, "set_config to NULL stands alone: it lets a setting go");
            if several { together() } else { settings::may_reset(cx.role, name, at) }
        }
        (None, _) if lets_go => refuse(at, "set_config to NULL takes a constant name"),
        (Some(name), TextArgument::Constant(value)) => {
            settings::may_write_text(cx.policy(), cx.role, name, value, at)
        }
        (Some(_) | None, _) => {
            let some = named.and_then(|name| settings::may_write_some(cx.role, name, at));
            some.or_else(|| checked_at_bind(cx, at, name.folded(), set, binds))
        }
    }
}

/// The value is named where it is bound, else the name.
fn checked_at_bind(
    cx: &Context<'_, '_>,
    at: At,
    name: TextArgument,
    value: TextArgument,
    binds: &mut Vec<BindCheck>,
) -> Option<Denial> {
    let mut param = None;
    for text in [&name, &value] {
        if let TextArgument::Bound(number) = text {
            if let Some(denial) = plain_text_param(cx, *number, at) {
                return Some(denial);
            }
            param = Some(*number);
        }
    }
    binds.push(BindCheck { param: param?, must: Must::Setting { name, value } });
    None
}

fn calls_of(cx: &Context<'_, '_>, rule: CallRule) -> usize {
    let first = |used: &&FunctionUse<'_>| used.candidates.first().is_some_and(|f| f.rule == rule);
    cx.bound.uses.functions.iter().filter(first).count()
}

/// What is bound is the text itself: no other use of the parameter, and no declaration, makes it
/// a type that cuts or rewrites it.
fn plain_text_param(cx: &Context<'_, '_>, number: u32, at: At) -> Option<Denial> {
    let declared = match cx.declared.get(number) {
        Some(TypeId::TEXT | TypeId::VARCHAR) => return None,
        Some(_) => false,
        None => true,
    };
    let mut uses = cx.bound.uses.params.iter().filter(|used| used.number == number);
    let text = |cast: Option<TypeId>| matches!(cast, None | Some(TypeId::TEXT | TypeId::VARCHAR));
    let once = uses.next().is_some_and(|used| text(used.cast)) && uses.next().is_none();
    if declared && once {
        return None;
    }
    let message = format!("parameter ${number} for a setting is text, and is used nowhere else");
    Some(Denial::new(Rule::Functions, Code::TypeNotAllowed, at, message))
}

fn current_setting(cx: &Context<'_, '_>, used: &FunctionUse<'_>) -> Option<Denial> {
    let name = match used.args.first().map(|arg| &arg.value) {
        Some(ArgValue::Const(constant)) => cx.constants().text(constant),
        Some(ArgValue::Param(_) | ArgValue::CatalogColumn | ArgValue::Tableoid | ArgValue::Other) | None => {
            None
        }
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
