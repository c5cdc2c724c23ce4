//! A role: what its statements may be and reach.

use std::sync::Arc;
use std::time::Duration;

use super::limits::Limits;
use super::pattern::{Columns, Index, Pattern, Placed};
use super::problem::Place;
use crate::{Kind, Mask, RowCap};

/// A role of the policy.
#[derive(Debug)]
pub struct Role {
    /// Its name.
    pub name: Arc<str>,
    /// Whether its principals have a tenant.
    pub tenant: TenantRule,
    /// The statement kinds that it may use.
    pub kinds: KindSet,
    /// Everything passes that parses: for migrations.
    pub unrestricted: bool,
    /// What EXPLAIN may do.
    pub explain: ExplainRule,
    /// What of the system catalogs it reads.
    pub system_catalogs: CatalogRule,
    /// Sizes.
    pub limits: Limits,
    /// The row cap.
    pub rows: Option<RowCap>,
    /// How long a statement may run.
    pub timeout: Option<Duration>,
    pub(super) relations: Relations,
    pub(super) columns: ColumnRules,
    pub(super) functions: Functions,
    pub(super) settings: Vec<Setting>,
    /// Where the role stands in the file.
    pub(super) place: Place,
}

/// Whether a role's principals are tenant-bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TenantRule {
    /// They have a tenant, and tenancy is proven.
    Required,
    /// They have none.
    Exempt,
}

/// What EXPLAIN may do; the explained statement is judged as itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainRule {
    /// Nothing.
    Deny,
    /// Without ANALYZE.
    Plain,
    /// With ANALYZE, too.
    Analyze,
}

/// What of the system catalogs may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CatalogRule {
    /// Nothing.
    Deny,
    /// The positive list that drivers and tools read (policy 4.4).
    Introspection,
    /// Everything.
    Allow,
}

/// What a role may do with a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnRule<'a> {
    /// Anything.
    Plain,
    /// Nothing.
    Denied,
    /// Plain output, masked.
    Masked(&'a Mask),
}

/// What a role may do with functions of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionRule {
    /// Not call them.
    Denied,
    /// Call them.
    Allowed,
    /// Call those that the preset `standard` lists.
    Preset,
}

/// A set of statement kinds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KindSet(u32);

impl KindSet {
    /// Whether the kind is in it.
    pub const fn contains(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    /// The set with the kind.
    #[must_use]
    pub const fn with(self, kind: Kind) -> KindSet {
        KindSet(self.0 | (1 << kind as u8))
    }

    /// The kinds in it, in the order of the documentation.
    pub fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }
}

impl Role {
    /// Its principals are tenant-bound.
    pub fn tenant_bound(&self) -> bool {
        self.tenant == TenantRule::Required
    }

    /// Where it stands in the policy file.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// `relations.allow` names it and `relations.deny` does not.
    pub fn allows_relation(&self, schema: &str, name: &str) -> bool {
        self.relations.allow.index.matches(schema, name) && !self.relation_denied(schema, name)
    }

    /// `relations.deny` names it.
    pub fn relation_denied(&self, schema: &str, name: &str) -> bool {
        self.relations.deny.index.matches(schema, name)
    }

    /// `relations.write_shared` names it.
    pub fn writes_shared(&self, schema: &str, name: &str) -> bool {
        self.relations.write_shared.index.matches(schema, name)
    }

    /// What it may do with a column of a relation. A denied column is not masked.
    pub fn column(&self, schema: &str, table: &str, column: &str) -> ColumnRule<'_> {
        if self.columns.denied.first(schema, table, column).is_some() {
            return ColumnRule::Denied;
        }
        let masked = self.columns.masked.first(schema, table, column);
        match masked.and_then(|number| self.columns.masks.get(number)) {
            Some(mask) => ColumnRule::Masked(&mask.what),
            None => ColumnRule::Plain,
        }
    }

    /// Some column of the relation may be denied or masked; without that, nobody need ask column
    /// by column.
    pub fn has_column_rules(&self, schema: &str, table: &str) -> bool {
        self.columns.denied.touches(schema, table) || self.columns.masked.touches(schema, table)
    }

    /// It has masks or denied columns at all: its errors are rebuilt (policy 3.9).
    pub fn has_any_column_rules(&self) -> bool {
        !(self.columns.denied.is_empty() && self.columns.masked.is_empty())
    }

    /// It sees some columns masked.
    pub fn has_masks(&self) -> bool {
        !self.columns.masked.is_empty()
    }

    /// `columns.system` lists the system column.
    pub fn system_column(&self, name: &str) -> bool {
        self.columns.system.iter().any(|listed| &**listed == name)
    }

    /// What it may do with functions of a name in a schema.
    pub fn allows_function(&self, schema: &str, name: &str) -> FunctionRule {
        if self.functions.deny.index.matches(schema, name) {
            FunctionRule::Denied
        } else if self.functions.allow.index.matches(schema, name) {
            FunctionRule::Allowed
        } else if self.functions.standard {
            FunctionRule::Preset
        } else {
            FunctionRule::Denied
        }
    }

    /// `settings.allow` lists the setting, whose name is compared as PostgreSQL compares names of
    /// settings: without regard to case.
    pub fn allows_setting(&self, name: &str) -> bool {
        self.settings.iter().any(|setting| setting.covers(name))
    }
}

/// What `relations:` says.
#[derive(Debug, Default)]
pub(super) struct Relations {
    pub(super) allow: Patterns,
    pub(super) deny: Patterns,
    pub(super) write_shared: Patterns,
}

/// Patterns as written, and their index.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    pub(super) written: Vec<Placed<Pattern>>,
    pub(super) index: Index,
}

impl Patterns {
    pub(super) fn new(written: Vec<Placed<Pattern>>) -> Patterns {
        let index = Index::new(written.iter().map(|pattern| &pattern.what));
        Patterns { written, index }
    }
}

/// What `columns:` and `masks:` say.
#[derive(Debug, Default)]
pub(super) struct ColumnRules {
    pub(super) denied: Columns,
    pub(super) masked: Columns,
    /// By the number that `masked` finds.
    pub(super) masks: Vec<Placed<Mask>>,
    pub(super) system: Vec<Box<str>>,
}

/// What `functions:` says.
#[derive(Debug, Default)]
pub(super) struct Functions {
    /// `preset: standard`.
    pub(super) standard: bool,
    pub(super) allow: Patterns,
    pub(super) deny: Patterns,
}

/// One entry of `settings.allow`, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Setting {
    /// `work_mem`, `app.tenant`.
    Exact(Box<str>),
    /// `app.*`, with the dot.
    Under(Box<str>),
}

impl Setting {
    fn covers(&self, name: &str) -> bool {
        match self {
            Setting::Exact(exact) => exact.eq_ignore_ascii_case(name),
            Setting::Under(prefix) => {
                name.len() > prefix.len()
                    && name.get(..prefix.len()).is_some_and(|start| prefix.eq_ignore_ascii_case(start))
            }
        }
    }
}
