//! FROM: sources, joins, and what each brings into sight.

use super::bound::*;
use super::names::Qualified;
use super::scope::{Item, Scope, What};
use super::uses::*;
use super::{Resolver, Visible, walk};
use crate::catalog::{PG_CATALOG, Relation, RelationKind};
use crate::ir::{self, At, Name};
use crate::mutants::mutant;
use crate::{Code, Denial, Rule};

/// What a FROM item brings: its place in the join tree, and the names in sight.
pub(super) type Brought<'c> = (Node<'c>, Vec<Item<'c>>);

impl<'c> Resolver<'c> {
    /// Binds the comma-separated items of the current level's FROM.
    pub(super) fn bind_from(&mut self, items: &[ir::From]) -> Vec<Node<'c>> {
        let mut nodes = Vec::with_capacity(items.len());
        for item in items {
            let (node, mut brought) = self.bind_item(item);
            self.check_names(&brought);
            for item in &mut brought {
                item.lateral_only = true;
                item.lateral_ok = true;
            }
            nodes.push(node);
            if let Some(scope) = self.scopes.last_mut() {
                scope.items.extend(brought);
            }
        }
        if let Some(scope) = self.scopes.last_mut() {
            for item in &mut scope.items {
                item.lateral_only = false;
                item.lateral_ok = true;
            }
        }
        nodes
    }

    /// PostgreSQL refuses two items of one name at one level; guessing would be ours.
    pub(super) fn check_names(&mut self, brought: &[Item<'c>]) {
        let Some(scope) = self.scopes.last() else { return };
        let clash = brought.iter().filter(|item| item.by_name).find(|item| {
            scope.items.iter().filter(|other| other.by_name).any(|other| {
                item.name.is_some()
                    && other.name == item.name
                    && match (other.origin, item.origin) {
                        (Some(a), Some(b)) => a.id == b.id,
                        (None, _) | (_, None) => true,
                    }
            })
        });
        if let Some(name) = clash.and_then(|item| item.name.clone()) {
            let at = self.at(None);
            self.deny(
                Denial::new(
                    Rule::Relations,
                    Code::Ambiguous,
                    at,
                    format!("table name \"{name}\" specified more than once"),
                )
                .sqlstate(crate::SqlState("42712")),
            );
        }
    }

    pub(super) fn bind_item(&mut self, item: &ir::From) -> Brought<'c> {
        match item {
            ir::From::Relation(relation) => self.bind_relation(relation),
            ir::From::Subquery { lateral, query, alias, at } => {
                let bound = self.lateral(*lateral, |resolver| resolver.query(query));
                let name = alias.as_ref().map(|alias| alias.name.clone());
                let mut columns = bound.outputs.clone();
                rename(&mut columns, alias.as_ref());
                let open = bound.open;
                let kind = SourceKind::Derived(Box::new(bound));
                let source = Source::new(name, kind, self.at(*at), columns);
                self.leaf(if open { source.opened() } else { source }, None)
            }
            ir::From::Function(function) => self.bind_function(function),
            ir::From::Join(join) => self.join(join),
            ir::From::Unsupported(at) => {
                self.leaf(Source::new(None, SourceKind::Missing, *at, Vec::new()), None)
            }
        }
    }

    /// Binds with this level's earlier items in sight, if LATERAL says so.
    pub(super) fn lateral<T>(&mut self, lateral: bool, bind: impl FnOnce(&mut Self) -> T) -> T {
        let set = |resolver: &mut Self, on: bool| {
            if let Some(scope) = resolver.scopes.last_mut() {
                scope.lateral_active = on;
            }
        };
        set(self, lateral);
        let bound = bind(self);
        set(self, false);
        bound
    }

    /// A source as an item of its own.
    pub(super) fn leaf(&mut self, source: Source<'c>, origin: Option<&'c Relation>) -> Brought<'c> {
        let name = source.name.clone();
        let rel = match self.scopes.last_mut() {
            Some(scope) => scope.add(source),
            None => Rel(u32::MAX),
        };
        let by_name = name.is_some();
        let item = Item {
            name,
            origin,
            what: What::Source(rel),
            by_name,
            by_column: true,
            lateral_only: false,
            lateral_ok: true,
        };
        (Node::Leaf(rel), vec![item])
    }

    pub(super) fn bind_relation(&mut self, reference: &ir::RelationRef) -> Brought<'c> {
        let alias = reference.alias.as_ref();
        let at = reference.path.at;
        if let [schema @ .., name] = reference.path.parts.as_slice()
            && (schema.is_empty() || mutant!(SchemaOfCteIgnored))
            && let Some(visible) = self.cte_named(name)
            && !(mutant!(CteNameIgnored) && self.is_relation(name))
        {
            if reference.sample.is_some() {
                self.unsupported(at, "TABLESAMPLE of a query");
            }
            let title = alias.map_or_else(|| name.clone(), |alias| alias.name.clone());
            return match visible {
                Visible::Later => {
                    self.unsupported(at, "a reference to a later query of WITH RECURSIVE");
                    self.leaf(Source::new(Some(title), SourceKind::Missing, at, Vec::new()), None)
                }
                Visible::Cte(id) => {
                    if let Some(cte) = self.ctes.get_mut(id.0)
                        && matches!(cte.body, CteBody::Pending)
                    {
                        cte.recursive = true;
                    }
                    let cte = self.ctes.get(id.0);
                    let mut columns = cte.map(|cte| cte.columns.clone()).unwrap_or_default();
                    let open = cte.is_none_or(|cte| cte.open);
                    rename(&mut columns, alias);
                    let source = Source::new(Some(title), SourceKind::Cte(id), self.at(at), columns);
                    self.leaf(if open { source.opened() } else { source }, None)
                }
            };
        }
        let title = match (alias, reference.path.parts.last()) {
            (Some(alias), _) => alias.name.clone(),
            (None, Some(name)) => name.clone(),
            (None, None) => Name::default(),
        };
        let Some(relation) = self.relation_named(&reference.path) else {
            return self.leaf(Source::new(Some(title), SourceKind::Missing, at, Vec::new()), None);
        };
        self.note_relation(relation, Access::Read, at);
        if let Some(sample) = &reference.sample {
            self.sample(sample);
        }
        let source = self.relation_source(relation, title, alias, reference.only, at);
        self.leaf(source, alias.is_none().then_some(relation))
    }

    /// TABLESAMPLE of the relation that was noted last. Its arguments stand beside the tree: so
    /// they read nothing.
    fn sample(&mut self, sample: &ir::Sample) {
        let at = sample.method.at;
        let builtin = match self.qualified(&sample.method) {
            Qualified::Bare(name) => self.search_path().next() == Some(PG_CATALOG) && is_method(name),
            Qualified::In { schema, name } => schema == PG_CATALOG && is_method(name),
            Qualified::Elsewhere => false,
        };
        if !builtin {
            self.unsupported(at, "TABLESAMPLE by another method");
        }
        if let Some(used) = self.uses.relations.last_mut() {
            used.sampled = true;
        }
        for arg in self.exprs(&sample.args) {
            if walk::reads(&arg) {
                self.unsupported(at, "an argument of TABLESAMPLE that reads something");
            }
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.nature.volatile = true;
        }
    }

    pub(super) fn note_relation(&mut self, relation: &'c Relation, access: Access, at: At) {
        let (at, in_view) = (self.at(at), self.in_view());
        self.uses.relations.push(RelationUse { relation, access, in_view, sampled: false, at });
    }

    pub(super) fn relation_source(
        &mut self,
        relation: &'c Relation,
        title: Name,
        alias: Option<&ir::Alias>,
        only: bool,
        at: At,
    ) -> Source<'c> {
        let place = self.at(at);
        let renamed = alias.is_some_and(|alias| !alias.columns.is_empty()) && !mutant!(RenamesIgnored);
        let view = relation.kind == RelationKind::View && relation.view_definition.is_some();
        let mut columns = Vec::new();
        if renamed || view {
            columns.extend(
                relation
                    .columns
                    .iter()
                    .map(|column| SourceColumn { name: (&*column.name).into(), ty: ColumnType::of(column) }),
            );
            rename(&mut columns, alias);
        }
        if !view {
            self.reads.extend(self.scopes.last().map(|scope| (scope.level, relation, place)));
            return Source::new(Some(title), SourceKind::Relation { relation, only }, place, columns);
        }
        match self.expand(relation, at) {
            Some(query) => {
                let kind = SourceKind::View { relation, query: Box::new(query) };
                Source::new(Some(title), kind, place, columns)
            }
            None => Source::new(Some(title), SourceKind::Missing, place, Vec::new()),
        }
    }

    /// Whether the search path finds a relation of that name.
    fn is_relation(&self, name: &str) -> bool {
        self.search_path().any(|schema| self.world.catalog.relation(schema, name).is_some())
    }

    // ---- joins ----

    pub(super) fn cte_named(&self, name: &str) -> Option<Visible> {
        self.with.iter().rev().find_map(|frame| frame.get(name).copied())
    }
}

/// The methods that PostgreSQL brings.
fn is_method(name: &str) -> bool {
    matches!(name, "bernoulli" | "system")
}

/// Gives the first columns the names of an alias.
pub(super) fn rename(columns: &mut [SourceColumn], alias: Option<&ir::Alias>) {
    let Some(alias) = alias else { return };
    for (column, name) in columns.iter_mut().zip(&alias.columns) {
        column.name = name.clone();
    }
}

/// Takes a level's sources out of its scope.
pub(super) fn taken<'c>(scope: Scope<'c>, items: Vec<Node<'c>>) -> From<'c> {
    From { sources: scope.sources, items }
}
