//! Arrays as bound values, text and binary: one dimension, nothing unusual.
//!
//! PostgreSQL reads more than this (nested braces, explicit bounds, white space and escapes in odd
//! places, and not alike in every version); drivers write none of it, so it is refused.

use super::own::is_space;
use crate::Family;

/// The elements of `{a,"b c",NULL}`; `None` is NULL.
pub(super) fn text(text: &str) -> Option<Vec<Option<String>>> {
    let inner = text.trim_matches(is_space).strip_prefix('{')?.strip_suffix('}')?;
    let mut elements = Vec::new();
    if inner.trim_matches(is_space).is_empty() {
        return Some(elements);
    }
    let mut rest = inner;
    loop {
        let (element, after) = element(rest.trim_start_matches(is_space))?;
        elements.push(element);
        let after = after.trim_start_matches(is_space);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None => return after.is_empty().then_some(elements),
        }
    }
}

/// The first element, and what stands behind it.
fn element(text: &str) -> Option<(Option<String>, &str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        let (value, rest) = quoted_element(quoted)?;
        return Some((Some(value), rest));
    }
    let end = text.find(',').unwrap_or(text.len());
    let (raw, rest) = text.split_at_checked(end)?;
    let value = raw.trim_end_matches(is_space);
    if value.is_empty() || value.contains(['{', '}', '"', '\\']) {
        return None;
    }
    let null = value.eq_ignore_ascii_case("null");
    Some(((!null).then(|| value.to_owned()), rest))
}

fn quoted_element(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, text.get(at + 1..)?)),
            '\\' => value.push(chars.next()?.1),
            other => value.push(other),
        }
    }
    None
}

/// The elements of an array in binary format whose element type is of the family, and the
/// parameter's where that is known; `None` is NULL.
pub(super) fn binary<'a>(value: &'a [u8], family: &Family, ty: Option<u32>) -> Option<Vec<Option<&'a [u8]>>> {
    let mut rest = value;
    let dimensions = int(&mut rest)?;
    let flags = int(&mut rest)?;
    let element_type = u32::from_be_bytes(int(&mut rest)?.to_be_bytes());
    if !matches!(flags, 0 | 1)
        || !is_element(element_type, family)
        || ty.is_some_and(|ty| !alike(ty, element_type))
    {
        return None;
    }
    let count = match dimensions {
        0 => 0,
        1 => {
            let count = usize::try_from(int(&mut rest)?).ok()?;
            let _lower_bound = int(&mut rest)?;
            count
        }
        _ => return None,
    };
    // INVARIANT (bounded): each element takes four bytes at least, so a claimed count beyond what
    // is there reserves nothing.
    let mut elements = Vec::with_capacity(count.min(rest.len() / 4));
    for _ in 0..count {
        elements.push(match int(&mut rest)? {
            -1 => None,
            length => {
                let (element, after) = rest.split_at_checked(usize::try_from(length).ok()?)?;
                rest = after;
                Some(element).filter(|element| fits(element_type, element.len())).map(Some)?
            }
        });
    }
    rest.is_empty().then_some(elements)
}

fn int(rest: &mut &[u8]) -> Option<i32> {
    let (bytes, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    Some(i32::from_be_bytes(*bytes))
}

/// The element type is one of the family. An enum's is only known to be no built-in one:
/// PostgreSQL itself refuses another type than the parameter's.
fn is_element(oid: u32, family: &Family) -> bool {
    match family {
        Family::Text => matches!(oid, TEXT | VARCHAR),
        Family::Integer => matches!(oid, INT2 | INT4 | INT8),
        Family::Uuid => oid == UUID,
        Family::Enum(..) => oid >= FIRST_USER_OID,
        Family::Boolean | Family::Other(..) | Family::Unknown => false,
    }
}

/// PostgreSQL takes an array of this element type for one of that. (Text and varchar are one to
/// what is resolved here.)
fn alike(ty: u32, element: u32) -> bool {
    ty == element || matches!((ty, element), (TEXT | VARCHAR, TEXT | VARCHAR))
}

/// A value of that length in binary format can be one of the type.
pub(super) fn fits(oid: u32, length: usize) -> bool {
    match oid {
        INT2 => length == 2,
        INT4 => length == 4,
        INT8 => length == 8,
        UUID => length == 16,
        _ => true,
    }
}

// PostgreSQL's pg_type.dat.
const INT8: u32 = 20;
const INT2: u32 = 21;
const INT4: u32 = 23;
const TEXT: u32 = 25;
const VARCHAR: u32 = 1043;
const UUID: u32 = 2950;
/// PostgreSQL's FirstNormalObjectId.
const FIRST_USER_OID: u32 = 16384;
