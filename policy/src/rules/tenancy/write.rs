//! INSERT, UPDATE, DELETE, MERGE (policy 3.5, 3.6): rows that are written are the tenant's, and
//! rows that are changed were.

use super::classes::{ClassId, Scope};
use super::conflict::conflict_exprs;
use super::hints::object;
use super::joins::Condition;
use super::level::{Level, ReadAgain};
use super::{Demands, Facts, Proof, Prover, learn};
use crate::catalog::Relation;
use crate::ir::At;
use crate::mutants::mutant;
use crate::resolve::{
    Assignment, Body, Col, Delete, DmlFilter, Expr, ExprNode, From, Insert, InsertSource, LevelId, Rel,
    Source, SourceKind, Update, Written, assignment_exprs, written_exprs,
};
use crate::{Code, Denial, Rule, Standing};

/// The target of a change.
#[derive(Clone, Copy)]
pub(super) struct Target<'c> {
    pub(super) relation: &'c Relation,
    pub(super) level: LevelId,
    pub(super) column: u32,
    pub(super) class: ClassId,
}

impl Target<'_> {
    pub(super) fn col(&self, rel: Rel) -> Col {
        Col { level: self.level, rel, column: self.column }
    }
}

/// The target's place in UPDATE, DELETE, MERGE and INSERT; EXCLUDED's in INSERT.
pub(super) const TARGET: Rel = Rel(0);
pub(super) const EXCLUDED: Rel = Rel(1);
/// The first place of what an INSERT's RETURNING names.
const OLD_AND_NEW: u32 = 2;

impl<'c> Prover<'_, 'c> {
    pub(super) fn target(&self, source: &Source<'c>, level: LevelId) -> Option<Target<'c>> {
        let relation = source.relation()?;
        match self.classes.scope(self.cx, relation) {
            Scope::Scoped { column, class } => Some(Target { relation, level, column, class }),
            Scope::NoOwn | Scope::Free => None,
        }
    }

    // ---- UPDATE and DELETE ----

    pub(super) fn check_update(&self, update: &Update<'c>) {
        self.check_changed(update.level, &update.from, &update.filter);
        if let Some(target) = update.from.sources.first().and_then(|s| self.target(s, update.level)) {
            self.check_assignments(&target, &update.set);
        }
        assignment_exprs(&update.set, &mut |expr| self.check_expr(expr));
        let target = update.from.sources.first().and_then(|s| self.target(s, update.level));
        self.forget_old_row(update.level, target.as_ref());
        self.learn_old_and_new(target.as_ref(), (0..).map(Rel).zip(&update.from.sources));
        self.check_returning(&update.returning);
        self.check_with(&update.with);
    }

    fn check_returning(&self, returning: &[Expr<'c>]) {
        if mutant!(ReturningUnchecked) {
            return;
        }
        returning.iter().for_each(|expr| self.check_expr(expr));
    }

    /// The conditions spoke of the row as it was; of the new one only the tenant column is known.
    pub(super) fn forget_old_row(&self, level: LevelId, target: Option<&Target<'c>>) {
        if mutant!(OldRowReturned) {
            return;
        }
        let kept = target.map(|target| (target.col(TARGET), target.class));
        self.facts.borrow_mut().retain(|key, _| {
            let of_target = key.0.level == level && key.0.rel == TARGET;
            !of_target || Some(*key) == kept
        });
    }

    /// OLD and NEW are rows of T's, or NULL: a row that was inserted had no old one, a removed one has no new
    /// one.
    pub(super) fn learn_old_and_new<'s>(
        &self,
        target: Option<&Target<'c>>,
        sources: impl Iterator<Item = (Rel, &'s Source<'c>)>,
    ) where
        'c: 's,
    {
        let Some(target) = target else { return };
        for (rel, source) in sources {
            if matches!(source.kind, SourceKind::Excluded(_)) {
                let proof = Proof { nullable: true, ..Proof::default() };
                learn(&mut self.facts.borrow_mut(), (target.col(rel), target.class), proof);
            }
        }
    }

    pub(super) fn check_delete(&self, delete: &Delete<'c>) {
        self.check_changed(delete.level, &delete.from, &delete.filter);
        let target = delete.from.sources.first().and_then(|s| self.target(s, delete.level));
        self.learn_old_and_new(target.as_ref(), (0..).map(Rel).zip(&delete.from.sources));
        self.check_returning(&delete.returning);
        self.check_with(&delete.with);
    }

    pub(super) fn check_changed(&self, id: LevelId, from: &From<'c>, filter: &DmlFilter<'c>) {
        self.enter(id, from);
        let mut conditions = Vec::new();
        match filter {
            DmlFilter::Nothing => {}
            DmlFilter::Condition(condition) => conditions
                .push(Condition { implied: self.implied(condition, true), filters: Self::all_rels(from) }),
            DmlFilter::CurrentOf(at) => {
                if from.sources.first().and_then(|source| self.target(source, id)).is_some() {
                    self.deny(Denial::new(
                        Rule::Tenancy,
                        Code::Unsupported,
                        *at,
                        "WHERE CURRENT OF is not supported on a tenant's table",
                    ));
                    return;
                }
            }
        }
        let outcome = self.solve(Level { id, from, conditions, given: Facts::new() });
        self.check_sources(from, id, &outcome, ReadAgain::Target);
        match filter {
            DmlFilter::Condition(condition) => {
                self.check_memberships(Some(condition));
                self.check_expr(condition);
            }
            DmlFilter::Nothing | DmlFilter::CurrentOf(_) => {}
        }
    }

    /// The tenant column is not assigned, or is assigned T or itself.
    pub(super) fn check_assignments(&self, target: &Target<'c>, set: &[Assignment<'c>]) {
        let writes =
            |written: &Written<'c>| written.column == Some(target.column) && !mutant!(SetTenantUnchecked);
        let tenant = target.relation.columns.get(target.column as usize);
        let computed = tenant.is_some_and(|column| column.generated) && !mutant!(ComputedTenantIgnored);
        if let (Some(first), true) = (set.first(), computed) {
            // It follows from the other columns, and nobody looks into how.
            let at = match first {
                Assignment::One { column, .. } => column.at,
                Assignment::Many { columns, .. } => columns.first().and_then(|column| column.at),
            };
            return self.deny(self.column_write(target, at));
        }
        for assignment in set {
            match assignment {
                Assignment::One { column, value } if writes(column) => {
                    if column.partial || !self.may_be_written(target, value) {
                        self.deny(self.column_write(target, column.at));
                    }
                }
                Assignment::One { .. } => {}
                Assignment::Many { columns, value } => {
                    for (at, column) in columns.iter().enumerate().filter(|(_, c)| writes(c)) {
                        let cell = value.as_row().and_then(|fields| fields.get(at));
                        let good = cell.is_some_and(|value| self.may_be_written(target, value));
                        if column.partial || !good {
                            self.deny(self.column_write(target, column.at));
                        }
                    }
                }
            }
        }
    }

    /// T, or the target's own tenant column, or EXCLUDED's where that is T.
    pub(super) fn may_be_written(&self, target: &Target<'c>, value: &Expr<'c>) -> bool {
        if let ExprNode::Column(col) = &value.node
            && *col == target.col(TARGET)
        {
            return true;
        }
        match self.own_operand(value, target.class) {
            Some(proof) if !proof.nullable || mutant!(NullableInserted) => {
                self.rely(&proof);
                true
            }
            Some(_) | None => false,
        }
    }

    pub(super) fn column_write(&self, target: &Target<'c>, at: At) -> Denial {
        let column = self.tenant_column_name(target.relation).unwrap_or_default();
        let denial = Denial::new(
            Rule::Tenancy,
            Code::TenantColumnWrite,
            at,
            format!("column \"{column}\" may not be set to anything but the tenant's own value"),
        )
        .object(object(target.relation, Some(&column)));
        match self.classes.own(target.class) {
            Some(own) => denial.hint(format!("leave \"{column}\" out, or set it to {}", own.literal())),
            None => denial,
        }
    }

    // ---- INSERT ----

    pub(super) fn check_insert(&self, insert: &Insert<'c>) {
        let target = self.target(&insert.target, insert.level);
        if let Some(relation) = insert.target.relation()
            && self.classes.scope(self.cx, relation) == Scope::NoOwn
        {
            self.note(&insert.target, || Standing::NoValue);
            self.deny(self.no_own(relation, &insert.target));
        }
        let before = self.denials.borrow().len();
        if let Some(target) = &target {
            self.check_rows(target, insert);
        }
        let own_rows = self.denials.borrow().len() == before;
        if target.is_some() {
            self.note(&insert.target, || match own_rows {
                true => Standing::Written,
                false => {
                    let missing = self.denials.borrow().get(before).and_then(|denial| denial.hint.clone());
                    Standing::Unrestricted { missing }
                }
            });
        }
        match &insert.source {
            InsertSource::DefaultValues => {}
            InsertSource::Values(rows) => {
                rows.iter().flatten().for_each(|cell| self.check_expr(cell));
            }
            InsertSource::Query(query) => self.check_query(query, &Demands::new()),
        }
        if let Some(conflict) = &insert.conflict {
            if let Some(target) = target.filter(|_| own_rows) {
                let excluded = (target.col(EXCLUDED), target.class);
                learn(&mut self.facts.borrow_mut(), excluded, Proof::default());
                self.check_conflict(&target, insert, conflict);
            }
            conflict_exprs(conflict, &mut |expr| self.check_expr(expr));
        }
        if !mutant!(SubscriptsUnchecked) {
            written_exprs(&insert.columns, &mut |expr| self.check_expr(expr));
        }
        if let Some(target) = target.filter(|_| own_rows) {
            // RETURNING reads rows that were just written: they are T.
            learn(&mut self.facts.borrow_mut(), (target.col(TARGET), target.class), Proof::default());
        }
        let returned = (OLD_AND_NEW..).map(Rel).zip(&insert.old_and_new);
        self.learn_old_and_new(target.filter(|_| own_rows).as_ref(), returned);
        self.check_returning(&insert.returning);
        self.check_with(&insert.with);
    }

    /// Each inserted row's tenant column is T.
    pub(super) fn check_rows(&self, target: &Target<'c>, insert: &Insert<'c>) {
        let written = (0..).zip(&insert.columns).find(|(_, w)| w.column == Some(target.column));
        if mutant!(InsertUnchecked) {
            return;
        }
        let Some((at, written)) = written else {
            if !self.default_is_own(target) {
                self.deny(self.missing_column(target, insert.target.at));
            }
            return;
        };
        if written.partial {
            self.deny(self.wrong_row(target, written.at, false));
            return;
        }
        let at = if mutant!(InsertByTableOrder) { target.column as usize } else { at };
        match &insert.source {
            InsertSource::DefaultValues => self.deny(self.missing_column(target, insert.target.at)),
            InsertSource::Values(rows) => {
                let judged = if mutant!(FirstRowOnly) { 1 } else { rows.len() };
                for row in rows.iter().take(judged) {
                    self.check_cell(target, row.get(at), insert.target.at);
                }
            }
            InsertSource::Query(_) if mutant!(InsertSelectUnchecked) => {}
            InsertSource::Query(query) => {
                let outputs = self.outputs_of(query);
                // A padded NULL is no row of anybody's there: the INSERT fails.
                let column = target.relation.columns.get(target.column as usize);
                let not_null = column.is_some_and(|column| column.not_null);
                match outputs.get(at).and_then(|known| known.get(&target.class)) {
                    Some(proof)
                        if !proof.nullable || proof.padded && not_null || mutant!(NullableInserted) =>
                    {
                        self.rely(proof)
                    }
                    Some(_) | None => {
                        let constant = match &query.body {
                            Body::Select(select) => {
                                select.targets.get(at).is_some_and(|expr| self.some_constant(expr))
                            }
                            Body::Values(_) | Body::Set { .. } => false,
                        };
                        self.deny(self.wrong_row(target, written.at, constant));
                    }
                }
            }
        }
    }

    pub(super) fn check_cell(&self, target: &Target<'c>, cell: Option<&Expr<'c>>, at: At) {
        let Some(cell) = cell else {
            self.deny(self.missing_column(target, at));
            return;
        };
        if matches!(cell.node, ExprNode::Default) && self.default_is_own(target) {
            return;
        }
        match self.own_operand(cell, target.class) {
            Some(proof) if !proof.nullable || mutant!(NullableInserted) => self.rely(&proof),
            Some(_) | None => {
                self.deny(self.wrong_row(target, cell.at.or(at), self.some_constant(cell)));
            }
        }
    }

    /// The column's default is T itself, as pg_get_expr prints a constant.
    pub(super) fn default_is_own(&self, target: &Target<'c>) -> bool {
        let Some(own) = self.classes.own(target.class) else { return false };
        let column = target.relation.columns.get(target.column as usize);
        let default = column.filter(|column| !column.generated && column.identity.is_none());
        let Some(text) = default.and_then(|column| column.default.as_deref()) else { return false };
        self.cx.constants().default_is_own(text, target.class.group(), own)
    }

    pub(super) fn missing_column(&self, target: &Target<'c>, at: At) -> Denial {
        let column = self.tenant_column_name(target.relation).unwrap_or_default();
        let name = &target.relation.name.name;
        let denial = Denial::new(
            Rule::Tenancy,
            Code::TenantUnproven,
            at,
            format!("rows for \"{name}\" do not say whose they are: column \"{column}\" is missing"),
        )
        .object(object(target.relation, Some(&column)));
        match self.classes.own(target.class) {
            Some(own) => denial.hint(format!("insert {} into column \"{column}\"", own.literal())),
            None => denial,
        }
    }

    pub(super) fn wrong_row(&self, target: &Target<'c>, at: At, constant: bool) -> Denial {
        let column = self.tenant_column_name(target.relation).unwrap_or_default();
        let code = if constant { Code::TenantMismatch } else { Code::TenantUnproven };
        let denial = Denial::new(
            Rule::Tenancy,
            code,
            at,
            format!("column \"{column}\" of an inserted row is not the tenant's own value"),
        )
        .object(object(target.relation, Some(&column)));
        match self.classes.own(target.class) {
            Some(own) => denial.hint(format!("insert {} into column \"{column}\"", own.literal())),
            None => denial,
        }
    }

    // ---- ON CONFLICT ----

    // ---- MERGE ----
}
