//! One query level: its sources, where their tenant equalities stand, and how it makes rows.

use super::Gen;
use super::from::Join;
use super::query::{Made, Want};
use super::scope::{Column, Level, Place};
use crate::schema::Ty;
use crate::tree::{Sort, Tree, node, text};

/// How a level makes rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    Plain,
    Aggregate,
    Grouped,
    GroupingSets,
    Distinct,
    DistinctOn,
    Window,
}

impl Mode {
    /// Its rows are groups.
    pub(super) fn groups(self) -> bool {
        matches!(self, Self::Grouped | Self::GroupingSets)
    }
}

/// How a level groups its rows.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) mode: Mode,
    pub(super) keys: Vec<Tree>,
    pub(super) havings: Vec<Tree>,
}

impl Gen {
    pub(super) fn select(&mut self, depth: usize, want: &Want) -> Made {
        self.levels.push(Level::default());
        // Conditions and targets read relations as well.
        let kept = if self.budget > 1 && depth > 0 && self.rng.chance(50) { 1 } else { 0 };
        self.budget -= kept;
        let mut joins = self.from(depth, want.class);
        self.budget += kept;
        let exported = self.exported(want);
        let mut filters = Vec::new();
        let mut groups = Groups { mode: self.mode(want), ..Groups::default() };
        self.restrict(&mut joins, exported.as_ref(), &mut filters, &mut groups);
        for _ in 0..self.rng.weighted(&[66, 28, 6]) {
            filters.push(self.predicate(depth.min(2)));
        }
        if self.fallible && self.rng.chance(55) {
            // Among conditions that cost the same the first goes first.
            let at = if self.rng.chance(60) { 0 } else { filters.len() };
            let failing = self.fallible_condition();
            filters.insert(at, failing);
        }
        if self.rng.chance(2) {
            self.saw("never true");
            filters.push(node(Sort::Bool, [text(*self.rng.pick(&["FALSE", "1 = 0"]))]));
        }
        let from = Tree::List {
            head: " FROM ",
            between: ", ",
            tail: "",
            least: 1,
            items: joins.into_iter().map(Join::tree).collect(),
        };
        let mut made = self.targets(groups, depth, want, exported, (from, filters));
        self.levels.pop();
        if made.columns.is_empty() {
            made.columns.push(Column { name: "c".into(), ty: Ty::Any, class: None });
        }
        made
    }

    fn mode(&mut self, want: &Want) -> Mode {
        if want.one_row {
            return Mode::Aggregate;
        }
        let all = [
            Mode::Plain,
            Mode::Aggregate,
            Mode::Grouped,
            Mode::GroupingSets,
            Mode::Distinct,
            Mode::DistinctOn,
            Mode::Window,
        ];
        all[self.rng.weighted(&[55, 9, 12, 4, 7, 4, 9])]
    }

    /// The open source that is left to whoever reads this query, and its tenant column.
    fn exported(&mut self, want: &Want) -> Option<Place> {
        if !want.export && want.class.is_none() {
            return None;
        }
        let level = self.levels.len() - 1;
        let mut all = Vec::new();
        for (source, item) in self.levels[level].sources.iter().enumerate() {
            if let Some(column) = item.tenant().filter(|_| item.open)
                && want.class.is_none_or(|class| column.class == Some(class))
            {
                all.push(Place { level, source, column: column.clone() });
            }
        }
        if all.is_empty() || (want.class.is_some() && self.rng.chance(50)) {
            return None;
        }
        Some(self.rng.pick(&all).clone())
    }
}
