//! INSERT: VALUES, SELECT, ON CONFLICT, RETURNING.

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
        let names = columns.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ");
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
        let tree = fill("INSERT INTO {} ({}) {}{}{}", [target, text(names), source, conflict, returning]);
        (node(Sort::Query, tree), outputs)
    }

    fn value_rows(&mut self, table: &Table, columns: &[ColumnOf], depth: usize) -> Tree {
        let rows = (0..1 + self.rng.weighted(&[65, 35]))
            .map(|row| {
                let cells: Vec<Tree> = columns
                    .iter()
                    .map(|column| self.apart(|made| made.written_value(table, *column, row, depth.min(1))))
                    .collect();
                node(Sort::Query, fill("({})", [commas(cells)]))
            })
            .collect();
        node(Sort::Scalar, fill("VALUES {}", [commas(rows)]))
    }

    /// The table's own rows under new keys.
    fn rows_of_itself(&mut self, table: &'static Table, columns: &[ColumnOf]) -> Tree {
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
            .map(|(name, ty, class)| {
                let old = format!("{alias}.{name}");
                let new = match (table.name, *name, class) {
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
                    _ => {
                        let _ = ty;
                        old
                    }
                };
                scalar([text(new)])
            })
            .collect();
        self.levels.pop();
        node(Sort::Query, fill("SELECT {} FROM {}{}", [commas(cells), text(from), Self::filter(filters)]))
    }

    /// ON CONFLICT with arbiters and actions that are right, or nearly.
    fn conflict(&mut self, table: &Table) -> Tree {
        if self.fallible && table.key.is_empty() {
            // Whether a key of others' is taken would show in the count.
            return text("");
        }
        self.saw("ON CONFLICT");
        let tenant = table.tenant().map_or("code", |(name, _)| name);
        let with_key = |keys: &[&str]| format!(" ({tenant}, {})", keys.join(", "));
        let arbiter = match (table.name, self.rng.below(4)) {
            ("app.customers", 0) => " (tenant_id, email)".to_owned(),
            ("app.products", 0) => " (tenant_id, sku)".to_owned(),
            ("more.devices", _) => " (owner, label)".to_owned(),
            (_, 1) if self.universe == Universe::Kept && !self.fallible => {
                format!(" ({})", if table.key.is_empty() { "id".to_owned() } else { table.key.join(", ") })
            }
            (_, 3) if !self.fallible => String::new(),
            _ if table.key.is_empty() => " (id)".to_owned(),
            _ => with_key(table.key),
        };
        if arbiter.is_empty() || self.rng.chance(30) {
            self.saw("DO NOTHING");
            return optional([text(format!(" ON CONFLICT{arbiter} DO NOTHING"))]);
        }
        self.saw("DO UPDATE");
        // EXCLUDED is a source beside the target.
        let alias = self.level().sources[0].alias.clone();
        self.level()
            .sources
            .push(Source::of_table(super::super::super::schema::table(table.name), "excluded".into()));
        let mut sets = self.conflict_sets(table);
        if sets.is_empty() {
            sets.push(text(format!("{tenant} = excluded.{tenant}")));
        }
        let own = table.tenant().map(|(_, class)| class);
        let guard = match (self.rng.weighted(&[40, 30, 8, 10, 6, 6]), own) {
            (_, None) | (0, _) => text(""),
            (1, Some(class)) => {
                let equality = self.equality(text(format!("{alias}.{tenant}")), class);
                optional(fill(" WHERE {}", [equality]))
            }
            (2, Some(class)) => {
                let equality = self.equality(text(format!("excluded.{tenant}")), class);
                optional(fill(" WHERE {}", [equality]))
            }
            (3, Some(_)) => optional([text(format!(" WHERE {alias}.{tenant} = excluded.{tenant}"))]),
            (4, Some(class)) => {
                let (equality, p) =
                    (self.equality(text(format!("{alias}.{tenant}")), class), self.predicate(0));
                optional(fill(" WHERE {} OR {}", [equality, p]))
            }
            (_, Some(_)) => {
                let p = self.predicate(1);
                optional(fill(" WHERE {}", [p]))
            }
        };
        self.level().sources.pop();
        optional(fill(" ON CONFLICT{} DO UPDATE SET {}{}", [text(arbiter), commas(sets), guard]))
    }

    fn conflict_sets(&mut self, table: &Table) -> Vec<Tree> {
        let mut sets = Vec::new();
        for column @ (name, ty, class) in table.columns.iter().copied() {
            if let Some(class) = class {
                if self.rng.chance(25) {
                    let value = match self.rng.below(4) {
                        0 => self.own(class),
                        1 => self.written_value(table, column, 0, 0),
                        _ => text(format!("excluded.{name}")),
                    };
                    sets.push(node(Sort::Scalar, fill("{} = {}", [text(name), value])));
                }
                continue;
            }
            if table.key.contains(&name) || matches!(name, "id" | "email" | "sku") || !self.rng.chance(35) {
                continue;
            }
            let value = match self.rng.below(3) {
                0 => text(format!("excluded.{name}")),
                _ if name.ends_with("_id") => text(format!("excluded.{name}")),
                1 => self.constant_for(table, column),
                _ => match ty {
                    Ty::Int | Ty::Num | Ty::Text if !matches!(name, "email") => {
                        self.maybe_null(table, name, ty)
                    }
                    _ => text(format!("excluded.{name}")),
                },
            };
            sets.push(node(Sort::Scalar, fill("{} = {}", [text(name), value])));
        }
        sets
    }

    fn constant_for(&mut self, table: &Table, (name, ty, _): ColumnOf) -> Tree {
        match self.key_value(table, name, 0) {
            Some(value) => text(value),
            None => self.constant(ty),
        }
    }

    /// A value that is not NULL where the column may not be.
    pub(super) fn maybe_null(&mut self, table: &Table, name: &str, ty: Ty) -> Tree {
        let value = self.value(ty, 1);
        match self.key_value(table, name, 0) {
            Some(instead) => scalar(fill("COALESCE({}, {})", [value, text(instead)])),
            None => value,
        }
    }
}
