//! Patterns over names, and an index in which a lookup costs a name's length.
//!
//! A pattern is `schema.name`, each part a name as the catalog has it (nothing is folded), a `*`,
//! or a name's beginning and a `*`. A part with a dot, a star or a double quote in it stands in
//! double quotes, as in SQL.

use std::fmt;

use super::problem::Place;
use crate::keyed::HashMap;

/// A pattern over `schema.name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    schema: Part,
    name: Part,
}

/// A pattern over `schema.table.column`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnPattern {
    pub(super) table: Pattern,
    pub(super) column: Part,
}

/// One part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// This name.
    Exact(Box<str>),
    /// Every name that begins so.
    Prefix(Box<str>),
}

/// Something and where it stands in the file.
#[derive(Debug, Clone)]
pub(super) struct Placed<T> {
    pub(super) what: T,
    pub(super) place: Place,
}

impl Pattern {
    /// Reads `schema.name`.
    ///
    /// # Errors
    /// One sentence that says what is wrong.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let [schema, name] = parts(text, "schema.name")?;
        Ok(Pattern { schema, name })
    }

    /// The one name that it stands for, if it has no star.
    pub(super) fn exact(&self) -> Option<(&str, &str)> {
        match (&self.schema, &self.name) {
            (Part::Exact(schema), Part::Exact(name)) => Some((schema, name)),
            (Part::Prefix(_), _) | (_, Part::Prefix(_)) => None,
        }
    }

    /// The one schema that it is about, if that has no star.
    pub(super) fn exact_schema(&self) -> Option<&str> {
        match &self.schema {
            Part::Exact(schema) => Some(schema),
            Part::Prefix(_) => None,
        }
    }

    pub(super) fn has_star(&self) -> bool {
        self.exact().is_none()
    }

    /// Whether the pattern covers that name.
    pub fn covers(&self, schema: &str, name: &str) -> bool {
        self.schema.covers(schema) && self.name.covers(name)
    }
}

impl ColumnPattern {
    pub(super) fn parse(text: &str) -> Result<ColumnPattern, String> {
        let [schema, name, column] = parts(text, "schema.table.column")?;
        Ok(ColumnPattern { table: Pattern { schema, name }, column })
    }

    pub(super) fn has_star(&self) -> bool {
        self.table.has_star() || matches!(self.column, Part::Prefix(_))
    }

    pub(super) fn covers(&self, schema: &str, table: &str, column: &str) -> bool {
        self.table.covers(schema, table) && self.column.covers(column)
    }
}

impl Part {
    pub(super) fn covers(&self, name: &str) -> bool {
        match self {
            Part::Exact(exact) => **exact == *name,
            Part::Prefix(prefix) => name.starts_with(&**prefix),
        }
    }
}

/// Reads a dotted name of exactly `N` parts without stars.
pub(super) fn exact<const N: usize>(text: &str, form: &str) -> Result<[Box<str>; N], String> {
    let parts: [Part; N] = parts(text, form)?;
    if parts.iter().any(|part| matches!(part, Part::Prefix(_))) {
        return Err(format!("\"{text}\" has a *, but one {form} is meant"));
    }
    Ok(parts.map(|part| match part {
        Part::Exact(name) | Part::Prefix(name) => name,
    }))
}

fn parts<const N: usize>(text: &str, form: &str) -> Result<[Part; N], String> {
    let mut found = Vec::with_capacity(N);
    let mut rest = text;
    loop {
        let (part, after) = part(rest).ok_or_else(|| {
            format!("\"{text}\" is no pattern: write {form}, with * as a whole part or at its end")
        })?;
        found.push(part);
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None if after.is_empty() => break,
            None => return Err(format!("\"{text}\" is no pattern: a closing quote ends its part")),
        }
    }
    let count = found.len();
    found.try_into().map_err(|_| format!("\"{text}\" is no {form}: {count} of {N} parts"))
}

/// The first part of a text and what stands behind it.
fn part(text: &str) -> Option<(Part, &str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        return quoted_part(quoted);
    }
    let end = text.find('.').unwrap_or(text.len());
    let (part, rest) = text.split_at_checked(end)?;
    let plain = |name: &str| !name.contains(['*', '"']) && !name.contains(char::is_whitespace);
    match part.strip_suffix('*') {
        Some(prefix) if plain(prefix) => Some((Part::Prefix(prefix.into()), rest)),
        None if plain(part) && !part.is_empty() => Some((Part::Exact(part.into()), rest)),
        Some(_) | None => None,
    }
}

fn quoted_part(text: &str) -> Option<(Part, &str)> {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once('"')?;
        name.push_str(before);
        match after.strip_prefix('"') {
            Some(next) => {
                name.push('"');
                rest = next;
            }
            None if name.is_empty() => return None,
            None => return Some((Part::Exact(name.into()), after)),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.schema, self.name)
    }
}

impl fmt::Display for ColumnPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.table, self.column)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Exact(name) if name.contains(['.', '*', '"']) => {
                write!(f, "\"{}\"", name.replace('"', "\"\""))
            }
            Part::Exact(name) => f.write_str(name),
            Part::Prefix(prefix) => write!(f, "{prefix}*"),
        }
    }
}

/// Numbered patterns over `schema.name`; finds the first that covers a name.
#[derive(Debug, Default)]
pub(super) struct Index {
    by_schema: Names<Names<usize>>,
}

impl Index {
    pub(super) fn new<'a>(patterns: impl IntoIterator<Item = &'a Pattern>) -> Index {
        let mut index = Index::default();
        for (number, pattern) in patterns.into_iter().enumerate() {
            index.insert(pattern, number);
        }
        index
    }

    fn insert(&mut self, pattern: &Pattern, number: usize) {
        let first = self.by_schema.slot(&pattern.schema).slot_or(&pattern.name, number);
        *first = number.min(*first);
    }

    /// The lowest number whose pattern covers the name.
    pub(super) fn first(&self, schema: &str, name: &str) -> Option<usize> {
        self.by_schema.covering(schema).flat_map(|names| names.covering(name)).min().copied()
    }

    pub(super) fn matches(&self, schema: &str, name: &str) -> bool {
        self.by_schema.covering(schema).any(|names| names.covering(name).next().is_some())
    }
}

/// Numbered patterns over `schema.table.column`.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) written: Vec<Placed<ColumnPattern>>,
    by_column: Names<Index>,
    tables: Index,
}

impl Columns {
    pub(super) fn new(written: Vec<Placed<ColumnPattern>>) -> Columns {
        let mut by_column = Names::<Index>::default();
        for (number, pattern) in written.iter().enumerate() {
            by_column.slot(&pattern.what.column).insert(&pattern.what.table, number);
        }
        let tables = Index::new(written.iter().map(|pattern| &pattern.what.table));
        Columns { written, by_column, tables }
    }

    pub(super) fn first(&self, schema: &str, table: &str, column: &str) -> Option<usize> {
        self.by_column.covering(column).filter_map(|index| index.first(schema, table)).min()
    }

    /// Some column of the table may be meant.
    pub(super) fn touches(&self, schema: &str, table: &str) -> bool {
        self.tables.matches(schema, table)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.written.is_empty()
    }
}

/// Values by name or by a name's beginning.
#[derive(Debug)]
struct Names<T> {
    exact: HashMap<Box<str>, T>,
    prefix: HashMap<Box<str>, T>,
    /// The lengths in bytes that occur in `prefix`, rising: at most a name's length of them is
    /// tried, whatever the number of patterns.
    lengths: Vec<usize>,
}

impl<T> Default for Names<T> {
    fn default() -> Names<T> {
        Names { exact: HashMap::default(), prefix: HashMap::default(), lengths: Vec::new() }
    }
}

impl<T> Names<T> {
    fn slot_or(&mut self, part: &Part, value: T) -> &mut T {
        match part {
            Part::Exact(name) => self.exact.entry(name.clone()).or_insert(value),
            Part::Prefix(prefix) => {
                if let Err(place) = self.lengths.binary_search(&prefix.len()) {
                    self.lengths.insert(place, prefix.len());
                }
                self.prefix.entry(prefix.clone()).or_insert(value)
            }
        }
    }

    fn slot(&mut self, part: &Part) -> &mut T
    where
        T: Default,
    {
        self.slot_or(part, T::default())
    }

    /// The values whose name or beginning covers a name.
    fn covering<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a T> {
        let prefixes = self
            .lengths
            .iter()
            .map_while(move |length| (*length <= name.len()).then(|| name.get(..*length)))
            .filter_map(|start| self.prefix.get(start?));
        self.exact.get(name).into_iter().chain(prefixes)
    }
}
