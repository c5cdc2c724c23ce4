//! INSERT, UPDATE, DELETE, MERGE (policy 3.5, 3.6): rows that are written are the tenant's, and
//! rows that are changed were.

use std::collections::BTreeSet;

use super::classes::{ClassId, Scope};
use super::hints::{literal, object};
use super::joins::Condition;
use super::level::{Level, Outcome};
use super::restriction::{Implied, carried};
use super::{Demands, Facts, Proof, Prover, learn};
use crate::catalog::{Relation, UniqueKey};
use crate::ir::{At, MergeWhen};
use crate::resolve::*;
use crate::{Code, Denial, LimitName, Rule};

/// The target of a change.
#[derive(Clone, Copy)]
struct Target<'c> {
    relation: &'c Relation,
    level: LevelId,
    column: u32,
    class: ClassId,
}

impl Target<'_> {
    fn col(&self, rel: Rel) -> Col {
        Col { level: self.level, rel, column: self.column }
    }
}

/// The target's place in UPDATE, DELETE, MERGE and INSERT; EXCLUDED's in INSERT.
const TARGET: Rel = Rel(0);
const EXCLUDED: Rel = Rel(1);

impl<'c> Prover<'_, 'c> {
    fn target(&self, source: &Source<'c>, level: LevelId) -> Option<Target<'c>> {
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
        update.returning.iter().for_each(|expr| self.check_expr(expr));
        self.check_with(&update.with);
    }

    pub(super) fn check_delete(&self, delete: &Delete<'c>) {
        self.check_changed(delete.level, &delete.from, &delete.filter);
        delete.returning.iter().for_each(|expr| self.check_expr(expr));
        self.check_with(&delete.with);
    }

    fn check_changed(&self, id: LevelId, from: &From<'c>, filter: &DmlFilter<'c>) {
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
        self.check_sources(from, id, &outcome, &BTreeSet::new());
        match filter {
            DmlFilter::Condition(condition) => self.check_expr(condition),
            DmlFilter::Nothing | DmlFilter::CurrentOf(_) => {}
        }
    }

    /// The tenant column is not assigned, or is assigned T or itself.
    fn check_assignments(&self, target: &Target<'c>, set: &[Assignment<'c>]) {
        let writes = |written: &Written<'c>| written.column == Some(target.column);
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
    fn may_be_written(&self, target: &Target<'c>, value: &Expr<'c>) -> bool {
        if let ExprNode::Column(col) = &value.node
            && *col == target.col(TARGET)
        {
            return true;
        }
        match self.own_operand(value, target.class) {
            Some(proof) if !proof.nullable => {
                self.rely(&proof);
                true
            }
            Some(_) | None => false,
        }
    }

    fn column_write(&self, target: &Target<'c>, at: At) -> Denial {
        let column = self.tenant_column_name(target.relation).unwrap_or_default();
        let denial = Denial::new(
            Rule::Tenancy,
            Code::TenantColumnWrite,
            at,
            format!("column \"{column}\" may not be set to anything but the tenant's own value"),
        )
        .object(object(target.relation, Some(&column)));
        match self.classes.own(target.class) {
            Some(own) => denial.hint(format!("leave \"{column}\" out, or set it to {}", literal(own))),
            None => denial,
        }
    }

    // ---- INSERT ----

    pub(super) fn check_insert(&self, insert: &Insert<'c>) {
        let target = self.target(&insert.target, insert.level);
        if let Some(relation) = insert.target.relation()
            && self.classes.scope(self.cx, relation) == Scope::NoOwn
        {
            self.deny(self.no_own(relation, &insert.target));
        }
        let before = self.denials.borrow().len();
        if let Some(target) = &target {
            self.check_rows(target, insert);
        }
        let own_rows = self.denials.borrow().len() == before;
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
        for written in &insert.columns {
            written.subscripts.iter().for_each(|expr| self.check_expr(expr));
        }
        if let Some(target) = target.filter(|_| own_rows) {
            // RETURNING reads rows that were just written: they are T.
            learn(&mut self.facts.borrow_mut(), (target.col(TARGET), target.class), Proof::default());
        }
        insert.returning.iter().for_each(|expr| self.check_expr(expr));
        self.check_with(&insert.with);
    }

    /// Each inserted row's tenant column is T.
    fn check_rows(&self, target: &Target<'c>, insert: &Insert<'c>) {
        let written = (0..).zip(&insert.columns).find(|(_, w)| w.column == Some(target.column));
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
        match &insert.source {
            InsertSource::DefaultValues => self.deny(self.missing_column(target, insert.target.at)),
            InsertSource::Values(rows) => {
                for row in rows {
                    self.check_cell(target, row.get(at), insert.target.at);
                }
            }
            InsertSource::Query(query) => {
                let outputs = self.outputs_of(query);
                match outputs.get(at).and_then(|known| known.get(&target.class)) {
                    Some(proof) if !proof.nullable => self.rely(proof),
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

    fn check_cell(&self, target: &Target<'c>, cell: Option<&Expr<'c>>, at: At) {
        let Some(cell) = cell else {
            self.deny(self.missing_column(target, at));
            return;
        };
        if matches!(cell.node, ExprNode::Default) && self.default_is_own(target) {
            return;
        }
        match self.own_operand(cell, target.class) {
            Some(proof) if !proof.nullable => self.rely(&proof),
            Some(_) | None => {
                self.deny(self.wrong_row(target, cell.at.or(at), self.some_constant(cell)));
            }
        }
    }

    /// The column's default is T itself, as pg_get_expr prints a constant.
    fn default_is_own(&self, target: &Target<'c>) -> bool {
        let Some(own) = self.classes.own(target.class) else { return false };
        let column = target.relation.columns.get(target.column as usize);
        let default = column.filter(|column| !column.generated && column.identity.is_none());
        let Some(text) = default.and_then(|column| column.default.as_deref()) else { return false };
        let literal = literal(own);
        ["", "::text", "::character varying", "::integer", "::bigint", "::smallint", "::uuid"]
            .iter()
            .any(|cast| text.strip_suffix(cast) == Some(&literal))
    }

    fn missing_column(&self, target: &Target<'c>, at: At) -> Denial {
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
            Some(own) => denial.hint(format!("insert {} into column \"{column}\"", literal(own))),
            None => denial,
        }
    }

    fn wrong_row(&self, target: &Target<'c>, at: At, constant: bool) -> Denial {
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
            Some(own) => denial.hint(format!("insert {} into column \"{column}\"", literal(own))),
            None => denial,
        }
    }

    // ---- ON CONFLICT ----

    fn check_conflict(&self, target: &Target<'c>, insert: &Insert<'c>, conflict: &Conflict<'c>) {
        let by_key = self.arbiter_has_tenant(target, &conflict.arbiter);
        if !by_key {
            let guarded = match &conflict.update {
                None => true,
                Some(_) => self.guards_target(target, conflict.filter.as_ref()),
            };
            if !guarded {
                self.deny(self.conflict_denial(target, conflict.at));
            } else if let Err(code) = self.few_rows(insert) {
                self.deny(Denial { code, ..self.conflict_denial(target, conflict.at) });
            }
        }
        if let Some(set) = &conflict.update {
            self.check_assignments(target, set);
            // The row that is updated is T's: sub-selects may take their equality from it.
            learn(&mut self.facts.borrow_mut(), (target.col(TARGET), target.class), Proof::default());
        }
    }

    /// The source is VALUES of few rows: how many conflicts there were tells little.
    fn few_rows(&self, insert: &Insert<'c>) -> Result<(), Code> {
        match &insert.source {
            InsertSource::Values(rows) if rows.len() <= self.cx.role.limits.conflict_rows => Ok(()),
            InsertSource::Values(_) => Err(Code::Limit(LimitName::ConflictRows)),
            InsertSource::DefaultValues => Ok(()),
            InsertSource::Query(_) => Err(Code::TenantUnproven),
        }
    }

    /// The arbiter's columns include the tenant column, under a deterministic collation.
    fn arbiter_has_tenant(&self, target: &Target<'c>, arbiter: &Arbiter<'c>) -> bool {
        let keys = &target.relation.unique_keys;
        let tenant = target.relation.columns.get(target.column as usize).map(|c| c.name.clone());
        let has = |key: &UniqueKey| {
            key.columns
                .iter()
                .any(|column| column.name == tenant && column.collation_deterministic != Some(false))
        };
        match arbiter {
            Arbiter::Any => false,
            Arbiter::Constraint(name) => keys.iter().any(|key| *key.name == **name && has(key)),
            Arbiter::Columns { columns, .. } => {
                let named = columns.iter().any(|(column, plain)| *column == target.column && *plain);
                // PostgreSQL takes every unique index over these columns for the arbiter.
                let names: BTreeSet<&str> = columns
                    .iter()
                    .filter_map(|(column, _)| target.relation.columns.get(*column as usize))
                    .map(|column| &*column.name)
                    .collect();
                let over = |key: &&UniqueKey| {
                    let own: BTreeSet<&str> =
                        key.columns.iter().filter_map(|column| column.name.as_deref()).collect();
                    own == names
                };
                named && keys.iter().filter(over).all(has)
            }
        }
    }

    /// DO UPDATE … WHERE implies that the target's row is T's.
    fn guards_target(&self, target: &Target<'c>, filter: Option<&Expr<'c>>) -> bool {
        let Some(filter) = filter else { return false };
        let known = match self.implied(filter, true) {
            Implied::Anything => return true,
            Implied::Known(known) => known,
        };
        let mut facts = known.own;
        learn(&mut facts, (target.col(EXCLUDED), target.class), Proof::default());
        let own = target.col(TARGET);
        let carried = known
            .edges
            .iter()
            .filter(|edge| edge.carries && edge.to == own)
            .find_map(|edge| carried(&edge.from, |col| facts.get(&(*col, target.class))));
        match facts.get(&(own, target.class)).cloned().or(carried) {
            Some(proof) => {
                self.rely(&proof);
                true
            }
            None => false,
        }
    }

    fn conflict_denial(&self, target: &Target<'c>, at: At) -> Denial {
        let column = self.tenant_column_name(target.relation).unwrap_or_default();
        Denial::new(
            Rule::Tenancy,
            Code::TenantUnproven,
            at,
            format!("ON CONFLICT may reach a row of \"{}\" that is not the tenant's", target.relation.name.name),
        )
        .hint(format!(
            "name a unique key that contains \"{column}\", or add \"{}.{column} = EXCLUDED.{column}\" to the WHERE of DO UPDATE",
            target.relation.name.name
        ))
        .object(object(target.relation, Some(&column)))
    }

    // ---- MERGE ----

    pub(super) fn check_merge(&self, merge: &Merge<'c>) {
        // A row of the source that matches nothing is used by NOT MATCHED actions.
        let only_matched = merge.actions.iter().all(|action| match action.when {
            MergeWhen::Matched => true,
            MergeWhen::NotMatchedBySource | MergeWhen::NotMatchedByTarget => false,
        });
        let filters = match only_matched {
            true => Self::all_rels(&merge.from),
            false => BTreeSet::from([TARGET]),
        };
        let implied = self.implied(&merge.on, true);
        let conditions = vec![Condition { implied, filters }];
        let level = Level { id: merge.level, from: &merge.from, conditions, given: Facts::new() };
        let outcome: Outcome = self.solve(level);
        self.check_sources(&merge.from, merge.level, &outcome, &BTreeSet::new());
        self.check_expr(&merge.on);
        let target = merge.from.sources.first().and_then(|s| self.target(s, merge.level));
        for action in &merge.actions {
            action.condition.iter().for_each(|condition| self.check_expr(condition));
            if let Some(target) = &target {
                self.check_action(target, action, merge);
            }
            match &action.then {
                MergeThen::Nothing | MergeThen::Delete => {}
                MergeThen::Update(set) => assignment_exprs(set, &mut |expr| self.check_expr(expr)),
                MergeThen::Insert { values, .. } => {
                    values.iter().flatten().for_each(|value| self.check_expr(value));
                }
            }
        }
        merge.returning.iter().for_each(|expr| self.check_expr(expr));
        self.check_with(&merge.with);
    }

    fn check_action(&self, target: &Target<'c>, action: &MergeAction<'c>, merge: &Merge<'c>) {
        let at = merge.from.sources.first().and_then(|source| source.at);
        if action.when == MergeWhen::NotMatchedBySource
            && !self.guards_alone(target, action.condition.as_ref())
        {
            let name = &target.relation.name.name;
            self.deny(
                Denial::new(
                    Rule::Tenancy,
                    Code::TenantUnproven,
                    at,
                    format!(
                        "WHEN NOT MATCHED BY SOURCE reaches rows of \"{name}\" that are not the tenant's"
                    ),
                )
                .object(object(target.relation, None)),
            );
        }
        match &action.then {
            MergeThen::Nothing | MergeThen::Delete => {}
            MergeThen::Update(set) => self.check_assignments(target, set),
            MergeThen::Insert { columns, values, .. } => {
                let place = columns.iter().position(|w| w.column == Some(target.column) && !w.partial);
                match (place, values) {
                    (Some(place), Some(values)) => self.check_cell(target, values.get(place), at),
                    (_, _) if place.is_none() && values.is_some() && self.default_is_own(target) => {}
                    (_, _) => self.deny(self.missing_column(target, at)),
                }
            }
        }
    }

    /// The condition alone implies that the target's row is T's.
    fn guards_alone(&self, target: &Target<'c>, condition: Option<&Expr<'c>>) -> bool {
        let Some(condition) = condition else { return false };
        match self.implied(condition, true) {
            Implied::Anything => true,
            Implied::Known(known) => match known.own.get(&(target.col(TARGET), target.class)) {
                Some(proof) => {
                    self.rely(proof);
                    true
                }
                None => false,
            },
        }
    }
}

fn conflict_exprs<'e, 'c>(conflict: &'e Conflict<'c>, visit: &mut dyn FnMut(&'e Expr<'c>)) {
    match &conflict.arbiter {
        Arbiter::Any | Arbiter::Constraint(_) => {}
        Arbiter::Columns { rest, .. } => rest.iter().for_each(&mut *visit),
    }
    if let Some(set) = &conflict.update {
        assignment_exprs(set, visit);
    }
    conflict.filter.iter().for_each(visit);
}
