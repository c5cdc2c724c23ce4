//! Aggregates whose value does not depend on the order of rows.

use super::Gen;
use crate::schema::Ty;
use crate::tree::{Tree, fill, optional, scalar, text};

impl Gen {
    /// An aggregate that does not depend on order.
    pub(super) fn aggregate(&mut self, ty: Ty) -> Tree {
        // One over outer columns alone is the outer level's.
        self.nearby(|made| made.aggregate_here(ty))
    }

    fn aggregate_here(&mut self, ty: Ty) -> Tree {
        self.saw("aggregate");
        let form = self.rng.below(4);
        let mut made = match (ty, form) {
            (Ty::Int, 0) => vec![text("count(*)")],
            (Ty::Int, 1) => {
                let a = self.simple(Ty::Text);
                fill("count({})", [a])
            }
            (Ty::Int, 2) => {
                let a = self.simple(Ty::Int);
                fill("sum({})", [a])
            }
            (Ty::Num, 0) => {
                let a = self.simple(Ty::Num);
                fill("sum({})", [a])
            }
            (Ty::Bool, _) => {
                let a = self.predicate(0);
                fill("bool_or({})", [a])
            }
            (Ty::Json, _) => {
                let a = self.simple(Ty::Text);
                let b = a.clone();
                fill("jsonb_agg({}::text ORDER BY {})", [a, b])
            }
            (Ty::Tags, _) => {
                let a = self.simple(Ty::Text);
                let b = a.clone();
                fill("array_agg({}::text ORDER BY {})", [a, b])
            }
            (Ty::Text, 0) => {
                let a = self.simple(Ty::Text);
                let b = a.clone();
                fill("string_agg({}::text, ',' ORDER BY {})", [a, b])
            }
            (Ty::Uuid | Ty::Any | Ty::Fixed | Ty::Realm, _) => return self.constant(ty),
            (Ty::Int | Ty::Num | Ty::Text | Ty::Time | Ty::Date | Ty::Status, _) => {
                let a = match ty {
                    Ty::Text => scalar(fill("{}::text", [self.simple(ty)])),
                    _ => self.simple(ty),
                };
                let which = text(if form == 3 { "max" } else { "min" });
                fill("{}({})", [which, a])
            }
        };
        if self.rng.chance(10) {
            self.saw("FILTER");
            let filter = match self.column(|column| column.class.is_some()) {
                Some(place) if self.rng.chance(40) => {
                    let c = self.refer(&place);
                    self.equality(c, place.column.class.unwrap())
                }
                Some(_) | None => self.predicate(0),
            };
            made.push(optional(fill(" FILTER (WHERE {})", [filter])));
        }
        scalar(made)
    }
}
