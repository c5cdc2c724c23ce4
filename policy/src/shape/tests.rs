//! Shapes agree with the parser's own scanner and with its trees.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use pg_query::protobuf::Token as PgToken;

use super::token::{Token, TokenKind, tokens};
use super::*;
use crate::policy::Limits;

/// A small generator of the same numbers every time (xorshift64*).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let rolled = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(rolled).unwrap() % sides
    }
}

fn corpus() -> Vec<String> {
    let mut texts = Vec::new();
    for file in ["attack", "benign"] {
        let path = format!("{}/../tests/corpus/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let case: serde_json::Value = serde_json::from_str(line).unwrap();
            texts.push(case.get("sql").unwrap().as_str().unwrap().to_owned());
        }
    }
    texts
}

/// What the lexer's rules turn on.
const PIECES: &[&str] = &[
    "'",
    "''",
    "'a'",
    "\"",
    "\"a\"",
    "\\",
    "--",
    "/*",
    "*/",
    "$",
    "$$",
    "$a$",
    "$1",
    "E'",
    "e'\\''",
    "U&'",
    "u&\"",
    "N'",
    "B'",
    "x'",
    "0",
    "1",
    "1.",
    ".5",
    "1e",
    "1e5",
    "0x1",
    "1_0",
    "..",
    "2147483647",
    "2147483648",
    "+",
    "-",
    "*",
    "/",
    "<",
    ">",
    "=",
    "~",
    "!",
    "@",
    "%",
    "&",
    "|",
    "`",
    "?",
    "#",
    "^",
    "::",
    ":=",
    ":",
    ";",
    ",",
    "(",
    ")",
    "[",
    "]",
    ".",
    " ",
    "\n",
    "\t",
    "\r",
    "\u{b}",
    "é",
    "\u{1}",
    "float(",
    "FLOAT",
    "\0",
    "$1a",
    "N",
    "{",
    "99999999999",
    "é'",
    "a",
    "_",
    "SELECT",
];

/// One of the texts with a few pieces put in, taken out or doubled.
fn mutated(texts: &[String], dice: &mut Dice) -> String {
    let mut text = texts.get(dice.roll(texts.len())).unwrap().clone();
    for _ in 0..=dice.roll(4) {
        let characters: Vec<usize> =
            text.char_indices().map(|(place, _)| place).chain([text.len()]).collect();
        let index = dice.roll(characters.len());
        let from = *characters.get(index).unwrap();
        let to = *characters.get((index + dice.roll(40)).min(characters.len() - 1)).unwrap();
        match dice.roll(4) {
            0 => text.replace_range(from..to, ""),
            1 => {
                let copy: String = text.get(from..to).unwrap().into();
                text.insert_str(to, &copy);
            }
            _ => text.insert_str(from, PIECES.get(dice.roll(PIECES.len())).unwrap()),
        }
        text.truncate((0..=text.len().min(3000)).rev().find(|&end| text.is_char_boundary(end)).unwrap());
    }
    text
}

/// Where the two scanners differ, if they do; what the parser cannot scan is not compared.
fn difference(text: &str) -> Option<String> {
    let scanned = pg_query::scan(text).ok()?;
    let place = |place: i32| usize::try_from(place).unwrap();
    let theirs: Vec<(usize, usize)> =
        scanned.tokens.iter().map(|token| (place(token.start), place(token.end))).collect();
    let ours: Vec<(usize, usize)> = tokens(text).map(|token| (token.start, token.end)).collect();
    if ours != theirs {
        return Some(format!("{text:?}\n ours   {ours:?}\n theirs {theirs:?}"));
    }
    let shape = shape(text);
    let constants = scanned.tokens.iter().filter_map(|token| {
        let class = match token.token() {
            PgToken::Sconst => SlotClass::String,
            PgToken::Iconst => SlotClass::Integer,
            PgToken::Fconst => SlotClass::Number,
            _ => return None,
        };
        Some(Slot { span: place(token.start)..place(token.end), class })
    });
    let constants: Vec<Slot> = constants.collect();
    (!shape.is_exact() && shape.slots() != constants)
        .then(|| format!("{text:?}\n slots     {:?}\n constants {constants:?}", shape.slots()))
}

#[test]
fn tokens_and_slots_are_those_of_the_parsers_scanner() {
    let texts = corpus();
    let mut dice = Dice(0x7067_6d6f_6174);
    for text in &texts {
        assert_eq!(difference(text), None);
    }
    let rounds = if std::env::var_os("PGMOAT_LONG").is_some() { 1_000_000 } else { 10_000 };
    let mut compared = 0;
    for _ in 0..rounds {
        let text = mutated(&texts, &mut dice);
        compared += usize::from(pg_query::scan(&text).is_ok());
        assert_eq!(difference(&text), None);
    }
    assert!(compared > rounds * 2 / 5, "{compared}");
}

/// The same by the tokens, which are held against the parser's.
fn by_tokens(text: &str) -> Shape {
    let mut shape = Shape::EMPTY;
    let mut copied = 0;
    let mut before: Option<Token> = None;
    for token in tokens(text) {
        if is_unusual(text, before.as_ref(), &token) {
            return Shape { skeleton: [&[EXACT], text.as_bytes()].concat(), slots: Vec::new() };
        }
        if let Some((class, mark)) = slot_class(text, &token) {
            shape.skeleton.extend_from_slice(text.as_bytes().get(copied..token.start).unwrap());
            shape.skeleton.push(mark);
            shape.slots.push(Slot { span: token.start..token.end, class });
            copied = token.end;
        }
        before = Some(token);
    }
    shape.skeleton.extend_from_slice(text.as_bytes().get(copied..).unwrap());
    shape
}

fn slot_class(text: &str, token: &Token) -> Option<(SlotClass, u8)> {
    match token.kind {
        TokenKind::String => Some((SlotClass::String, STRING)),
        TokenKind::Integer => {
            let digits = text.get(token.start..token.end)?;
            match digits.parse::<i32>() {
                Ok(_) => Some((SlotClass::Integer, INTEGER)),
                Err(_) => Some((SlotClass::Number, NUMBER)),
            }
        }
        TokenKind::Decimal => Some((SlotClass::Number, NUMBER)),
        TokenKind::Word
        | TokenKind::QuotedName
        | TokenKind::UnicodeName
        | TokenKind::OtherString
        | TokenKind::OddNumber
        | TokenKind::Param
        | TokenKind::Punctuation(_)
        | TokenKind::Operator
        | TokenKind::LongOperator
        | TokenKind::Comment
        | TokenKind::Unterminated
        | TokenKind::Stray => None,
    }
}

fn is_unusual(text: &str, before: Option<&Token>, token: &Token) -> bool {
    let touches =
        |kind: TokenKind| before.is_some_and(|before| before.kind == kind && before.end == token.start);
    match token.kind {
        TokenKind::Word => !token.bytes(text).is_ascii() || touches(TokenKind::Param),
        TokenKind::QuotedName => token.bytes(text).iter().any(|&byte| byte < b' '),
        TokenKind::String => {
            token.bytes(text).iter().any(|byte| matches!(byte, b'\\' | 0))
                || touches(TokenKind::Word)
                || before.is_some_and(|before| before.kind == TokenKind::String)
        }
        TokenKind::Punctuation(byte) => {
            byte == b'(' && before.is_some_and(|before| before.is_word(text, "float"))
        }
        TokenKind::Integer | TokenKind::Decimal | TokenKind::Param | TokenKind::Operator => false,
        TokenKind::UnicodeName
        | TokenKind::OtherString
        | TokenKind::OddNumber
        | TokenKind::LongOperator
        | TokenKind::Comment
        | TokenKind::Unterminated
        | TokenKind::Stray => true,
    }
}

#[test]
fn a_shape_is_what_the_tokens_say() {
    let texts = corpus();
    let mut dice = Dice(0x6375_7473);
    let rounds = if std::env::var_os("PGMOAT_LONG").is_some() { 3_000_000 } else { 30_000 };
    let mut plain = 0;
    for round in 0..rounds {
        let text = match round % 3 {
            0 => mutated(&texts, &mut dice),
            1 => (0..dice.roll(12)).map(|_| *PIECES.get(dice.roll(PIECES.len())).unwrap()).collect(),
            _ => texts.get(round / 3 % texts.len()).unwrap().clone(),
        };
        let shape = shape(&text);
        assert_eq!(shape, by_tokens(&text), "{text:?}");
        plain += usize::from(!shape.is_exact());
    }
    assert!(plain > rounds / 4, "{plain}");
}

/// The text with each slot filled anew, in as many bytes.
fn refilled(text: &str, dice: &mut Dice) -> String {
    let mut refilled = text.to_owned();
    for slot in shape(text).slots() {
        let digit = char::from_digit(u32::try_from(1 + dice.roll(9)).unwrap(), 10).unwrap();
        let constant = text.get(slot.span.clone()).unwrap();
        let new: String = match slot.class {
            SlotClass::String => {
                let letter = char::from(b'a' + u8::try_from(dice.roll(26)).unwrap());
                constant.bytes().map(|byte| if byte == b'\'' { '\'' } else { letter }).collect()
            }
            // A digit more or less would be another class.
            SlotClass::Integer if constant.len() < 10 => constant.chars().map(|_| digit).collect(),
            SlotClass::Integer | SlotClass::Number => continue,
        };
        refilled.replace_range(slot.span.clone(), &new);
    }
    refilled
}

/// The statements, printed, with every constant's value taken out.
fn without_constants(text: &str) -> String {
    let statements = match crate::parse::parse(text, &Limits::default()) {
        Ok(statements) => format!("{statements:?}"),
        Err(denial) => return denial.code.to_string(),
    };
    let mut kept = String::new();
    let mut rest = statements.as_str();
    while let Some(value) = rest.find("Const(Const { value: ").or_else(|| rest.find("Const { value: ")) {
        let (before, after) = rest.split_at(value);
        kept += before;
        rest = after.get(after.find(", at: ").unwrap()..).unwrap();
    }
    kept + rest
}

#[test]
fn two_texts_of_one_shape_differ_in_constants_only() {
    std::thread::Builder::new()
        .stack_size(crate::STACK_BYTES)
        .spawn(|| {
            let mut dice = Dice(0x0073_6861_7065);
            let mut different = 0;
            // SET is never cached: there the value decides.
            for text in corpus().into_iter().filter(|text| !text.starts_with("SET ")) {
                let other = refilled(&text, &mut dice);
                assert_eq!(shape(&text).skeleton(), shape(&other).skeleton());
                assert_eq!(without_constants(&text), without_constants(&other), "{text}\n{other}");
                different += usize::from(text != other);
            }
            assert!(different > 400, "{different}");
        })
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn plain_constants_are_slots_by_class() {
    let text = "SELECT 'it''s', 42, 2147483648, 1.5, .5, 1e9, $1, -7, \"a1\", b2 FROM t3 LIMIT 10";
    let shape = shape(text);
    let slots: Vec<_> = shape.slots().iter().map(|slot| text.get(slot.span.clone()).unwrap()).collect();
    assert_eq!(slots, ["'it''s'", "42", "2147483648", "1.5", ".5", "1e9", "7", "10"]);
    assert_eq!(
        String::from_utf8_lossy(shape.skeleton()),
        "SELECT \u{1}, \u{2}, \u{3}, \u{3}, \u{3}, \u{3}, $1, -\u{2}, \"a1\", b2 FROM t3 LIMIT \u{2}"
    );
}

#[test]
fn whatever_is_unusual_makes_a_text_its_own_shape() {
    for text in [
        "SELECT 'a\\b'",
        "SELECT E'a'",
        "SELECT U&'a'",
        "SELECT B'1'",
        "SELECT X'1'",
        "SELECT N'a'",
        "SELECT $$a$$",
        "SELECT $t$a$t$",
        "SELECT 1 -- a",
        "SELECT /* a */ 1",
        "SELECT é",
        "SELECT 'a'\n'b'",
        "SELECT 'a' 'b'",
        "SELECT 'a' -- c\n 'b'",
        "SELECT 0x1",
        "SELECT 1_0",
        "SELECT 1a",
        "SELECT $1a",
        "SELECT 'a",
        "SELECT \"a",
        "SELECT U&\"a\"",
        "SELECT a'b'",
        "SELECT \u{1}",
        "SELECT \"\u{2}\"",
        "SELECT a::float(24)",
        "SELECT a::FLOAT (25)",
        "SELECT $",
        "SELECT 'a\0b'",
        "SELECT \"a\0b\"",
    ] {
        let shape = shape(text);
        assert!(shape.is_exact(), "{text:?}");
        assert_eq!(shape.skeleton().get(1..), Some(text.as_bytes()));
        assert!(shape.slots().is_empty());
    }
    for text in ["SELECT 'é\n\u{1}'", "SELECT \"é\"", "", ";", "a - - 1", "a.b.c", "a->>'b'", "f(1)"] {
        assert!(!shape(text).is_exact(), "{text:?}");
    }
}

#[test]
fn fingerprints_stay_the_same_from_release_to_release() {
    for (text, fingerprint) in [
        ("", "e3b0c44298fc1c14"),
        ("SELECT * FROM t WHERE a = 'x' AND b = 1", "9a82c843163641ef"),
        ("SELECT * FROM t WHERE a = 'yy' AND b = 23", "9a82c843163641ef"),
        ("SELECT * FROM t WHERE a = 'x' AND b = 1.0", "7c537c7392c4cbb9"),
        ("SELECT 1 -- exact", "af7f87aa41a44644"),
    ] {
        assert_eq!(shape(text).fingerprint().to_string(), fingerprint, "{text}");
    }
}

#[test]
fn string_kinds_end_where_postgresql_ends_them() {
    for (text, kinds) in [
        ("E'a\\'b' 'c'", &[TokenKind::OtherString, TokenKind::String][..]),
        ("E'a' \n 'b\\'c'", &[TokenKind::OtherString]),
        ("'a\\' 'b'", &[TokenKind::String, TokenKind::String]),
        ("$a$ $b$ $a$", &[TokenKind::OtherString]),
        ("/* /* */ ' */ 'a'", &[TokenKind::Comment, TokenKind::String]),
        ("U&\"a\"\"b\" x", &[TokenKind::UnicodeName, TokenKind::Word]),
        ("'a", &[TokenKind::Unterminated]),
    ] {
        let found: Vec<TokenKind> = tokens(text).map(|token| token.kind).collect();
        assert_eq!(found, kinds, "{text}");
    }
}
