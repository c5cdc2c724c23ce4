//! Joins that bear a name: `(a JOIN b ON …) AS j (…)`, and `USING (…) AS u`.

use std::ops::Range;

use super::Gen;
use super::from::{How, Join};
use super::scope::{Column, Source};
use crate::tree::{Sort, fill, node, text};

impl Gen {
    /// Gives a join an alias, now and then: the names of its sides are hidden behind it.
    pub(super) fn named_join(&mut self, join: Join) -> Join {
        let Join::Pair { how: How::On(_) | How::Cross, covers, .. } = &join else { return join };
        let covers = covers.clone();
        let merged = &self.levels.last().expect("within a query").merged;
        if merged.iter().any(|name| self.is_in(name, &covers)) || !self.rng.chance(6) {
            return join;
        }
        self.saw("join alias");
        // Inside, equalities stand between the sides; outside, on the columns of the alias.
        let mut join = join;
        self.chain_inside(&mut join, &covers);
        let alias = self.alias("j");
        let mut names = Vec::new();
        let level = self.level();
        for source in &mut level.sources[covers.clone()] {
            source.alias.clone_from(&alias);
            for column in &mut source.columns {
                column.name = format!("j{}", names.len() + 1);
                names.push(column.name.clone());
            }
            source.joined = true;
        }
        let named =
            node(Sort::From, fill("({}) AS {}({})", [join.tree(), text(alias), text(names.join(", "))]));
        Join::Leaf(named)
    }

    /// Whether every relation below is known with all its columns: a rename goes by position.
    pub(super) fn is_known_whole(&self, covers: Range<usize>) -> bool {
        let level = self.levels.last().expect("within a query");
        level.sources[covers].iter().all(|source| {
            let more = |name: &str| matches!(name, "app.order_items" | "more.labels");
            source.table.is_none_or(|table| !more(table.name)) && !source.joined
        })
    }

    fn is_in(&self, name: &str, covers: &Range<usize>) -> bool {
        let level = self.levels.last().expect("within a query");
        level.sources[covers.clone()].iter().any(|source| source.columns.iter().any(|c| c.name == name))
    }

    /// `a.tenant_id = b.tenant_id` in the join's own ON.
    fn chain_inside(&mut self, join: &mut Join, covers: &Range<usize>) {
        let level = self.levels.last().expect("within a query");
        let tenants: Vec<(String, Column)> = level.sources[covers.clone()]
            .iter()
            .filter_map(|source| source.tenant().map(|column| (source.alias.clone(), column.clone())))
            .collect();
        let [(a, first), (b, second)] = tenants.as_slice() else { return };
        if first.class != second.class || !self.rng.chance(60) {
            return;
        }
        if let Join::Pair { how: How::On(conditions), .. } = join {
            let chain = format!("{a}.{} = {b}.{}", first.name, second.name);
            conditions.push(node(Sort::Equality, [text(chain)]));
        }
    }

    /// The merged columns under an alias of their own.
    pub(super) fn using_alias(&mut self, names: &[String], left: Range<usize>) -> Option<String> {
        if !self.rng.chance(25) {
            return None;
        }
        self.saw("USING alias");
        let alias = self.alias("u");
        let level = self.level();
        let find = |name: &String| {
            level.sources[left.clone()].iter().flat_map(|source| &source.columns).find(|c| c.name == *name)
        };
        let columns = names.iter().filter_map(find).cloned().collect();
        let source = Source { alias: alias.clone(), columns, table: None, open: false, joined: true };
        level.sources.push(source);
        Some(alias)
    }
}
