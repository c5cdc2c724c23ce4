//! Types of `pg_catalog`, and the domains of `information_schema`: the same in every major.

use std::sync::{Arc, OnceLock};

use crate::Family;
use crate::catalog::{
    Allowance, INFORMATION_SCHEMA, Listing, PG_CATALOG, QualifiedName, Type, TypeId, TypeKind,
};
use crate::keyed::{HashMap, Keyed};

use super::table::{File, Row, rows};

/// The type of that name in a built-in schema. Row types of the catalogs' own relations are not
/// there.
pub fn by_name(schema: &str, name: &str) -> Option<&'static Type> {
    let types = types();
    let names = match schema {
        PG_CATALOG => &types.pg_catalog,
        INFORMATION_SCHEMA => &types.information_schema,
        _ => return None,
    };
    types.list.get(*names.get(name)?)
}

/// The built-in type with that identity.
pub fn by_id(id: TypeId) -> Option<&'static Type> {
    let types = types();
    types.list.get(*types.by_id.get(&id)?)
}

/// Every built-in type.
pub fn all() -> &'static [Type] {
    &types().list
}

/// The type that a table's field writes: `int4`, `text[]`, `yes_or_no`; [`TypeId::NONE`] for a row
/// type of a catalog.
pub(super) fn written(field: &str) -> TypeId {
    let (name, array) = match field.strip_suffix("[]") {
        Some(name) => (name, true),
        None => (field, false),
    };
    let ty = by_name(PG_CATALOG, name).or_else(|| by_name(INFORMATION_SCHEMA, name));
    match ty {
        Some(ty) if array => ty.array.unwrap_or(TypeId::NONE),
        Some(ty) => ty.id,
        None => TypeId::NONE,
    }
}

struct Types {
    list: Vec<Type>,
    pg_catalog: HashMap<Arc<str>, usize>,
    information_schema: HashMap<Arc<str>, usize>,
    by_id: HashMap<TypeId, usize>,
}

fn types() -> &'static Types {
    static TYPES: OnceLock<Types> = OnceLock::new();
    TYPES.get_or_init(build)
}

fn build() -> Types {
    let mut list = Vec::new();
    for row in rows(FILE) {
        if let Some(ty) = parse(row) {
            list.extend(array_of(&ty));
            list.push(ty);
        }
    }
    link_ranges(&mut list);
    for (at, (name, base, typmod)) in (0..).zip(INFORMATION_SCHEMA_DOMAINS) {
        let id = TypeId(TypeId::OWN + 2 * at);
        let kind = TypeKind::Domain { base, typmod, not_null: false, checks: Box::default() };
        let ty = Type {
            array: Some(TypeId(id.0 + 1)),
            ..made(INFORMATION_SCHEMA, name, id, kind, Allowance::Allowed)
        };
        list.extend(array_of(&ty));
        list.push(ty);
    }
    let mut types = Types {
        pg_catalog: HashMap::with_capacity_and_hasher(list.len(), Keyed),
        information_schema: HashMap::default(),
        by_id: HashMap::with_capacity_and_hasher(list.len(), Keyed),
        list,
    };
    for (at, ty) in types.list.iter().enumerate() {
        let names = if &*ty.name.schema == PG_CATALOG {
            &mut types.pg_catalog
        } else {
            &mut types.information_schema
        };
        names.insert(Arc::clone(&ty.name.name), at);
        types.by_id.insert(ty.id, at);
    }
    types
}

fn parse(row: Row) -> Option<Type> {
    let mut fields = row.fields.split('\t');
    let id = TypeId(fields.next()?.parse().ok()?);
    let array: u32 = fields.next()?.parse().ok()?;
    let kind = match fields.next()? {
        "base" => TypeKind::Base,
        "pseudo" => TypeKind::Pseudo,
        "range" => TypeKind::Range { subtype: TypeId::NONE },
        "multirange" => TypeKind::Multirange { subtype: TypeId::NONE },
        _ => return None,
    };
    let category = fields.next()?.chars().next();
    let allowance = match fields.next()? {
        "allowed" => Allowance::Allowed,
        "reg" => Allowance::Reg,
        "denied" => Allowance::Denied,
        _ => return None,
    };
    let array = (array != 0).then_some(TypeId(array));
    Some(Type { category, array, ..made(PG_CATALOG, row.key, id, kind, allowance) })
}

fn made(schema: &str, name: &str, id: TypeId, kind: TypeKind, allowance: Allowance) -> Type {
    let name = QualifiedName { schema: schema.into(), name: name.into() };
    Type { id, family: family(id, &kind, &name), name, kind, allowance, category: None, array: None }
}

/// The families of policy 3; pseudo-types have none.
fn family(id: TypeId, kind: &TypeKind, name: &QualifiedName) -> Family {
    match id {
        TypeId::TEXT | TypeId::VARCHAR => Family::Text,
        TypeId::INT2 | TypeId::INT4 | TypeId::INT8 => Family::Integer,
        TypeId::UUID => Family::Uuid,
        TypeId::BOOL => Family::Boolean,
        _ if *kind == TypeKind::Pseudo => Family::Unknown,
        _ => Family::Other(Arc::clone(&name.schema), Arc::clone(&name.name)),
    }
}

/// The array type over a type that has one: its name is the type's behind an underscore. One over
/// names in disguise stands nowhere (policy 4.6).
fn array_of(ty: &Type) -> Option<Type> {
    let id = ty.array?;
    let allowance = match ty.allowance {
        Allowance::Allowed => Allowance::Allowed,
        Allowance::Reg | Allowance::Denied | Allowance::ByFunction => Allowance::Denied,
    };
    let name = format!("_{}", ty.name.name);
    let kind = TypeKind::Array { element: ty.id };
    Some(Type { category: Some('A'), ..made(&ty.name.schema, &name, id, kind, allowance) })
}

/// Ranges name their subtypes, which may come later in the file.
fn link_ranges(list: &mut [Type]) {
    let ids: HashMap<Arc<str>, TypeId> = list.iter().map(|ty| (Arc::clone(&ty.name.name), ty.id)).collect();
    let subtypes: HashMap<TypeId, TypeId> = rows(FILE)
        .filter_map(|row| {
            let subtype = row.fields.rsplit('\t').next()?;
            Some((*ids.get(row.key)?, *ids.get(subtype)?))
        })
        .collect();
    for ty in list {
        let found = subtypes.get(&ty.id).copied().unwrap_or(TypeId::NONE);
        match &mut ty.kind {
            TypeKind::Range { subtype } | TypeKind::Multirange { subtype } => *subtype = found,
            TypeKind::Base
            | TypeKind::Array { .. }
            | TypeKind::Domain { .. }
            | TypeKind::Enum
            | TypeKind::Composite { .. }
            | TypeKind::Pseudo => {}
        }
    }
}

const FILE: File = File { listing: Listing::Standard, text: include_str!("types.tsv") };

/// The domains of the SQL standard's schema: name, base, length (as typmod).
const INFORMATION_SCHEMA_DOMAINS: [(&str, TypeId, i32); 5] = [
    ("cardinal_number", TypeId::INT4, -1),
    ("character_data", TypeId::VARCHAR, -1),
    ("sql_identifier", TypeId::NAME, -1),
    ("time_stamp", TypeId::TIMESTAMPTZ, 2),
    ("yes_or_no", TypeId::VARCHAR, 7),
];
