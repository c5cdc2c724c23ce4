//! Joins: which names the two sides bring, ON's own scope, and the columns that USING and NATURAL
//! merge (parse_clause.c, transformFromClauseItem).

use super::Resolver;
use super::bound::*;
use super::from::Brought;
use super::scope::{Item, Scope, Target, What};
use crate::catalog::TypeId;
use crate::ir::{self, At, JoinKind, JoinOn, Name};
use crate::keyed::HashSet;
use crate::mutants::mutant;

/// The most columns of a FROM over which USING and NATURAL merge.
const MAX_COLUMNS_IN_SIGHT: usize = 8 * MAX_COLUMNS;
/// The most columns of which one merged column is made: a chain of FULL joins copies all of them for each join.
const MAX_MERGED_PARTS: usize = 64;

impl<'c> Resolver<'c> {
    pub(super) fn join(&mut self, join: &ir::Join) -> Brought<'c> {
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
        if self.too_wide(join) {
            return (left, left_items);
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

    /// USING and NATURAL copy the columns of both sides, again for each join.
    fn too_wide(&mut self, join: &ir::Join) -> bool {
        let copies = match &join.on {
            JoinOn::Using { .. } | JoinOn::Natural => true,
            JoinOn::Nothing | JoinOn::Condition(_) => false,
        };
        let wide = copies && self.scopes.last().map_or(0, Scope::width) > MAX_COLUMNS_IN_SIGHT;
        if wide {
            self.unsupported(join.at, "USING or NATURAL over so many columns");
        }
        wide
    }

    /// ON sees the two sides and the outer levels, nothing else of this level.
    pub(super) fn on(&mut self, left: &[Item<'c>], right: &[Item<'c>], condition: &ir::Expr) -> Expr<'c> {
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
    pub(super) fn side(&self, items: &[Item<'c>]) -> Option<Vec<(Name, Target)>> {
        let scope = self.scopes.last()?;
        let mut columns = Vec::new();
        for item in items.iter().filter(|item| item.by_column) {
            columns.extend(scope.all_columns(item)?);
        }
        Some(columns)
    }

    pub(super) fn common(&self, left: &[Item<'c>], right: &[Item<'c>]) -> Option<Vec<Name>> {
        let (left, right) = (self.side(left)?, self.side(right)?);
        let right: HashSet<&Name> = right.iter().map(|(name, _)| name).collect();
        Some(left.iter().map(|(name, _)| name).filter(|name| right.contains(name)).cloned().collect())
    }

    /// The pairs that USING compares, and the merged columns.
    pub(super) fn merge(
        &mut self,
        join: &ir::Join,
        left: &[Item<'c>],
        right: &[Item<'c>],
        names: &[Name],
    ) -> (Vec<Pair<'c>>, Vec<(Name, Target)>) {
        let mut pairs = Vec::new();
        let mut merged = Vec::new();
        let width = self.scopes.last().map_or(0, Scope::width);
        if self.compares_too_much(names.len(), width, join.at) {
            return (pairs, merged);
        }
        for name in names {
            let left = self.using_column(left, name, "left", join.at);
            let right = self.using_column(right, name, "right", join.at);
            if left.parts() + right.parts() > MAX_MERGED_PARTS {
                self.unsupported(join.at, "a column that is merged of so many");
                return (pairs, merged);
            }
            let depth = self.scopes.len().saturating_sub(1);
            let left_expr = self.target(depth, &left, join.at);
            let right_expr = self.target(depth, &right, join.at);
            let (left_ty, right_ty) = (left_expr.ty, right_expr.ty);
            let builtin = self.implied_operator("=", left_ty, right_ty, join.at);
            merged.push((name.clone(), self.merged(join.kind, (left, left_ty), (right, right_ty), builtin)));
            pairs.push(Pair { left: left_expr, right: right_expr, builtin });
        }
        (pairs, merged)
    }

    /// What a merged column is: one side's, where that side has the common type. A cast to another type may make
    /// other values equal (a real of integers, a char(n) of texts), as COALESCE of both does.
    fn merged(
        &self,
        kind: JoinKind,
        (left, left_ty): (Target, TypeId),
        (right, right_ty): (Target, TypeId),
        builtin: bool,
    ) -> Target {
        let common = self.unify([left_ty, right_ty].into_iter());
        let is_common = |ty: TypeId| ty == common && ty != TypeId::NONE || mutant!(MergedTypeIgnored);
        match kind {
            JoinKind::Right | JoinKind::Full if mutant!(MergedIsLeft) => left,
            JoinKind::Inner | JoinKind::Left if is_common(left_ty) => left,
            JoinKind::Inner | JoinKind::Right if is_common(right_ty) => right,
            JoinKind::Inner | JoinKind::Left | JoinKind::Right if !builtin => Target::Missing,
            JoinKind::Inner | JoinKind::Left | JoinKind::Right | JoinKind::Full => {
                match left == Target::Missing || right == Target::Missing {
                    true => Target::Missing,
                    false => Target::Merged(vec![left, right]),
                }
            }
        }
    }

    pub(super) fn using_column(&mut self, items: &[Item<'c>], name: &str, side: &str, at: At) -> Target {
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
    pub(super) fn join_items(
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
}
