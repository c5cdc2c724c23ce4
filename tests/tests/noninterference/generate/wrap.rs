//! The statement itself: a query or DML, alone or inside COPY, PREPARE or a cursor.

use super::Gen;
use super::query::{Made, Want};
use crate::tree::{Sort, Tree, fill, node, text};
use crate::worlds::Universe;

impl Gen {
    pub(super) fn top(&mut self) -> Tree {
        if self.rng.chance(TRAP_PERCENT) {
            return self.trap();
        }
        let depth = self.rng.weighted(&[25, 40, 30, 5]);
        if self.universe != Universe::Read && self.rng.chance(DML_PERCENT) {
            return self.dml(depth);
        }
        if self.rng.chance(4) && !self.bound {
            self.saw("COPY (query)");
            let made = self.query(depth, Want { top: true, ..Want::default() });
            return node(Sort::Query, fill("COPY ({}) TO STDOUT", [made.tree]));
        }
        let made = self.query(depth, Want { top: true, ..Want::default() });
        match self.rng.weighted(&[90, 7, if self.bound || self.writes { 0 } else { 3 }]) {
            1 => self.prepared(made.tree),
            2 => self.cursor(made),
            _ => node(Sort::Query, [made.tree]),
        }
    }

    /// A cursor that is read to its end, or in parts, to and fro, where a total order says which.
    fn cursor(&mut self, made: Made) -> Tree {
        self.saw("cursor");
        if self.rng.chance(50) {
            let fetch = text(*self.rng.pick(&["FETCH ALL", "FETCH FORWARD ALL", "MOVE ALL"]));
            return node(
                Sort::Query,
                fill("DECLARE k CURSOR FOR {}; {} FROM k; CLOSE k", [made.tree, fetch]),
            );
        }
        self.saw("partial FETCH");
        let all = (1..=made.columns.len()).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
        let first = text(*self.rng.pick(&["FETCH 2", "FETCH 1", "FETCH NEXT", "MOVE 2", "FETCH ABSOLUTE 2"]));
        let then = text(*self.rng.pick(&[
            "FETCH PRIOR",
            "FETCH LAST",
            "FETCH BACKWARD ALL",
            "MOVE RELATIVE 1",
            "FETCH RELATIVE -1",
            "FETCH ALL",
            "FETCH FIRST",
            "FETCH FORWARD 3",
        ]));
        let form =
            "DECLARE k SCROLL CURSOR FOR SELECT * FROM ({}) AS w ORDER BY {}; {} FROM k; {} FROM k; CLOSE k";
        node(Sort::Query, fill(form, [made.tree, text(all), first, then]))
    }
}

const TRAP_PERCENT: usize = 18;
const DML_PERCENT: usize = 28;
