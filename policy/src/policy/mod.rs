//! The policy: its file, and what it says about roles, relations and tenants (policy 2).
//!
//! ```text
//! text ─document─► nodes with lines ─keys (closed lists)─► load ─► Policy ─check(catalog)─► problems
//! ```
//!
//! A [`Policy`] cannot hold nonsense: everything that a file can get wrong by itself is found by
//! [`Policy::load`], all of it at once; what only the database can contradict is found by
//! [`Policy::check`]. Lookups cost a name's length, whatever the number of rules.

mod array;
mod bind;
mod check;
pub mod document;
mod draft;
mod keys;
mod limits;
mod load;
mod own;
mod pattern;
mod problem;
mod role;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use bind::{BindDenial, BoundValue, Format};
pub use check::ViewReach;
pub use draft::draft;
pub use keys::{POLICY_FILE, reference, schema};
pub use limits::Limits;
pub use load::Loaded;
pub(crate) use own::Own;
pub use own::OwnValue;
pub use pattern::Pattern;
pub use problem::{Place, Problem, Severity, listed};
pub use role::{CatalogRule, ColumnRule, ExplainRule, FunctionRule, KindSet, Role, TenantRule};

use crate::keyed::HashMap;
use crate::{ErrorPosture, TenantColumnClass};
use own::Called;
use pattern::{Index, Placed};

/// A policy that was loaded whole.
#[derive(Debug)]
pub struct Policy {
    version: u64,
    search_path: Vec<Box<str>>,
    /// Where `search_path` stands, or the file's beginning.
    search_path_place: Place,
    roles: BTreeMap<Arc<str>, Role>,
    tenancy: Tenancy,
    tenants: Tenants,
    trusted_rules: Vec<Placed<[Box<str>; 2]>>,
    trusted_triggers: Vec<Placed<[Box<str>; 3]>>,
}

/// What `tenancy:` says.
#[derive(Debug)]
struct Tenancy {
    literal: bool,
    bound: bool,
    rules: Vec<TenancyRule>,
    index: Index,
    errors: ErrorPosture,
    error_budget: u32,
    trust_keys: Vec<Placed<[Box<str>; 3]>>,
}

/// One line of `tenancy.tables`.
#[derive(Debug)]
struct TenancyRule {
    pattern: Placed<Pattern>,
    /// The tenant column; none: shared.
    column: Option<Arc<str>>,
}

/// What `tenants:` says: by column, then by tenant.
#[derive(Debug, Default)]
struct Tenants {
    by_column: HashMap<Box<str>, HashMap<Box<str>, Called>>,
}

/// How a relation takes part in tenancy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry<'a> {
    /// Rows belong to the tenant that this column names.
    Scoped {
        /// The tenant column.
        column: &'a Arc<str>,
    },
    /// Reference data: the same for every tenant.
    Shared,
}

impl Policy {
    /// The number that rises with every edit.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Where unqualified names are looked up; `pg_catalog` comes before these.
    pub fn search_path(&self) -> &[Box<str>] {
        &self.search_path
    }

    /// The role of that name.
    pub fn role(&self, name: &str) -> Option<&Role> {
        self.roles.get(name)
    }

    /// Every role, by name.
    pub fn roles(&self) -> impl Iterator<Item = &Role> {
        self.roles.values()
    }

    /// The first line of `tenancy.tables` that matches; none: out of reach of every tenant-bound
    /// principal.
    pub fn entry(&self, schema: &str, table: &str) -> Option<Entry<'_>> {
        let rule = self.tenancy.rules.get(self.tenancy.index.first(schema, table)?)?;
        Some(match &rule.column {
            Some(column) => Entry::Scoped { column },
            None => Entry::Shared,
        })
    }

    /// What the tenant is called in a column of that name and family: by `tenants:`, or, where no
    /// tenant has a mapping for that column, by its own name. None: the tenant has no T there, and
    /// every relation with that column is out of its reach.
    pub fn own(&self, tenant: &str, class: &TenantColumnClass) -> Option<OwnValue> {
        self.own_of(tenant, class).map(Own::to_value)
    }

    /// The same, without a copy.
    pub(crate) fn own_of<'o>(&'o self, tenant: &'o str, class: &TenantColumnClass) -> Option<Own<'o>> {
        match self.tenants.by_column.get(&*class.column) {
            Some(mapping) => Own::of_mapping(mapping.get(tenant)?, &class.family),
            None => Own::of_name(tenant, &class.family),
        }
    }

    /// The tenants that `tenants:` names, by name.
    pub fn tenants(&self) -> impl Iterator<Item = &str> {
        let names: std::collections::BTreeSet<&str> =
            self.tenants.by_column.values().flat_map(|called| called.keys()).map(|name| &**name).collect();
        names.into_iter()
    }

    /// What becomes of errors and notices of tenant-bound principals.
    pub fn errors(&self) -> ErrorPosture {
        self.tenancy.errors
    }

    /// How many errors over scoped relations a principal may cause a minute.
    pub fn error_budget(&self) -> u32 {
        self.tenancy.error_budget
    }

    /// A constant in the text is a proof.
    pub fn proof_literal(&self) -> bool {
        self.tenancy.literal
    }

    /// A `$n` whose value is checked at Bind is a proof.
    pub fn proof_bound(&self) -> bool {
        self.tenancy.bound
    }

    /// `tenancy.trust_keys` names this column: its foreign key carries although it lacks the
    /// tenant column (policy 3.1).
    pub fn trusts_key(&self, schema: &str, table: &str, column: &str) -> bool {
        names(&self.tenancy.trust_keys, [schema, table, column])
    }

    /// `trusted.rules` names this relation: its rewrite rules are taken as harmless.
    pub fn trusts_rules(&self, schema: &str, table: &str) -> bool {
        names(&self.trusted_rules, [schema, table])
    }

    /// `trusted.triggers` names this trigger: its messages pass.
    pub fn trusts_trigger(&self, schema: &str, table: &str, trigger: &str) -> bool {
        names(&self.trusted_triggers, [schema, table, trigger])
    }
}

fn names<const N: usize>(listed: &[Placed<[Box<str>; N]>], name: [&str; N]) -> bool {
    listed.iter().any(|listed| listed.what.each_ref().map(|part| &**part) == name)
}
