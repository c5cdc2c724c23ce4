//! The pass that takes plain constants out of a text.
//!
//! It says what the tokens of [`super::token`] say, without making them: what is common costs a few
//! instructions a byte, and whatever is unusual ends it. A test holds the two against each other.

use super::token::{MAX_OPERATOR_BYTES, is_operator};
use super::{INTEGER, NUMBER, STRING, Slot, SlotClass};

/// Writes the skeleton and the slots of a text behind what is there already.
///
/// None where something in the text is out of the ordinary; then what was written is worth nothing.
pub(super) fn cut(text: &str, skeleton: &mut Vec<u8>, slots: &mut Vec<Slot>) -> Option<()> {
    let mut cut = Cut { bytes: text.as_bytes(), at: 0, copied: 0, skeleton, slots };
    loop {
        cut.pass::<{ SPACE | PUNCTUATION }>();
        let Some(byte) = cut.peek(0) else { break };
        match byte {
            _ if class(byte) & LETTER != 0 => cut.word()?,
            b'\'' => cut.string()?,
            b'"' => cut.quoted_name()?,
            b'$' => cut.param()?,
            b'.' => cut.dot()?,
            b':' => cut.at += if matches!(cut.peek(1), Some(b':' | b'=')) { 2 } else { 1 },
            b'0'..=b'9' => cut.number()?,
            _ if class(byte) & OPERATOR != 0 => cut.operator()?,
            _ => return None,
        }
    }
    let rest = cut.bytes.get(cut.copied..)?;
    cut.skeleton.extend_from_slice(rest);
    Some(())
}

/// Where the pass stands.
struct Cut<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Up to here the text is in the skeleton.
    copied: usize,
    skeleton: &'t mut Vec<u8>,
    slots: &'t mut Vec<Slot>,
}

impl Cut<'_> {
    /// A name or a keyword, in ASCII; what makes a string of another kind ends the pass.
    fn word(&mut self) -> Option<()> {
        let start = self.at;
        self.pass::<NAME>();
        let length = self.at - start;
        match self.peek(0) {
            // E'…', B'…', X'…', N'…', or a name that touches a string.
            Some(b'\'' | 0x80..) => return None,
            // U&'…', U&"…".
            Some(b'&') if length == 1 && matches!(self.peek(1), Some(b'\'' | b'"')) => {
                if matches!(self.bytes.get(start), Some(b'u' | b'U')) {
                    return None;
                }
            }
            Some(_) | None => {}
        }
        // The number in it picks a type.
        if length == FLOAT.len() && self.bytes.get(start..self.at)?.eq_ignore_ascii_case(FLOAT) {
            self.pass::<SPACE>();
            return (self.peek(0) != Some(b'(')).then_some(());
        }
        Some(())
    }

    /// `'…'`, alone: what comes next is no string.
    fn string(&mut self) -> Option<()> {
        let start = self.at;
        self.at += 1;
        loop {
            self.pass_to::<ENDS_STRING>();
            match (self.peek(0)?, self.peek(1)) {
                (b'\'', Some(b'\'')) => self.at += 2,
                (b'\'', _) => break,
                (_, _) => return None,
            }
        }
        self.at += 1;
        self.slot(start, SlotClass::String, STRING)?;
        self.pass::<SPACE>();
        (self.peek(0) != Some(b'\'')).then_some(())
    }

    fn quoted_name(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            self.pass_to::<ENDS_NAME>();
            match (self.peek(0)?, self.peek(1)) {
                (b'"', Some(b'"')) => self.at += 2,
                (b'"', _) => break,
                (_, _) => return None,
            }
        }
        self.at += 1;
        Some(())
    }

    /// `$1`, which touches no name.
    fn param(&mut self) -> Option<()> {
        self.at += 1;
        let digits = self.at;
        self.pass::<DIGIT>();
        let touches = self.peek(0).is_some_and(|byte| class(byte) & LETTER != 0 || byte >= 0x80);
        (self.at > digits && !touches).then_some(())
    }

    fn dot(&mut self) -> Option<()> {
        match self.peek(1) {
            Some(b'.') => self.at += 2,
            Some(b'0'..=b'9') => return self.number(),
            Some(_) | None => self.at += 1,
        }
        Some(())
    }

    /// Digits, a fraction, an exponent; no other spelling, and no name that touches it.
    fn number(&mut self) -> Option<()> {
        let start = self.at;
        self.pass::<DIGIT>();
        let digits = self.bytes.get(start..self.at)?;
        let mut class = if fits_int4(digits) { SlotClass::Integer } else { SlotClass::Number };
        if self.peek(0) == Some(b'.') && self.peek(1) != Some(b'.') {
            self.at += 1;
            self.pass::<DIGIT>();
            class = SlotClass::Number;
        }
        if matches!(self.peek(0), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.peek(1), Some(b'+' | b'-')));
            if self.peek(1 + sign).is_some_and(|byte| byte.is_ascii_digit()) {
                self.at += 1 + sign;
                self.pass::<DIGIT>();
                class = SlotClass::Number;
            }
        }
        if self.peek(0).is_some_and(|byte| self::class(byte) & LETTER != 0 || byte >= 0x80) {
            return None;
        }
        let mark = if class == SlotClass::Integer { INTEGER } else { NUMBER };
        self.slot(start, class, mark)
    }

    /// Operator characters in a row, among which no comment begins.
    fn operator(&mut self) -> Option<()> {
        let start = self.at;
        self.pass::<OPERATOR>();
        let run = self.bytes.get(start..self.at)?;
        let comment = run.windows(2).any(|pair| matches!(pair, b"--" | b"/*"));
        (!comment && run.len() <= MAX_OPERATOR_BYTES).then_some(())
    }

    /// Puts a mark in the place of the constant that ends here.
    fn slot(&mut self, start: usize, class: SlotClass, mark: u8) -> Option<()> {
        self.skeleton.extend_from_slice(self.bytes.get(self.copied..start)?);
        self.skeleton.push(mark);
        self.slots.push(Slot { span: start..self.at, class });
        self.copied = self.at;
        Some(())
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// Over all bytes of these classes.
    fn pass<const CLASSES: u8>(&mut self) {
        self.pass_while(|byte| class(byte) & CLASSES != 0);
    }

    /// Over all bytes of other classes.
    fn pass_to<const CLASSES: u8>(&mut self) {
        self.pass_while(|byte| class(byte) & CLASSES == 0);
    }

    /// A plain loop: it takes half the instructions of an iterator's `position`.
    #[inline]
    fn pass_while(&mut self, passes: impl Fn(u8) -> bool) {
        let mut at = self.at;
        while let Some(&byte) = self.bytes.get(at)
            && passes(byte)
        {
            at += 1;
        }
        self.at = at;
    }
}

/// As `digits.parse::<i32>()`.
fn fits_int4(digits: &[u8]) -> bool {
    let value = |value: u32, digit: &u8| value.saturating_mul(10).saturating_add(u32::from(*digit & 0xf));
    !digits.is_empty() && digits.iter().fold(0, value) <= i32::MAX.unsigned_abs()
}

fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or_default()
}

/// White space.
const SPACE: u8 = 1;
/// What stands for itself and is no constant's beginning.
const PUNCTUATION: u8 = 2;
/// Letters of ASCII and `_`.
const LETTER: u8 = 4;
const DIGIT: u8 = 8;
const DOLLAR: u8 = 16;
const OPERATOR: u8 = 32;
/// A quote in a string; a backslash and a NUL, which make it unusual.
const ENDS_STRING: u8 = 64;
/// A quote in a name; control characters, which make it unusual.
const ENDS_NAME: u8 = 128;
/// What a name goes on with.
const NAME: u8 = LETTER | DIGIT | DOLLAR;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    loop {
        let outside = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => SPACE,
            b',' | b'(' | b')' | b'[' | b']' | b';' => PUNCTUATION,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'$' => DOLLAR,
            _ if is_operator(byte) => OPERATOR,
            _ => 0,
        };
        let in_string = if matches!(byte, b'\'' | b'\\' | 0) { ENDS_STRING } else { 0 };
        let in_name = if matches!(byte, b'"' | 0..=0x1f) { ENDS_NAME } else { 0 };
        #[expect(clippy::indexing_slicing, reason = "a byte is below 256, and the compiler looks")]
        {
            classes[byte as usize] = outside | in_string | in_name;
        }
        if byte == u8::MAX {
            break classes;
        }
        byte += 1;
    }
};

const FLOAT: &[u8] = b"float";
