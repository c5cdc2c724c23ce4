//! What a condition implies (policy 3.1): pure logic over one expression.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::classes::{ClassId, Scope};
use super::equality::Columns;
use super::{Facts, Proof, Prover, learn};
use crate::Family;
use crate::ir::{BoolOp, IsTest, OpForm, SublinkKind};
use crate::mutants::mutant;
use crate::resolve::{Col, Expr, ExprNode, LevelId, Operand, Operation, Rel, Sublink};

/// What is true in every row that satisfies a condition.
#[derive(Debug, Clone)]
pub(super) enum Implied {
    /// No row satisfies it.
    Anything,
    /// These.
    Known(Known),
}

#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// Columns that are T.
    pub(super) own: Facts,
    /// Equal columns.
    pub(super) edges: BTreeSet<Edge>,
    /// Occurrences of which some column is not NULL then: an outer join that would extend them
    /// with NULLs is an inner one below this condition.
    pub(super) strict: BTreeSet<(LevelId, Rel)>,
}

/// If every column of `from` is T, then `to` is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) from: BTreeSet<Col>,
    pub(super) to: Col,
    pub(super) carries: Carries,
}

/// What an edge says of the column that it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Carries {
    /// The columns are equal, of whatever type: only a key may carry (policy 3.1).
    Nothing,
    /// T: the columns are equal, and of one tenant family.
    Equal,
    /// T or NULL, as it comes: a sub-select of LATERAL passes the column on.
    AsIs,
    /// T where it comes as T and nothing else: what such a sub-select passes on, looked at from its end.
    Back,
}

impl Implied {
    pub(super) fn nothing() -> Implied {
        Implied::Known(Known::default())
    }

    /// Both hold.
    fn and(self, other: Implied) -> Implied {
        match (self, other) {
            (Implied::Anything, _) | (_, Implied::Anything) => Implied::Anything,
            (Implied::Known(mut a), Implied::Known(b)) => {
                for (key, proof) in b.own {
                    learn(&mut a.own, key, proof);
                }
                a.edges.extend(b.edges);
                a.strict.extend(b.strict);
                Implied::Known(a)
            }
        }
    }

    /// One of the two holds, and nobody knows which.
    fn or(self, other: Implied) -> Implied {
        match (self, other) {
            (Implied::Anything, either) | (either, Implied::Anything) => either,
            (Implied::Known(a), Implied::Known(b)) => {
                let (a, b) = (a.closed(), b.closed());
                let own = a
                    .own
                    .iter()
                    .filter_map(|(key, proof)| Some((*key, proof.clone().and(b.own.get(key)?))))
                    .collect();
                let edges = a.edges.intersection(&b.edges).cloned().collect();
                let strict = a.strict.intersection(&b.strict).copied().collect();
                Implied::Known(Known { own, edges, strict })
            }
        }
    }
}

impl Known {
    /// With everything that its own edges carry.
    fn closed(mut self) -> Known {
        let edges = std::mem::take(&mut self.edges);
        let mut leading: BTreeMap<Col, Vec<&Edge>> = BTreeMap::new();
        for edge in edges.iter().filter(|edge| edge.carries == Carries::Equal) {
            for col in &edge.from {
                leading.entry(*col).or_default().push(edge);
            }
        }
        let mut news: Vec<(Col, ClassId)> = self.own.keys().copied().collect();
        while let Some((col, class)) = news.pop() {
            for edge in leading.get(&col).into_iter().flatten() {
                let known = |col: &Col| self.own.get(&(*col, class));
                if let Some(proof) = carried(&edge.from, known)
                    && learn(&mut self.own, (edge.to, class), proof)
                {
                    news.push((edge.to, class));
                }
            }
        }
        self.edges = edges;
        self
    }
}

/// The proof that all of these are T.
pub(super) fn carried<'f>(from: &BTreeSet<Col>, known: impl Fn(&Col) -> Option<&'f Proof>) -> Option<Proof> {
    let mut proofs = from.iter().map(known);
    let mut all = proofs.next()??.clone();
    for proof in proofs {
        all = all.and(proof?);
    }
    // An equality drops NULLs.
    all.nullable = false;
    Some(all)
}

impl<'c> Prover<'_, 'c> {
    /// What a condition implies when it is true, or (`positive` false) when it is false.
    pub(super) fn implied(&self, expr: &Expr<'c>, positive: bool) -> Implied {
        self.step();
        match &expr.node {
            ExprNode::Bool { op, args } => {
                let all = match (op, positive) {
                    (BoolOp::And, true) | (BoolOp::Or, false) => Implied::and,
                    (BoolOp::Or, true) if mutant!(OrAsAnd) => Implied::and,
                    (BoolOp::And, false) if mutant!(NotAndRefutesBoth) => Implied::and,
                    (BoolOp::Or, true) | (BoolOp::And, false) => Implied::or,
                };
                args.iter()
                    .map(|arg| self.implied(arg, positive))
                    .reduce(all)
                    .unwrap_or_else(Implied::nothing)
            }
            ExprNode::Not(arg) => self.implied(arg, !positive || mutant!(NotIsTransparent)),
            ExprNode::Is { arg, .. } if mutant!(IsAnythingCounts) => self.implied(arg, positive),
            ExprNode::Is { test: IsTest::True, positive: true, arg } if positive => self.implied(arg, true),
            ExprNode::Const(constant) => match constant.boolean() {
                Some(false) if positive => Implied::Anything,
                Some(_) | None => Implied::nothing(),
            },
            ExprNode::Op(op) => self.comparison(op, positive),
            ExprNode::Sublink(sublink) if positive || mutant!(NotInSelectCounts) => self.membership(sublink),
            ExprNode::Is { .. }
            | ExprNode::Param(_)
            | ExprNode::Column(_)
            | ExprNode::Merged(_)
            | ExprNode::System { .. }
            | ExprNode::WholeRow { .. }
            | ExprNode::Cast { .. }
            | ExprNode::Collate { .. }
            | ExprNode::Sublink(_)
            | ExprNode::Row(_)
            | ExprNode::Array(_)
            | ExprNode::Call(_)
            | ExprNode::Default
            | ExprNode::Other(_)
            | ExprNode::Refused => Implied::nothing(),
        }
    }

    fn comparison(&self, op: &Operation<'c>, positive: bool) -> Implied {
        if !op.builtin && !mutant!(OperatorIgnored) {
            return Implied::nothing();
        }
        let Some(left) = &op.left else { return Implied::nothing() };
        match (op.form, &*op.name, &op.right, positive) {
            (OpForm::Plain, "<>", Operand::One(right), true) if mutant!(NotEqualCounts) => {
                self.equal(left, right)
            }
            (OpForm::In, "<>", Operand::List(list), true) if mutant!(NotEqualCounts) => {
                self.one_of(left, list)
            }
            (OpForm::Plain, "=", Operand::One(right), true) => self.equal(left, right),
            (OpForm::Plain, "<>", Operand::One(right), false) => self.scalar(left, right, false),
            (OpForm::Plain, name, Operand::One(right), true) => self.constant_test(name, left, right),
            (OpForm::NotDistinct, _, Operand::One(right), true)
            | (OpForm::Distinct, _, Operand::One(right), false) => self.scalar(left, right, true),
            (OpForm::In, "=", Operand::List(list), true) | (OpForm::In, "<>", Operand::List(list), false) => {
                self.one_of(left, list)
            }
            (OpForm::Any, "=", Operand::One(right), true) => self.element_of(left, right),
            (
                OpForm::Plain
                | OpForm::Any
                | OpForm::All
                | OpForm::Distinct
                | OpForm::NotDistinct
                | OpForm::NullIf
                | OpForm::In
                | OpForm::Like
                | OpForm::ILike
                | OpForm::Similar
                | OpForm::Between
                | OpForm::NotBetween
                | OpForm::BetweenSymmetric
                | OpForm::NotBetweenSymmetric,
                _,
                _,
                _,
            ) => Implied::nothing(),
        }
    }

    /// `left = right` is true.
    pub(super) fn equal(&self, left: &Expr<'c>, right: &Expr<'c>) -> Implied {
        if let (ExprNode::Row(left), ExprNode::Row(right)) = (&left.node, &right.node) {
            if left.len() != right.len() {
                return Implied::nothing();
            }
            return left
                .iter()
                .zip(right)
                .map(|(left, right)| self.equal(left, right))
                .reduce(Implied::and)
                .unwrap_or_else(Implied::nothing);
        }
        for (condition, constant) in [(left, right), (right, left)] {
            if let ExprNode::Const(constant) = &constant.node
                && constant.boolean() == Some(true)
            {
                return self.implied(condition, true);
            }
        }
        if let Implied::Anything = self.constant_test("=", left, right) {
            return Implied::Anything;
        }
        self.scalar(left, right, false)
    }

    /// A comparison of two integer constants that is false.
    fn constant_test(&self, name: &str, left: &Expr<'c>, right: &Expr<'c>) -> Implied {
        let (ExprNode::Const(left), ExprNode::Const(right)) = (&left.node, &right.node) else {
            return Implied::nothing();
        };
        let Some(order) = self.cx.constants().compare(left, right) else { return Implied::nothing() };
        let holds = match name {
            "=" => Some(order == Ordering::Equal),
            "<>" => Some(order != Ordering::Equal),
            "<" => Some(order == Ordering::Less),
            ">" => Some(order == Ordering::Greater),
            "<=" => Some(order != Ordering::Greater),
            ">=" => Some(order != Ordering::Less),
            // Another operator: it says nothing.
            _ => None,
        };
        match holds {
            Some(false) => Implied::Anything,
            Some(true) if mutant!(ConstantsAreFalse) => Implied::Anything,
            Some(true) | None => Implied::nothing(),
        }
    }

    /// Two scalars are equal; `nulls`: NULL equals NULL (IS NOT DISTINCT FROM).
    fn scalar(&self, left: &Expr<'c>, right: &Expr<'c>, nulls: bool) -> Implied {
        let mut known = Known::default();
        let sides = (self.operand_column(left), self.operand_column(right));
        if let (Some(left), Some(right)) = &sides
            && !nulls
        {
            link(&mut known, left, right);
        }
        if !nulls {
            self.keys(&mut known, left, right);
        }
        for (columns, other) in [(&sides.0, right), (&sides.1, left)] {
            if let Some(columns) = columns {
                self.compare(&mut known, columns, |class| {
                    self.own_operand(other, class)
                        .filter(|proof| !(nulls && proof.nullable) || mutant!(NullIsOwn))
                });
                if known.own.is_empty() && self.some_constant(other) {
                    self.mismatch(columns, other);
                }
            }
        }
        Implied::Known(known)
    }

    /// `left IN (list)`.
    fn one_of(&self, left: &Expr<'c>, list: &[Expr<'c>]) -> Implied {
        let mut known = Known::default();
        if let ExprNode::Row(fields) = &left.node {
            for (at, field) in fields.iter().enumerate() {
                let Some(columns) = self.operand_column(field) else { continue };
                let cells: Option<Vec<&Expr<'c>>> = list
                    .iter()
                    .map(|row| row.as_row().filter(|cells| cells.len() == fields.len())?.get(at))
                    .collect();
                let Some(cells) = cells else { continue };
                self.all_own(&mut known, &columns, &cells);
            }
            return Implied::Known(known);
        }
        if let Some(columns) = self.operand_column(left) {
            let cells: Vec<&Expr<'c>> = list.iter().collect();
            self.all_own(&mut known, &columns, &cells);
        }
        Implied::Known(known)
    }

    /// A column is one of these, and each of them is T.
    fn all_own(&self, known: &mut Known, columns: &Columns, cells: &[&Expr<'c>]) {
        let before = known.own.len();
        self.compare(known, columns, |class| {
            if mutant!(OneOfInIsEnough) {
                return cells.iter().find_map(|cell| self.own_operand(cell, class));
            }
            let mut all = Proof::default();
            for cell in cells {
                all = all.and(&self.own_operand(cell, class)?);
            }
            (!cells.is_empty()).then_some(all)
        });
        if known.own.len() == before
            && let Some(other) = cells.iter().find(|cell| self.some_constant(cell))
        {
            self.mismatch(columns, other);
        }
    }

    /// `left = ANY (right)`.
    fn element_of(&self, left: &Expr<'c>, right: &Expr<'c>) -> Implied {
        let mut known = Known::default();
        if let Some(columns) = self.operand_column(left) {
            self.compare(&mut known, &columns, |class| self.own_elements(right, class));
            if known.own.is_empty() && self.some_constant(right) {
                self.mismatch(&columns, right);
            }
        }
        Implied::Known(known)
    }

    /// `left IN (SELECT …)`, `left = ANY (SELECT …)`: one of its outputs, each of which is T.
    fn membership(&self, sublink: &Sublink<'c>) -> Implied {
        let mut known = Known::default();
        let (Some(test), SublinkKind::Any, true) = (&sublink.test, sublink.kind, sublink.equality) else {
            return Implied::nothing();
        };
        let outputs = self.outputs_of(&sublink.query);
        for (field, output) in test.fields().iter().zip(&outputs) {
            if let Some(columns) = self.operand_column(field) {
                self.compare(&mut known, &columns, |class| output.get(&class).cloned());
            }
        }
        self.member_keys(&mut known, test.fields(), &sublink.query);
        Implied::Known(known)
    }

    /// Enters the classes for which the other side of a comparison is T.
    fn compare(&self, known: &mut Known, columns: &Columns, own: impl Fn(ClassId) -> Option<Proof>) {
        for class in self.classes.ids() {
            let same = self.classes.family(class) == Some(&columns.family);
            if !same && !mutant!(ChainAcrossTypes) {
                continue;
            }
            let Some(mut proof) = own(class) else { continue };
            // The comparison is not true of NULL.
            proof.nullable = false;
            proof.at = columns.at.or(proof.at);
            for col in &columns.cols {
                learn(&mut known.own, (*col, class), proof.clone());
                if mutant!(QualifierIgnored) {
                    self.everywhere(known, *col, class, &proof);
                }
            }
            if let [col] = columns.cols.as_slice() {
                known.strict.insert((col.level, col.rel));
            }
        }
    }

    /// What the mutant that ignores qualifiers believes of a level.
    fn everywhere(&self, known: &mut Known, col: Col, class: ClassId, proof: &Proof) {
        for ((level, rel), relation) in &self.cx.bound.rows {
            if let (true, Scope::Scoped { column, .. }) =
                (*level == col.level, self.classes.scope(self.cx, relation))
            {
                learn(&mut known.own, (Col { level: *level, rel: *rel, column }, class), proof.clone());
            }
        }
    }

    /// Bare columns that are equal, of whatever type: a key may carry (policy 3.1).
    fn keys(&self, known: &mut Known, left: &Expr<'c>, right: &Expr<'c>) {
        let (ExprNode::Column(left), ExprNode::Column(right)) = (&left.node, &right.node) else {
            return;
        };
        for (from, to) in [(left, right), (right, left)] {
            known.edges.insert(Edge { from: BTreeSet::from([*from]), to: *to, carries: Carries::Nothing });
        }
        known.strict.extend([(left.level, left.rel), (right.level, right.rel)]);
    }

    fn is_tenant_column(&self, col: Col) -> bool {
        let relation = self.cx.bound.rows.get(&(col.level, col.rel));
        relation.is_some_and(|relation| match self.classes.scope(self.cx, relation) {
            Scope::Scoped { column, .. } => column == col.column,
            Scope::NoOwn | Scope::Free => false,
        })
    }

    fn mismatch(&self, columns: &Columns, other: &Expr<'c>) {
        let mut mismatches = self.mismatches.borrow_mut();
        for col in &columns.cols {
            if self.is_tenant_column(*col) {
                mismatches.entry((col.level, col.rel)).or_insert(other.at);
            }
        }
    }
}

/// Equal columns of one family carry T both ways.
fn link(known: &mut Known, left: &Columns, right: &Columns) {
    if left.family != right.family && !mutant!(ChainAcrossTypes) || matches!(left.family, Family::Unknown) {
        return;
    }
    for (from, to) in [(left, right), (right, left)] {
        for col in &to.cols {
            let from = from.cols.iter().copied().collect();
            known.edges.insert(Edge { from, to: *col, carries: Carries::Equal });
        }
    }
    for side in [left, right] {
        if let [col] = side.cols.as_slice() {
            known.strict.insert((col.level, col.rel));
        }
    }
}
