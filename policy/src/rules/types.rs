//! Types that a statement writes: casts and column definition lists (policy 4.6).

use super::{Context, reg_names};
use crate::catalog::{Allowance, Type, TypeId};
use crate::policy::{CatalogRule, FunctionRule};
use crate::resolve::{ArgValue, TypeUse};
use crate::{Code, Denial, Rule, SqlState};

pub(super) fn judge(cx: &Context<'_, '_>, denials: &mut Vec<Denial>) {
    for used in &cx.bound.uses.types {
        denials.extend(one(cx, used));
    }
}

fn one(cx: &Context<'_, '_>, used: &TypeUse<'_>) -> Option<Denial> {
    let name = used.path.parts.join(".");
    let refuse = || {
        let message = format!("type {name} is not allowed");
        Some(Denial::new(Rule::Functions, Code::TypeNotAllowed, used.path.at, message))
    };
    let Some(ty) = used.ty else {
        return if used.catalog_row { refuse() } else { Some(unknown(cx, used, &name)) };
    };
    match ty.allowance {
        Allowance::Allowed => None,
        Allowance::Denied => refuse(),
        Allowance::ByFunction => match cx.role.allows_function(&ty.name.schema, &ty.name.name) {
            FunctionRule::Allowed => None,
            FunctionRule::Denied | FunctionRule::Preset => refuse(),
        },
        Allowance::Reg => match names_in_reach(cx, ty, used.arg.as_ref()) {
            true => None,
            false => Some(Denial::new(
                Rule::Functions,
                Code::TypeNotAllowed,
                used.path.at,
                format!("a cast to {name} takes a constant that names something in reach"),
            )),
        },
    }
}

/// A cast to a `reg*` type of a constant that names something in reach, of an oid column of a
/// catalog, or of tableoid.
fn names_in_reach(cx: &Context<'_, '_>, ty: &Type, arg: Option<&ArgValue>) -> bool {
    // Where only catalogs are read, what a cast shows are names that they show anyway.
    let introspects = !cx.bound.uses.relations.is_empty()
        && cx.reads_only_catalogs()
        && cx.role.system_catalogs != CatalogRule::Deny;
    match arg {
        Some(ArgValue::CatalogColumn | ArgValue::Tableoid) => true,
        Some(ArgValue::Other | ArgValue::Param(_)) => introspects,
        None => false,
        Some(ArgValue::Const(constant)) => {
            introspects && !matches!(ty.id, TypeId::REGCLASS)
                || match cx.constants().text(constant) {
                    Some(text) => reg_names::in_reach(cx, ty, text) || (introspects && is_number(text)),
                    None => introspects,
                }
        }
    }
}

/// An identity in digits, as psql writes them.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `type "x" does not exist`, in PostgreSQL's words.
fn unknown(cx: &Context<'_, '_>, used: &TypeUse<'_>, name: &str) -> Denial {
    let (rule, code) = (Rule::Functions, Code::TypeUnknown);
    match cx.role.system_catalogs {
        CatalogRule::Deny => {
            Denial::new(rule, code, used.path.at, format!("type \"{name}\" does not exist or is not allowed"))
        }
        CatalogRule::Introspection | CatalogRule::Allow => {
            Denial::new(rule, code, used.path.at, format!("type \"{name}\" does not exist"))
                .sqlstate(SqlState::UNDEFINED_OBJECT)
        }
    }
}
