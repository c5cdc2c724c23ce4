//! A statement's constants, and the one accessor through which their values are read.
//!
//! INVARIANT (pins): a verdict depends on a constant's value only by an answer that [`Constants`]
//! gave, since the value is private to this module. Where they are wanted, the questions are kept
//! with their answers (the [`Pins`]): a verdict holds for every text of the same skeleton in which
//! the same questions get the same answers, whoever's tenant asks.

mod array;
mod pins;

use std::cell::RefCell;
use std::cmp::Ordering;

use crate::TenantColumnClass;
use crate::ir::At;
use crate::mutants::mutant;
use crate::policy::{Own, OwnValue};
use array::all_elements;
use pins::{Asked, Standing};
pub(crate) use pins::{Group, Pins, Settled};

/// A constant as PostgreSQL decodes it.
#[derive(Debug, Clone)]
pub struct Const {
    value: ConstValue,
    /// Where.
    pub at: At,
    slot: Option<u32>,
}

/// A constant's value.
#[derive(Debug, Clone, PartialEq)]
pub enum ConstValue {
    /// NULL.
    Null,
    /// TRUE, FALSE.
    Bool(bool),
    /// An integer that fits int4. (`0x2A`, `1_000` count as `Number`: older servers read them
    /// otherwise.)
    Integer(i32),
    /// Any other number, as written.
    Number(Box<str>),
    /// Any string syntax, decoded.
    String(Box<str>),
    /// B'…' or X'…', as written.
    Bits(Box<str>),
}

/// What kind of constant it is. Texts of one skeleton have the same kind in the same place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "as the values are called")]
pub enum ConstClass {
    Null,
    Bool,
    Integer,
    Number,
    String,
    Bits,
}

impl Const {
    /// A constant at a place; `slot`: it is the text's so-manieth plain constant.
    pub(crate) fn new(value: ConstValue, at: At, slot: Option<u32>) -> Const {
        Const { value, at, slot }
    }

    /// Its kind.
    pub fn class(&self) -> ConstClass {
        match self.value {
            ConstValue::Null => ConstClass::Null,
            ConstValue::Bool(_) => ConstClass::Bool,
            ConstValue::Integer(_) => ConstClass::Integer,
            ConstValue::Number(_) => ConstClass::Number,
            ConstValue::String(_) => ConstClass::String,
            ConstValue::Bits(_) => ConstClass::Bits,
        }
    }

    /// NULL.
    pub(crate) fn is_null(&self) -> bool {
        self.class() == ConstClass::Null
    }

    /// TRUE or FALSE: words, which the skeleton keeps.
    pub(crate) fn boolean(&self) -> Option<bool> {
        match self.value {
            ConstValue::Bool(value) => Some(value),
            ConstValue::Null
            | ConstValue::Integer(_)
            | ConstValue::Number(_)
            | ConstValue::String(_)
            | ConstValue::Bits(_) => None,
        }
    }

    fn read(&self) -> Read<'_> {
        self.value.read()
    }

    /// For tests that print a statement.
    #[cfg(test)]
    pub(crate) fn value(&self) -> &ConstValue {
        &self.value
    }
}

impl ConstValue {
    fn read(&self) -> Read<'_> {
        match self {
            ConstValue::Integer(value) => Read::Integer(*value),
            ConstValue::Number(digits) => Read::Number(digits),
            ConstValue::String(text) => Read::Text(text),
            ConstValue::Null | ConstValue::Bool(_) | ConstValue::Bits(_) => Read::Other,
        }
    }

    /// Bytes of its text.
    fn len(&self) -> usize {
        match self {
            ConstValue::Number(text) | ConstValue::String(text) | ConstValue::Bits(text) => text.len(),
            ConstValue::Null | ConstValue::Bool(_) | ConstValue::Integer(_) => 0,
        }
    }
}

/// A value as the questions see it: of a constant in the tree, or of a slot in a text.
#[derive(Debug, Clone, Copy)]
enum Read<'v> {
    Text(&'v str),
    /// A string as it is written, every quote in it doubled.
    Written(&'v str),
    Integer(i32),
    Number(&'v str),
    Other,
}

impl Read<'_> {
    /// Whether it is the tenant's own value, in the tenant column's type. Nothing is computed:
    /// `42.0` and `4.2e1` are not 42, and a number that older servers would read otherwise
    /// (`0x2A`) is not either.
    fn is_own(self, own: Own<'_>) -> bool {
        match self {
            Read::Text(text) if mutant!(CaseFolded) => own.equals_text(&text.to_ascii_lowercase()),
            Read::Text(text) => own.equals_text(text),
            Read::Written(text) if mutant!(CaseFolded) => own.equals_written(&text.to_ascii_lowercase()),
            Read::Written(text) => own.equals_written(text),
            Read::Integer(value) => own.equals_int(i64::from(value)),
            Read::Number(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().is_ok_and(|value| own.equals_int(value))
            }
            Read::Number(_) | Read::Other => false,
        }
    }

    /// Whether every element of an array literal (`'{acme}'`) is the tenant's own value. Only the
    /// plain form is read: one dimension, no bounds, no NULL.
    fn elements_are_own(self, own: Own<'_>) -> bool {
        match self {
            Read::Text(text) => all_elements(text, |element| own.equals_text(element)),
            Read::Written(text) => all_elements(text, |element| own.equals_written(element)),
            Read::Integer(_) | Read::Number(_) | Read::Other => false,
        }
    }

    fn is_zero(self) -> bool {
        matches!(self, Read::Integer(0))
    }

    fn is_at_most_one(self) -> bool {
        matches!(self, Read::Integer(0 | 1))
    }

    fn is_positive(self) -> bool {
        matches!(self, Read::Integer(value) if value > 0)
    }
}

/// Reads constants, and keeps what was asked where that is wanted.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    pins: Option<RefCell<Pins>>,
}

impl Constants {
    /// One that keeps what is asked.
    pub(crate) fn recording() -> Constants {
        Constants { pins: Some(RefCell::default()) }
    }

    /// What was asked, where it was kept.
    pub(crate) fn into_pins(self) -> Option<Pins> {
        self.pins.map(RefCell::into_inner)
    }

    /// A proof begins: its groups are its own.
    pub(crate) fn begin(&self) {
        self.note(Pins::begin);
    }

    /// The tenant has no value in columns of this class.
    pub(crate) fn has_none(&self, class: &TenantColumnClass) {
        self.note(|pins| pins.stands(class, Standing::Absent));
    }

    /// The tenant's value in columns of this class is this group's.
    pub(crate) fn is_of(&self, class: &TenantColumnClass, group: Group) {
        self.note(|pins| pins.stands(class, Standing::Of(group)));
    }

    /// The tenant's value in columns of this class is no known group's.
    pub(crate) fn is_of_none(&self, class: &TenantColumnClass) {
        self.note(|pins| pins.stands(class, Standing::Apart));
    }

    /// Whether it is the tenant's own value, which is this group's.
    pub(crate) fn is_own(&self, constant: &Const, group: Group, own: &OwnValue) -> bool {
        self.answer(constant, Asked::Own(group), constant.read().is_own(own.borrowed()))
    }

    /// Whether every element of an array literal is the tenant's own value.
    pub(crate) fn elements_are_own(&self, constant: &Const, group: Group, own: &OwnValue) -> bool {
        self.answer(constant, Asked::Elements(group), constant.read().elements_are_own(own.borrowed()))
    }

    /// Whether a column's default, as pg_get_expr prints it, is the tenant's own value.
    pub(crate) fn default_is_own(&self, default: &str, group: Group, own: &OwnValue) -> bool {
        let answer = own.borrowed().is_printed_as(default);
        self.note(|pins| pins.printed(default, group, answer));
        answer
    }

    /// How two integer constants compare.
    pub(crate) fn compare(&self, left: &Const, right: &Const) -> Option<Ordering> {
        match (&left.value, &right.value) {
            (ConstValue::Integer(one), ConstValue::Integer(other)) => {
                self.exactly(left);
                self.exactly(right);
                Some(one.cmp(other))
            }
            (_, _) => None,
        }
    }

    /// The integer 0.
    pub(crate) fn is_zero(&self, constant: &Const) -> bool {
        self.answer(constant, Asked::Zero, constant.read().is_zero())
    }

    /// The integer 0 or 1.
    pub(crate) fn is_at_most_one(&self, constant: &Const) -> bool {
        self.answer(constant, Asked::AtMostOne, constant.read().is_at_most_one())
    }

    /// An integer by which every number can be divided.
    pub(crate) fn is_positive(&self, constant: &Const) -> bool {
        self.answer(constant, Asked::Positive, constant.read().is_positive())
    }

    /// A place from 1, as ORDER BY 2 says it.
    pub(crate) fn place(&self, constant: &Const) -> Option<usize> {
        let ConstValue::Integer(place) = constant.value else { return None };
        self.exactly(constant);
        usize::try_from(place).ok()
    }

    /// A string constant's text.
    pub(crate) fn text<'k>(&self, constant: &'k Const) -> Option<&'k str> {
        let ConstValue::String(text) = &constant.value else { return None };
        self.exactly(constant);
        Some(text)
    }

    /// The text that a setting gets by it, as SHOW would print it.
    pub(crate) fn shown(&self, constant: &Const) -> String {
        self.exactly(constant);
        match &constant.value {
            ConstValue::String(text) | ConstValue::Number(text) => text.to_string(),
            ConstValue::Integer(number) => number.to_string(),
            ConstValue::Bool(value) => value.to_string(),
            ConstValue::Null | ConstValue::Bits(_) => String::new(),
        }
    }

    fn answer(&self, constant: &Const, asked: Asked, answer: bool) -> bool {
        self.note(|pins| pins.asked(constant.slot, &constant.value, asked, answer));
        answer
    }

    /// Its value itself was given away.
    fn exactly(&self, constant: &Const) {
        self.note(|pins| pins.exactly(constant.slot));
    }

    fn note(&self, what: impl FnOnce(&mut Pins)) {
        if let Some(pins) = &self.pins {
            what(&mut pins.borrow_mut());
        }
    }
}
