//! Functions by name: every candidate that a call can mean must be allowed (policy 4.6).

use super::Context;
use crate::catalog::{CallRule, CastMethod, Function, Listing, TypeId, is_builtin_schema};
use crate::policy::{CatalogRule, FunctionRule};
use crate::resolve::FunctionUse;
use crate::{Code, Denial, Rule, SqlState};

pub(super) fn judge(cx: &Context<'_, '_>, denials: &mut Vec<Denial>) {
    for used in &cx.bound.uses.functions {
        denials.extend(call(cx, used));
    }
}

fn call(cx: &Context<'_, '_>, used: &FunctionUse<'_>) -> Option<Denial> {
    let name = used.path.parts.join(".");
    if used.candidates.is_empty() {
        // `f(row)` reads the field f of the row: its columns are judged as columns.
        return (!used.field).then(|| unknown(cx, used, &name));
    }
    let counted: Vec<&Function> =
        used.candidates.iter().copied().filter(|function| counts(cx, function, used)).collect();
    let refused = counted.iter().filter(|function| !allowed(cx, function)).count();
    if refused == 0 {
        return json_cast(cx, used, &name);
    }
    let (rule, at) = (Rule::Functions, used.path.at);
    Some(if refused == counted.len() || used.path.parts.len() > 1 {
        Denial::new(rule, Code::FunctionNotAllowed, at, format!("function {name} is not allowed"))
    } else {
        let message = format!("function {name} may be one that is not allowed");
        Denial::new(rule, Code::Ambiguous, at, message).hint(format!("write pg_catalog.{name}"))
    })
}

/// Whether a candidate could be meant: pg_catalog's always; another one where its own types are
/// all pg_catalog's, or an argument has its type or one that is not known.
fn counts(cx: &Context<'_, '_>, function: &Function, used: &FunctionUse<'_>) -> bool {
    if function.listing != Listing::User {
        return true;
    }
    let catalog = cx.catalog();
    let own = |ty: TypeId| match catalog.type_of(ty) {
        Some(ty) => !is_builtin_schema(&ty.name.schema),
        None => true,
    };
    let foreign: Vec<TypeId> = function.args.iter().map(|arg| arg.ty).filter(|ty| own(*ty)).collect();
    foreign.is_empty()
        || used.path.parts.len() > 1
        || used.candidates.iter().all(|candidate| candidate.listing == Listing::User)
        || used.args.iter().any(|arg| {
            matches!(arg.ty, TypeId::NONE | TypeId::RECORD) || foreign.contains(&arg.ty) || own(arg.ty)
        })
}

fn allowed(cx: &Context<'_, '_>, function: &Function) -> bool {
    if function.rule == CallRule::LettingGo {
        return true;
    }
    match cx.role.allows_function(&function.name.schema, &function.name.name) {
        FunctionRule::Denied => false,
        FunctionRule::Allowed => true,
        FunctionRule::Preset => match function.listing {
            Listing::Standard => true,
            Listing::Introspection => {
                cx.role.system_catalogs != CatalogRule::Deny && cx.reads_only_catalogs()
            }
            Listing::User | Listing::Unlisted => false,
        },
    }
}

/// to_json and kin call a user's cast to json, where there is one.
fn json_cast(cx: &Context<'_, '_>, used: &FunctionUse<'_>, name: &str) -> Option<Denial> {
    if !name.contains("json") {
        return None;
    }
    let called = cx.catalog().casts().find_map(|cast| match &cast.method {
        CastMethod::Function(function) if cast.target == TypeId::JSON => {
            let rule = cx.role.allows_function(&function.schema, &function.name);
            (rule != FunctionRule::Allowed).then_some(function)
        }
        CastMethod::Function(_) | CastMethod::InOut | CastMethod::Binary => None,
    });
    called.map(|_| {
        Denial::new(
            Rule::Functions,
            Code::FunctionNotAllowed,
            used.path.at,
            format!("function {name} calls a cast to json that is not allowed"),
        )
    })
}

/// `function f(integer) does not exist`, in PostgreSQL's words.
fn unknown(cx: &Context<'_, '_>, used: &FunctionUse<'_>, name: &str) -> Denial {
    let (rule, code, at) = (Rule::Functions, Code::FunctionUnknown, used.path.at);
    if cx.role.system_catalogs == CatalogRule::Deny {
        return Denial::new(rule, code, at, format!("function {name} does not exist or is not allowed"));
    }
    let types: Vec<&str> = used.args.iter().map(|arg| type_title(cx, arg.ty)).collect();
    Denial::new(rule, code, at, format!("function {name}({}) does not exist", types.join(", ")))
        .sqlstate(SqlState::UNDEFINED_FUNCTION)
}

/// A type as PostgreSQL's messages name it.
fn type_title<'c>(cx: &Context<'_, 'c>, ty: TypeId) -> &'c str {
    match ty {
        TypeId::UNKNOWN | TypeId::NONE => "unknown",
        TypeId::INT2 => "smallint",
        TypeId::INT4 => "integer",
        TypeId::INT8 => "bigint",
        TypeId::BOOL => "boolean",
        TypeId::VARCHAR => "character varying",
        TypeId::FLOAT8 => "double precision",
        TypeId::FLOAT4 => "real",
        TypeId::TIMESTAMPTZ => "timestamp with time zone",
        TypeId::TIMESTAMP => "timestamp without time zone",
        other => cx.catalog().type_of(other).map_or("unknown", |ty| &*ty.name.name),
    }
}
