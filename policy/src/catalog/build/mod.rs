//! From the JSON form to the indexed model: checks what serde cannot, and links names.
//!
//! Types come first, for everything else names them. A type that nobody describes (a row type of a
//! system catalog as a function's argument) is [`TypeId::NONE`], which proves nothing.

mod functions;
mod keys;
mod relations;
mod types;

use std::sync::Arc;

use super::format::{FORMAT, RawCatalog, RawCheck, RawName};
use super::inner::Inner;
use super::{Catalog, CatalogError, CatalogVersion, Check, Extension, Index, Major, QualifiedName, Relation};
use crate::keyed::HashSet;

/// The longest text that is taken, in bytes.
pub const CATALOG_BYTES_MAX: usize = 256 * 1024 * 1024;
/// The most relations, functions, types and so on, of each.
pub const CATALOG_OBJECTS_MAX: usize = 200_000;
/// The most columns of one relation: PostgreSQL's `MaxTupleAttributeNumber`.
pub const RELATION_COLUMNS_MAX: usize = 1_664;
/// The most arguments of one function, output ones too: PostgreSQL's `FUNC_MAX_ARGS` for input,
/// as many columns as a relation's for output.
pub const FUNCTION_ARGUMENTS_MAX: usize = 100 + RELATION_COLUMNS_MAX;

pub(super) fn build(json: &str) -> Result<Catalog, CatalogError> {
    if json.len() > CATALOG_BYTES_MAX {
        return Err(CatalogError::TooLong { bytes: json.len() });
    }
    let raw = read(json)?;
    if raw.format != FORMAT {
        return Err(CatalogError::Format { format: raw.format });
    }
    let Some(major) = Major::of_version_num(raw.server_version_num) else {
        return Err(CatalogError::Server { version_num: raw.server_version_num });
    };
    if raw.server_encoding != "UTF8" {
        return Err(CatalogError::Encoding { encoding: raw.server_encoding });
    }
    bounded(&raw)?;

    let mut names = Names::default();
    let (types, types_by_id) = types::build(raw.types, &mut names)?;
    let mut relations = relations::relations(raw.relations, &types, &mut names)?;
    keys::unique_keys(raw.unique_keys, &mut relations, &mut names)?;
    keys::foreign_keys(raw.foreign_keys, &mut relations, &mut names)?;
    relations::rules(raw.rules, &mut relations, &mut names)?;
    relations::triggers(raw.triggers, &mut relations, &mut names)?;
    let mut catalog = Catalog {
        version: CatalogVersion::of(json),
        database: raw.database.into(),
        major,
        server_version_num: raw.server_version_num,
        schemas: raw.schemas.into_iter().map(Into::into).collect(),
        children: relations::children(&relations),
        relations,
        functions: functions::functions(raw.functions, &types, &mut names)?,
        operators: functions::operators(raw.operators, &types, &mut names)?,
        casts: functions::casts(raw.casts, &types, &mut names)?,
        types,
        types_by_id,
        extensions: raw
            .extensions
            .into_iter()
            .map(|raw| Extension {
                name: QualifiedName { schema: names.intern(raw.schema), name: names.intern(raw.name) },
                version: raw.version.into(),
            })
            .collect(),
        inner: Inner::default(),
    };
    catalog.inner = catalog.inner();
    Ok(catalog)
}

/// The names of a catalog, each held once: thousands of columns are called `id`.
#[derive(Default)]
struct Names(HashSet<Arc<str>>);

impl Names {
    fn intern(&mut self, name: String) -> Arc<str> {
        match self.0.get(name.as_str()) {
            Some(known) => Arc::clone(known),
            None => {
                let name: Arc<str> = name.into();
                self.0.insert(Arc::clone(&name));
                name
            }
        }
    }

    fn qualified(&mut self, raw: RawName) -> QualifiedName {
        QualifiedName { schema: self.intern(raw.schema), name: self.intern(raw.name) }
    }

    fn list(&mut self, raw: Vec<RawName>) -> Box<[QualifiedName]> {
        raw.into_iter().map(|name| self.qualified(name)).collect()
    }

    fn interned(&mut self, raw: Vec<String>) -> Box<[Arc<str>]> {
        raw.into_iter().map(|name| self.intern(name)).collect()
    }

    fn checks(&mut self, raw: Vec<RawCheck>) -> Box<[Check]> {
        raw.into_iter()
            .map(|check| Check {
                name: self.intern(check.name),
                expression: check.expression.into(),
                functions: self.list(check.functions),
            })
            .collect()
    }
}

fn read(json: &str) -> Result<RawCatalog, CatalogError> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let form =
        |path: String, error: &serde_json::Error| CatalogError::Form { path, message: error.to_string() };
    let raw = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| form(error.path().to_string(), error.inner()))?;
    reader.end().map_err(|error| form(".".to_owned(), &error))?;
    Ok(raw)
}

fn bounded(raw: &RawCatalog) -> Result<(), CatalogError> {
    let lists = [
        ("casts", raw.casts.len()),
        ("extensions", raw.extensions.len()),
        ("foreign_keys", raw.foreign_keys.len()),
        ("functions", raw.functions.len()),
        ("operators", raw.operators.len()),
        ("relations", raw.relations.len()),
        ("rules", raw.rules.len()),
        ("schemas", raw.schemas.len()),
        ("triggers", raw.triggers.len()),
        ("types", raw.types.len()),
        ("unique_keys", raw.unique_keys.len()),
    ];
    for (path, count) in lists {
        at_most(count, CATALOG_OBJECTS_MAX, || path.to_owned())?;
    }
    for (at, relation) in raw.relations.iter().enumerate() {
        at_most(relation.columns.len(), RELATION_COLUMNS_MAX, || format!("relations[{at}].columns"))?;
    }
    for (at, function) in raw.functions.iter().enumerate() {
        let path = || format!("functions[{at}].arguments");
        at_most(function.arguments.len(), FUNCTION_ARGUMENTS_MAX, path)?;
    }
    Ok(())
}

fn at_most(count: usize, max: usize, path: impl Fn() -> String) -> Result<(), CatalogError> {
    if count > max { Err(CatalogError::TooMany { path: path(), count, max }) } else { Ok(()) }
}

fn meaning(list: &str, at: usize, message: impl Into<String>) -> CatalogError {
    CatalogError::Meaning { path: format!("{list}[{at}]"), message: message.into() }
}

/// The relation that entry `at` of a list hangs on.
fn owner<'a>(
    relations: &'a mut Index<Relation>,
    name: &QualifiedName,
    list: &str,
    at: usize,
) -> Result<&'a mut Relation, CatalogError> {
    relations.get_mut(name).ok_or_else(|| meaning(list, at, format!("there is no relation {name}")))
}
