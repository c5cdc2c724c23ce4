//! Tenant equalities: which operand is a column, and which is T (policy 3).

use super::classes::ClassId;
use super::{Proof, Prover};
use crate::Family;
use crate::catalog::TypeId;
use crate::ir::At;
use crate::mutants::mutant;
use crate::resolve::{Body, Col, Collation, Expr, ExprNode, Query, Sublink};

/// A column operand: usually one, several for the merged column of a FULL join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) cols: Vec<Col>,
    pub(super) family: Family,
    pub(super) at: At,
}

impl<'c> Prover<'_, 'c> {
    pub(super) fn family_of(&self, ty: TypeId) -> &Family {
        self.cx.catalog().family_of(ty)
    }

    /// The column that an operand is: bare, or wrapped in casts that only relabel it and in a
    /// bytewise COLLATE. None too where its type or collation lets unequal bytes be equal.
    pub(super) fn operand_column(&self, expr: &Expr<'c>) -> Option<Columns> {
        match &expr.node {
            ExprNode::Column(col) => {
                let family = comparable(self.family_of(expr.ty))?;
                let deterministic =
                    !self.cx.bound.nondeterministic.contains(col) || mutant!(CollationIgnored);
                deterministic.then(|| Columns { cols: vec![*col], family, at: expr.at })
            }
            ExprNode::Merged(parts) => {
                let mut all = parts.iter().map(|part| self.operand_column(part));
                let mut merged = all.next()??;
                for part in all {
                    let part = part?;
                    if part.family != merged.family {
                        return None;
                    }
                    merged.cols.extend(part.cols);
                }
                Some(merged)
            }
            ExprNode::Cast { arg, typmods } if !typmods || mutant!(CastLengthIgnored) => {
                let inner = self.operand_column(arg)?;
                let same = *self.family_of(expr.ty) == inner.family;
                let widens = match inner.family {
                    Family::Integer => width(expr.ty) >= width(arg.ty),
                    Family::Text | Family::Uuid | Family::Enum(..) => true,
                    Family::Boolean | Family::Other(..) | Family::Unknown => false,
                };
                (same && widens || mutant!(CastFamilyIgnored)).then_some(inner)
            }
            ExprNode::Collate { arg, collation }
                if *collation == Collation::Bytewise || mutant!(CollationIgnored) =>
            {
                self.operand_column(arg)
            }
            ExprNode::Cast { .. }
            | ExprNode::Collate { .. }
            | ExprNode::Const(_)
            | ExprNode::Param(_)
            | ExprNode::System { .. }
            | ExprNode::WholeRow { .. }
            | ExprNode::Op(_)
            | ExprNode::Bool { .. }
            | ExprNode::Not(_)
            | ExprNode::Is { .. }
            | ExprNode::Sublink(_)
            | ExprNode::Row(_)
            | ExprNode::Array(_)
            | ExprNode::Call(_)
            | ExprNode::Default
            | ExprNode::Other(_)
            | ExprNode::Refused => None,
        }
    }

    /// The one column that an output plainly is.
    pub(super) fn plain_column(&self, output: &Expr<'c>) -> Option<Col> {
        match output.as_column() {
            Some(col) => Some(col),
            None => match self.operand_column(output)?.cols.as_slice() {
                [col] => Some(*col),
                _ => None,
            },
        }
    }

    /// How an operand is known to be T of a class, if it is.
    pub(super) fn own_operand(&self, expr: &Expr<'c>, class: ClassId) -> Option<Proof> {
        let family = self.classes.family(class)?;
        let own = self.classes.own(class)?;
        match &expr.node {
            ExprNode::Const(constant) => {
                let same = self.cx.constants().is_own(constant, class.group(), own);
                (self.cx.policy().proof_literal() && same).then(Proof::default)
            }
            ExprNode::Param(number) => self.own_param(*number, expr, class, false),
            ExprNode::Cast { arg, typmods } if self.keeps_value(expr, *typmods, family) && arg.is_value() => {
                self.own_operand(arg, class)
            }
            ExprNode::Collate { arg, collation: Collation::Bytewise } => self.own_operand(arg, class),
            ExprNode::Sublink(sublink) => self.own_scalar(sublink, class),
            ExprNode::Column(col) => {
                let fits = !self.cx.bound.nondeterministic.contains(col) && self.family_of(expr.ty) == family;
                let facts = self.facts.borrow();
                facts.get(&(*col, class)).filter(|_| fits).cloned()
            }
            ExprNode::Cast { .. }
            | ExprNode::Collate { collation: Collation::Other, .. }
            | ExprNode::Merged(_)
            | ExprNode::System { .. }
            | ExprNode::WholeRow { .. }
            | ExprNode::Op(_)
            | ExprNode::Bool { .. }
            | ExprNode::Not(_)
            | ExprNode::Is { .. }
            | ExprNode::Row(_)
            | ExprNode::Array(_)
            | ExprNode::Call(_)
            | ExprNode::Default
            | ExprNode::Other(_)
            | ExprNode::Refused => None,
        }
    }

    /// A cast to the family, without a length.
    fn keeps_value(&self, cast: &Expr<'c>, typmods: bool, family: &Family) -> bool {
        let whole = !typmods || mutant!(CastLengthIgnored);
        let same = self.family_of(cast.ty) == family || mutant!(CastFamilyIgnored);
        whole && same
    }

    /// A parameter: its value is checked at Bind, or (EXECUTE) is there already.
    fn own_param(&self, number: u32, expr: &Expr<'c>, class: ClassId, many: bool) -> Option<Proof> {
        if !self.cx.policy().proof_bound() {
            return None;
        }
        self.good_params.borrow_mut().insert((number, expr.at, class));
        if self.cx.arguments.is_none() {
            return Some(Proof::param(number, class, many));
        }
        let own = self.classes.own(class)?;
        match self.argument(number)? {
            Argument::Const(constant) => {
                let same = match many {
                    false => self.cx.constants().is_own(constant, class.group(), own),
                    true => self.cx.constants().elements_are_own(constant, class.group(), own),
                };
                same.then(|| Proof::param(number, class, many))
            }
            Argument::Other => None,
        }
    }

    /// EXECUTE's argument for a parameter.
    fn argument(&self, number: u32) -> Option<&Argument> {
        self.cx.arguments?.get((number as usize).checked_sub(1)?)
    }

    /// A scalar sub-select whose output is T; it may be NULL where it may have no row.
    fn own_scalar(&self, sublink: &Sublink<'c>, class: ClassId) -> Option<Proof> {
        match sublink.kind {
            crate::ir::SublinkKind::Scalar => {}
            crate::ir::SublinkKind::Exists
            | crate::ir::SublinkKind::Any
            | crate::ir::SublinkKind::All
            | crate::ir::SublinkKind::Row
            | crate::ir::SublinkKind::Array => return None,
        }
        let outputs = self.outputs_of(&sublink.query);
        let mut proof = outputs.first()?.get(&class)?.clone();
        proof.or_null(!always_one_row(&sublink.query));
        Some(proof)
    }

    /// How every element of an array operand is known to be T of a class.
    pub(super) fn own_elements(&self, expr: &Expr<'c>, class: ClassId) -> Option<Proof> {
        let family = self.classes.family(class)?;
        let own = self.classes.own(class)?;
        if let ExprNode::Array(items) = &expr.node {
            let mut proof = Proof::default();
            if mutant!(OneElementIsEnough) {
                return items.iter().find_map(|item| self.own_operand(item, class));
            }
            for item in items {
                // An element is a value, not a column: a column's NULL would be one too.
                let own = self.own_operand(item, class).filter(|_| item.is_value())?;
                proof = proof.and(&own);
            }
            return Some(proof);
        }
        if let ExprNode::Const(constant) = &expr.node {
            let same = self.cx.constants().elements_are_own(constant, class.group(), own);
            return (self.cx.policy().proof_literal() && same).then(Proof::default);
        }
        if let ExprNode::Param(number) = &expr.node {
            return self.own_param(*number, expr, class, true);
        }
        if let ExprNode::Cast { arg, typmods: false } = &expr.node
            && self.is_of(expr.ty, family, true)
            && !matches!(arg.node, ExprNode::Cast { .. })
        {
            return self.own_elements(arg, class);
        }
        None
    }

    /// The constant that an operand is, through casts: for saying that it is not T.
    pub(super) fn some_constant(&self, expr: &Expr<'c>) -> bool {
        match &expr.node {
            ExprNode::Const(constant) => !constant.is_null(),
            ExprNode::Cast { arg, .. } | ExprNode::Collate { arg, .. } => self.some_constant(arg),
            ExprNode::Array(items) => items.iter().any(|item| self.some_constant(item)),
            ExprNode::Param(number) => matches!(
                self.argument(*number),
                Some(Argument::Const(constant)) if !constant.is_null()
            ),
            ExprNode::Column(_)
            | ExprNode::Merged(_)
            | ExprNode::System { .. }
            | ExprNode::WholeRow { .. }
            | ExprNode::Op(_)
            | ExprNode::Bool { .. }
            | ExprNode::Not(_)
            | ExprNode::Is { .. }
            | ExprNode::Sublink(_)
            | ExprNode::Row(_)
            | ExprNode::Call(_)
            | ExprNode::Default
            | ExprNode::Other(_)
            | ExprNode::Refused => false,
        }
    }
}

/// The argument of EXECUTE for a parameter.
#[derive(Debug, Clone)]
pub(crate) enum Argument {
    Const(crate::ir::Const),
    /// Computed, or a parameter itself.
    Other,
}

/// A family whose values can be compared for a proof.
fn comparable(family: &Family) -> Option<Family> {
    match family {
        Family::Text | Family::Integer | Family::Uuid | Family::Enum(..) => Some(family.clone()),
        Family::Other(..) if mutant!(ChainAcrossTypes) => Some(family.clone()),
        Family::Boolean | Family::Other(..) | Family::Unknown => None,
    }
}

/// The bytes of an integer type.
fn width(ty: TypeId) -> u8 {
    match ty {
        TypeId::INT2 => 2,
        TypeId::INT4 => 4,
        TypeId::INT8 => 8,
        _ => 0,
    }
}

/// A query that cannot have more than one row.
pub(super) fn at_most_one_row(query: &Query<'_>) -> bool {
    match &query.body {
        Body::Select(select) => {
            let alone = select.from.sources.is_empty() || select.nature.aggregates;
            alone && select.group_by.is_empty() && !select.nature.set_returning
        }
        Body::Values(rows) => rows.len() == 1,
        Body::Set { .. } => false,
    }
}

/// Whether a query yields exactly one row whatever the data is.
fn always_one_row(query: &Query<'_>) -> bool {
    let plain = query.limit.is_none() && query.offset.is_none();
    plain
        && match &query.body {
            Body::Select(select) => {
                select.from.sources.is_empty()
                    && select.filter.is_none()
                    && select.having.is_none()
                    && select.group_by.is_empty()
                    && !select.nature.set_returning
            }
            Body::Values(rows) => rows.len() == 1,
            Body::Set { .. } => false,
        }
}
