//! Operators: pg_catalog's, or those whose function is allowed (policy 4.6).

use super::Context;
use crate::catalog::{Listing, Operator, TypeId};
use crate::policy::{CatalogRule, FunctionRule};
use crate::resolve::{OperatorUse, operator_counts};
use crate::{Code, Denial, Rule, SqlState};

pub(super) fn judge(cx: &Context<'_, '_>, denials: &mut Vec<Denial>) {
    for used in &cx.bound.uses.operators {
        denials.extend(operator(cx, used));
    }
}

fn operator(cx: &Context<'_, '_>, used: &OperatorUse<'_>) -> Option<Denial> {
    // Nearly always.
    let standard = |candidate: &&Operator| candidate.listing == Listing::Standard;
    if !used.candidates.is_empty() && used.candidates.iter().all(standard) {
        return None;
    }
    let name = || used.path.parts.join(".");
    if used.candidates.is_empty() {
        return Some(
            Denial::new(
                Rule::Functions,
                Code::OperatorNotAllowed,
                used.at,
                format!("operator does not exist: {}", name()),
            )
            .sqlstate(SqlState::UNDEFINED_FUNCTION),
        );
    }
    let listed = used.candidates.iter().any(standard);
    let counts = |candidate: &Operator| match candidate.listing {
        Listing::Standard => true,
        Listing::User => operator_counts(cx.catalog(), candidate, used.left, used.right),
        // One of pg_catalog's own that is on no list is over a type that no statement can
        // make: it counts where an operand has that type, or where there is no other.
        Listing::Introspection | Listing::Unlisted => {
            let over = |ty: TypeId| used.left == Some(ty) || used.right == ty;
            candidate.left.is_some_and(over) || over(candidate.right) || !listed
        }
    };
    let (mut counted, mut refused) = (0_usize, 0_usize);
    for candidate in used.candidates.iter().filter(|candidate| counts(candidate)) {
        counted += 1;
        refused += usize::from(!allowed(cx, candidate));
    }
    if refused == 0 && counted > 0 {
        return None;
    }
    Some(match refused == counted || used.path.parts.len() > 1 {
        true => Denial::new(
            Rule::Functions,
            Code::OperatorNotAllowed,
            used.at,
            format!("operator {} is not allowed", name()),
        ),
        false => Denial::new(
            Rule::Functions,
            Code::Ambiguous,
            used.at,
            format!("operator {} may be one that is not allowed", name()),
        )
        .hint(format!("write OPERATOR(pg_catalog.{})", name())),
    })
}

fn allowed(cx: &Context<'_, '_>, operator: &Operator) -> bool {
    match operator.listing {
        Listing::Standard => true,
        Listing::Introspection => cx.role.system_catalogs != CatalogRule::Deny && cx.reads_only_catalogs(),
        Listing::Unlisted => false,
        Listing::User => {
            let function = &operator.function;
            cx.role.allows_function(&function.schema, &function.name) == FunctionRule::Allowed
                || (crate::catalog::is_builtin_schema(&function.schema)
                    && standard(cx, &function.schema, &function.name))
        }
    }
}

/// Every function of that name is on the list: an operator of a user's over it does no more.
fn standard(cx: &Context<'_, '_>, schema: &str, name: &str) -> bool {
    let mut any = false;
    for function in cx.catalog().function_candidates(schema, name) {
        any = true;
        if function.listing != Listing::Standard {
            return false;
        }
    }
    any && cx.role.allows_function(schema, name) == FunctionRule::Preset
}
