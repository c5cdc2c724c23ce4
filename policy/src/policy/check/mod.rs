//! What only the database can contradict (policy 1 and 2): names that stand for nothing, and a
//! schema that weakens what a verdict promises.

mod masks;
mod names;
mod shadows;
mod tenancy;
mod views;

pub use views::ViewReach;

use super::{Place, Policy, Problem};
use crate::Catalog;

impl Policy {
    /// Compares the policy with what the database contains, in the order of the file.
    ///
    /// An error here is fail-closed at run time: what it is about is out of reach.
    pub fn check(&self, catalog: &Catalog) -> Vec<Problem> {
        let mut check = Check { policy: self, catalog, problems: Vec::new() };
        check.names();
        check.masks();
        check.tenancy();
        check.shadows();
        check.problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
        check.problems
    }
}

/// Collects problems.
struct Check<'a> {
    policy: &'a Policy,
    catalog: &'a Catalog,
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn error(&mut self, place: &Place, message: impl Into<String>) {
        self.problems.push(Problem::error(place.clone(), message));
    }

    fn warning(&mut self, place: &Place, message: impl Into<String>) {
        self.problems.push(Problem::warning(place.clone(), message));
    }
}
