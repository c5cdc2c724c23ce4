//! Window functions whose values do not depend on the order of peers: frames of every mode, EXCLUDE,
//! windows with a name. What counts rows one by one has a total order (whole rows).

use super::Gen;
use super::scope::Place;
use crate::schema::Ty;
use crate::tree::{Sort, Tree, commas, fill, node, optional, scalar, text};

/// How the rows of a partition are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Not at all.
    None,
    /// By a column: equal rows are peers.
    Peers,
    /// By all that there is: peers are the same row.
    Total,
}

impl Gen {
    /// A window function over the current level, and its type.
    pub(super) fn window(&mut self, exported: Option<&Place>) -> (Tree, Ty) {
        self.saw("window");
        let order = match self.rng.weighted(&[30, 45, 25]) {
            0 => Order::None,
            1 => Order::Peers,
            _ => Order::Total,
        };
        let (call, ty) = self.window_call(order);
        let what = scalar(call);
        let over = self.over(order, exported);
        let filter = if self.rng.chance(6) && !is_ranking(&what) {
            self.saw("FILTER of a window");
            let p = self.predicate(0);
            optional(fill(" FILTER (WHERE {})", [p]))
        } else {
            text("")
        };
        if self.rng.chance(25) {
            return (self.named_window(what, filter, over), ty);
        }
        let frame = self.frame(order);
        (scalar(fill("{}{} OVER ({}{})", [what, filter, over, frame])), ty)
    }

    fn window_call(&mut self, order: Order) -> (Vec<Tree>, Ty) {
        let form = self.rng.below(if order == Order::Total { 11 } else { 6 });
        let ty = *self.rng.pick(&[Ty::Int, Ty::Num]);
        let call = match form {
            0 => vec![text("count(*)")],
            1 => vec![text("rank()")],
            2 => vec![text("dense_rank()")],
            3 => {
                let a = self.simple(Ty::Text);
                fill("count({})", [a])
            }
            4 | 5 => {
                let a = self.simple(Ty::Int);
                fill("sum({})", [a])
            }
            6 => vec![text("row_number()")],
            7 => vec![text("ntile(3)")],
            8 => {
                let which = text(*self.rng.pick(&["lag", "lead"]));
                let a = self.simple(ty);
                fill("{}({}, 1)", [which, a])
            }
            9 => {
                let which = text(*self.rng.pick(&["first_value", "last_value"]));
                let a = self.simple(ty);
                fill("{}({})", [which, a])
            }
            _ => {
                let a = self.simple(ty);
                fill("nth_value({}, 2)", [a])
            }
        };
        (call, if form > 7 { ty } else { Ty::Int })
    }

    /// `PARTITION BY … ORDER BY …`.
    fn over(&mut self, order: Order, exported: Option<&Place>) -> Tree {
        let mut keys = Vec::new();
        if let Some(place) = exported.filter(|_| self.rng.chance(80)) {
            keys.push(self.refer(place));
        }
        if self.rng.chance(50) {
            keys.push(self.simple(Ty::Text));
        } else if self.budget > 0 && self.rng.chance(8) {
            self.saw("PARTITION BY a sub-select");
            keys.push(self.value(Ty::Int, 1));
        }
        let partition = Tree::List { head: "PARTITION BY ", between: ", ", tail: "", least: 0, items: keys };
        let order = self.window_order(order);
        node(Sort::Scalar, [partition, order])
    }

    fn window_order(&mut self, order: Order) -> Tree {
        let columns = match order {
            Order::None => return text(""),
            Order::Peers => vec![self.simple(Ty::Int)],
            Order::Total => self.all_rows(),
        };
        optional(fill(" ORDER BY {}", [commas(columns)]))
    }

    /// Every source of the level as a whole row: rows that are equal in all of them are the same.
    fn all_rows(&mut self) -> Vec<Tree> {
        let inner = self.levels.last().expect("within a query");
        // `t` alone may be another source's column `t`. The alias of a join is no row; its columns are.
        let joined = inner.sources.iter().filter(|source| source.joined);
        let columns = joined.flat_map(|source| source.columns.iter().map(|c| (&source.alias, &c.name)));
        let columns = columns.map(|(alias, name)| scalar([text(format!("to_jsonb({alias}.{name})::text"))]));
        let columns: Vec<Tree> = columns.collect();
        let aliases = inner.sources.iter().filter(|source| !source.joined).map(|source| source.alias.clone());
        let rows = aliases.map(|alias| scalar([text(format!("to_jsonb({alias}.*)::text"))]));
        rows.chain(columns).collect()
    }

    /// A frame, or none.
    fn frame(&mut self, order: Order) -> Tree {
        if !self.rng.chance(45) {
            return text("");
        }
        let frames: &[&'static str] = match order {
            Order::None => {
                &[" RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", " RANGE UNBOUNDED PRECEDING"]
            }
            Order::Peers => &[
                " RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING",
                " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
                " RANGE 3 PRECEDING",
                " GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
                " GROUPS UNBOUNDED PRECEDING",
            ],
            Order::Total => &[
                " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
                " ROWS UNBOUNDED PRECEDING",
                " ROWS BETWEEN 2 FOLLOWING AND UNBOUNDED FOLLOWING",
                " GROUPS BETWEEN 2 PRECEDING AND CURRENT ROW",
            ],
        };
        self.saw("window frame");
        let frame = *self.rng.pick(frames);
        let exclude = *self.rng.pick(&["", "", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"]);
        if !exclude.is_empty() {
            self.saw("EXCLUDE of a frame");
        }
        optional([text(frame), optional([text(exclude)])])
    }

    /// The window stands in the level's WINDOW clause.
    fn named_window(&mut self, what: Tree, filter: Tree, over: Tree) -> Tree {
        self.saw("named window");
        let name = format!("w{}", self.level().windows.len() + 1);
        let written = node(Sort::Scalar, fill("{} AS ({})", [text(name.clone()), over]));
        self.level().windows.push(written);
        let copied = if self.rng.chance(30) { format!("({name})") } else { name };
        scalar(fill("{}{} OVER {}", [what, filter, text(copied)]))
    }

    /// ` WINDOW w AS (…)`, or nothing.
    pub(super) fn window_clause(&mut self) -> Tree {
        let items = std::mem::take(&mut self.level().windows);
        Tree::List { head: " WINDOW ", between: ", ", tail: "", least: 0, items }
    }
}

/// Functions that are no aggregates take no FILTER.
fn is_ranking(what: &Tree) -> bool {
    let name = match what.parts().first() {
        Some(Tree::Text(text)) => text.as_ref(),
        _ => "",
    };
    !(name.starts_with("count") || name.starts_with("sum"))
}
