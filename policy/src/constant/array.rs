//! Array literals.

use crate::mutants::mutant;

/// Whether all elements of a one-dimensional array literal pass; false for anything that is not the plain form.
pub(super) fn all_elements(text: &str, mut pass: impl FnMut(&str) -> bool) -> bool {
    let inner = text.trim_matches(SPACES).strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let Some(inner) = inner else { return false };
    if inner.trim_matches(SPACES).is_empty() || mutant!(UnicodeSpaceIsEmpty) && inner.trim().is_empty() {
        return true;
    }
    inner.split(',').all(|text| element(text).is_some_and(&mut pass))
}

fn element(text: &str) -> Option<&str> {
    let text = text.trim_matches(SPACES);
    if let Some(quoted) = text.strip_prefix('"') {
        let quoted = quoted.strip_suffix('"')?;
        return (!quoted.contains(['"', '\\', '{', '}'])).then_some(quoted);
    }
    let plain =
        !text.is_empty() && !text.contains(['"', '\\', '{', '}', '=']) && !text.eq_ignore_ascii_case("null");
    plain.then_some(text)
}

/// What array_in skips (`array_isspace`): not Unicode's other spaces.
const SPACES: [char; 6] = [' ', '\t', '\n', '\r', '\x0b', '\x0c'];
