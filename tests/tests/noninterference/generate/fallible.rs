//! Expressions and conditions that fail on some rows, on others' more often than on ours: casts from
//! text, division, patterns, domains, overflow, sub-selects of more than one row.
//!
//! PostgreSQL evaluates the cheapest conditions of a relation first, whatever the written order, and
//! equalities of an equivalence class last (policy 3.9).

use super::Gen;
use super::query::Want;
use crate::schema::Ty;
use crate::tree::{Tree, condition, fill, text};

impl Gen {
    /// What fails on some rows.
    pub(super) fn fallible_value(&mut self, ty: Ty, depth: usize) -> Vec<Tree> {
        self.saw("fallible expression");
        match ty {
            Ty::Int => match self.rng.below(3) {
                0 => {
                    let a = self.value(Ty::Text, depth);
                    fill("{}::int", [a])
                }
                1 => {
                    let (a, b) = (self.value(Ty::Int, depth), self.simple(Ty::Int));
                    fill("({} / {})", [a, b])
                }
                _ => {
                    let a = self.simple(Ty::Int);
                    fill("{}::smallint", [a])
                }
            },
            Ty::Num => {
                let a = self.simple(Ty::Num);
                fill("{}::numeric(3,2)", [a])
            }
            Ty::Bool => {
                let (a, b) = (self.simple(Ty::Text), self.simple(Ty::Text));
                fill("{} LIKE {}", [a, b])
            }
            Ty::Date => {
                let a = self.simple(Ty::Text);
                fill("{}::date", [a])
            }
            Ty::Json => {
                let a = self.simple(Ty::Text);
                fill("{}::jsonb", [a])
            }
            Ty::Text if self.budget > 0 => {
                let want = Want { types: Some(vec![Ty::Text]), ..Want::default() };
                let made = self.query(depth, want);
                fill("({})", [made.tree])
            }
            Ty::Text => {
                let a = self.simple(Ty::Text);
                fill("{}::app.email::text", [a])
            }
            Ty::Time | Ty::Uuid | Ty::Status | Ty::Tags | Ty::Fixed | Ty::Realm | Ty::Any => {
                vec![self.simple(ty)]
            }
        }
    }

    /// A condition that fails on some rows of others.
    pub(super) fn fallible_condition(&mut self) -> Tree {
        self.saw("fallible condition");
        let names = ["note", "qty", "ssn", "total", "account_no", "id", "email"];
        let Some(place) = self.column(|column| names.contains(&column.name.as_str())) else {
            return self.predicate(0);
        };
        let c = self.refer(&place);
        let form = self.rng.below(6);
        condition(match (place.column.name.as_str(), place.column.ty, form) {
            ("qty", ..) => fill("10 / {} >= 0", [c]),
            ("total", ..) => fill("{}::numeric(4,2) IS NOT NULL", [c]),
            ("account_no", ..) => fill("{}::smallint IS NOT NULL", [c]),
            ("id", Ty::Int, 0 | 1) => fill("(2147483500 + {}::int) IS NOT NULL", [c]),
            ("id", Ty::Int, _) => self.many_rows(c),
            (_, Ty::Text, 0 | 1) => fill("'abc' NOT LIKE {}", [c]),
            (_, Ty::Text, 2) => fill("'abc' !~ {}", [c]),
            (_, Ty::Text, 3) => fill("({}::app.email) IS NOT NULL", [c]),
            (_, Ty::Text, 4) => fill("({}::jsonb) IS NOT NULL", [c]),
            (_, Ty::Text, _) => fill("{}::int >= 0", [c]),
            (..) => fill("{} IS NOT NULL", [c]),
        })
    }

    /// A sub-select that yields more than one row for some rows of the outer level.
    fn many_rows(&mut self, c: Tree) -> Vec<Tree> {
        let table = text(*self.rng.pick(&["app.plans", "app.countries"]));
        fill("(SELECT 1 FROM {} AS many WHERE {} > 8) IS NULL", [table, c])
    }
}
