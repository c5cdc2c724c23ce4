//! The common type of alternatives: of VALUES, of set operations and of what USING merges
//! (select_common_type).

use super::Resolver;
use crate::catalog::{TypeId, TypeKind};

impl Resolver<'_> {
    /// The common type where it is certain, and has the values of all of them: the known one beside untyped
    /// literals, the first of text and varchar, the widest integer.
    pub(super) fn unify(&self, types: impl Iterator<Item = TypeId>) -> TypeId {
        let mut common = None;
        let mut alike = true;
        for ty in types {
            let before = *common.get_or_insert(ty);
            alike &= before == ty;
            common = Some(pair(before, ty));
        }
        let common = common.unwrap_or(TypeId::UNKNOWN);
        // A domain gives way to what it is over, but where there is nothing else.
        if !alike && self.is_domain(common) { TypeId::NONE } else { common }
    }

    pub(super) fn is_domain(&self, ty: TypeId) -> bool {
        self.world.catalog.type_of(ty).is_some_and(|ty| matches!(ty.kind, TypeKind::Domain { .. }))
    }
}

/// INVARIANT: [`TypeId::NONE`] stays.
fn pair(common: TypeId, ty: TypeId) -> TypeId {
    match (common, ty) {
        (TypeId::UNKNOWN, ty) => ty,
        (common, TypeId::UNKNOWN) => common,
        (common, ty) if common == ty => common,
        // Each is the other implicitly: the first stays.
        (TypeId::TEXT | TypeId::VARCHAR, TypeId::TEXT | TypeId::VARCHAR) => common,
        (one, other) => match (integer_rank(one), integer_rank(other)) {
            (Some(rank), Some(other_rank)) if rank > other_rank => one,
            (Some(_), Some(_)) => other,
            (_, _) => TypeId::NONE,
        },
    }
}

/// The integers, narrow ones first: PostgreSQL widens one to the other and no further.
fn integer_rank(ty: TypeId) -> Option<usize> {
    [TypeId::INT2, TypeId::INT4, TypeId::INT8].iter().position(|known| *known == ty)
}
