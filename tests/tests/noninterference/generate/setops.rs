//! UNION, INTERSECT, EXCEPT in any nesting, of selects and VALUES.

use super::Gen;
use super::query::{Made, Want};
use super::scope::Column;
use crate::schema::{Class, Ty};
use crate::tree::{Sort, Tree, commas, fill, node, text};

impl Gen {
    pub(super) fn set_operation(&mut self, depth: usize, want: &Want) -> Made {
        self.saw("set operation");
        let mut types = want.types.clone().unwrap_or_else(|| {
            (0..1 + self.rng.below(3))
                .map(|_| *self.rng.pick(&[Ty::Int, Ty::Text, Ty::Num, Ty::Status]))
                .collect()
        });
        let mut class = want.class;
        if want.export && want.types.is_none() && self.rng.chance(70) {
            class = Some(*self.rng.pick(&[Class::Tenant, Class::Tenant, Class::Tenant, Class::Account]));
            types.insert(0, class.unwrap().ty());
        }
        let export = want.export || want.class.is_some();
        let inner = Want { types: Some(types), class, export, ..Want::default() };
        let branches = 2 + self.rng.weighted(&[75, 18, 7]);
        if branches > 2 {
            self.saw("nested set operation");
        }
        let mut made = self.branches(depth - 1, branches, &inner);
        let limit = self.limit(made.columns.len(), 6, true);
        made.tree = node(Sort::Query, [made.tree, limit]);
        made
    }

    fn branches(&mut self, depth: usize, count: usize, want: &Want) -> Made {
        if count == 1 {
            let mut made = self.branch(depth, want);
            made.tree = node(Sort::Query, fill("({})", [made.tree]));
            return made;
        }
        let first = 1 + self.rng.below(count - 1);
        let (left, right) = (self.branches(depth, first, want), self.branches(depth, count - first, want));
        let operator = *self.rng.pick(&[
            "UNION ALL",
            "UNION ALL",
            "UNION",
            "INTERSECT",
            "INTERSECT ALL",
            "EXCEPT",
            "EXCEPT ALL",
        ]);
        let mut columns = left.columns;
        for (column, other) in columns.iter_mut().zip(&right.columns) {
            column.class = column.class.filter(|_| column.class == other.class);
        }
        // Without parentheses INTERSECT binds first.
        let form = if count > 2 && self.rng.chance(50) { "({} {} {})" } else { "{} {} {}" };
        let tree = node(Sort::Query, fill(form, [left.tree, text(operator), right.tree]));
        Made { tree, columns, open: left.open || right.open }
    }

    fn branch(&mut self, depth: usize, want: &Want) -> Made {
        let types = want.types.clone().unwrap_or_default();
        let plain = types.iter().all(|ty| !matches!(ty, Ty::Any | Ty::Fixed | Ty::Realm | Ty::Uuid));
        if plain && self.rng.chance(7) {
            self.saw("VALUES as a branch");
            let rows = (0..1 + self.rng.below(2)).map(|_| self.row_of(&types, want.class)).collect();
            let names = (1..=types.len()).map(|n| format!("column{n}"));
            let columns = names.zip(&types).enumerate();
            let columns = columns.map(|(at, (name, ty))| Column {
                name,
                ty: *ty,
                class: want.class.filter(|_| at == 0),
            });
            let columns = columns.collect();
            let tree = node(Sort::Query, fill("VALUES {}", [commas(rows)]));
            return Made { tree, columns, open: false };
        }
        self.select(depth, want)
    }

    /// `(T, 1, 'x')`.
    fn row_of(&mut self, types: &[Ty], class: Option<Class>) -> Tree {
        let cells = types
            .iter()
            .enumerate()
            .map(|(at, ty)| match class.filter(|_| at == 0) {
                Some(class) if self.rng.chance(90) => self.own(class),
                Some(_) | None => self.constant(*ty),
            })
            .collect();
        node(Sort::Scalar, fill("({})", [commas(cells)]))
    }
}
