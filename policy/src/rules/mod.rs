//! The rules, in the order in which they are judged (policy 4): functions over a bound statement
//! that push what they refuse. One pass collects every violation.

mod calls;
pub(crate) mod casts;
pub(crate) mod columns;
mod declared;
mod functions;
mod kinds;
mod limits;
mod masks;
mod operators;
mod reg_names;
mod relations;
mod setting_row;
pub(crate) mod settings;
pub(crate) mod tenancy;
mod types;

use crate::catalog::{Catalog, Relation, is_builtin_schema};
use crate::constant::Constants;
use crate::ir::At;
use crate::policy::Role;
use crate::resolve::{Bound, Declared, World};
use crate::{BindCheck, Denial, Kind, MaskAt, Policy, Reached, Trace, explain};
pub(crate) use kinds::check as check_kind;
pub(crate) use limits::check as check_limits;
pub(crate) use relations::child_of_others;
pub(crate) use tenancy::Argument;

/// What every rule looks at.
pub(crate) struct Context<'p, 'c> {
    pub(crate) world: World<'c>,
    pub(crate) role: &'c Role,
    /// The tenant, where the role is tenant-bound.
    pub(crate) tenant: Option<&'p str>,
    pub(crate) bound: &'p Bound<'c>,
    pub(crate) declared: &'p Declared,
    /// EXECUTE's arguments, where the statement is a prepared one with its arguments in place.
    pub(crate) arguments: Option<&'p [Argument]>,
    /// What the proof rests on is wanted, too.
    pub(crate) explain: bool,
}

impl<'c> Context<'_, 'c> {
    pub(crate) fn policy(&self) -> &'c Policy {
        self.world.policy
    }

    pub(crate) fn catalog(&self) -> &'c Catalog {
        self.world.catalog
    }

    pub(crate) fn constants(&self) -> &'c Constants {
        self.world.constants
    }

    /// Every relation that the statement reads is a catalog, or it reads none.
    pub(crate) fn reads_only_catalogs(&self) -> bool {
        self.bound.uses.relations.iter().all(|used| is_builtin_schema(&used.relation.name.schema))
    }

    /// It reads or changes a relation whose rows belong to tenants.
    pub(crate) fn touches_scoped(&self) -> bool {
        self.bound.uses.relations.iter().any(|used| self.is_scoped(used.relation))
    }

    pub(crate) fn is_scoped(&self, relation: &Relation) -> bool {
        match self.policy().entry(&relation.name.schema, &relation.name.name) {
            Some(crate::policy::Entry::Scoped { .. }) => true,
            Some(crate::policy::Entry::Shared) | None => false,
        }
    }
}

/// What the rules found: violations, and what must be kept if there are none.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) denials: Vec<Denial>,
    pub(crate) binds: Vec<BindCheck>,
    pub(crate) masks: Vec<MaskAt>,
    /// How many outputs there are, where any is masked.
    pub(crate) outputs: usize,
    /// It reads or changes rows of tenants.
    pub(crate) scoped: bool,
    /// That they are the tenant's is known by unique keys alone.
    pub(crate) by_unique_keys: bool,
    /// Where it was asked for: the relations, and what tenancy says of each.
    pub(crate) reached: Vec<Reached>,
    /// What it leaves in the session beside its effect.
    pub(crate) traces: Vec<Trace>,
    /// What the proof of tenancy cost.
    pub(crate) steps: usize,
}

/// Judges a bound statement.
pub(crate) fn judge(cx: &Context<'_, '_>, root: Option<(Kind, At)>) -> Found {
    let mut found = Found::default();
    let denials = &mut found.denials;
    kinds::judge(cx, root, denials);
    relations::judge(cx, denials);
    columns::judge(cx, denials);
    functions::judge(cx, denials);
    calls::judge(cx, denials, &mut found.binds);
    operators::judge(cx, denials);
    types::judge(cx, denials);
    casts::judge(cx, denials);
    declared::judge(cx, denials);
    (found.masks, found.outputs) = masks::judge(cx, denials);
    found.scoped = cx.touches_scoped();
    let proven = tenancy::judge(cx, &mut found.denials);
    found.binds.extend(proven.binds);
    (found.by_unique_keys, found.steps) = (proven.by_unique_keys, proven.steps);
    if cx.explain {
        found.reached = explain::reached(cx, proven.reached, !found.denials.is_empty());
    }
    found
}
