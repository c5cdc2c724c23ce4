//! Which overloads the arguments exclude (contracts 1): those that PostgreSQL cannot reach from the
//! arguments' types by any implicit cast.

use super::bound::Expr;
use crate::catalog::{CastContext, Catalog, Function, Listing, Type, TypeId, TypeKind};

/// The candidates that are left; all of them where none would be.
pub(super) fn reachable<'c>(
    catalog: &Catalog,
    candidates: Vec<&'c Function>,
    args: &[Expr<'_>],
) -> Vec<&'c Function> {
    let types: Vec<Option<&Type>> = args.iter().map(|arg| base(catalog, arg.ty)).collect();
    let fits = |function: &&'c Function| {
        // A user's own is judged by its types later; an argument's place may be another by name.
        function.listing == Listing::User
            || function.variadic
            || function.args.iter().zip(&types).all(|(parameter, arg)| !excludes(catalog, parameter.ty, *arg))
    };
    let left: Vec<&Function> = candidates.iter().copied().filter(fits).collect();
    if left.is_empty() { candidates } else { left }
}

/// No implicit cast leads from the argument's type to the parameter's: both are base types of
/// pg_catalog's, of categories between which it has none, and nobody created one.
fn excludes(catalog: &Catalog, parameter: TypeId, arg: Option<&Type>) -> bool {
    let Some(arg) = arg else { return false };
    let Some(parameter) = base(catalog, parameter) else { return false };
    let created = || {
        catalog.casts().any(|cast| {
            cast.source == arg.id && cast.target == parameter.id && cast.context == CastContext::Implicit
        })
    };
    let apart = match (arg.category, parameter.category) {
        (Some(from), Some(to)) => from != to && !CROSSING.contains(&(from, to)),
        (_, _) => false,
    };
    apart && !created()
}

fn base(catalog: &Catalog, ty: TypeId) -> Option<&Type> {
    let known = ty != TypeId::NONE && ty != TypeId::UNKNOWN && !ty.is_polymorphic();
    catalog.type_of(ty).filter(|ty| known && matches!(ty.kind, TypeKind::Base))
}

/// The categories that an implicit cast of pg_cast.dat crosses: text to regclass, time to interval,
/// and pg_node_tree and kin to text.
const CROSSING: [(char, char); 3] = [('S', 'N'), ('D', 'T'), ('Z', 'S')];
