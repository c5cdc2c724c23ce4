//! Constants.

use pg_query::protobuf as pb;
use pg_query::protobuf::a_const::Val;

use super::{Lower, Slots, place};
use crate::ir::{At, Const, ConstValue};
use crate::shape::token::{TokenKind, words};

impl Lower<'_> {
    /// A constant.
    pub(super) fn constant(&mut self, node: &pb::AConst) -> Const {
        let at = place(node.location);
        let value = match &node.val {
            _ if node.isnull => ConstValue::Null,
            Some(Val::Ival(value)) => self.integer(node.location, value.ival),
            Some(Val::Fval(value)) => ConstValue::Number(value.fval.as_str().into()),
            Some(Val::Boolval(value)) => ConstValue::Bool(value.boolval),
            Some(Val::Sval(value)) => ConstValue::String(value.sval.as_str().into()),
            Some(Val::Bsval(value)) => ConstValue::Bits(value.bsval.as_str().into()),
            None => {
                self.refuse("a constant without a value", at);
                ConstValue::Null
            }
        };
        let slot = self.slot(at);
        Const::new(value, at, slot)
    }

    /// Which of the text's plain constants stands there: none where a sign stands before the number,
    /// which the grammar makes part of it.
    fn slot(&mut self, at: At) -> Option<u32> {
        let at = usize::try_from(at?).ok()?;
        let Slots { of_text, met } = &mut self.slots;
        let number = of_text.binary_search_by_key(&at, |slot| slot.span.start).ok()?;
        let number = u32::try_from(number).ok()?;
        met.push(number);
        Some(number)
    }

    /// An integer, if it is written in decimal digits alone: before PostgreSQL 16 `0x2A` and
    /// `1_000` are other tokens, so a server may read another value than the parser did.
    fn integer(&self, location: i32, value: i32) -> ConstValue {
        let Ok(start) = usize::try_from(location) else { return ConstValue::Integer(value) };
        let source = self.text.get(start..).unwrap_or_default();
        // The grammar folds signs into the constant, and gives the first sign's place.
        let number = words(source).find(|token| {
            let bytes = token.bytes(source);
            !(token.kind == TokenKind::Operator && matches!(bytes, b"-" | b"+"))
        });
        match number {
            Some(token) if token.kind == TokenKind::Integer => ConstValue::Integer(value),
            Some(token) => {
                let written = source.get(token.start..token.end).unwrap_or_default();
                ConstValue::Number(written.into())
            }
            None => ConstValue::Number(Box::default()),
        }
    }
}
