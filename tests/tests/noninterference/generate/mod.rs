//! Statements of every construct that the judge may allow, and their near misses.
//!
//! Each tenant equality is made in one of many forms, most of them proofs, and put in one of many
//! places, most of them right. SQL's own freedom is left out: no clocks, no random numbers, no
//! sequences, no float sums, no LIMIT and no order-dependent aggregate without a total order.

mod aggregate;
mod dml;
mod equality;
mod expr;
mod fallible;
mod from;
mod group;
mod joined;
mod output;
mod prepared;
mod query;
mod recursive;
mod restrict;
mod rows;
mod scope;
mod select;
mod setops;
mod traps;
mod window;
mod wrap;

use std::collections::BTreeSet;

use crate::client::Effect;
use crate::rng::Rng;
use crate::tree::Tree;
use crate::worlds::Universe;
use scope::{Cte, Level};

/// A generated statement.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pub(crate) number: u64,
    pub(crate) tree: Tree,
    pub(crate) effect: Effect,
    pub(crate) universe: Universe,
    /// It holds expressions that may fail on some rows, or may take keys that are taken.
    pub(crate) fallible: bool,
    /// What it is made of.
    pub(crate) constructs: BTreeSet<&'static str>,
    /// It is a near miss of the statement of that number: how it was changed, and which it is of them.
    pub(crate) near: Option<(&'static str, u64)>,
}

impl Statement {
    /// What it is called in reports.
    pub(crate) fn name(&self) -> String {
        match self.near {
            None => format!("#{}", self.number),
            Some((kind, nth)) => format!("#{}.{nth} ({kind})", self.number),
        }
    }
}

/// The maker of one statement.
#[derive(Debug)]
pub(crate) struct Gen {
    pub(crate) rng: Rng,
    universe: Universe,
    fallible: bool,
    /// Values may be bound.
    bound: bool,
    levels: Vec<Level>,
    /// Only the innermost level's columns are named.
    near: bool,
    ctes: Vec<Cte>,
    /// How many relations may still be read.
    budget: usize,
    names: usize,
    params: u32,
    writes: bool,
    /// The relations that it writes.
    targets: Vec<&'static str>,
    constructs: BTreeSet<&'static str>,
}

impl Gen {
    /// The statement of this number in the run of this seed.
    pub(crate) fn statement(seed: u64, number: u64) -> Statement {
        let mut rng = Rng::new(seed, number);
        let universe = Universe::ALL[rng.weighted(&UNIVERSES)];
        let fallible = rng.chance(FALLIBLE_PERCENT) || universe == Universe::Strict;
        let bound = rng.chance(BOUND_PERCENT);
        let budget = 1 + rng.weighted(&[14, 28, 30, 18, 10]);
        let mut made = Self {
            rng,
            universe,
            fallible,
            bound,
            levels: Vec::new(),
            near: false,
            ctes: Vec::new(),
            budget,
            names: 0,
            params: 0,
            writes: false,
            targets: Vec::new(),
            constructs: BTreeSet::new(),
        };
        let tree = made.top();
        let effect = match (made.writes, made.constructs.contains("locking clause")) {
            (true, _) => Effect::Writes,
            (false, true) => Effect::Locks,
            (false, false) => Effect::Reads,
        };
        // A trap has chosen its own.
        let Self { universe, fallible, constructs, .. } = made;
        Statement { number, tree, effect, universe, fallible, constructs, near: None }
    }

    /// Notes what the statement is made of.
    fn saw(&mut self, construct: &'static str) {
        self.constructs.insert(construct);
    }

    /// A name that no other thing of this statement has.
    fn fresh(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }
}

/// How often a statement is of each universe.
const UNIVERSES: [usize; 4] = [44, 44, 7, 5];
const FALLIBLE_PERCENT: usize = 18;
const BOUND_PERCENT: usize = 20;
