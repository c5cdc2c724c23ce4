//! The one accessor through which a constant's value is read.
//!
//! A verdict may depend on a constant only by an answer that was given here, so that a cache of
//! verdicts by shape can keep the questions beside the verdict (its pins): *is it the tenant's own
//! value*, *is it NULL*, *how do these two compare*, *what is its text*.

use std::cell::Cell;
use std::cmp::Ordering;

use crate::ir::{Const, ConstValue};
use crate::mutants::mutant;
use crate::policy::OwnValue;

/// Whether a constant is the tenant's own value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Own {
    Yes,
    No,
}

/// Reads constants.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    /// How many questions were asked: a verdict without any holds for every value.
    asked: Cell<usize>,
}

impl Constants {
    /// Whether it is the tenant's own value, in the tenant column's type. Nothing is computed:
    /// `42.0` and `4.2e1` are not 42, and a number that older servers would read otherwise
    /// (`0x2A`) is not either.
    pub(crate) fn is_own(&self, constant: &Const, own: &OwnValue) -> Own {
        self.ask();
        let same = match &constant.value {
            ConstValue::String(text) if mutant!(CaseFolded) => own.equals_text(&text.to_ascii_lowercase()),
            ConstValue::String(text) => own.equals_text(text),
            ConstValue::Integer(value) => own.equals_int(i64::from(*value)),
            ConstValue::Number(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().is_ok_and(|value| own.equals_int(value))
            }
            ConstValue::Number(_) | ConstValue::Null | ConstValue::Bool(_) | ConstValue::Bits(_) => false,
        };
        if same { Own::Yes } else { Own::No }
    }

    /// Whether every element of an array literal (`'{acme}'`) is the tenant's own value. Only the
    /// plain form is read: one dimension, no bounds, no NULL.
    pub(crate) fn elements_own(&self, constant: &Const, own: &OwnValue) -> Own {
        self.ask();
        let ConstValue::String(text) = &constant.value else { return Own::No };
        match array_elements(text) {
            Some(elements) if elements.iter().all(|element| own.equals_text(element)) => Own::Yes,
            Some(_) | None => Own::No,
        }
    }

    /// TRUE or FALSE.
    pub(crate) fn boolean(&self, constant: &Const) -> Option<bool> {
        match constant.value {
            ConstValue::Bool(value) => Some(value),
            ConstValue::Null
            | ConstValue::Integer(_)
            | ConstValue::Number(_)
            | ConstValue::String(_)
            | ConstValue::Bits(_) => None,
        }
    }

    /// How two integer constants compare.
    pub(crate) fn compare(&self, left: &Const, right: &Const) -> Option<Ordering> {
        match (&left.value, &right.value) {
            (ConstValue::Integer(left), ConstValue::Integer(right)) => {
                self.ask();
                Some(left.cmp(right))
            }
            (_, _) => None,
        }
    }

    /// NULL.
    pub(crate) fn is_null(&self, constant: &Const) -> bool {
        self.ask();
        constant.value == ConstValue::Null
    }

    /// The integer 0.
    pub(crate) fn is_zero(&self, constant: &Const) -> bool {
        self.ask();
        constant.value == ConstValue::Integer(0)
    }

    /// The integer 0 or 1.
    pub(crate) fn is_at_most_one(&self, constant: &Const) -> bool {
        self.ask();
        matches!(constant.value, ConstValue::Integer(0 | 1))
    }

    /// An integer by which every number can be divided.
    pub(crate) fn is_positive(&self, constant: &Const) -> bool {
        self.ask();
        matches!(constant.value, ConstValue::Integer(value) if value > 0)
    }

    /// A string constant's text.
    pub(crate) fn text<'k>(&self, constant: &'k Const) -> Option<&'k str> {
        self.ask();
        match &constant.value {
            ConstValue::String(text) => Some(text),
            ConstValue::Null
            | ConstValue::Bool(_)
            | ConstValue::Integer(_)
            | ConstValue::Number(_)
            | ConstValue::Bits(_) => None,
        }
    }

    fn ask(&self) {
        self.asked.set(self.asked.get() + 1);
    }
}

/// The elements of a one-dimensional array literal; none for anything that is not the plain form.
fn array_elements(text: &str) -> Option<Vec<String>> {
    let inner = text.trim_matches(SPACES).strip_prefix('{')?.strip_suffix('}')?;
    if inner.trim_matches(SPACES).is_empty() || mutant!(UnicodeSpaceIsEmpty) && inner.trim().is_empty() {
        return Some(Vec::new());
    }
    inner.split(',').map(element).collect()
}

fn element(text: &str) -> Option<String> {
    let text = text.trim_matches(SPACES);
    if let Some(quoted) = text.strip_prefix('"') {
        let quoted = quoted.strip_suffix('"')?;
        return (!quoted.contains(['"', '\\', '{', '}'])).then(|| quoted.to_owned());
    }
    let plain =
        !text.is_empty() && !text.contains(['"', '\\', '{', '}', '=']) && !text.eq_ignore_ascii_case("null");
    plain.then(|| text.to_owned())
}

/// What array_in skips (`array_isspace`): not Unicode's other spaces.
const SPACES: [char; 6] = [' ', '\t', '\n', '\r', '\x0b', '\x0c'];
