//! Traps: statements in which one wrong rule is enough, and which chance alone seldom makes.
//!
//! Each is a skeleton of a known danger with its parts chosen at random, some of them harmless.

mod alike;
mod failing;
mod keys;
mod names;
mod read;
mod rounds;
mod write;

use super::Gen;
use crate::schema::Class;
use crate::tree::{Sort, Tree, fill, node, optional, text};
use crate::worlds::Universe;

type Trap = fn(&mut Gen) -> Vec<Tree>;

impl Gen {
    /// One of them.
    pub(super) fn trap(&mut self) -> Tree {
        self.saw("trap");
        let (universe, writes, trap) = *self.rng.pick(TRAPS);
        self.universe = universe.unwrap_or(self.universe);
        self.fallible |= self.universe == Universe::Strict;
        self.writes |= writes;
        node(Sort::Query, trap(self))
    }

    /// A condition on a column of the commonest class: most often one that proves.
    fn own_is(&mut self, column: &'static str) -> Tree {
        self.equality(text(column), Class::Tenant)
    }

    /// ` WHERE` such a condition, now and then nothing.
    fn maybe_where(&mut self, column: &'static str, percent: usize) -> Tree {
        match self.rng.chance(percent) {
            true => optional(fill(" WHERE {}", [self.own_is(column)])),
            false => text(""),
        }
    }

    /// One of these texts.
    fn one(&mut self, of: &[&'static str]) -> Tree {
        text(*self.rng.pick(of))
    }
}

const KEPT: Option<Universe> = Some(Universe::Kept);
const FREE: Option<Universe> = Some(Universe::Free);
const READ: Option<Universe> = Some(Universe::Read);
const STRICT: Option<Universe> = Some(Universe::Strict);
const ANY: Option<Universe> = None;

const TRAPS: &[(Option<Universe>, bool, Trap)] = &[
    (ANY, false, read::recursion),
    (KEPT, false, read::grouped_by_key),
    (KEPT, false, read::grouped_by_key),
    (ANY, false, read::recursion),
    (ANY, false, read::recursion_from_outside),
    (ANY, false, read::two_references),
    (ANY, false, read::logic),
    (ANY, false, read::logic),
    (ANY, false, read::logic),
    (ANY, false, read::full_reduced),
    (ANY, false, read::distinct_on),
    (ANY, false, read::null_demanded),
    (FREE, false, read::null_outside),
    (FREE, false, read::null_is_own),
    (FREE, false, read::null_outside),
    (FREE, false, read::membership),
    (FREE, false, read::membership),
    (ANY, false, read::empty_aggregate),
    (ANY, false, read::merged),
    (ANY, false, read::merged_type),
    (ANY, false, read::merged_type),
    (ANY, false, read::chain_of_types),
    (ANY, false, read::chain_of_collations),
    (KEPT, false, read::key_backwards),
    (KEPT, false, read::key_without_rest),
    (ANY, false, read::lock_of_subselect),
    (ANY, false, read::lock_of_derived),
    (ANY, false, read::lock_of_derived),
    (ANY, false, read::parameter_of_two_types),
    (KEPT, false, names::cte_of_a_relation),
    (KEPT, false, names::cte_of_a_relation),
    (ANY, false, names::schema_of_cte),
    (ANY, false, names::cte_in_itself),
    (ANY, false, names::renames),
    (ANY, false, names::renames),
    (ANY, false, names::qualifier),
    (ANY, false, names::row_or_column),
    (ANY, true, write::old_row),
    (ANY, true, write::insert_in_another_order),
    (ANY, true, write::insert_in_another_order),
    (FREE, true, write::insert_null),
    (FREE, true, write::assign_null),
    (KEPT, true, write::arbiter),
    (ANY, true, write::merge_insert),
    (ANY, true, write::subscript),
    (ANY, true, write::insert_rows),
    (ANY, true, write::returning),
    (ANY, true, write::computed),
    (ANY, true, write::merge_returning),
    (ANY, false, keys::rows_of_references),
    (ANY, false, keys::rows_of_references),
    (ANY, false, keys::rows_of_references),
    (ANY, false, names::figured_name),
    (ANY, false, names::figured_name),
    (ANY, false, names::figured_name),
    (ANY, false, read::shared_parent),
    (ANY, false, names::star_in_row),
    (ANY, false, names::star_in_row),
    (ANY, false, read::lock_of_nested),
    (ANY, false, keys::rows_of_members),
    (ANY, false, keys::rows_of_members),
    (ANY, false, keys::rows_of_members),
    (ANY, false, keys::rows_of_members),
    (ANY, false, keys::key_of_collation),
    (READ, false, keys::trusted_key),
    (READ, false, keys::trusted_key),
    (ANY, false, alike::collation_of_source),
    (ANY, false, alike::collation_of_source),
    (ANY, false, alike::collation_of_source),
    (ANY, false, alike::collation_of_parameter),
    (ANY, false, alike::type_of_nullif),
    (ANY, false, alike::type_of_nullif),
    (ANY, false, alike::operator_of_field),
    (ANY, false, alike::spaces_in_array),
    (ANY, false, rounds::recursion_in_rounds),
    (ANY, false, rounds::recursion_in_rounds),
    (ANY, false, rounds::recursion_over_rows),
    (FREE, false, rounds::padded_unnest),
    (FREE, false, rounds::padded_unnest),
    (FREE, false, rounds::padded_unnest),
    (FREE, false, rounds::above_grouping_sets),
    (FREE, false, rounds::above_grouping_sets),
    (STRICT, false, failing::in_condition),
    (STRICT, false, failing::in_condition),
    (STRICT, false, failing::in_target_list),
];
