//! Constants that are cast to `reg*` types: names in disguise (policy 4.6).
//!
//! Such a value shows a name and nothing else, but the error for a name that does not exist, or the
//! lack of one, tells of objects out of reach: so the constant names something that the role may
//! know of. What is read here is the constant's text, as PostgreSQL's input functions read it; a
//! text that it would read otherwise, or not at all, is out of reach.

use super::Context;
use super::calls::{identifiers, nameable, relation_in_text};
use crate::builtin::text_search;
use crate::catalog::{Allowance, Listing, PG_CATALOG, Type, TypeKind, is_builtin_schema};
use crate::ir::{self, Path};
use crate::policy::{CatalogRule, FunctionRule, Limits};

/// Whether a text, cast to that `reg*` type, names something in reach.
pub(super) fn in_reach(cx: &Context<'_, '_>, ty: &Type, text: &str) -> bool {
    // Digits are an identity, whatever has it.
    if text.len() > MAX_TEXT_BYTES || text.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    match &*ty.name.name {
        "regclass" => relation_in_text(cx, text).is_some_and(|relation| nameable(cx, relation)),
        "regtype" => type_in_reach(cx, text),
        "regproc" => functions_in_reach(cx, text),
        "regprocedure" => signature(text).is_some_and(|(name, args)| {
            functions_in_reach(cx, name) && args.iter().all(|arg| type_in_reach(cx, arg))
        }),
        "regnamespace" => identifiers(text)
            .is_some_and(|parts| matches!(parts.as_slice(), [name] if schema_in_reach(cx, name))),
        "regconfig" => listed_or_shown(cx, text, text_search::is_configuration),
        "regdictionary" => listed_or_shown(cx, text, text_search::is_dictionary),
        "regcollation" => listed_or_shown(cx, text, text_search::is_collation),
        // Roles have no schema; pg_roles shows them all.
        "regrole" => {
            cx.role.system_catalogs != CatalogRule::Deny
                && identifiers(text).is_some_and(|parts| parts.len() == 1)
        }
        _ => false,
    }
}

/// One of those that every server has, or any where the catalogs show them.
fn listed_or_shown(cx: &Context<'_, '_>, text: &str, listed: fn(&str) -> bool) -> bool {
    let Some(parts) = identifiers(text) else { return false };
    let shown = cx.role.system_catalogs != CatalogRule::Deny;
    match parts.as_slice() {
        [name] => listed(name) || shown,
        [schema, name] if schema == PG_CATALOG => listed(name) || shown,
        [schema, _] => shown && schema_in_reach(cx, schema),
        _ => false,
    }
}

/// A schema that is built in, searched, or holds a relation or a function in reach.
fn schema_in_reach(cx: &Context<'_, '_>, schema: &str) -> bool {
    let of = |name: &crate::catalog::QualifiedName| *name.schema == *schema;
    is_builtin_schema(schema)
        || cx.policy().search_path().iter().any(|searched| **searched == *schema)
        || cx.catalog().relations().any(|relation| of(&relation.name) && nameable(cx, relation))
        || cx.catalog().all_functions().any(|function| {
            of(&function.name)
                && cx.role.allows_function(schema, &function.name.name) == FunctionRule::Allowed
        })
}

/// Functions of that name exist, and each is in reach.
fn functions_in_reach(cx: &Context<'_, '_>, name: &str) -> bool {
    let Some(parts) = identifiers(name) else { return false };
    let catalog = cx.catalog();
    let candidates: Vec<_> = match parts.as_slice() {
        [name] => schemas(cx).flat_map(|schema| catalog.function_candidates(schema, name)).collect(),
        [schema, name] => catalog.function_candidates(schema, name).collect(),
        _ => return false,
    };
    !candidates.is_empty()
        && candidates.into_iter().all(|function| match function.listing {
            Listing::Standard => true,
            // pg_proc shows their names.
            Listing::Introspection | Listing::Unlisted => cx.role.system_catalogs != CatalogRule::Deny,
            Listing::User => {
                let name = &function.name;
                cx.role.allows_function(&name.schema, &name.name) == FunctionRule::Allowed
            }
        })
}

/// A type in any spelling of the grammar: the text is parsed where a type stands, and must be
/// nothing else.
fn type_in_reach(cx: &Context<'_, '_>, text: &str) -> bool {
    let Ok(statements) = crate::parse::parse(&format!("SELECT NULL::{text}"), &TYPE_LIMITS) else {
        return false;
    };
    let [statement] = statements.as_slice() else { return false };
    let (true, ir::Body::Query(query)) = (statement.unsupported.is_empty(), &statement.body) else {
        return false;
    };
    written_type(query).is_some_and(|ty| !ty.setof && !ty.pct_type && path_in_reach(cx, &ty.path))
}

/// The type, where a query is `SELECT NULL::type` and nothing more.
fn written_type(query: &ir::Query) -> Option<&ir::TypeRef> {
    let ir::QueryBody::Select(select) = &query.body else { return None };
    let bare = query.with.is_none()
        && query.order_by.is_empty()
        && query.limit.is_none()
        && query.offset.is_none()
        && query.locking.is_empty()
        && matches!(select.distinct, ir::Distinct::No)
        && select.into.is_none()
        && select.from.is_empty()
        && select.filter.is_none()
        && select.group_by.is_empty()
        && select.having.is_none()
        && select.windows.is_empty();
    match select.targets.as_slice() {
        [ir::Target { expr: ir::Expr::Cast { arg, ty, .. }, alias: None, .. }]
            if bare && matches!(**arg, ir::Expr::Const(_)) =>
        {
            Some(ty)
        }
        _ => None,
    }
}

fn path_in_reach(cx: &Context<'_, '_>, path: &Path) -> bool {
    let catalog = cx.catalog();
    let found = match path.parts.as_slice() {
        [name] => schemas(cx).find_map(|schema| catalog.type_named(schema, name)),
        [schema, name] => catalog.type_named(schema, name),
        _ => None,
    };
    let Some(ty) = found else { return false };
    match &ty.kind {
        TypeKind::Composite { relation: Some(of) } => {
            catalog.relation(&of.schema, &of.name).is_some_and(|relation| nameable(cx, relation))
        }
        TypeKind::Base
        | TypeKind::Array { .. }
        | TypeKind::Domain { .. }
        | TypeKind::Enum
        | TypeKind::Composite { relation: None }
        | TypeKind::Range { .. }
        | TypeKind::Multirange { .. }
        | TypeKind::Pseudo => ty.allowance == Allowance::Allowed || is_builtin_schema(&ty.name.schema),
    }
}

/// Where an unqualified name is looked up.
fn schemas<'a>(cx: &'a Context<'_, '_>) -> impl Iterator<Item = &'a str> {
    let pinned = cx.policy().search_path();
    let implicit = !pinned.iter().any(|schema| **schema == *PG_CATALOG);
    implicit.then_some(PG_CATALOG).into_iter().chain(pinned.iter().map(|schema| &**schema))
}

/// `name(type, type)` taken apart: the name, and each argument's text (PostgreSQL's
/// `parseNameAndArgTypes`).
fn signature(text: &str) -> Option<(&str, Vec<&str>)> {
    let mut quoted = false;
    let open = text.bytes().position(|byte| {
        quoted ^= byte == b'"';
        byte == b'(' && !quoted
    })?;
    let (name, rest) = text.split_at_checked(open)?;
    let list = rest.strip_prefix('(')?.trim_end().strip_suffix(')')?;
    let mut args = Vec::new();
    let (mut quoted, mut depth, mut start) = (false, 0_usize, 0);
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'(' | b'[' if !quoted => depth += 1,
            b')' | b']' if !quoted => depth = depth.checked_sub(1)?,
            b',' if !quoted && depth == 0 => {
                args.push(list.get(start..at)?);
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = list.get(start..)?;
    if !(args.is_empty() && last.trim().is_empty()) {
        args.push(last);
    }
    (!quoted && depth == 0).then_some((name, args))
}

/// A name has at most 63 bytes a part; a hundred arguments of two parts fit.
const MAX_TEXT_BYTES: usize = 16_384;

/// A type is short, and nothing is in it.
const TYPE_LIMITS: Limits = Limits {
    statement_bytes: MAX_TEXT_BYTES + 64,
    statements: 1,
    depth: 16,
    relations: 0,
    in_list: 16,
    insert_rows: 0,
    set_operations: 0,
    conditions: 0,
    parameters: 0,
    conflict_rows: 0,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_taken_apart() {
        assert_eq!(signature("f()"), Some(("f", vec![])));
        assert_eq!(signature("f( )"), Some(("f", vec![])));
        assert_eq!(
            signature("a.f(int, numeric(10,2) , \"x,y\")"),
            Some(("a.f", vec!["int", " numeric(10,2) ", " \"x,y\""]))
        );
        assert_eq!(signature("\"f(\"(int)"), Some(("\"f(\"", vec!["int"])));
        for odd in ["f", "f(", "f(int", "f)int(", "f(int))", "f(\"int)"] {
            assert_eq!(signature(odd), None, "{odd}");
        }
    }
}
