//! Types of `pg_catalog`, and the domains of `information_schema`.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::Family;
use crate::catalog::{Allowance, INFORMATION_SCHEMA, PG_CATALOG, QualifiedName, Type, TypeId, TypeKind};

/// The type of that name in a built-in schema. The types are the same in every major.
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

struct Types {
    list: Vec<Type>,
    pg_catalog: HashMap<Arc<str>, usize>,
    information_schema: HashMap<Arc<str>, usize>,
    by_id: HashMap<TypeId, usize>,
}

fn types() -> &'static Types {
    static TYPES: OnceLock<Types> = OnceLock::new();
    TYPES.get_or_init(|| {
        let list: Vec<Type> = Vec::new();
        Types { list, pg_catalog: HashMap::new(), information_schema: HashMap::new(), by_id: HashMap::new() }
    })
}
