//! The statement itself: a query or DML, alone or inside COPY, PREPARE or a cursor.

use super::Gen;
use super::query::Want;
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
            2 => {
                self.saw("cursor");
                let fetch = text(*self.rng.pick(&["FETCH ALL", "FETCH FORWARD ALL", "MOVE ALL"]));
                node(Sort::Query, fill("DECLARE k CURSOR FOR {}; {} FROM k; CLOSE k", [made.tree, fetch]))
            }
            _ => node(Sort::Query, [made.tree]),
        }
    }
}

const TRAP_PERCENT: usize = 12;
const DML_PERCENT: usize = 28;
