//! FROM: sources, joins, and what each brings into sight.

use super::bound::*;
use super::expr::one_type;
use super::scope::{Item, Scope, Target, What};
use super::uses::*;
use super::{Resolver, Visible};
use crate::catalog::{Function, PG_CATALOG, Relation, RelationKind, TypeId, TypeKind};
use crate::ir::{self, At, JoinKind, JoinOn, Name};
use crate::{Code, Denial, Rule};

/// How deep views may stand in views, and how many a statement may expand.
const MAX_VIEW_DEPTH: usize = 16;
const MAX_VIEW_EXPANSIONS: usize = 256;

/// What a FROM item brings: its place in the join tree, and the names in sight.
type Brought<'c> = (Node<'c>, Vec<Item<'c>>);

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
    fn check_names(&mut self, brought: &[Item<'c>]) {
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

    fn bind_item(&mut self, item: &ir::From) -> Brought<'c> {
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
    fn lateral<T>(&mut self, lateral: bool, bind: impl FnOnce(&mut Self) -> T) -> T {
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
    fn leaf(&mut self, source: Source<'c>, origin: Option<&'c Relation>) -> Brought<'c> {
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

    fn bind_relation(&mut self, reference: &ir::RelationRef) -> Brought<'c> {
        let alias = reference.alias.as_ref();
        let at = reference.path.at;
        if let [name] = reference.path.parts.as_slice()
            && let Some(visible) = self.cte_named(name)
        {
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
        let source = self.relation_source(relation, title, alias, reference.only, at);
        self.leaf(source, alias.is_none().then_some(relation))
    }

    pub(super) fn note_relation(&mut self, relation: &'c Relation, access: Access, at: At) {
        let (at, in_view) = (self.at(at), self.in_view());
        self.uses.relations.push(RelationUse { relation, access, in_view, at });
    }

    fn relation_source(
        &mut self,
        relation: &'c Relation,
        title: Name,
        alias: Option<&ir::Alias>,
        only: bool,
        at: At,
    ) -> Source<'c> {
        let place = self.at(at);
        let renamed = alias.is_some_and(|alias| !alias.columns.is_empty());
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

    /// A view's definition, bound in a scope of its own.
    fn expand(&mut self, view: &'c Relation, at: At) -> Option<Query<'c>> {
        self.expanded += 1;
        if self.views.len() >= MAX_VIEW_DEPTH
            || self.expanded > MAX_VIEW_EXPANSIONS
            || self.views.contains(&view.id)
        {
            self.unsupported(at, "a view over so many views");
            return None;
        }
        let parsed = crate::parse::parse(view.view_definition.as_deref()?, &super::VIEW_LIMITS);
        let statements = parsed.unwrap_or_default();
        let query = match statements.as_slice() {
            [ir::Statement { body: ir::Body::Query(query), unsupported, .. }] if unsupported.is_empty() => {
                query
            }
            _ => {
                self.unsupported(at, &format!("the definition of view \"{}\"", view.name.name));
                return None;
            }
        };
        let outside = self.view_at.replace(self.at(at));
        let scopes = std::mem::take(&mut self.scopes);
        let with = std::mem::take(&mut self.with);
        self.views.push(view.id);
        let bound = self.query(query);
        self.views.pop();
        self.scopes = scopes;
        self.with = with;
        self.view_at = outside;
        if bound.open || bound.outputs.len() != view.columns.len() {
            self.unsupported(at, &format!("the definition of view \"{}\"", view.name.name));
            return None;
        }
        Some(bound)
    }

    fn bind_function(&mut self, function: &ir::FunctionFrom) -> Brought<'c> {
        let alias = function.alias.as_ref();
        let before = self.scopes.last().map(|scope| scope.nature).unwrap_or_default();
        let mut columns: Vec<SourceColumn> = Vec::new();
        let mut exprs = Vec::new();
        let mut open = false;
        let single = function.functions.len() == 1;
        for (call, definitions) in &function.functions {
            let first = self.uses.functions.len();
            let bound = self.lateral(true, |resolver| resolver.expr(call));
            let definitions = if definitions.is_empty() && single { &function.columns } else { definitions };
            let made = if definitions.is_empty() {
                let candidates = self
                    .uses
                    .functions
                    .get(first..)
                    .and_then(<[_]>::last)
                    .map(|used| used.candidates.clone());
                self.function_columns(
                    &bound,
                    &candidates.unwrap_or_default(),
                    if single { alias } else { None },
                )
            } else {
                Some(self.definitions(definitions))
            };
            match made {
                Some(made) => columns.extend(made),
                None => open = true,
            }
            exprs.push(bound);
        }
        if function.ordinality {
            columns.push(SourceColumn {
                name: "ordinality".into(),
                ty: ColumnType { ty: TypeId::INT8, deterministic: true },
            });
        }
        // A set-returning function in FROM makes rows of its own, not more of its level's.
        if let Some(scope) = self.scopes.last_mut() {
            let volatile = scope.nature.volatile;
            scope.nature = Nature { volatile, ..before };
        }
        rename(&mut columns, alias);
        let name = match (alias, exprs.first().map(|expr| &expr.node)) {
            (Some(alias), _) => Some(alias.name.clone()),
            (None, Some(ExprNode::Call(call))) => Some(call.name.clone()),
            (None, _) => None,
        };
        let place = self.at(function.at);
        let source = Source::new(name, SourceKind::Functions(exprs), place, columns);
        self.leaf(if open { source.opened() } else { source }, None)
    }

    pub(super) fn definitions(&mut self, definitions: &[ir::ColumnDefinition]) -> Vec<SourceColumn> {
        definitions
            .iter()
            .map(|definition| {
                let ty = self.type_named(&definition.ty, None);
                let bytewise = match &definition.collation {
                    None => true,
                    Some(path) => matches!(
                        path.parts.iter().map(|part| &**part).collect::<Vec<_>>().as_slice(),
                        ["C" | "POSIX" | "default"] | [PG_CATALOG, "C" | "POSIX" | "default"]
                    ),
                };
                // A length cuts a value silently: what is left is another one.
                let ty = if definition.ty.typmods { TypeId::NONE } else { ty };
                SourceColumn { name: definition.name.clone(), ty: ColumnType { ty, deterministic: bytewise } }
            })
            .collect()
    }

    /// The columns of a function in FROM; none where they are not known.
    fn function_columns(
        &self,
        expr: &Expr<'c>,
        candidates: &[&'c Function],
        alias: Option<&ir::Alias>,
    ) -> Option<Vec<SourceColumn>> {
        let (name, args): (Name, &[Expr<'c>]) = if let ExprNode::Call(call) = &expr.node {
            (call.name.clone(), &call.args)
        } else {
            ("?column?".into(), &[])
        };
        let scalar = |ty: TypeId| SourceColumn {
            name: alias.map_or_else(|| name.clone(), |alias| alias.name.clone()),
            ty: ColumnType { ty, deterministic: true },
        };
        if matches!(&expr.node, ExprNode::Other(_)) {
            // CURRENT_DATE and kin.
            return Some(vec![scalar(expr.ty)]);
        }
        if *name == *"unnest" && candidates.iter().all(|f| &*f.name.schema == PG_CATALOG) {
            if let [arg] = args {
                return match self.element(arg) {
                    Element::Scalar(ty) => Some(vec![scalar(ty)]),
                    Element::Row(columns) => Some(columns),
                    Element::Unknown => None,
                };
            }
            let mut columns = Vec::new();
            for arg in args {
                match self.element(arg) {
                    Element::Scalar(ty) => columns.push(SourceColumn {
                        name: "unnest".into(),
                        ty: ColumnType { ty, deterministic: true },
                    }),
                    Element::Row(row) => columns.extend(row),
                    Element::Unknown => return None,
                }
            }
            return Some(columns);
        }
        let first = candidates.first()?;
        let same = candidates.iter().all(|other| other.columns == first.columns);
        if !same {
            return None;
        }
        if !first.columns.is_empty() {
            return Some(
                first
                    .columns
                    .iter()
                    .map(|column| SourceColumn {
                        name: match (&column.name, first.columns.len()) {
                            // One named column answers to the alias.
                            (_, 1) if alias.is_some() => scalar(column.ty).name,
                            (Some(name), _) => (&**name).into(),
                            (None, _) => "?column?".into(),
                        },
                        ty: ColumnType { ty: column.ty, deterministic: true },
                    })
                    .collect(),
            );
        }
        let returns = one_type(candidates.iter().map(|candidate| candidate.returns));
        if returns == TypeId::NONE {
            // Several scalars, or not known: a scalar only if each is one.
            let scalars = candidates.iter().all(|candidate| self.is_scalar(candidate.returns));
            return scalars.then(|| vec![scalar(TypeId::NONE)]);
        }
        if let Some(row) = self.row_columns(returns) {
            return Some(row);
        }
        self.is_scalar(returns).then(|| vec![scalar(returns)])
    }

    fn is_scalar(&self, ty: TypeId) -> bool {
        match self.world.catalog.type_of(ty).map(|ty| &ty.kind) {
            Some(
                TypeKind::Base
                | TypeKind::Array { .. }
                | TypeKind::Domain { .. }
                | TypeKind::Enum
                | TypeKind::Range { .. }
                | TypeKind::Multirange { .. },
            ) => true,
            Some(TypeKind::Composite { .. } | TypeKind::Pseudo) | None => false,
        }
    }

    /// The columns of a relation's row type.
    fn row_columns(&self, ty: TypeId) -> Option<Vec<SourceColumn>> {
        let catalog = self.world.catalog;
        let TypeKind::Composite { relation: Some(name) } = &catalog.type_of(ty)?.kind else {
            return None;
        };
        let relation = catalog.relation(&name.schema, &name.name)?;
        Some(
            relation
                .columns
                .iter()
                .map(|column| SourceColumn { name: (&*column.name).into(), ty: ColumnType::of(column) })
                .collect(),
        )
    }

    fn element(&self, array: &Expr<'c>) -> Element {
        let catalog = self.world.catalog;
        if let ExprNode::Array(items) = &array.node
            && !items.is_empty()
        {
            // ARRAY['a'] of untyped literals is text[].
            let ty = match one_type(items.iter().map(|item| item.ty)) {
                TypeId::UNKNOWN => TypeId::TEXT,
                ty => ty,
            };
            return if self.is_scalar(ty) { Element::Scalar(ty) } else { Element::Unknown };
        }
        let ty = array.ty;
        match catalog.type_of(ty).map(|ty| &ty.kind) {
            Some(TypeKind::Array { element }) => match self.row_columns(*element) {
                Some(row) => Element::Row(row),
                None if self.is_scalar(*element) => Element::Scalar(*element),
                None => Element::Unknown,
            },
            Some(
                TypeKind::Base
                | TypeKind::Domain { .. }
                | TypeKind::Enum
                | TypeKind::Composite { .. }
                | TypeKind::Range { .. }
                | TypeKind::Multirange { .. }
                | TypeKind::Pseudo,
            )
            | None => Element::Unknown,
        }
    }

    // ---- joins ----

    fn join(&mut self, join: &ir::Join) -> Brought<'c> {
        let (left, left_items) = self.bind_item(&join.left);
        let lateral_ok = matches!(join.kind, JoinKind::Inner | JoinKind::Left);
        let outside = self.scopes.last().map_or(0, |scope| scope.items.len());
        if let Some(scope) = self.scopes.last_mut() {
            scope.items.extend(left_items.iter().cloned().map(|mut item| {
                item.lateral_only = true;
                item.lateral_ok = lateral_ok;
                item
            }));
        }
        let (right, right_items) = self.bind_item(&join.right);
        self.check_names(&right_items);
        if let Some(scope) = self.scopes.last_mut() {
            scope.items.truncate(outside);
        }
        let (on, using, merged, using_alias) = match &join.on {
            JoinOn::Nothing => (None, Vec::new(), Vec::new(), None),
            JoinOn::Condition(condition) => {
                let on = self.on(&left_items, &right_items, condition);
                (Some(on), Vec::new(), Vec::new(), None)
            }
            JoinOn::Using { columns, alias } => {
                let names: Vec<Name> = columns.clone();
                let (pairs, merged) = self.merge(join, &left_items, &right_items, &names);
                (None, pairs, merged, alias.clone())
            }
            JoinOn::Natural => match self.common(&left_items, &right_items) {
                Some(names) => {
                    let (pairs, merged) = self.merge(join, &left_items, &right_items, &names);
                    (None, pairs, merged, None)
                }
                None => {
                    self.ambiguous(join.at, "the columns of NATURAL JOIN are not known".to_owned());
                    (None, Vec::new(), Vec::new(), None)
                }
            },
        };
        let node = Node::Join(Box::new(Join { kind: join.kind, left, right, on, using }));
        let items = self.join_items(join, left_items, right_items, merged, using_alias);
        (node, items)
    }

    /// ON sees the two sides and the outer levels, nothing else of this level.
    fn on(&mut self, left: &[Item<'c>], right: &[Item<'c>], condition: &ir::Expr) -> Expr<'c> {
        let mut sides: Vec<Item<'c>> = left.iter().chain(right).cloned().collect();
        for item in &mut sides {
            item.lateral_only = false;
            item.lateral_ok = true;
        }
        let outside = match self.scopes.last_mut() {
            Some(scope) => std::mem::replace(&mut scope.items, sides),
            None => Vec::new(),
        };
        let bound = self.expr(condition);
        if let Some(scope) = self.scopes.last_mut() {
            scope.items = outside;
        }
        bound
    }

    /// All columns of one side in order; none where they are not known.
    fn side(&self, items: &[Item<'c>]) -> Option<Vec<(Name, Target)>> {
        let scope = self.scopes.last()?;
        let mut columns = Vec::new();
        for item in items.iter().filter(|item| item.by_column) {
            columns.extend(scope.all_columns(item)?);
        }
        Some(columns)
    }

    fn common(&self, left: &[Item<'c>], right: &[Item<'c>]) -> Option<Vec<Name>> {
        let (left, right) = (self.side(left)?, self.side(right)?);
        Some(
            left.iter()
                .filter(|(name, _)| right.iter().any(|(other, _)| other == name))
                .map(|(name, _)| name.clone())
                .collect(),
        )
    }

    /// The pairs that USING compares, and the merged columns.
    fn merge(
        &mut self,
        join: &ir::Join,
        left: &[Item<'c>],
        right: &[Item<'c>],
        names: &[Name],
    ) -> (Vec<Pair<'c>>, Vec<(Name, Target)>) {
        let mut pairs = Vec::new();
        let mut merged = Vec::new();
        for name in names {
            let left = self.using_column(left, name, "left", join.at);
            let right = self.using_column(right, name, "right", join.at);
            let target = match join.kind {
                JoinKind::Inner | JoinKind::Left => left.clone(),
                JoinKind::Right => right.clone(),
                JoinKind::Full if left == Target::Missing || right == Target::Missing => Target::Missing,
                JoinKind::Full => Target::Merged(vec![left.clone(), right.clone()]),
            };
            merged.push((name.clone(), target));
            let depth = self.scopes.len().saturating_sub(1);
            let left = self.target(depth, &left, join.at);
            let right = self.target(depth, &right, join.at);
            let builtin = self.implied_operator("=", left.ty, right.ty, join.at);
            pairs.push(Pair { left, right, builtin });
        }
        (pairs, merged)
    }

    fn using_column(&mut self, items: &[Item<'c>], name: &str, side: &str, at: At) -> Target {
        let mut found: Vec<Target> = Vec::new();
        if let Some(scope) = self.scopes.last() {
            for item in items.iter().filter(|item| item.by_column) {
                found.extend(
                    scope
                        .columns_named(item, name)
                        .into_iter()
                        .filter(|target| !matches!(target, Target::System(..))),
                );
            }
        }
        match found.as_slice() {
            [one] => one.clone(),
            [] => {
                self.unknown_column(
                    at,
                    format!("column \"{name}\" specified in USING clause does not exist in {side} table"),
                );
                Target::Missing
            }
            _ => {
                self.ambiguous(
                    at,
                    format!("common column name \"{name}\" appears more than once in {side} table"),
                );
                Target::Missing
            }
        }
    }

    /// What is in sight of a join from outside.
    fn join_items(
        &self,
        join: &ir::Join,
        left: Vec<Item<'c>>,
        right: Vec<Item<'c>>,
        merged: Vec<(Name, Target)>,
        using_alias: Option<Name>,
    ) -> Vec<Item<'c>> {
        if merged.is_empty() && join.alias.is_none() {
            return left.into_iter().chain(right).collect();
        }
        let columns = match (self.side(&left), self.side(&right)) {
            (Some(left), Some(right)) => {
                let other = |(name, _): &(Name, Target)| !merged.iter().any(|(m, _)| m == name);
                let rest = left.into_iter().chain(right).filter(other);
                Some(merged.iter().cloned().chain(rest).collect::<Vec<_>>())
            }
            // One side is not known: any name may be a column of it.
            (_, _) => None,
        };
        let item = |name: Option<Name>, columns: Option<Vec<(Name, Target)>>, by_column: bool| Item {
            by_name: name.is_some(),
            name,
            origin: None,
            what: columns.map_or(What::Unknown, What::Join),
            by_column,
            lateral_only: false,
            lateral_ok: true,
        };
        match &join.alias {
            Some(alias) => {
                let mut renamed = columns;
                for ((name, _), new) in renamed.iter_mut().flatten().zip(&alias.columns) {
                    *name = new.clone();
                }
                vec![item(Some(alias.name.clone()), renamed, true)]
            }
            None => {
                let mut items: Vec<Item<'c>> = left.into_iter().chain(right).collect();
                for hidden in &mut items {
                    hidden.by_column = false;
                }
                items.push(item(None, columns, true));
                if let Some(name) = using_alias {
                    items.push(item(Some(name), Some(merged), false));
                }
                items
            }
        }
    }

    fn cte_named(&self, name: &str) -> Option<Visible> {
        self.with.iter().rev().find_map(|frame| frame.get(name).copied())
    }
}

/// What an array holds.
enum Element {
    Scalar(TypeId),
    Row(Vec<SourceColumn>),
    Unknown,
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
