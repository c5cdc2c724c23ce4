//! MERGE, in the actions that PostgreSQL 15 has; from 17 also of what no row of the source matches, and
//! RETURNING.

use super::targets::{fixed_list, has_default};
use super::*;
use crate::schema::LINKS;
use crate::worlds::major;

impl Gen {
    pub(super) fn merge(&mut self, depth: usize) -> (Tree, Vec<Column>) {
        self.saw("MERGE");
        let table = self.target();
        let target = self.open_target(table);
        let (source, mut on) = self.merge_source(table, depth);
        on.extend(self.target_equality());
        if self.rng.chance(25) {
            on.push(self.predicate(0));
        }
        let on = Tree::List { head: " ON ", between: " AND ", tail: "", least: 1, items: on };
        let count = 1 + self.rng.below(2);
        // What comes after an action without a condition of its own is never reached.
        let mut actions: Vec<Tree> = (1..=count).map(|nth| self.action(table, nth < count)).collect();
        let mut returned = (text(""), Vec::new());
        if major() >= 17 {
            if self.rng.chance(30) {
                actions.push(self.unmatched_by_source(table));
            }
            returned = self.returning(40);
        }
        self.levels.pop();
        let actions = Tree::List { head: "", between: "", tail: "", least: 1, items: actions };
        let (returning, columns) = returned;
        let whole = fill("MERGE INTO {} USING {}{}{}{}", [target, source, on, actions, returning]);
        (node(Sort::Query, whole), columns)
    }

    /// It reaches rows that ON says nothing of: its own condition restricts it, most often.
    fn unmatched_by_source(&mut self, table: &'static Table) -> Tree {
        self.saw("NOT MATCHED BY SOURCE");
        // The source's columns cannot be seen here.
        self.level().window = Some(0..1);
        let mut conditions: Vec<Tree> = self.target_equality().into_iter().collect();
        if self.rng.chance(40) {
            conditions.push(self.predicate(0));
        }
        let then = match self.rng.weighted(&[60, 20, 20]) {
            0 => {
                let sets = self.sets(table, 0, true);
                scalar(fill("UPDATE SET {}", [commas(sets)]))
            }
            1 if self.universe == Universe::Free => text("DELETE"),
            _ => text("DO NOTHING"),
        };
        self.level().window = None;
        let condition = Tree::List { head: " AND ", between: " AND ", tail: "", least: 0, items: conditions };
        node(Sort::Scalar, fill(" WHEN NOT MATCHED BY SOURCE{} THEN {}", [condition, then]))
    }

    /// The source, and the conditions that belong to it.
    fn merge_source(&mut self, table: &'static Table, depth: usize) -> (Tree, Vec<Tree>) {
        let target = self.level().sources[0].alias.clone();
        if self.budget > 1 && depth > 0 && self.rng.chance(40) {
            self.saw("MERGE by a derived table");
            let types = Some(vec![Ty::Int, Ty::Text]);
            let class = table.tenant().map(|(_, class)| class).filter(|_| self.rng.chance(50));
            let types = class.map_or(types, |class| Some(vec![class.ty(), Ty::Int]));
            let made = self.apart(|made| {
                made.query(depth - 1, Want { types, class, export: class.is_some(), ..Want::default() })
            });
            let alias = self.alias("s");
            let number =
                made.columns.iter().find(|column| column.ty == Ty::Int).map(|column| column.name.clone());
            let key = table.columns.iter().find(|(_, ty, class)| *ty == Ty::Int && class.is_none());
            let condition = match (number, key) {
                (Some(number), Some((key, ..))) => format!("{alias}.{number} = {target}.{key}"),
                _ => "TRUE".to_owned(),
            };
            let source = Source {
                alias: alias.clone(),
                columns: made.columns,
                table: None,
                open: made.open,
                joined: false,
            };
            self.level().sources.push(source);
            let written = node(Sort::Query, fill("({}) AS {}", [made.tree, text(alias)]));
            return (written, vec![node(Sort::Bool, [text(condition)])]);
        }
        self.budget = self.budget.saturating_sub(1);
        let links: Vec<_> =
            LINKS.iter().filter(|(from, _, to, _)| *from == table.name || *to == table.name).collect();
        let (other, condition) = if !links.is_empty() && self.rng.chance(70) {
            let (from, column, to, key) = **self.rng.pick(&links);
            if from == table.name {
                (super::table(to), format!("{target}.{column} = $.{key}"))
            } else {
                (super::table(from), format!("$.{column} = {target}.{key}"))
            }
        } else {
            let (name, ..) = table.columns.iter().find(|(_, _, class)| class.is_none()).unwrap();
            (table, format!("$.{name} = {target}.{name}"))
        };
        let alias = self.alias("s");
        self.level().sources.push(Source::of_table(other, alias.clone()));
        let mut on = vec![node(Sort::Bool, [text(condition.replace('$', &alias))])];
        let level = self.levels.len() - 1;
        if let Some(column) = self.levels[level].sources[1].tenant().cloned() {
            let class = column.class.unwrap();
            let c = self.refer(&Place { level, source: 1, column: column.clone() });
            if self.rng.chance(40) {
                // The source restricted by itself.
                let inside = self.equality(text(format!("inside.{}", column.name)), class);
                let written = fill(
                    "(SELECT * FROM {} AS inside WHERE {}) AS {}",
                    [text(other.name), inside, text(alias)],
                );
                return (node(Sort::Query, written), on);
            }
            if self.rng.chance(90) {
                on.push(self.equality(c, class));
            }
        }
        (text(format!("{} AS {alias}", other.name)), on)
    }

    fn action(&mut self, table: &'static Table, conditional: bool) -> Tree {
        let condition = if conditional || self.rng.chance(35) {
            let p = self.predicate(0);
            optional(fill(" AND {}", [p]))
        } else {
            text("")
        };
        let deletes = !matches!(
            table.name,
            "app.customers" | "app.orders" | "app.products" | "app.warehouses" | "billing.invoices"
        ) || self.universe == Universe::Free;
        match self.rng.weighted(&[45, if deletes { 12 } else { 0 }, 35, 8]) {
            0 => {
                let sets = self.sets(table, 0, true);
                node(Sort::Scalar, fill(" WHEN MATCHED{} THEN UPDATE SET {}", [condition, commas(sets)]))
            }
            1 => node(Sort::Scalar, fill(" WHEN MATCHED{} THEN DELETE", [condition])),
            2 => {
                // The target's columns cannot be seen here.
                self.level().window = Some(1..2);
                let only_source = conditional || self.rng.chance(50);
                let condition = if only_source { condition_of(self) } else { text("") };
                let (names, columns) = self.target_columns(table.columns);
                let cells: Vec<Tree> =
                    columns.iter().map(|column| self.merged_cell(table, *column)).collect();
                self.level().window = None;
                let then = fill(
                    " WHEN NOT MATCHED{} THEN INSERT ({}) VALUES ({})",
                    [condition, names, fixed_list(cells)],
                );
                node(Sort::Scalar, then)
            }
            _ => node(Sort::Scalar, fill(" WHEN MATCHED{} THEN DO NOTHING", [condition])),
        }
    }
}

impl Gen {
    fn merged_cell(&mut self, table: &Table, column: ColumnOf) -> Tree {
        if has_default(table, column.0) && self.rng.chance(8) {
            self.saw("DEFAULT");
            return text("DEFAULT");
        }
        self.written_value(table, column, 0, 0)
    }
}

/// ` AND` a condition over the source.
fn condition_of(made: &mut Gen) -> Tree {
    let p = made.predicate(0);
    optional(fill(" AND {}", [p]))
}
