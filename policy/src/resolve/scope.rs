//! Name spaces: which names a place in a statement can see, as PostgreSQL's parse_relation.c says.
//!
//! A scope is a query level; scopes stack. A name is looked up from the innermost level outwards;
//! at the first level where something bears it the search ends, and two bearers there are an
//! error. Items that a join hides, that a FROM item cannot see yet, or that LATERAL opens are the
//! same items with other flags.

use super::bound::{Col, LevelId, Nature, Rel, Source, Window};
use crate::catalog::Relation;
use crate::ir::Name;

/// One query level while it is bound.
#[derive(Debug)]
pub(super) struct Scope<'c> {
    pub(super) level: LevelId,
    pub(super) sources: Vec<Source<'c>>,
    pub(super) items: Vec<Item<'c>>,
    /// A LATERAL item of this level's FROM is being bound.
    pub(super) lateral_active: bool,
    pub(super) nature: Nature,
    pub(super) windows: Vec<Window<'c>>,
}

/// Something that FROM brings into sight.
#[derive(Debug, Clone)]
pub(super) struct Item<'c> {
    /// Its alias or name; none for a join without an alias.
    pub(super) name: Option<Name>,
    /// The relation itself, where it has no alias: it answers to `schema.name`, too.
    pub(super) origin: Option<&'c Relation>,
    pub(super) what: What,
    /// `name.column` finds it.
    pub(super) by_name: bool,
    /// `column` finds it.
    pub(super) by_column: bool,
    /// Only LATERAL sees it yet.
    pub(super) lateral_only: bool,
    /// LATERAL may refer to it (not across RIGHT and FULL).
    pub(super) lateral_ok: bool,
}

#[derive(Debug, Clone)]
pub(super) enum What {
    /// A source of the level.
    Source(Rel),
    /// A join with an alias or merged columns: its columns in order.
    Join(Vec<(Name, Target)>),
    /// A join whose columns are not known.
    Unknown,
}

/// What a column name means.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Target {
    Column(Col),
    System(Rel, &'static str),
    /// The merged column of a FULL join.
    Merged(Vec<Target>),
    /// A column of something that is refused already.
    Missing,
}

/// The columns that every table has.
pub(super) const SYSTEM_COLUMNS: [&str; 6] = ["tableoid", "ctid", "xmin", "xmax", "cmin", "cmax"];

/// What a search found at one level.
#[derive(Debug)]
pub(super) enum Found<T> {
    Nothing,
    One(T),
    Several,
    /// It is there, but this place must not refer to it.
    Forbidden,
}

impl Target {
    /// The columns that it is made of.
    pub(super) fn parts(&self) -> usize {
        match self {
            Target::Merged(parts) => parts.iter().map(Target::parts).sum(),
            Target::Column(_) | Target::System(..) | Target::Missing => 1,
        }
    }
}

impl<'c> Scope<'c> {
    pub(super) fn new(level: LevelId) -> Scope<'c> {
        Scope {
            level,
            sources: Vec::new(),
            items: Vec::new(),
            lateral_active: false,
            nature: Nature::default(),
            windows: Vec::new(),
        }
    }

    /// Takes a source in and gives its place.
    pub(super) fn add(&mut self, source: Source<'c>) -> Rel {
        let rel = Rel(u32::try_from(self.sources.len()).unwrap_or(u32::MAX));
        self.sources.push(source);
        rel
    }

    /// The columns of all its sources.
    pub(super) fn width(&self) -> usize {
        self.sources.iter().map(Source::width).sum()
    }

    pub(super) fn source(&self, rel: Rel) -> Option<&Source<'c>> {
        self.sources.get(rel.0 as usize)
    }

    fn sees(&self, item: &Item<'c>) -> bool {
        !item.lateral_only || self.lateral_active
    }

    /// An unqualified column at this level.
    pub(super) fn column(&self, name: &str) -> Found<Target> {
        let mut found = Found::Nothing;
        let mut open = false;
        for item in self.items.iter().filter(|item| item.by_column && self.sees(item)) {
            for target in self.columns_named(item, name) {
                if target == Target::Missing {
                    open = true;
                    continue;
                }
                if !matches!(found, Found::Nothing) {
                    return Found::Several;
                }
                found =
                    if item.lateral_only && !item.lateral_ok { Found::Forbidden } else { Found::One(target) };
            }
        }
        match found {
            Found::Nothing if open => Found::One(Target::Missing),
            Found::Nothing | Found::One(_) | Found::Several | Found::Forbidden => found,
        }
    }

    /// The item of that name at this level; `schema` for `schema.name`.
    pub(super) fn item(&self, schema: Option<&str>, name: &str) -> Found<&Item<'c>> {
        let mut found = Found::Nothing;
        for item in self.items.iter().filter(|item| item.by_name && self.sees(item)) {
            let same = match schema {
                None => item.name.as_deref() == Some(name),
                Some(schema) => item.origin.is_some_and(|relation| relation.name.is(schema, name)),
            };
            if same {
                if !matches!(found, Found::Nothing) {
                    return Found::Several;
                }
                found =
                    if item.lateral_only && !item.lateral_ok { Found::Forbidden } else { Found::One(item) };
            }
        }
        found
    }

    /// What a column name means within one item: nothing, one thing, or (of joins and derived
    /// tables) several.
    pub(super) fn columns_named(&self, item: &Item<'c>, name: &str) -> Vec<Target> {
        match &item.what {
            What::Unknown => vec![Target::Missing],
            What::Join(columns) => columns
                .iter()
                .filter(|(column, _)| **column == *name)
                .map(|(_, target)| target.clone())
                .collect(),
            What::Source(rel) => {
                let Some(source) = self.source(*rel) else { return Vec::new() };
                if source.open {
                    return vec![Target::Missing];
                }
                let places = source.places(name);
                if places.is_empty() && source.shape().is_some() {
                    let system = SYSTEM_COLUMNS.iter().find(|column| **column == name);
                    return system.map(|column| Target::System(*rel, column)).into_iter().collect();
                }
                places.into_iter().map(|column| self.target(*rel, column)).collect()
            }
        }
    }

    /// All columns of an item in order, as `*` lists them; none where they are not known.
    pub(super) fn all_columns(&self, item: &Item<'c>) -> Option<Vec<(Name, Target)>> {
        match &item.what {
            What::Unknown => None,
            What::Join(columns) => {
                let open = columns.iter().any(|(_, target)| *target == Target::Missing);
                (!open).then(|| columns.clone())
            }
            What::Source(rel) => {
                let source = self.source(*rel)?;
                if source.open {
                    return None;
                }
                let width = u32::try_from(source.width()).ok()?;
                (0..width)
                    .map(|column| Some((source.column_name(column)?.into(), self.target(*rel, column))))
                    .collect()
            }
        }
    }

    fn target(&self, rel: Rel, column: u32) -> Target {
        Target::Column(Col { level: self.level, rel, column })
    }
}
