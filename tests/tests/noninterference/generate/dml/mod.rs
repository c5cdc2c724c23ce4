//! INSERT, UPDATE, DELETE and MERGE, alone or in a CTE.
//!
//! What PostgreSQL itself leaves open stays out: a row is updated from one row only (or from the
//! target's own columns), no sequence gives a key, no statement writes twice.

mod conflict;
mod insert;
mod merge;
mod targets;
mod update;

use super::Gen;
use super::query::Want;
use super::scope::{Column, Cte, Level, Place, Source};
use crate::schema::{ColumnOf, Kind, TABLES, Table, Ty, table};
use crate::tree::{Sort, Tree, commas, fill, node, optional, scalar, text};
use crate::worlds::{Universe, major};

impl Gen {
    /// The statement itself.
    pub(super) fn dml(&mut self, depth: usize) -> Tree {
        self.writes = true;
        let known = self.ctes.len();
        let with = if depth > 0 && self.rng.chance(22) { self.beforehand(depth) } else { text("") };
        let (tree, outputs) = self.body(depth);
        self.ctes.truncate(known);
        let tree = node(Sort::Query, [with, tree]);
        match self.rng.weighted(&[90, 5, if outputs.is_empty() || self.bound { 0 } else { 5 }]) {
            1 => self.prepared(tree),
            2 => {
                self.saw("COPY of DML");
                node(Sort::Query, fill("COPY ({}) TO STDOUT", [tree]))
            }
            _ => tree,
        }
    }

    fn body(&mut self, depth: usize) -> (Tree, Vec<Column>) {
        match self.rng.weighted(&[36, 28, 18, 18]) {
            0 => self.insert(depth),
            1 => self.update(depth),
            2 => self.delete(depth),
            _ => self.merge(depth),
        }
    }

    /// `WITH …` before DML: queries, and DML of other relations.
    fn beforehand(&mut self, depth: usize) -> Tree {
        self.saw("CTE of DML");
        let items = (0..1 + self.rng.weighted(&[80, 20]))
            .map(|_| {
                if self.rng.chance(30) {
                    return self.modifying_cte();
                }
                let name = self.fresh("cte");
                let export = self.rng.chance(50);
                let made = self.apart(|made| made.query(depth - 1, Want { export, ..Want::default() }));
                self.ctes.push(Cte { name: name.clone(), columns: made.columns, open: made.open });
                node(Sort::Optional, fill("{} AS ({})", [text(name), made.tree]))
            })
            .collect();
        Tree::List { head: "WITH ", between: ", ", tail: " ", least: 0, items }
    }

    /// A data-modifying CTE, of a relation that nothing else in the statement writes.
    pub(super) fn modifying_cte(&mut self) -> Tree {
        let name = self.fresh("dml");
        if self.universe == Universe::Read || self.targets.len() > 1 {
            return node(Sort::Optional, fill("{} AS (SELECT 1 AS one)", [text(name)]));
        }
        self.writes = true;
        self.saw(if self.targets.is_empty() { "data-modifying CTE" } else { "data-modifying CTEs" });
        let (tree, columns) = self.apart(|made| match made.rng.below(3) {
            0 => made.insert(0),
            1 => made.update(0),
            _ => made.delete(0),
        });
        let written = node(Sort::Optional, fill("{} AS ({})", [text(name.clone()), tree]));
        if !columns.is_empty() {
            self.ctes.push(Cte { name, columns, open: false });
        }
        written
    }

    /// A relation to write to, which nothing else in the statement writes.
    fn target(&mut self) -> &'static Table {
        let mut chosen = self.any_target();
        for _ in 0..20 {
            if self.targets.iter().all(|other| family(other) != family(chosen.name)) {
                break;
            }
            chosen = self.any_target();
        }
        self.targets.push(chosen.name);
        chosen
    }

    fn any_target(&mut self) -> &'static Table {
        let favourite = [
            "app.orders",
            "app.customers",
            "app.order_items",
            "app.notes",
            "more.tickets",
            "billing.invoices",
        ];
        if self.rng.chance(55) {
            return table(self.rng.pick::<&str>(&favourite));
        }
        if self.rng.chance(3) {
            return table("app.plans");
        }
        let all: Vec<&'static Table> = TABLES.iter().filter(|table| table.kind == Kind::Table).collect();
        self.rng.pick::<&'static Table>(&all)
    }

    /// Opens the level of a target, and tells how it is written with its alias.
    fn open_target(&mut self, table: &'static Table) -> Tree {
        self.levels.push(Level::default());
        let alias = if self.rng.chance(50) { table.short().to_owned() } else { self.alias(table.short()) };
        let name = if table.is_app() && self.rng.chance(40) { table.short() } else { table.name };
        let written = if alias == table.short() { name.to_owned() } else { format!("{name} AS {alias}") };
        self.level().sources.push(Source::of_table(table, alias));
        text(written)
    }

    /// The target's tenant column.
    fn target_tenant(&self) -> Option<Place> {
        let level = self.levels.len() - 1;
        let column = self.levels[level].sources[0].tenant()?.clone();
        Some(Place { level, source: 0, column })
    }

    /// The tenant equality of the target.
    fn target_equality(&mut self) -> Option<Tree> {
        let place = self.target_tenant()?;
        if self.rng.chance(4) {
            self.saw("unrestricted target");
            return None;
        }
        let c = self.refer(&place);
        Some(self.equality(c, place.column.class.unwrap()))
    }

    /// ` RETURNING …` over what is visible, and what a reader of it sees.
    fn returning(&mut self, percent: usize) -> (Tree, Vec<Column>) {
        if !self.rng.chance(percent) {
            return (text(""), Vec::new());
        }
        self.saw("RETURNING");
        let mut columns = Vec::new();
        let mut items = Vec::new();
        for at in 0..1 + self.rng.below(3) {
            let ty = *self.rng.pick(&[Ty::Int, Ty::Text, Ty::Num, Ty::Int]);
            let tree = self.value(ty, 1);
            let name = format!("c{at}");
            items.push(node(Sort::Scalar, fill("{} AS {}", [tree, text(name.clone())])));
            columns.push(Column { name, ty, class: None });
        }
        if self.rng.chance(8)
            && let Some(row) = self.whole_row()
        {
            items.push(node(Sort::Scalar, fill("{} AS whole", [row])));
        }
        if major() >= 18 && self.rng.chance(8) {
            self.saw("OLD and NEW");
            let row = *self.rng.pick(&["old", "new"]);
            let columns: Vec<String> =
                self.level().sources[0].columns.iter().map(|column| column.name.clone()).collect();
            let column = self.rng.pick(&columns);
            items.push(node(Sort::Scalar, [text(format!("{row}.{column} AS was"))]));
        }
        (optional(fill(" RETURNING {}", [commas(items)])), columns)
    }

    /// A value for a column that is written: keys stay keys, references stay in reach.
    fn written_value(
        &mut self,
        table: &Table,
        (name, ty, class): ColumnOf,
        row: usize,
        depth: usize,
    ) -> Tree {
        if let Some(class) = class {
            return match self.rng.weighted(&[86, 4, 4, 6]) {
                1 => {
                    let own = self.own(class);
                    scalar(fill("(SELECT {})", [own]))
                }
                2 => match self.column(|column| column.class == Some(class)) {
                    Some(place) => self.refer(&place),
                    None => self.own(class),
                },
                3 => scalar([text(match class.ty() {
                    Ty::Int => "77",
                    Ty::Uuid => "'11111111-1111-1111-1111-111111111113'",
                    _ => "'globex'",
                })]),
                _ => self.own(class),
            };
        }
        match name {
            "[json]" => return text("'1'::jsonb"),
            "[text]" => return text("'x'"),
            _ => {}
        }
        if let Some(key) = self.key_value(table, name, row) {
            return scalar([text(key)]);
        }
        match ty {
            Ty::Fixed if name == "country" => scalar([text("'DE'")]),
            _ => self.value(ty, depth),
        }
    }

    /// Values of columns that are unique or refer to other rows.
    fn key_value(&mut self, table: &Table, name: &str, row: usize) -> Option<String> {
        let taken = self.fallible && self.rng.chance(30);
        let other = if self.universe.keeps_keys() { 101 } else { 9 };
        let number = match (taken, self.rng.chance(25)) {
            (true, _) => other + self.rng.below(6),
            (false, true) => 1 + self.rng.below(7),
            (false, false) => 900 + 10 * row + self.rng.below(9),
        };
        if taken {
            self.saw("key that may be taken");
        }
        let near = 1 + self.rng.below(5);
        Some(match (table.name, name) {
            ("billing.invoices", "id") => format!("md5('inv{number}')::uuid"),
            ("billing.payments", "id") => format!("md5('pay{number}')::uuid"),
            (_, "invoice_id") => format!("md5('inv{near}')::uuid"),
            (_, "id") => number.to_string(),
            ("app.order_items", "line_no") => (1000 + number).to_string(),
            (_, "customer_id" | "order_id" | "product_id" | "warehouse_id" | "depot_id") => {
                // Whether another tenant's row is there shows in the error, and there alone.
                let far = self.fallible && self.universe.keeps_keys() && self.rng.chance(12);
                if far { (100 + near).to_string() } else { near.to_string() }
            }
            (_, "email") => format!("'user{number}@x'"),
            ("more.devices", "label") => format!("'label {number}'"),
            (_, "sku") => format!("'SKU-{number}'"),
            ("app.customers", "full_name" | "segment") => "'mid'".to_owned(),
            (_, "name" | "body" | "kind" | "\"What\"") => format!("'note {near}'"),
            ("app.order_items", "qty") => near.to_string(),
            (_, "amount" | "price" | "total") => "10.50".to_owned(),
            ("app.customers", "active") => "true".to_owned(),
            (_, "profile" | "payload") => "'{\"score\": 1}'::jsonb".to_owned(),
            (_, "created_at" | "occurred_at" | "shipped_at" | "paid_at" | "\"When\"") => {
                "timestamptz '2026-01-02 00:00+00'".to_owned()
            }
            ("app.customers", "tags") => "'{t1}'".to_owned(),
            ("app.orders", "status") => "'paid'::app.order_status".to_owned(),
            ("more.bins", "spot") => "ROW(1, 'x')".to_owned(),
            (_, "issued_on") => "date '2026-01-02'".to_owned(),
            _ => return None,
        })
    }
}

/// Relations that share rows, or whose keys are deleted and referred to, have one family.
fn family(name: &str) -> &str {
    match name {
        "app.events_2026" | "app.events_default" => "app.events",
        "app.pinned_notes" => "app.notes",
        "billing.payments" => "billing.invoices",
        "more.bins" => "more.depots",
        "app.customers" | "app.products" | "app.order_items" | "app.shipments" | "app.warehouses" => {
            "app.orders"
        }
        _ => name,
    }
}
