//! The types of the JSON form: first their identities, then what they are made of.
//!
//! A type names others that may come later in the text (an array its element, a domain its base),
//! so all identities are known before any is described.

use std::sync::Arc;

use crate::keyed::HashMap;
use crate::{Family, builtin};

use super::super::format::{RawType, RawTypeKind};
use super::super::{Allowance, CatalogError, Index, QualifiedName, Type, TypeId, TypeKind};
use super::{Names, meaning};

pub(super) type Types = Index<Type>;
type ById = HashMap<TypeId, (Arc<str>, Arc<str>)>;

pub(super) fn build(raw: Vec<RawType>, names: &mut Names) -> Result<(Types, ById), CatalogError> {
    let mut ids: HashMap<QualifiedName, TypeId> = HashMap::default();
    let mut by_id = ById::default();
    let mut named = Vec::with_capacity(raw.len());
    for (at, raw) in raw.into_iter().enumerate() {
        let name =
            QualifiedName { schema: names.intern(raw.schema.clone()), name: names.intern(raw.name.clone()) };
        let id = TypeId(raw.oid);
        if ids.insert(name.clone(), id).is_some() {
            return Err(meaning("types", at, format!("{name} is there twice")));
        }
        let known = by_id.insert(id, (Arc::clone(&name.schema), Arc::clone(&name.name)));
        if known.is_some() || raw.oid == 0 {
            return Err(meaning("types", at, format!("{name} has no oid of its own")));
        }
        named.push((name, raw));
    }
    let id_of =
        |name: &QualifiedName| ids.get(name).copied().or_else(|| builtin_id(name)).unwrap_or(TypeId::NONE);
    let mut types = Types::default();
    for (at, (name, raw)) in named.into_iter().enumerate() {
        let id = TypeId(raw.oid);
        let kind = kind(raw, names, &id_of)
            .ok_or_else(|| meaning("types", at, format!("{name} lacks what its kind needs")))?;
        let family = match &kind {
            TypeKind::Enum => Family::Enum(Arc::clone(&name.schema), Arc::clone(&name.name)),
            TypeKind::Pseudo => Family::Unknown,
            TypeKind::Base
            | TypeKind::Array { .. }
            | TypeKind::Domain { .. }
            | TypeKind::Composite { .. }
            | TypeKind::Range { .. }
            | TypeKind::Multirange { .. } => Family::Other(Arc::clone(&name.schema), Arc::clone(&name.name)),
        };
        let ty = Type {
            id,
            name: name.clone(),
            kind,
            family,
            allowance: Allowance::Denied,
            category: None,
            array: None,
        };
        types.entry(&name, || ty);
    }
    link_arrays(&mut types);
    allow(&mut types, &by_id);
    Ok((types, by_id))
}

/// A type's identity by name; [`TypeId::NONE`] where nobody describes it.
pub(super) fn type_id(types: &Types, name: &QualifiedName) -> TypeId {
    match types.get(&name.schema, &name.name) {
        Some(ty) => ty.id,
        None => builtin_id(name).unwrap_or(TypeId::NONE),
    }
}

/// A type's family by name.
pub(super) fn family(types: &Types, name: &QualifiedName) -> Family {
    match types.get(&name.schema, &name.name) {
        Some(ty) => ty.family.clone(),
        None => {
            builtin::types::by_name(&name.schema, &name.name).map_or(Family::Unknown, |ty| ty.family.clone())
        }
    }
}

fn builtin_id(name: &QualifiedName) -> Option<TypeId> {
    builtin::types::by_name(&name.schema, &name.name).map(|ty| ty.id)
}

fn kind(raw: RawType, names: &mut Names, id_of: &impl Fn(&QualifiedName) -> TypeId) -> Option<TypeKind> {
    let element = raw.element.map(|name| id_of(&names.qualified(name)));
    Some(match raw.kind {
        RawTypeKind::Base => match element {
            Some(element) => TypeKind::Array { element },
            None => TypeKind::Base,
        },
        RawTypeKind::Composite => {
            TypeKind::Composite { relation: raw.relation.map(|name| names.qualified(name)) }
        }
        RawTypeKind::Domain => TypeKind::Domain {
            base: id_of(&names.qualified(raw.base?)),
            typmod: raw.typmod,
            not_null: raw.not_null,
            checks: names.checks(raw.checks),
        },
        RawTypeKind::Enum => TypeKind::Enum,
        RawTypeKind::Range => TypeKind::Range { subtype: id_of(&names.qualified(raw.subtype?)) },
        RawTypeKind::Multirange => TypeKind::Multirange { subtype: id_of(&names.qualified(raw.subtype?)) },
        RawTypeKind::Pseudo => TypeKind::Pseudo,
    })
}

fn link_arrays(types: &mut Types) {
    let arrays: HashMap<TypeId, TypeId> =
        types.iter().filter_map(|ty| Some((ty.kind.element()?, ty.id))).collect();
    for ty in &mut types.list {
        ty.array = arrays.get(&ty.id).copied();
    }
}

/// Says where each type may be written (policy 4.6): enums; domains whose checks call only
/// pg_catalog; arrays, ranges and domains over what may.
fn allow(types: &mut Types, by_id: &ById) {
    let allowances: Vec<Allowance> =
        types.iter().map(|ty| allowance(types, by_id, ty, TYPE_NESTING_MAX)).collect();
    for (ty, allowance) in types.list.iter_mut().zip(allowances) {
        ty.allowance = allowance;
    }
}

fn allowance(types: &Types, by_id: &ById, ty: &Type, depth: usize) -> Allowance {
    let Some(depth) = depth.checked_sub(1) else { return Allowance::Denied };
    let of = |id: TypeId| match builtin::types::by_id(id) {
        Some(ty) => ty.allowance,
        None => by_id
            .get(&id)
            .and_then(|(schema, name)| types.get(schema, name))
            .map_or(Allowance::Denied, |ty| allowance(types, by_id, ty, depth)),
    };
    match &ty.kind {
        TypeKind::Enum => Allowance::Allowed,
        TypeKind::Domain { base, checks, .. } => match of(*base) {
            Allowance::Allowed if checks.iter().all(|check| check.functions.is_empty()) => Allowance::Allowed,
            Allowance::ByFunction => Allowance::ByFunction,
            Allowance::Allowed | Allowance::Reg | Allowance::Denied => Allowance::Denied,
        },
        TypeKind::Array { element: of_what }
        | TypeKind::Range { subtype: of_what }
        | TypeKind::Multirange { subtype: of_what } => match of(*of_what) {
            Allowance::Reg => Allowance::Denied,
            allowance @ (Allowance::Allowed | Allowance::Denied | Allowance::ByFunction) => allowance,
        },
        TypeKind::Base => Allowance::ByFunction,
        TypeKind::Composite { .. } | TypeKind::Pseudo => Allowance::Denied,
    }
}

/// How deep types are looked through: a domain over an array of a domain …; real ones have three.
const TYPE_NESTING_MAX: usize = 16;
