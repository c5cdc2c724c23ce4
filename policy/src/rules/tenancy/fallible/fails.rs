//! Which expressions can fail on a row that nobody has looked at yet.
//!
//! INVARIANT: what is not known to give a result for every value can fail: a cast to a narrower type,
//! arithmetic that overflows, any function that is not listed. The range of a foreign value is found
//! by `id + 2147483600` as well as by a division.

use super::super::equality::at_most_one_row;
use super::Walk;
use super::total::{FOLDED_FUNCTIONS, SUMMED, TOTAL_FUNCTIONS, TOTAL_OPERATORS, UNITS, WIDENING};
use crate::Code;
use crate::Family;
use crate::catalog::{TypeId, TypeKind};
use crate::ir::OpForm;
use crate::ir::SublinkKind;
use crate::mutants::mutant;
use crate::resolve::{Call, Collation, Expr, ExprNode, Operand, Operation, Sublink, children};

impl<'c> Walk<'_, '_, 'c> {
    /// What an expression is, if it can fail by a tenant's column: over one, or behind one that decides
    /// whether it is evaluated at all. What is made of constants is evaluated when the statement is planned.
    pub(super) fn fails(&self, expr: &Expr<'c>) -> Option<(Code, &'static str)> {
        let over = |found: bool| found && self.among_tenants && !is_constant(expr);
        match &expr.node {
            ExprNode::Cast { arg, typmods } => {
                over(!self.is_total(arg.ty, expr.ty, *typmods)).then_some((Code::TypeNotAllowed, "a cast"))
            }
            ExprNode::Op(op) => {
                let what = self.operator(op)?;
                over(true).then_some((Code::OperatorNotAllowed, what))
            }
            ExprNode::Call(_) if mutant!(CallsNeverFail) => None,
            ExprNode::Call(call) if &*call.name == "cast" => {
                over(true).then_some((Code::TypeNotAllowed, "a cast"))
            }
            ExprNode::Call(call) => over(!self.is_total_call(call))
                .then_some((Code::FunctionNotAllowed, "a call of this function")),
            ExprNode::Sublink(sublink) => over(!self.has_one_row(sublink))
                .then_some((Code::Unsupported, "a sub-select of several rows")),
            // Rows are compared there: of what types, nobody has looked at.
            ExprNode::Other(args) => {
                over(args.iter().any(is_row)).then_some((Code::Unsupported, "an expression of whole rows"))
            }
            // Those of arrays must be of one size.
            ExprNode::Array(items) => {
                let sized = |item: &Expr<'c>| !is_constant(item) && self.may_be_array(item);
                over(items.iter().any(sized)).then_some((Code::Unsupported, "an array of arrays"))
            }
            ExprNode::Const(_)
            | ExprNode::Param(_)
            | ExprNode::Column(_)
            | ExprNode::Merged(_)
            | ExprNode::System { .. }
            | ExprNode::WholeRow { .. }
            | ExprNode::Bool { .. }
            | ExprNode::Not(_)
            | ExprNode::Is { .. }
            | ExprNode::Collate { .. }
            | ExprNode::Row(_)
            | ExprNode::Default
            | ExprNode::Refused => None,
        }
    }

    fn may_be_array(&self, expr: &Expr<'c>) -> bool {
        let catalog = self.prover.cx.catalog();
        let array = catalog.type_of(expr.ty).is_some_and(|ty| ty.kind.element().is_some());
        let unknown = expr.ty == TypeId::NONE && !matches!(expr.node, ExprNode::Other(_) | ExprNode::Row(_));
        array || unknown
    }

    /// Whether a sub-select cannot have more rows than its place has room for, nor a LIMIT that is none.
    fn has_one_row(&self, sublink: &Sublink<'c>) -> bool {
        let query = &sublink.query;
        let known = |limit: &Option<Expr<'c>>| limit.as_ref().is_none_or(is_constant);
        let several = match sublink.kind {
            SublinkKind::Scalar | SublinkKind::Row => {
                let limited = self.is_one(query.limit.as_ref()) && !query.with_ties;
                !limited && !at_most_one_row(query)
            }
            SublinkKind::Exists | SublinkKind::Any | SublinkKind::All | SublinkKind::Array => false,
        };
        !several && known(&query.limit) && known(&query.offset)
    }

    /// LIMIT 1, or 0.
    fn is_one(&self, limit: Option<&Expr<'c>>) -> bool {
        matches!(limit, Some(Expr { node: ExprNode::Const(limit), .. }) if self.prover.cx.constants().is_at_most_one(limit))
    }

    /// Whether a text may be of a collation under which patterns are not looked for (before 18).
    fn may_be_unequal(&self, expr: &Expr<'c>) -> bool {
        let odd =
            |expr: &Expr<'c>| matches!(&expr.node, ExprNode::Collate { collation: Collation::Other, .. });
        let column = expr.as_column().is_some_and(|col| self.prover.cx.bound.nondeterministic.contains(&col));
        let mut found = column || odd(expr);
        children(expr, &mut |child| found |= self.may_be_unequal(child));
        found
    }

    /// Whether a cast has a result for every value.
    fn is_total(&self, from: TypeId, to: TypeId, typmods: bool) -> bool {
        let catalog = self.prover.cx.catalog();
        let domain = catalog.type_of(to).is_some_and(|ty| matches!(ty.kind, TypeKind::Domain { .. }));
        let text = *catalog.family_of(to) == Family::Text || to == TypeId::BPCHAR || to == TypeId::NAME;
        if domain || to == TypeId::NONE {
            return false;
        }
        // To text every type has an output function; a length cuts.
        text || !typmods && (from == to || WIDENING.contains(&(from, to)))
    }

    /// What an operator is, if it has no result for some values.
    fn operator(&self, op: &Operation<'c>) -> Option<&'static str> {
        let right = match &op.right {
            Operand::One(right) => Some(right),
            Operand::List(_) => None,
        };
        let several = matches!(op.form, OpForm::Any | OpForm::All);
        let both = [op.left.as_ref(), right];
        if both.into_iter().flatten().any(|operand| matches!(operand.node, ExprNode::WholeRow { .. })) {
            return Some("a comparison of whole rows");
        }
        let looked_into = matches!(op.form, OpForm::Similar | OpForm::Like | OpForm::ILike)
            || ["~", "!~", "~*", "!~*", "~~", "!~~", "~~*", "!~~*", "^@"].contains(&&*op.name);
        if looked_into && both.into_iter().flatten().any(|operand| self.may_be_unequal(operand)) {
            return Some("a search in a text of this collation");
        }
        match (op.form, &*op.name) {
            (
                OpForm::Distinct
                | OpForm::NotDistinct
                | OpForm::NullIf
                | OpForm::In
                | OpForm::Between
                | OpForm::NotBetween
                | OpForm::BetweenSymmetric
                | OpForm::NotBetweenSymmetric,
                _,
            ) => None,
            (OpForm::Similar, _) | (OpForm::Plain | OpForm::Any | OpForm::All, "~" | "!~" | "~*" | "!~*") => {
                let whole = right.is_some_and(|right| self.is_pattern(right, several, is_plain_expression));
                (!whole).then_some(NO_PATTERN)
            }
            (OpForm::Like | OpForm::ILike, _)
            | (OpForm::Plain | OpForm::Any | OpForm::All, "~~" | "!~~" | "~~*" | "!~~*") => {
                let whole = right.is_some_and(|right| self.is_pattern(right, several, ends_outside_escape));
                (!whole).then_some(NO_PATTERN)
            }
            (OpForm::Plain, "/" | "%") => {
                (!right.is_some_and(|right| self.is_positive(right))).then_some("a division")
            }
            (OpForm::Plain, "||") => {
                let text = |expr: &Expr<'c>| {
                    // Of ranges, too: those are not concatenated.
                    matches!(&expr.node, ExprNode::Call(call) if call.builtin && matches!(&*call.name, "lower" | "upper"))
                };
                let plain = |expr: &Expr<'c>| self.is_plain(expr.ty) || text(expr);
                let joined = op.left.as_ref().is_some_and(plain) && right.is_some_and(plain);
                (!joined).then_some("a concatenation")
            }
            // A text is made a tsvector, for which it may be too long.
            (_, "@@") if both.into_iter().flatten().any(|operand| self.is_text(operand)) => {
                Some("a search in a text")
            }
            (OpForm::Plain | OpForm::Any | OpForm::All, name) if TOTAL_OPERATORS.contains(&name) => None,
            (OpForm::Plain | OpForm::Any | OpForm::All, _) => Some("an operator that can overflow or fail"),
        }
    }

    fn is_text(&self, expr: &Expr<'c>) -> bool {
        !is_constant(expr) && *self.prover.cx.catalog().family_of(expr.ty) == Family::Text
    }

    /// Neither an array, whose dimensions may not fit, nor unknown.
    fn is_plain(&self, ty: TypeId) -> bool {
        let family = self.prover.cx.catalog().family_of(ty);
        ty == TypeId::UNKNOWN
            || ty == TypeId::JSONB
            || match family {
                Family::Text | Family::Integer | Family::Uuid | Family::Enum(..) | Family::Boolean => true,
                Family::Other(..) | Family::Unknown => false,
            }
    }

    /// Whether a call has a result for every value.
    fn is_total_call(&self, call: &Call<'c>) -> bool {
        let part = matches!(&*call.name, "date_trunc" | "date_part" | "extract");
        let of_time = || match call.args.as_slice() {
            [unit, time] => {
                let known = unit.as_const().and_then(|unit| self.prover.cx.constants().text(unit));
                let known = known.is_some_and(|unit| UNITS.contains(&unit));
                known && matches!(time.ty, TypeId::TIMESTAMP | TypeId::TIMESTAMPTZ)
            }
            _ => false,
        };
        let known = match &*call.name {
            // Of arrays: they must not be empty, and all of one size.
            // What has an exponent or a calendar overflows within a few rows.
            "avg" | "sum" => call.args.iter().all(|arg| SUMMED.contains(&arg.ty)),
            "array_agg" => call.args.iter().all(|arg| self.is_plain(arg.ty)),
            "position" | "replace" | "starts_with" | "strpos" => {
                !call.args.iter().any(|arg| self.may_be_unequal(arg))
            }
            name => TOTAL_FUNCTIONS.contains(&name) || part && of_time(),
        };
        call.builtin && known
    }

    /// A constant pattern that is whole; of several, in an array, all of them.
    fn is_pattern(&self, pattern: &Expr<'c>, several: bool, whole: fn(&str) -> bool) -> bool {
        if let Some(constant) = pattern.as_const() {
            return self.prover.cx.constants().text(constant).is_some_and(|text| {
                // Inside an array's text a backslash may stand at any element's end, and braces mean
                // something else.
                if several {
                    whole(text.trim_matches(['{', '}'])) && !text.contains('\\')
                } else {
                    whole(text)
                }
            });
        }
        let ExprNode::Array(items) = &pattern.node else { return false };
        several && items.iter().all(|item| self.is_pattern(item, false, whole))
    }

    /// A constant by which every number can be divided.
    fn is_positive(&self, divisor: &Expr<'c>) -> bool {
        if let ExprNode::Cast { arg, .. } = &divisor.node {
            return self.is_positive(arg);
        }
        divisor.as_const().is_some_and(|constant| self.prover.cx.constants().is_positive(constant))
    }
}

/// Made of constants alone.
fn is_constant(expr: &Expr<'_>) -> bool {
    let mut constant = match &expr.node {
        ExprNode::Const(_) => true,
        ExprNode::Cast { .. } | ExprNode::Op(_) | ExprNode::Array(_) | ExprNode::Row(_) => true,
        // now() and kin have one value for the whole statement.
        ExprNode::Call(call) => call.builtin && FOLDED_FUNCTIONS.contains(&&*call.name),
        ExprNode::Param(_)
        | ExprNode::Column(_)
        | ExprNode::Merged(_)
        | ExprNode::System { .. }
        | ExprNode::WholeRow { .. }
        | ExprNode::Bool { .. }
        | ExprNode::Not(_)
        | ExprNode::Is { .. }
        | ExprNode::Collate { .. }
        | ExprNode::Sublink(_)
        | ExprNode::Default
        | ExprNode::Other(_)
        | ExprNode::Refused => false,
    };
    children(expr, &mut |child| constant &= is_constant(child));
    constant
}

fn is_row(expr: &Expr<'_>) -> bool {
    matches!(expr.node, ExprNode::Row(_) | ExprNode::WholeRow { .. })
}

/// A LIKE pattern that does not end within an escape.
fn ends_outside_escape(pattern: &str) -> bool {
    pattern.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 0
}

/// A regular expression without groups, brackets, bounds and escapes: nothing in it can be malformed.
/// (PostgreSQL compiles it when it first meets a row: `CASE WHEN note = 'x' THEN note ~ '(' END`.)
fn is_plain_expression(pattern: &str) -> bool {
    let mut repeatable = false;
    pattern.chars().all(|char| match char {
        '*' | '+' => std::mem::take(&mut repeatable),
        '^' | '$' | '|' => {
            repeatable = false;
            true
        }
        '.' | ' ' | '_' | '-' | '%' | '@' | ',' | ':' | '/' | '#' | '=' => {
            repeatable = true;
            true
        }
        _ => {
            repeatable = char.is_alphanumeric();
            repeatable
        }
    })
}

const NO_PATTERN: &str = "a pattern that is not a whole constant";
