//! WITH RECURSIVE over keys of a table, up to three steps deep; SEARCH and CYCLE.

use super::Gen;
use super::scope::{Column, Cte};
use crate::schema::{Class, Ty};
use crate::tree::{Sort, Tree, fill, node, optional, text};

impl Gen {
    pub(super) fn recursive(&mut self) -> Tree {
        self.saw("recursive CTE");
        self.budget = self.budget.saturating_sub(2);
        let name = self.fresh("rec");
        let table =
            *self.rng.pick(&["app.orders", "app.notes", "app.customers", "app.warehouses", "more.tickets"]);
        let guard = self.guard("a.tenant_id", 90);
        let first =
            fill("SELECT a.tenant_id, a.id, 1 AS n FROM {}{}", [text(format!("{table} AS a")), guard]);
        let second = self.step(table, &name);
        let (marks, more) = self.marks(table);
        let mut columns: Vec<Column> =
            [("tenant_id", Ty::Text, Some(Class::Tenant)), ("id", Ty::Int, None), ("n", Ty::Int, None)]
                .map(|(name, ty, class)| Column { name: name.to_owned(), ty, class })
                .into();
        columns.extend(more);
        let all = text(*self.rng.pick(&["UNION ALL", "UNION"]));
        let names = if self.rng.chance(20) && marks.is_empty() { "(tenant_id, id, n)" } else { "" };
        let tree = fill(
            "WITH RECURSIVE {}{} AS ({} {} {}){} ",
            [
                text(name.clone()),
                text(names),
                node(Sort::Query, first),
                all,
                node(Sort::Query, second),
                optional(marks),
            ],
        );
        let open = self.rng.chance(30);
        self.ctes.push(Cte { name, columns, open });
        node(Sort::Query, tree)
    }

    /// The recursive branch: the next row's tenant column is that of the row before, most often.
    fn step(&mut self, table: &'static str, name: &str) -> Vec<Tree> {
        let step = match self.rng.weighted(&[50, 10, 10, 14, 8]) {
            0 => fill(" AND {}", [node(Sort::Equality, [text("b.tenant_id = r.tenant_id")])]),
            1 => fill(" AND {}", [node(Sort::Equality, [text("b.tenant_id = 'acme'")])]),
            2 => fill(" AND {}", [node(Sort::Equality, [text("b.tenant_id >= r.tenant_id")])]),
            3 => {
                let equality = self.equality(text("b.tenant_id"), Class::Tenant);
                fill(" AND {}", [equality])
            }
            _ => Vec::new(),
        };
        let passed =
            *self.rng.pick(&["b.tenant_id", "b.tenant_id", "b.tenant_id", "r.tenant_id", "'acme'::text"]);
        let join = text(*self.rng.pick(&["JOIN", "JOIN", "LEFT JOIN"]));
        let more = match self.rng.weighted(&[80, 10, 10]) {
            1 => fill(" AND b.id < {}", [self.constant(Ty::Int)]),
            2 => vec![text(" AND r.id IS NOT NULL")],
            _ => Vec::new(),
        };
        fill(
            "SELECT {}, b.id, r.n + 1 FROM {} AS r {} {} AS b ON b.id = r.id + 1{} WHERE r.n < 3{}",
            [text(passed), text(name.to_owned()), join, text(table), optional(step), optional(more)],
        )
    }

    /// SEARCH and CYCLE, and the columns that they add. Where the branches' tenant columns are of text and of varchar,
    /// PostgreSQL cannot compare the paths, and says so when there is one to compare (42804).
    fn marks(&mut self, table: &str) -> (Vec<Tree>, Vec<Column>) {
        let column = |name: &str, ty: Ty| Column { name: name.to_owned(), ty, class: None };
        let by = *self.rng.pick(&["id", "id, n", "tenant_id, id", "tenant_id"]);
        let by = if table == "more.tickets" { "id" } else { by };
        let mut marks = Vec::new();
        let mut columns = Vec::new();
        if self.rng.chance(25) {
            self.saw("SEARCH");
            let how = *self.rng.pick(&["DEPTH", "BREADTH"]);
            marks.push(text(format!(" SEARCH {how} FIRST BY {by} SET seq")));
            columns.push(column("seq", Ty::Any));
        }
        if self.rng.chance(25) {
            self.saw("CYCLE");
            let mark = *self.rng.pick(&["", " TO TRUE DEFAULT FALSE"]);
            marks.push(text(format!(" CYCLE {by} SET again{mark} USING path")));
            columns.extend([column("again", Ty::Bool), column("path", Ty::Any)]);
        }
        (marks, columns)
    }

    /// ` WHERE` a tenant equality on this column, most of the time.
    fn guard(&mut self, column: &'static str, percent: usize) -> Tree {
        if !self.rng.chance(percent) {
            return text("");
        }
        let equality = self.equality(text(column), Class::Tenant);
        optional(fill(" WHERE {}", [equality]))
    }
}
