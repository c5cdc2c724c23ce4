//! Functions and operators of the database that can be meant where a built-in one is written
//! (policy 4.6): an exact signature wins, even with `pg_catalog` first in the path.

use super::Check;
use crate::builtin;
use crate::catalog::PG_CATALOG;
use crate::policy::Problem;

impl Check<'_> {
    pub(super) fn shadows(&mut self) {
        let place = &self.policy.search_path_place;
        let visible = |schema: &str| {
            schema == PG_CATALOG || self.policy.search_path.iter().any(|listed| **listed == *schema)
        };
        let major = self.catalog.server_major();
        let mut functions: Vec<String> = self
            .catalog
            .all_functions()
            .filter(|function| visible(&function.name.schema))
            .filter(|function| !builtin::functions::lookup(major, PG_CATALOG, &function.name.name).is_empty())
            .map(|function| function.name.to_string())
            .collect();
        let mut operators: Vec<String> = self
            .catalog
            .all_operators()
            .filter(|operator| visible(&operator.name.schema) || &*operator.name.name == "=")
            .filter(|operator| !builtin::operators::lookup(major, &operator.name.name).is_empty())
            .map(|operator| operator.name.to_string())
            .collect();
        for (what, names) in [("function", &mut functions), ("operator", &mut operators)] {
            names.sort_unstable();
            names.dedup();
            let message =
                |name| format!("{name} can be meant where the built-in {what} of that name is written");
            self.problems.extend(names.iter().map(|name| {
                Problem::warning(place.clone(), message(name))
                    .help("calls that could mean it are refused unless it is allowed")
            }));
        }
    }
}
