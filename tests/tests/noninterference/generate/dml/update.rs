//! UPDATE and DELETE, alone or by other relations.

use super::*;
use crate::schema::LINKS;

/// What stands beside a target.
struct Beside {
    /// ` FROM …` without its keyword; empty: nothing.
    from: String,
    filters: Vec<Tree>,
    /// Each row of the target meets one row at most.
    unique: bool,
}

impl Gen {
    pub(super) fn update(&mut self, depth: usize) -> (Tree, Vec<Column>) {
        self.saw("UPDATE");
        let table = self.target();
        let target = self.open_target(table);
        let equality = self.target_equality();
        let Beside { from, mut filters, unique } = self.beside(table);
        filters.splice(0..0, equality);
        if self.fallible && self.rng.chance(40) {
            let failing = self.fallible_condition();
            filters.insert(0, failing);
        }
        if self.rng.chance(50) {
            filters.push(self.predicate(depth.min(1)));
        }
        if !unique {
            self.level().window = Some(0..1);
        }
        let sets = self.sets(table, depth.min(1), false);
        let (returning, outputs) = self.returning(45);
        self.levels.pop();
        let from = text(if from.is_empty() { String::new() } else { format!(" FROM {from}") });
        let tree =
            fill("UPDATE {} SET {}{}{}{}", [target, commas(sets), from, Self::filter(filters), returning]);
        (node(Sort::Query, tree), outputs)
    }

    pub(super) fn delete(&mut self, depth: usize) -> (Tree, Vec<Column>) {
        self.saw("DELETE");
        let mut table = self.target();
        // What others' rows may refer to is deleted where no such key stands.
        let referenced = [
            "app.customers",
            "app.orders",
            "app.products",
            "app.warehouses",
            "billing.invoices",
            "more.depots",
        ];
        if self.universe.keeps_keys() && !self.fallible && referenced.contains(&table.name) {
            table = super::table("app.order_items");
            self.targets.push(table.name);
        }
        let target = self.open_target(table);
        let equality = self.target_equality();
        let Beside { from, mut filters, unique } = self.beside(table);
        filters.splice(0..0, equality);
        if self.fallible && self.rng.chance(40) {
            let failing = self.fallible_condition();
            filters.insert(0, failing);
        }
        if self.rng.chance(50) {
            filters.push(self.predicate(depth.min(1)));
        }
        if !unique {
            self.level().window = Some(0..1);
        }
        let (returning, outputs) = self.returning(50);
        self.levels.pop();
        let from = text(if from.is_empty() { String::new() } else { format!(" USING {from}") });
        let tree = fill("DELETE FROM {}{}{}{}", [target, from, Self::filter(filters), returning]);
        (node(Sort::Query, tree), outputs)
    }

    /// Another relation by which rows are chosen.
    fn beside(&mut self, table: &'static Table) -> Beside {
        let none = Beside { from: String::new(), filters: Vec::new(), unique: true };
        if self.budget == 0 || !self.rng.chance(40) {
            return none;
        }
        self.budget -= 1;
        self.saw("UPDATE FROM, DELETE USING");
        let target = self.level().sources[0].alias.clone();
        let links: Vec<_> =
            LINKS.iter().filter(|(from, _, to, _)| *from == table.name || *to == table.name).collect();
        let (other, condition, unique) = if !links.is_empty() && self.rng.chance(80) {
            let (from, column, to, key) = **self.rng.pick(&links);
            if from == table.name {
                (super::table(to), format!("{target}.{column} = $.{key}"), true)
            } else {
                (super::table(from), format!("$.{column} = {target}.{key}"), false)
            }
        } else if let Some((tenant, _)) = table.tenant() {
            (table, format!("$.{tenant} = {target}.{tenant}"), false)
        } else {
            return none;
        };
        let alias = self.alias("b");
        let mut source = Source::of_table(other, alias.clone());
        source.alias.clone_from(&alias);
        self.level().sources.push(source);
        let from = format!("{} AS {alias}", other.name);
        let mut filters = vec![node(Sort::Bool, [text(condition.replace('$', &alias))])];
        let level = self.levels.len() - 1;
        let column = self.levels[level].sources[1].tenant().cloned();
        if let Some(column) = column {
            let class = column.class.unwrap();
            let place = Place { level, source: 1, column };
            let mine = self.target_tenant();
            match (self.rng.weighted(&[60, 32, 8]), mine) {
                (1, Some(mine)) if mine.column.class == Some(class) => {
                    let (a, b) = (self.refer(&place), self.refer(&mine));
                    filters.push(node(Sort::Bool, fill("{} = {}", [a, b])));
                }
                (2, _) => self.saw("unrestricted"),
                _ => {
                    let c = self.refer(&place);
                    filters.push(self.equality(c, class));
                }
            }
        }
        // A key is unique within a tenant only, and only where its equality is a proof is that ours.
        Beside { from, filters, unique }
    }
}
