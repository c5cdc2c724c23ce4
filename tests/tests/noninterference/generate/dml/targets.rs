//! What is written: SET in all its forms, subscripts, DEFAULT.

use super::*;

impl Gen {
    /// The items of SET.
    pub(super) fn sets(&mut self, table: &Table, depth: usize, merging: bool) -> Vec<Tree> {
        let mut sets: Vec<(Tree, Tree)> = Vec::new();
        for column @ (name, ty, class) in table.columns.iter().copied() {
            if class.is_some() {
                if self.rng.chance(10) {
                    self.saw("assigns the tenant column");
                    let value = match self.rng.below(4) {
                        0 => text(name),
                        1 if self.rng.chance(20) => text("DEFAULT"),
                        _ => self.written_value(table, column, 0, 0),
                    };
                    sets.push((text(name), value));
                }
                continue;
            }
            if is_container(name) && self.rng.chance(25) {
                sets.push(self.element(name, ty));
                continue;
            }
            let fixed = table.key.contains(&name) || matches!(name, "id" | "email" | "sku");
            if fixed || !self.rng.chance(35) {
                continue;
            }
            let value = self.assigned(table, column, depth);
            sets.push((text(name), value));
        }
        if sets.is_empty() {
            let (name, ..) = table.columns[0];
            let own = format!("{}.{name}", self.level().sources[0].alias);
            sets.push((text(name), text(own)));
        }
        self.together(sets, merging)
    }

    fn assigned(&mut self, table: &Table, (name, ty, _): ColumnOf, depth: usize) -> Tree {
        if has_default(table, name) && self.rng.chance(6) {
            self.saw("DEFAULT");
            return text("DEFAULT");
        }
        if name.ends_with("_id") {
            return text(self.key_value(table, name, 0).unwrap_or_else(|| "1".to_owned()));
        }
        match ty {
            Ty::Fixed => text("NULL"),
            Ty::Any => text("ROW(1, 'x')"),
            _ => self.maybe_null(table, name, ty, depth),
        }
    }

    /// `a = x, b = y`, or some of them as `(a, b) = (x, y)`, `= ROW(x, y)` or `= (SELECT x, y)`.
    pub(super) fn together(&mut self, mut sets: Vec<(Tree, Tree)>, merging: bool) -> Vec<Tree> {
        let mut written = Vec::new();
        if sets.len() > 1 && self.rng.chance(30) {
            self.saw("multi-column SET");
            let count = 2 + self.rng.below(sets.len() - 1);
            let at = self.rng.below(sets.len() - count + 1);
            let taken: Vec<(Tree, Tree)> = sets.drain(at..at + count).collect();
            let defaults = taken.iter().any(|(_, value)| is_default(value));
            let (names, values): (Vec<Tree>, Vec<Tree>) = taken.into_iter().unzip();
            let form = match self.rng.below(4) {
                0 if !defaults => "({}) = ROW({})",
                // Two actions of a MERGE that do so end PostgreSQL 15's process (a null pointer).
                1 | 2 if !defaults && !merging => {
                    self.saw("multi-column SET of a sub-select");
                    "({}) = (SELECT {})"
                }
                _ => "({}) = ({})",
            };
            written.push(node(Sort::Scalar, fill(form, [fixed_list(names), fixed_list(values)])));
        }
        let one = |(name, value)| node(Sort::Scalar, fill("{} = {}", [name, value]));
        written.extend(sets.into_iter().map(one));
        written
    }

    /// An element or a field of a column; the subscript may read other relations.
    pub(super) fn element(&mut self, name: &'static str, ty: Ty) -> (Tree, Tree) {
        if name == "spot" {
            self.saw("field of a target");
            return (text("spot.b"), text("'x'"));
        }
        self.saw("subscripted target");
        let (subscript, value) = match ty {
            Ty::Json => {
                let key = self.value(Ty::Text, 1);
                (scalar(fill("COALESCE({}, 'k')", [key])), text("'1'::jsonb"))
            }
            _ => {
                let number = self.value(Ty::Int, 1);
                (scalar(fill("COALESCE(1 + abs({}) % 3, 1)", [number])), text("'x'"))
            }
        };
        (scalar(fill("{}[{}]", [text(name), subscript])), value)
    }

    /// The columns of an INSERT as they are written: now and then an element of one.
    pub(super) fn target_columns(&mut self, columns: &[ColumnOf]) -> (Tree, Vec<ColumnOf>) {
        let mut plain = Vec::new();
        let mut names = Vec::new();
        for column @ (name, ty, _) in columns.iter().copied() {
            if is_container(name) && self.rng.chance(15) {
                let (target, _) = self.element(name, ty);
                names.push(target);
                // The value is an element's.
                plain.push((if ty == Ty::Json { "[json]" } else { "[text]" }, ty, None));
            } else {
                names.push(text(name));
                plain.push(column);
            }
        }
        (fixed_list(names), plain)
    }

    /// A value that is not NULL where the column may not be.
    pub(super) fn maybe_null(&mut self, table: &Table, name: &str, ty: Ty, depth: usize) -> Tree {
        let value = self.value(ty, depth);
        match self.key_value(table, name, 0) {
            Some(instead) => scalar(fill("COALESCE({}, {})", [value, text(instead)])),
            None => value,
        }
    }
}

/// A list none of whose items may be left out.
pub(super) fn fixed_list(items: Vec<Tree>) -> Tree {
    let least = items.len();
    Tree::List { head: "", between: ", ", tail: "", least, items }
}

fn is_default(tree: &Tree) -> bool {
    matches!(tree, Tree::Text(text) if text == "DEFAULT")
}

/// Columns that have elements or fields.
pub(super) fn is_container(name: &str) -> bool {
    matches!(name, "profile" | "tags" | "payload" | "spot")
}

/// Whether DEFAULT is a constant there (not a clock, not a sequence), or NULL where that may be.
pub(super) fn has_default(table: &Table, name: &str) -> bool {
    match table.name {
        "app.customers" => {
            matches!(
                name,
                "ssn" | "phone" | "country" | "segment" | "active" | "profile" | "tags" | "created_at"
            )
        }
        "app.orders" => matches!(name, "status" | "total" | "note" | "created_at" | "updated_at"),
        "app.shipments" => name == "shipped_at",
        "app.events" | "app.events_2026" | "app.events_default" => name == "payload",
        "app.\"Audit Trail\"" => name == "\"When\"",
        "app.pinned_notes" => name == "pinned_by",
        "billing.invoices" => matches!(name, "issued_on" | "order_id"),
        "billing.payments" => name == "paid_at",
        "more.tickets" => matches!(name, "order_id" | "title" | "weight"),
        "more.ledger" => matches!(name, "amount" | "memo"),
        "more.seats" => matches!(name, "customer_id" | "label"),
        _ => false,
    }
}
