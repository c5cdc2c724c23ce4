//! Array literals.

use crate::mutants::mutant;

/// The elements of a one-dimensional array literal; none for anything that is not the plain form.
pub(super) fn array_elements(text: &str) -> Option<Vec<String>> {
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
