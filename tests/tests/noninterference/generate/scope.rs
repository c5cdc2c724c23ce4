//! What names mean where an expression stands.

use std::ops::Range;

use super::Gen;
use crate::schema::{Class, Table, Ty};
use crate::tree::{Tree, fill, scalar, text};

/// A column that can be named.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) ty: Ty,
    /// It is plainly a tenant column, or T.
    pub(crate) class: Option<Class>,
}

/// An item of FROM.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) alias: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) table: Option<&'static Table>,
    /// Other tenants' rows may be in it.
    pub(crate) open: bool,
    /// It is a part of a join that bears its alias.
    pub(crate) joined: bool,
}

/// A query level.
#[derive(Debug, Default)]
pub(crate) struct Level {
    pub(crate) sources: Vec<Source>,
    /// Names that USING has merged.
    pub(crate) merged: Vec<String>,
    /// What stands now cannot see this level.
    pub(crate) hidden: bool,
    /// What stands now can see these sources alone.
    pub(crate) window: Option<Range<usize>>,
    /// Its WINDOW clause.
    pub(crate) windows: Vec<Tree>,
}

/// A CTE that can be named.
#[derive(Debug, Clone)]
pub(crate) struct Cte {
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) open: bool,
}

/// A column at its place: level, source, column.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) level: usize,
    pub(crate) source: usize,
    pub(crate) column: Column,
}

impl Source {
    pub(crate) fn of_table(table: &'static Table, alias: String) -> Self {
        let columns = table
            .columns
            .iter()
            .map(|(name, ty, class)| Column { name: (*name).to_owned(), ty: *ty, class: *class })
            .collect();
        Self { alias, columns, table: Some(table), open: table.tenant().is_some(), joined: false }
    }

    /// Its alias stands for a row: a function's of one column stands for the value.
    pub(crate) fn is_composite(&self) -> bool {
        !self.joined && (self.table.is_some() || self.columns.len() > 1)
    }

    /// The column by which it is restricted.
    pub(crate) fn tenant(&self) -> Option<&Column> {
        self.columns.iter().find(|column| column.class.is_some())
    }
}

impl Level {
    fn visible(&self) -> Range<usize> {
        match (&self.window, self.hidden) {
            (_, true) => 0..0,
            (Some(window), false) => window.clone(),
            (None, false) => 0..self.sources.len(),
        }
    }
}

impl Gen {
    pub(super) fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("within a query")
    }

    /// A column that fits, of the innermost level more often than of the others.
    pub(super) fn column(&mut self, fits: impl Fn(&Column) -> bool) -> Option<Place> {
        let inner = self.levels.len().checked_sub(1)?;
        let all = self.places(&fits);
        let (near, far): (Vec<Place>, Vec<Place>) = all.into_iter().partition(|place| place.level == inner);
        let from = match (near.is_empty(), far.is_empty()) {
            (true, true) => return None,
            (true, false) => far,
            (false, true) => near,
            (false, false) if self.rng.chance(75) => near,
            (false, false) => far,
        };
        Some(self.rng.pick(&from).clone())
    }

    /// Makes something that names columns of the innermost level alone.
    pub(super) fn nearby<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.near, true);
        let made = make(self);
        self.near = before;
        made
    }

    /// Every column that fits and can be named here.
    pub(super) fn places(&self, fits: &impl Fn(&Column) -> bool) -> Vec<Place> {
        let mut all = Vec::new();
        let outermost = if self.near { self.levels.len().saturating_sub(1) } else { 0 };
        for (level, scope) in self.levels.iter().enumerate().skip(outermost) {
            for source in scope.visible() {
                let alias = &scope.sources[source].alias;
                let captured = self.levels[level + 1..]
                    .iter()
                    .any(|inner| inner.visible().any(|at| inner.sources[at].alias == *alias));
                if captured {
                    continue;
                }
                let columns = scope.sources[source].columns.iter().filter(|column| fits(column));
                all.extend(columns.map(|column| Place { level, source, column: column.clone() }));
            }
        }
        all
    }

    /// The column as it is written here.
    pub(super) fn refer(&mut self, place: &Place) -> Tree {
        let scope = &self.levels[place.level];
        let alias = scope.sources[place.source].alias.clone();
        let name = place.column.name.clone();
        let named = |level: &Level| {
            level.sources.iter().flat_map(|source| &source.columns).filter(|c| c.name == name).count()
        };
        let merged = scope.merged.contains(&name);
        let inner: usize = self.levels[place.level + 1..].iter().map(named).sum();
        let alone = (named(scope) == 1 || merged) && inner == 0;
        if alone && self.rng.chance(if merged { 50 } else { 20 }) {
            if merged {
                self.saw("merged column");
            }
            return scalar([text(name)]);
        }
        if self.rng.chance(3) && scope.sources[place.source].is_composite() {
            return self.field(&alias, &name, place.column.ty);
        }
        scalar([text(format!("{alias}.{name}"))])
    }

    /// A field of a row, as a field and as a function.
    fn field(&mut self, alias: &str, name: &str, ty: Ty) -> Tree {
        self.saw("field of a row");
        // A type of that name would make it a cast.
        let cast = matches!(name, "name" | "other" | "\"When\"" | "\"What\"") || ty == Ty::Any;
        let form = match self.rng.below(5) {
            0 | 1 if !cast => {
                self.saw("functional notation");
                format!("{name}({alias})")
            }
            2 if !cast => {
                self.saw("functional notation");
                format!("{name}({alias}.*)")
            }
            3 => format!("(({alias})).{name}"),
            _ => format!("({alias}).{name}"),
        };
        scalar([text(form)])
    }

    /// An alias that is free in this level; now and then another table's name.
    pub(super) fn alias(&mut self, stem: &str) -> String {
        let letter = stem.trim_start_matches('"').chars().next().unwrap_or('x').to_lowercase().to_string();
        let mut names = vec![letter.clone(), letter];
        if !stem.contains('"') {
            names.push(stem.to_owned());
        }
        if self.rng.chance(8) {
            self.saw("alias of another table's name");
            names = vec![(*self.rng.pick(&["orders", "customers", "o", "c", "excluded"])).to_owned()];
        }
        let name = self.rng.pick(&names).clone();
        let taken = |name: &str, level: &Level| level.sources.iter().any(|source| source.alias == name);
        if !taken(&name, self.level()) {
            return name;
        }
        (2..).map(|n| format!("{name}{n}")).find(|name| !taken(name, self.level())).unwrap()
    }

    /// A visible source as a whole row.
    pub(super) fn whole_row(&mut self) -> Option<Tree> {
        let inner = self.levels.last()?;
        let rows = inner.visible().filter(|at| inner.sources[*at].is_composite());
        let aliases: Vec<String> = rows.map(|at| inner.sources[at].alias.clone()).collect();
        if aliases.is_empty() {
            return None;
        }
        let alias = self.rng.pick(&aliases).clone();
        self.saw("whole row");
        Some(match self.rng.below(3) {
            0 => scalar([text(alias)]),
            1 => scalar(fill("to_jsonb({})", [text(alias)])),
            _ => scalar(fill("row_to_json({})::text", [text(alias)])),
        })
    }
}
