//! Query expressions: WITH, ORDER BY and LIMIT around selects.

use super::Gen;
use super::scope::{Column, Cte};
use crate::schema::{Class, Ty};
use crate::tree::{Sort, Tree, fill, node, optional, text};

/// What is asked of a query.
#[derive(Debug, Clone, Default)]
pub(crate) struct Want {
    /// The types of its columns; else whatever comes.
    pub(crate) types: Option<Vec<Ty>>,
    /// Exactly one row.
    pub(crate) one_row: bool,
    /// Its first column is a tenant column of this class (where one is at hand), and it may be left
    /// to whoever reads it to restrict it.
    pub(crate) class: Option<Class>,
    /// Any tenant column may be left to whoever reads it.
    pub(crate) export: bool,
    /// It is the statement itself.
    pub(crate) top: bool,
}

/// A query, and what its reader sees.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) tree: Tree,
    pub(crate) columns: Vec<Column>,
    /// It may hold other tenants' rows unless its tenant column is restricted outside.
    pub(crate) open: bool,
}

impl Gen {
    pub(super) fn query(&mut self, depth: usize, want: Want) -> Made {
        let known = self.ctes.len();
        let with = self.with(depth, &want);
        let mut made = match self.rng.weighted(&[88, if want.one_row { 0 } else { 12 }]) {
            1 if depth > 0 && self.budget > 1 => self.set_operation(depth, &want),
            _ => self.select(depth, &want),
        };
        self.ctes.truncate(known);
        made.tree = node(Sort::Query, [with, made.tree]);
        made
    }

    fn with(&mut self, depth: usize, want: &Want) -> Tree {
        let chance = if want.top { 28 } else { 5 };
        if depth == 0 || self.budget == 0 || !self.rng.chance(chance) {
            return text("");
        }
        if self.budget > 1 && self.rng.chance(20) {
            return self.recursive();
        }
        let mut items = Vec::new();
        for _ in 0..1 + self.rng.weighted(&[70, 30]) {
            if want.top && self.rng.chance(14) {
                items.push(self.modifying_cte());
                continue;
            }
            let name = if self.rng.chance(12) {
                self.saw("CTE of a table's name");
                let names = ["orders", "customers", "notes", "order_items"];
                let free: Vec<&str> =
                    names.into_iter().filter(|name| self.ctes.iter().all(|cte| cte.name != *name)).collect();
                free.first().map_or_else(|| self.fresh("cte"), |name| (*name).to_owned())
            } else {
                self.fresh("cte")
            };
            let export = self.rng.chance(60);
            let made = self.apart(|made| made.query(depth - 1, Want { export, ..Want::default() }));
            let how = *self.rng.pick(&["", "", "MATERIALIZED ", "NOT MATERIALIZED "]);
            items
                .push(node(Sort::Optional, fill("{} AS {}({})", [text(name.clone()), text(how), made.tree])));
            self.ctes.push(Cte { name, columns: made.columns, open: made.open });
        }
        self.saw("CTE");
        Tree::List { head: "WITH ", between: ", ", tail: " ", least: 0, items }
    }

    /// Makes something that sees no level around it: the current one is hidden.
    pub(super) fn apart<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let hidden = self.levels.last_mut().map(|level| std::mem::replace(&mut level.hidden, true));
        let made = make(self);
        if let (Some(level), Some(hidden)) = (self.levels.last_mut(), hidden) {
            level.hidden = hidden;
        }
        made
    }

    /// ORDER BY all columns and a LIMIT, now and then: a total order up to equal rows. `ties`: the level
    /// is no aggregate, where PostgreSQL 15 looks for min() and max() with the ties and then fails (21000).
    pub(super) fn limit(&mut self, columns: usize, percent: usize, ties: bool) -> Tree {
        if !self.rng.chance(percent) {
            return text("");
        }
        self.saw("LIMIT");
        let all = (1..=columns).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
        let count = self.rng.below(4);
        let form = match self.rng.below(6) {
            0 => format!("OFFSET {count}"),
            1 => format!("FETCH FIRST {} ROWS ONLY", count + 1),
            2 => format!("LIMIT {count} OFFSET 1"),
            3 if self.rng.chance(50) => "LIMIT 0".to_owned(),
            4 if self.budget > 0 && self.rng.chance(60) => {
                self.saw("LIMIT of a sub-select");
                let want = Want { types: Some(vec![Ty::Int]), one_row: true, ..Want::default() };
                let made = self.apart(|made| made.select(0, &want));
                let all = format!(" ORDER BY {all} LIMIT abs((");
                return optional([text(all), made.tree, text(") % 5)")]);
            }
            5 if ties => {
                self.saw("WITH TIES");
                format!("FETCH FIRST {} ROWS WITH TIES", count + 1)
            }
            _ => format!("LIMIT {}", count + 1),
        };
        optional([text(format!(" ORDER BY {all} {form}"))])
    }
}
