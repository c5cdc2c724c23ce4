//! INSERT: VALUES, SELECT, RETURNING.

use super::targets::{fixed_list, has_default};
use super::*;

impl Gen {
    pub(super) fn insert(&mut self, depth: usize) -> (Tree, Vec<Column>) {
        self.saw("INSERT");
        let table = self.target();
        let mut columns: Vec<ColumnOf> = table.columns.to_vec();
        if self.rng.chance(30) {
            let shift = self.rng.below(columns.len());
            columns.rotate_left(shift);
        }
        if self.rng.chance(3) {
            columns.retain(|(_, _, class)| class.is_none());
        }
        // Without a list the values go to the first columns.
        let listed = columns.first() != table.columns.first() || self.rng.chance(85);
        let (names, columns) = if listed {
            let (names, columns) = self.target_columns(&columns);
            (optional(fill(" ({})", [names])), columns)
        } else {
            self.saw("INSERT without a column list");
            (text(""), columns)
        };
        let from_rows = self.rng.chance(35) && self.budget > 0;
        let source = if from_rows {
            self.saw("INSERT … SELECT");
            self.rows_of_itself(table, &columns)
        } else {
            self.value_rows(table, &columns, depth)
        };
        let target = self.open_target(table);
        let conflict = if self.rng.chance(40) { self.conflict(table) } else { text("") };
        let (returning, outputs) = self.returning(45);
        self.levels.pop();
        let tree = fill("INSERT INTO {}{} {}{}{}", [target, names, source, conflict, returning]);
        (node(Sort::Query, tree), outputs)
    }

    fn value_rows(&mut self, table: &Table, columns: &[ColumnOf], depth: usize) -> Tree {
        let rows = (0..1 + self.rng.weighted(&[65, 35]))
            .map(|row| {
                let cells: Vec<Tree> =
                    columns.iter().map(|column| self.cell(table, *column, row, depth.min(1))).collect();
                node(Sort::Query, fill("({})", [fixed_list(cells)]))
            })
            .collect();
        node(Sort::Scalar, fill("VALUES {}", [commas(rows)]))
    }

    fn cell(&mut self, table: &Table, column: ColumnOf, row: usize, depth: usize) -> Tree {
        let (name, ..) = column;
        if has_default(table, name) && self.rng.chance(8) {
            self.saw("DEFAULT");
            return text("DEFAULT");
        }
        self.apart(|made| made.written_value(table, column, row, depth))
    }

    /// The table's own rows under new keys.
    fn rows_of_itself(&mut self, table: &'static Table, columns: &[ColumnOf]) -> Tree {
        if self.rng.chance(25) && columns == table.columns && is_whole(table.name) {
            return self.whole_rows(table);
        }
        self.budget = self.budget.saturating_sub(1);
        self.levels.push(Level::default());
        let alias = self.alias("x");
        self.level().sources.push(Source::of_table(table, alias.clone()));
        let joined = self.budget > 0 && self.rng.chance(30);
        let mut from = format!("{} AS {alias}", table.name);
        if joined {
            self.saw("INSERT … SELECT of a join");
            self.budget -= 1;
            let kind = *self.rng.pick(&["JOIN", "LEFT JOIN", "RIGHT JOIN"]);
            self.level().sources.push(Source::of_table(table, "other".to_owned()));
            let key =
                table.key.first().copied().or_else(|| table.tenant().map(|(name, _)| name)).unwrap_or("code");
            from = format!("{from} {kind} {} AS other ON other.{key} = {alias}.{key}", table.name);
        }
        let mut filters = Vec::new();
        let level = self.levels.len() - 1;
        for source in 0..self.levels[level].sources.len() {
            let Some(column) = self.levels[level].sources[source].tenant().cloned() else { continue };
            let class = column.class.unwrap();
            if self.rng.chance(94) {
                let c = self.refer(&Place { level, source, column });
                filters.push(self.equality(c, class));
            }
        }
        if self.rng.chance(40) {
            filters.push(self.predicate(0));
        }
        let cells: Vec<Tree> = columns
            .iter()
            .map(|(name, _, class)| {
                let old = format!("{alias}.{name}");
                let new = match (table.name, *name, class) {
                    (_, "[json]", _) => "'1'::jsonb".to_owned(),
                    (_, "[text]", _) => "'x'".to_owned(),
                    (_, _, Some(class)) => {
                        return match self.rng.weighted(&[60, 28, 8, 4]) {
                            0 => text(old),
                            1 => self.own(*class),
                            2 if joined => text(format!("other.{name}")),
                            _ => scalar(fill("COALESCE({}, {})", [text(old), self.own(*class)])),
                        };
                    }
                    ("billing.invoices" | "billing.payments", "id", _) => format!("md5({old}::text)::uuid"),
                    // Some of our orders hang.
                    ("app.orders", "customer_id", _) => format!("least({old}, 5)"),
                    (_, "id" | "line_no", _) => format!("{old} + 900"),
                    (_, "email" | "sku", _) | ("more.devices", "label", _) => format!("'new' || {old}"),
                    _ => old,
                };
                scalar([text(new)])
            })
            .collect();
        self.levels.pop();
        node(Sort::Query, fill("SELECT {} FROM {}{}", [commas(cells), text(from), Self::filter(filters)]))
    }

    /// `SELECT x.*`: whole rows into a relation without keys.
    fn whole_rows(&mut self, table: &'static Table) -> Tree {
        self.saw("INSERT of whole rows");
        self.budget = self.budget.saturating_sub(1);
        let filter = match table.tenant() {
            Some((tenant, class)) if self.rng.chance(94) => {
                let equality = self.equality(text(format!("x.{tenant}")), class);
                optional(fill(" WHERE {}", [equality]))
            }
            _ => text(""),
        };
        let star = text(*self.rng.pick(&["x.*", "*"]));
        node(Sort::Query, fill("SELECT {} FROM {} AS x{}", [star, text(table.name), filter]))
    }
}

/// Relations without keys all of whose columns the generator knows.
fn is_whole(table: &str) -> bool {
    matches!(
        table,
        "app.events" | "app.events_2026" | "app.events_default" | "app.pinned_notes" | "app.\"Audit Trail\""
    )
}
