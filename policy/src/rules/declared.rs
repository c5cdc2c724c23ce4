//! The parameter types that Parse and PREPARE declare: a value of that type is made of what is
//! bound, whatever the statement does with it (policy 4.6).

use super::Context;
use crate::catalog::Allowance;
use crate::keyed::HashMap;
use crate::policy::{CatalogRule, FunctionRule};
use crate::{Code, Denial, Rule, SqlState};

pub(super) fn judge(cx: &Context<'_, '_>, denials: &mut Vec<Denial>) {
    // Looked up once for each of up to 65,535 parameters.
    let mut places = HashMap::default();
    for used in &cx.bound.uses.params {
        places.entry(used.number).or_insert(used.at);
    }
    for (number, ty) in cx.declared.all() {
        let at = places.get(&number).copied().flatten();
        let denial = |code, message| Denial::new(Rule::Functions, code, at, message);
        let Some(ty) = cx.catalog().type_of(ty) else {
            let message = format!("type with OID {} does not exist", ty.0);
            let unknown = denial(Code::TypeUnknown, message);
            denials.push(match cx.role.system_catalogs {
                CatalogRule::Deny => unknown,
                CatalogRule::Introspection | CatalogRule::Allow => {
                    unknown.sqlstate(SqlState::UNDEFINED_OBJECT)
                }
            });
            continue;
        };
        let allowed = match ty.allowance {
            Allowance::Allowed => true,
            Allowance::ByFunction => {
                cx.role.allows_function(&ty.name.schema, &ty.name.name) == FunctionRule::Allowed
            }
            // It would look a name up that the client binds.
            Allowance::Reg | Allowance::Denied => false,
        };
        if !allowed {
            let message = format!("parameter ${number} may not be declared as {}", ty.name.name);
            denials.push(denial(Code::TypeNotAllowed, message));
        }
    }
}
