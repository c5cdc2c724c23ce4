//! Column names: what they mean where they stand, as parse_relation.c and parse_func.c look them
//! up: columns from the innermost level outwards, then whole rows, then functions in attribute
//! notation.

use super::Resolver;
use super::bound::*;
use super::call::is_own;
use super::expr::one_type;
use super::output::NAMELESS;
use super::scope::{Found, Item, Scope, Target, What};
use super::uses::*;
use crate::catalog::TypeId;
use crate::ir::{self, At};
use crate::mutants::mutant;
use crate::{Code, Denial, Object, Rule, SqlState};

/// The most columns for which `*` stands in one statement, in all its places: a few bytes each time.
const MAX_STARRED: usize = 64 * MAX_COLUMNS;
/// The most comparisons of names by which columns are found, in one statement.
const MAX_NAMES_COMPARED: usize = 4 * MAX_COLUMNS * MAX_COLUMNS;

impl<'c> Resolver<'c> {
    pub(super) fn column(&mut self, column: &ir::ColumnRef) -> Expr<'c> {
        if column.star {
            // `t.*` outside a list of outputs is the whole row; a bare `*` there is an error.
            return match column.parts.is_empty() {
                true => {
                    self.unsupported(column.at, "* here");
                    self.refused(column.at)
                }
                false => match self.item_of(&column.parts, column.at) {
                    Some((depth, item)) => self.whole_row(depth, &item, column.at),
                    None => self.refused(column.at),
                },
            };
        }
        match column.parts.as_slice() {
            [] => self.refused(column.at),
            [name] => self.bare(name, column.at),
            [qualifier @ .., name] => match self.item_of(qualifier, column.at) {
                Some((depth, item)) => self.member(depth, &item, name, column.at),
                None => self.refused(column.at),
            },
        }
    }

    /// `name`: a column, then a whole row.
    pub(super) fn bare(&mut self, name: &str, at: At) -> Expr<'c> {
        if self.compares_too_much(1, self.scopes.iter().map(Scope::width).sum(), at) {
            return self.refused(at);
        }
        for depth in (0..self.scopes.len()).rev() {
            let Some(scope) = self.scopes.get(depth) else { continue };
            match scope.column(name) {
                Found::Nothing => {}
                Found::One(target) => return self.target(depth, &target, at),
                Found::Several => {
                    return self.ambiguous(at, format!("column reference \"{name}\" is ambiguous"));
                }
                Found::Forbidden => return self.forbidden(at, name),
            }
        }
        for depth in (0..self.scopes.len()).rev() {
            let Some(scope) = self.scopes.get(depth) else { continue };
            match scope.item(None, name) {
                Found::Nothing => {}
                Found::One(item) => {
                    let item = item.clone();
                    return self.whole_row(depth, &item, at);
                }
                Found::Several => {
                    return self.ambiguous(at, format!("table reference \"{name}\" is ambiguous"));
                }
                Found::Forbidden => return self.forbidden(at, name),
            }
        }
        self.unknown_column(at, format!("column \"{name}\" does not exist"))
    }

    /// Whether so many names are too many, each of which is looked for among so many columns.
    pub(super) fn compares_too_much(&mut self, names: usize, columns: usize, at: At) -> bool {
        let before = self.compared;
        self.compared = before.saturating_add(columns.saturating_mul(names));
        let too_much = self.compared > MAX_NAMES_COMPARED;
        if too_much && before <= MAX_NAMES_COMPARED {
            self.unsupported(at, "looking for so many names in so many columns");
        }
        too_much
    }

    /// The item that a qualifier names, with the depth of its scope.
    pub(super) fn item_of(&mut self, qualifier: &[ir::Name], at: At) -> Option<(usize, Item<'c>)> {
        let (schema, name) = match qualifier {
            [name] => (None, name),
            [schema, name] => (Some(&**schema), name),
            [database, schema, name] if **database == *self.world.catalog.database() => {
                (Some(&**schema), name)
            }
            _ => {
                self.unsupported(at, "a name in another database");
                return None;
            }
        };
        if mutant!(QualifierAsText)
            && let Some(found) = self.item_of_text(name)
        {
            return Some(found);
        }
        for depth in (0..self.scopes.len()).rev() {
            let Some(scope) = self.scopes.get(depth) else { continue };
            match scope.item(schema, name) {
                Found::Nothing => {}
                Found::One(item) => return Some((depth, item.clone())),
                Found::Several => {
                    self.ambiguous(at, format!("table reference \"{name}\" is ambiguous"));
                    return None;
                }
                Found::Forbidden => {
                    self.forbidden(at, name);
                    return None;
                }
            }
        }
        let place = self.at(at);
        self.deny(
            Denial::new(
                Rule::Relations,
                Code::RelationUnknown,
                place,
                format!("missing FROM-clause entry for table \"{name}\""),
            )
            .sqlstate(SqlState::UNDEFINED_TABLE),
        );
        None
    }

    /// What the mutant that compares qualifiers as text finds: the relation of that name.
    fn item_of_text(&self, name: &str) -> Option<(usize, Item<'c>)> {
        let named = |scope: &Scope<'c>, item: &&Item<'c>| match &item.what {
            What::Source(rel) => scope
                .source(*rel)
                .and_then(Source::relation)
                .is_some_and(|relation| *relation.name.name == *name),
            What::Join(_) | What::Unknown => false,
        };
        let mut scopes = self.scopes.iter().enumerate().rev();
        scopes.find_map(|(depth, scope)| {
            let item = scope.items.iter().find(|item| named(scope, item))?;
            Some((depth, item.clone()))
        })
    }

    /// `item.name`: a column, else the function of that name over the whole row.
    pub(super) fn member(&mut self, depth: usize, item: &Item<'c>, name: &str, at: At) -> Expr<'c> {
        let found = match self.scopes.get(depth) {
            Some(scope) => scope.columns_named(item, name),
            None => Vec::new(),
        };
        match found.as_slice() {
            [target] => self.target(depth, target, at),
            [] => {
                let row = self.whole_row(depth, item, at);
                let title = item.name.clone().unwrap_or_default();
                self.field_call(row, name, at, &format!("column {title}.{name} does not exist"))
            }
            _ => self.ambiguous(at, format!("column reference \"{name}\" is ambiguous")),
        }
    }

    /// The expression that a name's meaning stands for; enters the column into the uses.
    pub(super) fn target(&mut self, depth: usize, target: &Target, at: At) -> Expr<'c> {
        match target {
            Target::Missing => self.refused(at),
            Target::Column(col) => {
                let place = self.at(at);
                let source = self.scopes.get(depth).and_then(|scope| scope.source(col.rel));
                let ty = source.and_then(|source| source.column(col.column));
                let relation = source.and_then(Source::shape);
                if let Some(relation) = source.and_then(Source::relation) {
                    self.rows.insert((col.level, col.rel), relation);
                }
                if let Some(relation) = relation {
                    let column = UsedColumn::At(col.column);
                    self.uses.columns.push(ColumnUse { relation, column, at: place });
                }
                if !ty.is_some_and(|ty| ty.deterministic) {
                    self.nondeterministic.insert(*col);
                }
                let ty = ty.map_or(TypeId::NONE, |ty| ty.ty);
                self.made(ExprNode::Column(*col), ty, at)
            }
            Target::System(rel, name) => {
                let place = self.at(at);
                let scope = self.scopes.get(depth);
                let relation = scope.and_then(|scope| scope.source(*rel)).and_then(Source::shape);
                let Some(scope) = scope else { return self.refused(at) };
                let node = ExprNode::System { level: scope.level, rel: *rel, name };
                if let Some(relation) = relation {
                    let column = UsedColumn::System(name);
                    self.uses.columns.push(ColumnUse { relation, column, at: place });
                }
                self.made(node, TypeId::NONE, at)
            }
            Target::Merged(targets) => {
                let parts: Vec<Expr<'c>> =
                    targets.iter().map(|target| self.target(depth, target, at)).collect();
                let ty = one_type(parts.iter().map(|part| part.ty));
                self.made(ExprNode::Merged(parts), ty, at)
            }
        }
    }

    pub(super) fn whole_row(&mut self, depth: usize, item: &Item<'c>, at: At) -> Expr<'c> {
        match &item.what {
            What::Unknown => self.refused(at),
            What::Source(rel) => {
                let place = self.at(at);
                let Some(scope) = self.scopes.get(depth) else { return self.refused(at) };
                let source = scope.source(*rel);
                if source.is_some_and(|source| matches!(source.kind, SourceKind::Missing)) {
                    return self.refused(at);
                }
                let level = scope.level;
                let relation = source.and_then(Source::shape);
                if let Some(relation) = relation {
                    let column = UsedColumn::WholeRow;
                    self.uses.columns.push(ColumnUse { relation, column, at: place });
                }
                self.made(ExprNode::WholeRow { level, rel: *rel }, TypeId::RECORD, at)
            }
            What::Join(columns) => {
                let targets: Vec<Target> = columns.iter().map(|(_, target)| target.clone()).collect();
                let parts = targets.iter().map(|target| self.target(depth, target, at)).collect();
                self.made(ExprNode::Other(parts), TypeId::RECORD, at)
            }
        }
    }

    /// The columns that `*`, `t.*` or `(t).*` stands for in a list, with their names; none for other
    /// expressions, of which `(row).*` may stand for any number of columns.
    pub(super) fn spread(&mut self, expr: &ir::Expr) -> Option<Vec<(ir::Name, Expr<'c>)>> {
        match expr {
            ir::Expr::Column(column) if column.star => Some(self.star(column)),
            ir::Expr::FieldStar(arg, at) => {
                let ir::Expr::Column(column) = &**arg else { return None };
                let (depth, item) = self.row_item(column)?;
                Some(self.columns_of(depth, &[item], *at))
            }
            ir::Expr::Const(_)
            | ir::Expr::Param { .. }
            | ir::Expr::Column(_)
            | ir::Expr::Call(_)
            | ir::Expr::Op(_)
            | ir::Expr::Bool { .. }
            | ir::Expr::Not(..)
            | ir::Expr::Is { .. }
            | ir::Expr::Cast { .. }
            | ir::Expr::Collate { .. }
            | ir::Expr::Sublink(_)
            | ir::Expr::Case { .. }
            | ir::Expr::Special { .. }
            | ir::Expr::Row(..)
            | ir::Expr::Array(..)
            | ir::Expr::Field { .. }
            | ir::Expr::Subscript { .. }
            | ir::Expr::Default(_)
            | ir::Expr::Unsupported(_) => None,
        }
    }

    fn star(&mut self, column: &ir::ColumnRef) -> Vec<(ir::Name, Expr<'c>)> {
        if !column.parts.is_empty() {
            return match self.item_of(&column.parts, column.at) {
                Some((depth, item)) => self.columns_of(depth, &[item], column.at),
                None => vec![("?column?".into(), self.refused(column.at))],
            };
        }
        let Some(depth) = self.scopes.len().checked_sub(1) else { return Vec::new() };
        let items = self
            .scopes
            .get(depth)
            .map(|scope| scope.items.iter().filter(|item| item.by_column).cloned().collect::<Vec<_>>());
        let items = items.unwrap_or_default();
        if items.is_empty() {
            self.unsupported(column.at, "SELECT * with no tables specified");
        }
        self.columns_of(depth, &items, column.at)
    }

    /// One refused column stands for all of an item whose columns are not known.
    fn columns_of(&mut self, depth: usize, items: &[Item<'c>], at: At) -> Vec<(ir::Name, Expr<'c>)> {
        if self.starred > MAX_STARRED {
            return vec![(NAMELESS.into(), self.refused(at))];
        }
        let mut outputs = Vec::new();
        for item in items {
            if outputs.len() > MAX_COLUMNS {
                break;
            }
            let columns = self.scopes.get(depth).and_then(|scope| scope.all_columns(item));
            match columns {
                Some(columns) => {
                    for (name, target) in columns {
                        let expr = self.target(depth, &target, at);
                        outputs.push((name, expr));
                    }
                }
                None => outputs.push((NAMELESS.into(), self.refused(at))),
            }
        }
        self.starred = self.starred.saturating_add(outputs.len());
        if self.starred > MAX_STARRED {
            self.unsupported(at, "* that stands for so many columns in one statement");
        }
        outputs
    }

    /// `(x).field`.
    pub(super) fn field(&mut self, arg: &ir::Expr, field: &str, at: At) -> Expr<'c> {
        // `(t).c` of a source is its column.
        if let ir::Expr::Column(column) = arg
            && let Some((depth, item)) = self.row_item(column)
        {
            return self.member(depth, &item, field, at);
        }
        let arg = self.expr(arg);
        let message = format!("column \"{field}\" not found in data type");
        self.field_call(arg, field, at, &message)
    }

    /// The item whose whole row a name is, where it is one.
    pub(super) fn row_item(&self, column: &ir::ColumnRef) -> Option<(usize, Item<'c>)> {
        let [name] = column.parts.as_slice() else { return None };
        for depth in (0..self.scopes.len()).rev() {
            let scope = self.scopes.get(depth)?;
            if !column.star && !matches!(scope.column(name), Found::Nothing) && !mutant!(RowBeforeColumn) {
                return None;
            }
        }
        for depth in (0..self.scopes.len()).rev() {
            match self.scopes.get(depth)?.item(None, name) {
                Found::Nothing => {}
                Found::One(item) => return Some((depth, item.clone())),
                Found::Several | Found::Forbidden => return None,
            }
        }
        None
    }

    /// A field that is not known: PostgreSQL may call the function of that name (policy 4.5).
    pub(super) fn field_call(&mut self, row: Expr<'c>, name: &str, at: At, message: &str) -> Expr<'c> {
        if matches!(row.node, ExprNode::Refused) {
            return row;
        }
        let path = ir::Path { parts: vec![name.into()], at: self.at(at) };
        let candidates: Vec<_> =
            self.functions_named(&path, false).into_iter().filter(|function| function.takes(1)).collect();
        let known_row = matches!(row.node, ExprNode::WholeRow { .. });
        if candidates.is_empty() && known_row {
            return self.unknown_column(at, message.to_owned());
        }
        // As `type(value)`: where the field is there nothing is cast, but that is not known here.
        let cast = !known_row && self.names_type(&path, &row);
        if candidates.is_empty() && !cast {
            return self.made(ExprNode::Other(vec![row]), TypeId::NONE, at);
        }
        let builtin = !candidates.is_empty() && candidates.iter().all(|function| is_own(function));
        let name = if candidates.is_empty() { "cast".into() } else { name.into() };
        if !candidates.is_empty() {
            self.note_nature(&candidates, false, &[&row]);
            let args = self.args(std::slice::from_ref(&row));
            let in_view = self.in_view();
            let place = self.place;
            self.uses.functions.push(FunctionUse { path, candidates, args, place, in_view, field: true });
        }
        let call = Call { name, builtin, args: vec![row], rest: Vec::new() };
        self.made(ExprNode::Call(Box::new(call)), TypeId::NONE, at)
    }

    pub(super) fn ambiguous(&mut self, at: At, message: String) -> Expr<'c> {
        let place = self.at(at);
        self.deny(Denial::new(Rule::Columns, Code::Ambiguous, place, message).sqlstate(SqlState("42702")));
        self.refused(at)
    }

    pub(super) fn forbidden(&mut self, at: At, name: &str) -> Expr<'c> {
        let message = format!("invalid reference to FROM-clause entry for table \"{name}\"");
        let place = self.at(at);
        self.deny(
            Denial::new(Rule::Columns, Code::ColumnUnknown, place, message).sqlstate(SqlState("42P10")),
        );
        self.refused(at)
    }

    pub(super) fn unknown_column(&mut self, at: At, message: String) -> Expr<'c> {
        let place = self.at(at);
        self.deny(
            Denial::new(Rule::Columns, Code::ColumnUnknown, place, message)
                .sqlstate(SqlState::UNDEFINED_COLUMN)
                .object(Object::default()),
        );
        self.refused(at)
    }
}
