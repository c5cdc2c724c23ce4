//! Relations: tables, views, sequences, and what hangs on them.

use std::sync::Arc;

use crate::Family;
use crate::keyed::HashMap;

use super::{Check, ForeignKey, KeyAction, Listing, QualifiedName, TypeId, UniqueKey, ViewDefinition};

/// A relation's identity within one catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelationId(pub u32);

/// A relation, built in or not.
#[derive(Debug, Clone)]
pub struct Relation {
    /// Its identity.
    pub id: RelationId,
    /// Its name.
    pub name: QualifiedName,
    /// What it is.
    pub kind: RelationKind,
    /// Which compiled list has it: `User`, `Introspection` or `Unlisted`.
    pub listing: Listing,
    /// Its columns in order, without dropped and system ones.
    pub columns: Columns,
    /// Has inheritance children or partitions now.
    pub has_children: bool,
    /// Is a partition.
    pub is_partition: bool,
    /// Inheritance parents in order; a partition's parent too.
    pub parents: Box<[QualifiedName]>,
    /// Row-level security is on.
    pub row_security: bool,
    /// A view's query. None for the built-in views.
    pub view_definition: Option<ViewDefinition>,
    /// CHECK constraints.
    pub checks: Box<[Check]>,
    /// The column that a sequence belongs to.
    pub owned_by: Option<OwnedBy>,
    /// Columns that some valid, non-partial index leads with.
    pub index_leads: Box<[Arc<str>]>,
    /// Its unique indexes.
    pub unique_keys: Vec<UniqueKey>,
    /// Its own foreign keys (it is the referencing side).
    pub foreign_keys: Vec<ForeignKey>,
    /// Its rewrite rules, without a view's own.
    pub rules: Vec<RewriteRule>,
    /// Its triggers, without the system's.
    pub triggers: Vec<Trigger>,
}

impl Relation {
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.named(name)
    }

    /// Another foreign key proves that the rows of this one are of one tenant: it has the same pairs,
    /// and the tenant columns `own` and `other` beside them.
    pub fn proves(&self, key: &ForeignKey, own: &str, other: &str) -> bool {
        self.foreign_keys.iter().filter(|wider| wider.references == key.references && wider.holds()).any(
            |wider| {
                let has = |column: &str, referenced: &str| {
                    wider.pairs.iter().any(|pair| *pair.column == *column && *pair.referenced == *referenced)
                };
                has(own, other) && key.pairs.iter().all(|pair| has(&pair.column, &pair.referenced))
            },
        )
    }

    /// Why a key of this relation may not be trusted, if so (policy 3.1): what tenants cannot write by
    /// its own name, they may write by another.
    pub fn distrust(&self, column: &str) -> Option<&'static str> {
        let keys = || {
            let of_column = |key: &&ForeignKey| key.pairs.iter().any(|pair| &*pair.column == column);
            self.foreign_keys.iter().filter(of_column)
        };
        let resets = |key: &ForeignKey| [key.on_delete, key.on_update].contains(&KeyAction::SetDefault);
        // One that cascades hands its own target's new value on, and the others' are not asked whose it is.
        let cascades = keys().count() > 1 && keys().any(|key| key.on_update == KeyAction::Cascade);
        if self.has_children || self.is_partition || !self.parents.is_empty() {
            Some("its relation has parents, partitions or children, by which its rows can be written")
        } else if cascades || keys().any(resets) {
            Some("an action of a foreign key can write this column")
        } else {
            None
        }
    }

    /// A valid, non-deferrable primary key, if it has one.
    pub fn primary_key(&self) -> Option<&UniqueKey> {
        self.unique_keys.iter().find(|key| key.primary && key.valid && !key.deferrable)
    }
}

/// A relation's columns: in order, and by name.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    list: Box<[Column]>,
    by_name: HashMap<Arc<str>, usize>,
}

impl Columns {
    pub(crate) fn new(list: Vec<Column>) -> Columns {
        let by_name = list.iter().enumerate().map(|(at, column)| (Arc::clone(&column.name), at)).collect();
        Columns { list: list.into(), by_name }
    }

    /// How many different names they have.
    pub(super) fn distinct(&self) -> usize {
        self.by_name.len()
    }

    /// The column of that name.
    pub fn named(&self, name: &str) -> Option<&Column> {
        self.list.get(self.position(name)?)
    }

    /// The place of that name, from 0.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

impl std::ops::Deref for Columns {
    type Target = [Column];

    fn deref(&self) -> &[Column] {
        &self.list
    }
}

/// What a relation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum RelationKind {
    Table,
    PartitionedTable,
    View,
    MaterializedView,
    ForeignTable,
    Sequence,
}

/// A column.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name.
    pub name: Arc<str>,
    /// Its number (`attnum`); numbers have gaps where columns were dropped.
    pub number: i16,
    /// Its type's identity.
    pub ty: TypeId,
    /// Its type's name.
    pub type_name: QualifiedName,
    /// Its type's length and the like; -1: none.
    pub typmod: i32,
    /// Its type's family.
    pub family: Family,
    /// NOT NULL, valid for every row.
    pub not_null: bool,
    /// The default's text, or a generated column's expression.
    pub default: Option<Box<str>>,
    /// What the default calls outside built-in `pg_catalog`.
    pub default_functions: Box<[QualifiedName]>,
    /// GENERATED ALWAYS AS (expression).
    pub generated: bool,
    /// GENERATED … AS IDENTITY.
    pub identity: Option<Identity>,
    /// Its collation; none where the type has none.
    pub collation: Option<QualifiedName>,
    /// Whether the collation is deterministic; none where the type has none.
    pub collation_deterministic: Option<bool>,
    /// Which compiled list has it: `User`, `Introspection` or `Unlisted`.
    pub listing: Listing,
}

impl Column {
    /// Whether its default draws from a sequence.
    pub fn draws(&self) -> bool {
        self.identity.is_some() || self.default.as_ref().is_some_and(|text| text.contains("nextval"))
    }
}

/// An identity column's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum Identity {
    Always,
    ByDefault,
}

/// The column that a sequence belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedBy {
    /// The relation.
    pub relation: QualifiedName,
    /// Its column.
    pub column: Arc<str>,
}

/// A rewrite rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewriteRule {
    /// Its name.
    pub name: Arc<str>,
    /// The statement that it rewrites.
    pub event: RuleEvent,
    /// INSTEAD.
    pub instead: bool,
    /// It fires in an ordinary session.
    pub enabled: bool,
}

/// What a rewrite rule rewrites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum RuleEvent {
    Select,
    Insert,
    Update,
    Delete,
}

/// A trigger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trigger {
    /// Its name.
    pub name: Arc<str>,
    /// What it calls.
    pub function: QualifiedName,
    /// On what.
    pub events: Box<[TriggerEvent]>,
    /// For each row, or for each statement.
    pub row: bool,
    /// When.
    pub timing: TriggerTiming,
    /// It fires in an ordinary session.
    pub enabled: bool,
}

/// What a trigger fires on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum TriggerEvent {
    Insert,
    Update,
    Delete,
    Truncate,
}

/// When a trigger fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "SQL's own words")]
pub enum TriggerTiming {
    Before,
    After,
    Instead,
}
