//! Look-ups by name: relations, functions, operators and types in the pinned search_path, with
//! `pg_catalog` first.

use std::rc::Rc;

use super::{ArgValue, Resolver, TypeUse};
use crate::catalog::{Function, Operator, PG_CATALOG, Relation, Type, TypeId, TypeKind, is_builtin_schema};
use crate::ir::{At, Name, Path, TypeRef};
use crate::policy::CatalogRule;
use crate::{Code, Denial, Object, Rule, SqlState};

/// A name taken apart.
pub(super) enum Qualified<'p> {
    /// `name`.
    Bare(&'p str),
    /// `schema.name`, or `database.schema.name` of this database.
    In { schema: &'p str, name: &'p str },
    /// Too many parts, or another database.
    Elsewhere,
}

impl<'c> Resolver<'c> {
    pub(super) fn qualified<'p>(&self, path: &'p Path) -> Qualified<'p> {
        match path.parts.as_slice() {
            [name] => Qualified::Bare(name),
            [schema, name] => Qualified::In { schema, name },
            [database, schema, name] if **database == *self.world.catalog.database() => {
                Qualified::In { schema, name }
            }
            _ => Qualified::Elsewhere,
        }
    }

    /// The schemas in which an unqualified name is looked up, in order. Inside a view the names
    /// are printed for an empty path.
    pub(super) fn search_path(&self) -> impl Iterator<Item = &'c str> + use<'c> {
        let pinned = if self.in_view() { &[] } else { self.world.policy.search_path() };
        let named = pinned.iter().any(|schema| **schema == *PG_CATALOG);
        (!named).then_some(PG_CATALOG).into_iter().chain(pinned.iter().map(|schema| &**schema))
    }

    /// A relation, or the denial of it.
    pub(super) fn relation_named(&mut self, path: &Path) -> Option<&'c Relation> {
        let catalog = self.world.catalog;
        let found = match self.qualified(path) {
            Qualified::Bare(name) => self.search_path().find_map(|schema| catalog.relation(schema, name)),
            Qualified::In { schema, name } => catalog.relation(schema, name),
            Qualified::Elsewhere => {
                self.unsupported(path.at, "a name in another database");
                return None;
            }
        };
        if found.is_none() {
            let at = self.at(path.at);
            let name = path.parts.join(".");
            self.deny(unknown_relation(self.world.role.system_catalogs, at, &name));
        }
        found
    }

    /// Every function that a call of that name can mean.
    pub(super) fn functions_named(&self, path: &Path, grammar: bool) -> Vec<&'c Function> {
        let catalog = self.world.catalog;
        match self.qualified(path) {
            Qualified::Bare(name) if grammar => catalog.function_candidates(PG_CATALOG, name).collect(),
            Qualified::Bare(name) => {
                let mut seen: Vec<&Function> = Vec::new();
                for schema in self.search_path() {
                    // One schema has no duplicates of its own: only earlier ones can hide a candidate.
                    let hiding = seen.len();
                    for function in catalog.function_candidates(schema, name) {
                        // The same signature is hidden by the schema that comes first.
                        let same = |other: &&Function| {
                            other.args.len() == function.args.len()
                                && other.args.iter().zip(&function.args).all(|(a, b)| a.ty == b.ty)
                                && other.name.schema != function.name.schema
                        };
                        if !seen.iter().take(hiding).any(same) {
                            seen.push(function);
                        }
                    }
                }
                seen
            }
            Qualified::In { schema, name } => catalog.function_candidates(schema, name).collect(),
            Qualified::Elsewhere => Vec::new(),
        }
    }

    /// Every operator of that name that can stand with these operands' count.
    pub(super) fn operators_named(&mut self, path: &Path, prefix: bool) -> Rc<[&'c Operator]> {
        let catalog = self.world.catalog;
        let fits = move |operator: &&Operator| operator.left.is_none() == prefix;
        match self.qualified(path) {
            Qualified::Bare(name) => self.operators_in_path(name, prefix),
            Qualified::In { schema, name } => {
                catalog.operator_candidates(schema, name).filter(fits).collect()
            }
            Qualified::Elsewhere => Rc::default(),
        }
    }

    /// The same for a name that is looked up in the search_path. Most statements have the same few again and again, and
    /// of `=` there are dozens.
    fn operators_in_path(&mut self, name: &str, prefix: bool) -> Rc<[&'c Operator]> {
        let in_view = self.in_view();
        let asked = |known: &&KnownOperator<'c>| {
            *known.name == *name && (known.prefix, known.in_view) == (prefix, in_view)
        };
        if let Some(known) = self.operators.iter().find(asked) {
            return Rc::clone(&known.candidates);
        }
        let mut seen: Vec<&Operator> = Vec::new();
        for schema in self.search_path() {
            // One schema has no duplicates of its own: only earlier ones can hide a candidate.
            let hiding = seen.len();
            let named = self.world.catalog.operator_candidates(schema, name);
            for operator in named.filter(|operator| operator.left.is_none() == prefix) {
                let same = |other: &&Operator| {
                    other.left == operator.left
                        && other.right == operator.right
                        && other.name.schema != operator.name.schema
                };
                if !seen.iter().take(hiding).any(same) {
                    seen.push(operator);
                }
            }
        }
        let candidates: Rc<[&Operator]> = seen.into();
        if self.operators.len() < KNOWN_OPERATORS {
            let candidates = Rc::clone(&candidates);
            self.operators.push(KnownOperator { name: name.into(), prefix, in_view, candidates });
        }
        candidates
    }

    /// A type that the statement writes: entered into the uses; its identity, or
    /// [`TypeId::NONE`].
    pub(super) fn type_named(&mut self, ty: &TypeRef, arg: Option<ArgValue>) -> TypeId {
        if ty.pct_type || ty.setof {
            self.unsupported(ty.path.at, if ty.setof { "SETOF" } else { "%TYPE" });
            return TypeId::NONE;
        }
        let catalog = self.world.catalog;
        let (found, catalog_row): (Option<&'c Type>, bool) = match self.qualified(&ty.path) {
            Qualified::Bare(name) => {
                let found = self.search_path().find_map(|schema| catalog.type_named(schema, name));
                let row = found.is_none() && catalog.relation(PG_CATALOG, name).is_some();
                (found, row)
            }
            Qualified::In { schema, name } => {
                let found = catalog.type_named(schema, name);
                let row =
                    found.is_none() && is_builtin_schema(schema) && catalog.relation(schema, name).is_some();
                (found, row)
            }
            Qualified::Elsewhere => (None, false),
        };
        let mut path = ty.path.clone();
        path.at = self.at(path.at);
        self.uses.types.push(TypeUse { path, ty: found, catalog_row, arg, from: TypeId::NONE });
        match found {
            Some(found) if ty.array => match found.kind {
                // An array of arrays is an array: PostgreSQL has no other.
                TypeKind::Array { .. } => found.id,
                TypeKind::Base
                | TypeKind::Domain { .. }
                | TypeKind::Enum
                | TypeKind::Composite { .. }
                | TypeKind::Range { .. }
                | TypeKind::Multirange { .. }
                | TypeKind::Pseudo => found.array.unwrap_or(TypeId::NONE),
            },
            Some(found) => found.id,
            None => TypeId::NONE,
        }
    }
}

/// An operator's name that was looked up in the search_path.
pub(super) struct KnownOperator<'c> {
    name: Name,
    prefix: bool,
    /// The path is another one there.
    in_view: bool,
    candidates: Rc<[&'c Operator]>,
}

/// Those that are kept: more would have to be looked for.
const KNOWN_OPERATORS: usize = 16;

/// `relation "x" does not exist`, in PostgreSQL's words, or in words that keep existence a secret.
pub(crate) fn unknown_relation(catalogs: CatalogRule, at: At, name: &str) -> Denial {
    let denial = match catalogs {
        CatalogRule::Deny => Denial::new(
            Rule::Relations,
            Code::RelationUnknown,
            at,
            format!("relation \"{name}\" does not exist or is not allowed"),
        ),
        CatalogRule::Introspection | CatalogRule::Allow => Denial::new(
            Rule::Relations,
            Code::RelationUnknown,
            at,
            format!("relation \"{name}\" does not exist"),
        )
        .sqlstate(SqlState::UNDEFINED_TABLE),
    };
    denial.object(Object::default())
}
