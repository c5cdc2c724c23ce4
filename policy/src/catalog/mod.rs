//! What the database contains: the one model, made from the one JSON form (contracts 5).
//!
//! Verdicts look things up here and nowhere else. What is built in (`pg_catalog`,
//! `information_schema`) comes from the compiled tables of [`crate::builtin`] in the same model, so
//! that whoever resolves a name sees one world. A catalog is loaded whole or not at all, and never
//! changes.
//!
//! INVARIANT (cheap): look-ups hash and compare borrowed names; none allocates, for they run for
//! every name of every statement.

mod build;
mod error;
mod format;
mod function;
mod inner;
mod key;
mod listing;
mod name;
mod relation;
mod ty;
mod version;

#[cfg(test)]
mod tests;
mod view_definition;

pub use build::{CATALOG_BYTES_MAX, CATALOG_OBJECTS_MAX, FUNCTION_ARGUMENTS_MAX, RELATION_COLUMNS_MAX};
pub use error::CatalogError;
pub use function::*;
pub use key::*;
pub use listing::Listing;
pub use name::QualifiedName;
pub use relation::*;
pub use ty::*;
pub use version::{CatalogVersion, Major};
pub use view_definition::ViewDefinition;

use std::sync::Arc;

use crate::keyed::{HashMap, HashSet};
use crate::{Family, builtin};

/// A database's catalog.
#[derive(Debug, Clone)]
pub struct Catalog {
    version: CatalogVersion,
    database: Box<str>,
    major: Major,
    server_version_num: u32,
    schemas: HashSet<Box<str>>,
    relations: Index<Relation>,
    /// Partitions and inheritance children, by their parent.
    children: HashMap<QualifiedName, Vec<QualifiedName>>,
    functions: Index<Vec<Function>>,
    operators: Index<Vec<Operator>>,
    types: Index<Type>,
    types_by_id: HashMap<TypeId, (Arc<str>, Arc<str>)>,
    casts: HashMap<(TypeId, TypeId), Cast>,
    extensions: Box<[Extension]>,
    inner: inner::Inner,
}

/// An installed extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// Its name and the schema that its objects are in.
    pub name: QualifiedName,
    /// Its version.
    pub version: Box<str>,
}

impl Catalog {
    /// Reads the JSON form, strictly: an unknown key, a missing key, a wrong type, another format,
    /// a server that is not supported, a reference to what is not there, or too much of anything
    /// refuses the whole.
    ///
    /// # Errors
    /// What is wrong, and where in the text (a JSON path).
    pub fn parse(json: &str) -> Result<Catalog, CatalogError> {
        build::build(json)
    }

    /// The first bytes of the text's SHA-256.
    pub fn version(&self) -> CatalogVersion {
        self.version
    }

    /// The upstream database's own name.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// The server's major version.
    pub fn server_major(&self) -> Major {
        self.major
    }

    /// The server's `server_version_num`.
    pub fn server_version_num(&self) -> u32 {
        self.server_version_num
    }

    /// Whether a schema of that name exists, the built-in ones included.
    pub fn has_schema(&self, name: &str) -> bool {
        is_builtin_schema(name) || self.schemas.contains(name)
    }

    /// The schemas that are not built in, in no order.
    pub fn schemas(&self) -> impl Iterator<Item = &str> {
        self.schemas.iter().map(|name| &**name)
    }

    /// The relation of that name, built in or not.
    pub fn relation(&self, schema: &str, name: &str) -> Option<&Relation> {
        match self.relations.get(schema, name) {
            Some(relation) => Some(relation),
            None if is_builtin_schema(schema) => builtin::relations::lookup(self.major, schema, name),
            None => None,
        }
    }

    /// The relations that are not built in, in the order of the text (by schema and name).
    pub fn relations(&self) -> impl Iterator<Item = &Relation> {
        self.relations.iter()
    }

    /// The partitions and inheritance children of a relation, at any depth.
    pub fn descendants(&self, relation: &Relation) -> Vec<&Relation> {
        let mut found: Vec<&Relation> = Vec::new();
        // Nearly all of them have none, and it is asked for each column that is used.
        if !self.children.contains_key(&relation.name) {
            return found;
        }
        let mut parents = vec![&relation.name];
        while let Some(parent) = parents.pop() {
            for name in self.children.get(parent).into_iter().flatten() {
                let Some(child) = self.relations.get(&name.schema, &name.name) else { continue };
                if !found.iter().any(|known| known.id == child.id) {
                    parents.push(&child.name);
                    found.push(child);
                }
            }
        }
        found
    }

    /// The relation with that identity, as RowDescription names tables. (The built-in views' own are not known:
    /// initdb deals them out.)
    pub fn relation_of(&self, id: RelationId) -> Option<&Relation> {
        // A handful of times a described statement, and only for those who have masks.
        match id.0 < FIRST_OWN_OID {
            true => builtin::relations::all(self.major, PG_CATALOG).find(|relation| relation.id == id),
            false => self.relations.iter().find(|relation| relation.id == id),
        }
    }

    /// The signatures of that name which are not built in.
    pub fn functions(&self, schema: &str, name: &str) -> &[Function] {
        self.functions.get(schema, name).map_or(&[], Vec::as_slice)
    }

    /// Every signature of that name in that schema, the built-in ones first.
    pub fn function_candidates<'a>(&'a self, schema: &str, name: &str) -> impl Iterator<Item = &'a Function> {
        let compiled = if is_builtin_schema(schema) {
            builtin::functions::lookup(self.major, schema, name)
        } else {
            &[]
        };
        compiled.iter().chain(self.functions(schema, name))
    }

    /// The functions that are not built in, in the order of the text.
    pub fn all_functions(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().flatten()
    }

    /// The signatures of that operator which are not built in.
    pub fn operators(&self, schema: &str, name: &str) -> &[Operator] {
        self.operators.get(schema, name).map_or(&[], Vec::as_slice)
    }

    /// Every signature of that operator in that schema, the built-in ones first.
    pub fn operator_candidates<'a>(&'a self, schema: &str, name: &str) -> impl Iterator<Item = &'a Operator> {
        let compiled = if schema == PG_CATALOG { builtin::operators::lookup(self.major, name) } else { &[] };
        compiled.iter().chain(self.operators(schema, name))
    }

    /// The operators that are not built in, in the order of the text.
    pub fn all_operators(&self) -> impl Iterator<Item = &Operator> {
        self.operators.iter().flatten()
    }

    /// The type of that name, built in or not. (`pg_catalog`'s own row types are not there.)
    pub fn type_named(&self, schema: &str, name: &str) -> Option<&Type> {
        match self.types.get(schema, name) {
            Some(ty) => Some(ty),
            None if is_builtin_schema(schema) => builtin::types::by_name(schema, name),
            None => None,
        }
    }

    /// The type with that identity: an oid that a client declares, a column's type.
    pub fn type_of(&self, id: TypeId) -> Option<&Type> {
        match builtin::types::by_id(id) {
            Some(ty) => Some(ty),
            None => {
                let (schema, name) = self.types_by_id.get(&id)?;
                self.types.get(schema, name)
            }
        }
    }

    /// A type's family; [`Family::Unknown`] where the type is not known.
    pub fn family_of(&self, id: TypeId) -> &Family {
        self.type_of(id).map_or(&Family::Unknown, |ty| &ty.family)
    }

    /// A cast that somebody created from one type to the other.
    pub fn cast(&self, source: TypeId, target: TypeId) -> Option<&Cast> {
        self.casts.get(&(source, target))
    }

    /// The casts that somebody created, in no order.
    pub fn casts(&self) -> impl Iterator<Item = &Cast> {
        self.casts.values()
    }

    /// The foreign keys of all relations.
    pub fn foreign_keys(&self) -> impl Iterator<Item = &ForeignKey> {
        self.relations.iter().flat_map(|relation| &relation.foreign_keys)
    }

    /// The installed extensions.
    pub fn extensions(&self) -> &[Extension] {
        &self.extensions
    }
}

/// The schema that is first in every search_path.
pub const PG_CATALOG: &str = "pg_catalog";
/// The SQL standard's catalog.
pub const INFORMATION_SCHEMA: &str = "information_schema";

/// PostgreSQL's FirstNormalObjectId: what is below came with initdb.
const FIRST_OWN_OID: u32 = 16_384;

/// Whether a schema's content is compiled in.
pub fn is_builtin_schema(name: &str) -> bool {
    name == PG_CATALOG || name == INFORMATION_SCHEMA
}

/// Values by schema and name, in the order in which they came; looked up by borrowed names.
#[derive(Debug, Clone)]
struct Index<T> {
    list: Vec<T>,
    places: HashMap<Arc<str>, HashMap<Arc<str>, usize>>,
}

impl<T> Default for Index<T> {
    fn default() -> Self {
        Index { list: Vec::new(), places: HashMap::default() }
    }
}

impl<T> Index<T> {
    fn get(&self, schema: &str, name: &str) -> Option<&T> {
        self.list.get(*self.places.get(schema)?.get(name)?)
    }

    fn get_mut(&mut self, name: &QualifiedName) -> Option<&mut T> {
        self.list.get_mut(*self.places.get(&name.schema)?.get(&name.name)?)
    }

    fn iter(&self) -> impl Iterator<Item = &T> {
        self.list.iter()
    }

    /// The value of that name, made first where it is not there; and whether it was there.
    fn entry(&mut self, name: &QualifiedName, make: impl FnOnce() -> T) -> Option<(&mut T, bool)> {
        let names = self.places.entry(Arc::clone(&name.schema)).or_default();
        let next = self.list.len();
        let place = *names.entry(Arc::clone(&name.name)).or_insert(next);
        if place == next {
            self.list.push(make());
        }
        Some((self.list.get_mut(place)?, place != next))
    }
}
