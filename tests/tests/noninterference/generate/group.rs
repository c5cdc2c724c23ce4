//! GROUP BY in its forms, and what stands beside it: grouping sets, GROUPING, HAVING of sub-selects.

use super::Gen;
use super::select::Mode;
use crate::schema::Ty;
use crate::tree::{Sort, Tree, commas, fill, node, optional, scalar, text};

impl Gen {
    pub(super) fn grouping(&mut self, mode: Mode, keys: Vec<Tree>) -> Tree {
        match mode {
            Mode::Grouped if !keys.is_empty() => {
                self.saw("GROUP BY");
                Tree::List { head: " GROUP BY ", between: ", ", tail: "", least: 1, items: keys }
            }
            Mode::GroupingSets if !keys.is_empty() => {
                self.saw("grouping sets");
                self.grouping_sets(keys)
            }
            Mode::Plain
            | Mode::Aggregate
            | Mode::Grouped
            | Mode::GroupingSets
            | Mode::Distinct
            | Mode::DistinctOn
            | Mode::Window => text(""),
        }
    }

    fn grouping_sets(&mut self, mut keys: Vec<Tree>) -> Tree {
        let list = |head: &'static str, items: Vec<Tree>| Tree::List {
            head,
            between: ", ",
            tail: ")",
            least: 1,
            items,
        };
        let first = keys[0].clone();
        match self.rng.below(7) {
            0 => list(" GROUP BY ROLLUP (", keys),
            1 => list(" GROUP BY CUBE (", keys),
            2 => list(" GROUP BY GROUPING SETS (", keys),
            3 if keys.len() > 1 => {
                let rest = keys.split_off(1);
                optional(fill(" GROUP BY {}, {}", [first, list("ROLLUP (", rest)]))
            }
            4 => optional(fill(" GROUP BY GROUPING SETS (({}), ({}), ())", [commas(keys), first])),
            5 => optional(fill(" GROUP BY GROUPING SETS (({}), {})", [first, list("CUBE (", keys)])),
            _ => optional(fill(" GROUP BY DISTINCT {}, {}", [list("ROLLUP (", keys), first])),
        }
    }

    /// Which grouping keys a row is not grouped by.
    pub(super) fn grouping_call(&mut self, keys: &[Tree]) -> Option<Tree> {
        let key = keys.first()?.clone();
        self.saw("GROUPING");
        Some(scalar(fill("GROUPING({})", [key])))
    }

    /// A condition over groups.
    pub(super) fn having(&mut self) -> Tree {
        let a = self.aggregate(Ty::Int);
        let b = if self.budget > 0 && self.rng.chance(25) {
            self.saw("sub-select in HAVING");
            self.apart(|made| made.scalar_subselect(Ty::Int, 0))
        } else {
            self.constant(Ty::Int)
        };
        node(Sort::Bool, fill("{} >= {}", [a, b]))
    }
}
