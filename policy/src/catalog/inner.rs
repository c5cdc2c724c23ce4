//! What a database runs by itself, beside what a statement names: triggers, rules, defaults, checks, casts. It may
//! change the session's state (wire 5).
//!
//! A function that is PARALLEL SAFE says of itself that it does not ("… or make persistent changes to settings",
//! CREATE FUNCTION); PostgreSQL's default is UNSAFE. The bodies of the others are not looked into: they may do anything.
//! Row-level security policies and the expressions of indexes are not in a catalog: they are taken to change nothing.

use std::collections::{HashMap, HashSet};

use super::{
    Cast, CastMethod, Catalog, Check, KeyAction, QualifiedName, Relation, RelationId, TypeId, TypeKind,
    is_builtin_schema,
};

/// What may change the session without being named.
#[derive(Debug, Clone, Default)]
pub(super) struct Inner {
    /// Relations whose change runs such code.
    writes: HashSet<RelationId>,
    /// Relations whose change makes a foreign key draw a default from a sequence.
    draws: HashSet<RelationId>,
    casts: Box<[Cast]>,
}

impl Catalog {
    /// Whether a change of this relation's rows runs code that may change the session: its own, that of its partitions
    /// and children, and that of relations which a foreign key's action changes with it.
    pub fn write_runs_code(&self, relation: &Relation) -> bool {
        self.inner.writes.contains(&relation.id)
    }

    /// Whether a change of this relation's rows may draw from a sequence for another relation: by a foreign key that sets
    /// its columns to their defaults.
    pub fn write_draws(&self, relation: &Relation) -> bool {
        self.inner.draws.contains(&relation.id)
    }

    /// Whether a function of that name changes nothing in the session, by its own word.
    pub fn leaves_nothing(&self, name: &QualifiedName) -> bool {
        let own = self.functions(&name.schema, &name.name);
        let known = !own.is_empty() || (is_builtin_schema(&name.schema) && !may_change(&name.name));
        known && own.iter().all(|function| function.parallel_safe)
    }

    /// Whether making a value of this type runs code that may change the session: a domain's checks.
    pub fn type_runs_code(&self, ty: TypeId) -> bool {
        self.parts_of(ty).into_iter().any(|part| match self.type_of(part).map(|part| &part.kind) {
            Some(TypeKind::Domain { checks, .. }) => checks.iter().any(|check| self.check_runs_code(check)),
            Some(
                TypeKind::Base
                | TypeKind::Array { .. }
                | TypeKind::Enum
                | TypeKind::Composite { .. }
                | TypeKind::Range { .. }
                | TypeKind::Multirange { .. }
                | TypeKind::Pseudo,
            )
            | None => false,
        })
    }

    /// The casts that run code which may change the session.
    pub fn casts_that_run_code(&self) -> &[Cast] {
        &self.inner.casts
    }

    /// The type, and those that it is made of.
    pub fn parts_of(&self, ty: TypeId) -> Vec<TypeId> {
        let mut all = vec![ty];
        let mut next = 0;
        while let Some(ty) = all.get(next).copied() {
            next += 1;
            let inner = match self.type_of(ty).map(|ty| &ty.kind) {
                Some(TypeKind::Array { element }) => vec![*element],
                Some(TypeKind::Domain { base, .. }) => vec![*base],
                Some(TypeKind::Range { subtype } | TypeKind::Multirange { subtype }) => vec![*subtype],
                Some(TypeKind::Composite { relation: Some(name) }) => {
                    let relation = self.relation(&name.schema, &name.name);
                    relation
                        .map(|relation| relation.columns.iter().map(|column| column.ty).collect())
                        .unwrap_or_default()
                }
                Some(
                    TypeKind::Composite { relation: None }
                    | TypeKind::Base
                    | TypeKind::Enum
                    | TypeKind::Pseudo,
                )
                | None => Vec::new(),
            };
            all.extend(inner.into_iter().filter(|ty| !all.contains(ty)).collect::<Vec<_>>());
        }
        all
    }

    pub(super) fn inner(&self) -> Inner {
        let runs = |cast: &&Cast| match &cast.method {
            CastMethod::Function(function) => !self.leaves_nothing(function),
            CastMethod::InOut | CastMethod::Binary => false,
        };
        Inner {
            writes: self.reaching(self.relations().filter(|relation| self.has_code_of_its_own(relation))),
            draws: self.reaching(self.relations().flat_map(|relation| self.made_to_draw_by(relation))),
            casts: self.casts().filter(runs).cloned().collect(),
        }
    }

    /// The relations whose change sets columns of this one to defaults from a sequence.
    fn made_to_draw_by<'a>(&'a self, relation: &'a Relation) -> impl Iterator<Item = &'a Relation> {
        let sets = |key: &&super::ForeignKey| {
            [key.on_delete, key.on_update].into_iter().any(|action| match action {
                KeyAction::SetDefault => true,
                KeyAction::NoAction | KeyAction::Restrict | KeyAction::Cascade | KeyAction::SetNull => false,
            })
        };
        let draws = relation.columns.iter().any(super::Column::draws);
        let keys = relation.foreign_keys.iter().filter(move |_| draws).filter(sets);
        keys.filter_map(|key| self.relation(&key.references.schema, &key.references.name))
    }

    /// These, and those whose change reaches them.
    fn reaching<'a>(&'a self, these: impl Iterator<Item = &'a Relation>) -> HashSet<RelationId> {
        let mut reached_from: HashMap<&QualifiedName, Vec<&QualifiedName>> = HashMap::new();
        for relation in self.relations() {
            let changed = relation.foreign_keys.iter().filter(|key| {
                let changes = |action| match action {
                    KeyAction::Cascade | KeyAction::SetNull | KeyAction::SetDefault => true,
                    KeyAction::NoAction | KeyAction::Restrict => false,
                };
                changes(key.on_delete) || changes(key.on_update)
            });
            let from = relation.parents.iter().chain(changed.map(|key| &key.references));
            reached_from.entry(&relation.name).or_default().extend(from);
        }
        let mut found = HashSet::new();
        let mut open: Vec<&Relation> = these.collect();
        while let Some(relation) = open.pop() {
            if found.insert(relation.id) {
                let from = reached_from.get(&relation.name).into_iter().flatten();
                open.extend(from.filter_map(|name| self.relation(&name.schema, &name.name)));
            }
        }
        found
    }

    fn has_code_of_its_own(&self, relation: &Relation) -> bool {
        let calls = |functions: &[QualifiedName]| functions.iter().any(|name| !self.leaves_nothing(name));
        let by_column = relation.columns.iter().any(|column| {
            calls(&column.default_functions)
                || column.default.as_ref().is_some_and(|text| may_change(text))
                || self.type_runs_code(column.ty)
        });
        let fires = |trigger: &super::Trigger| trigger.enabled && !self.leaves_nothing(&trigger.function);
        by_column
            || !relation.rules.is_empty()
            || relation.triggers.iter().any(fires)
            || relation.checks.iter().any(|check| self.check_runs_code(check))
    }

    fn check_runs_code(&self, check: &Check) -> bool {
        may_change(&check.expression) || check.functions.iter().any(|name| !self.leaves_nothing(name))
    }
}

/// Whether a built-in function's name, or one in an expression, is of those that change the session.
fn may_change(text: &str) -> bool {
    CHANGE.iter().any(|name| text.contains(name))
}

/// Also what runs a text as a query. (Sequences are told of apart.)
const CHANGE: [&str; 6] =
    ["set_config", "setseed", "advisory", "_to_xml", "replication_origin_session", "ts_rewrite"];
