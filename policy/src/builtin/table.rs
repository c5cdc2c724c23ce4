//! A table of a file's lines, found by their first field and parsed when first asked for.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::catalog::Major;

/// Lines of `key TAB rest`, sorted so that a key's lines are neighbours; `#` starts a comment line.
pub(super) struct Table<T: 'static> {
    rows: HashMap<&'static str, Rows<T>>,
    parse: fn(&'static str, Major) -> T,
}

struct Rows<T> {
    /// The key's lines, the key included.
    lines: &'static str,
    /// What they say, for each major.
    parsed: [OnceLock<T>; Major::ALL.len()],
}

impl<T> Table<T> {
    /// Indexes the lines; `parse` turns a key's lines into what they say for one major.
    pub(super) fn new(text: &'static str, parse: fn(&'static str, Major) -> T) -> Table<T> {
        let mut rows = HashMap::with_capacity(text.len() / BYTES_A_KEY);
        let mut current: Option<(&'static str, usize)> = None;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let key = line.split('\t').next().unwrap_or_default();
            let is_row = line.contains('\t') && !line.starts_with('#');
            match current {
                Some((open, _)) if is_row && open == key => {}
                Some((open, from)) => {
                    insert(&mut rows, text, open, from, at);
                    current = is_row.then_some((key, at));
                }
                None => current = is_row.then_some((key, at)),
            }
            at += line.len();
        }
        if let Some((open, from)) = current {
            insert(&mut rows, text, open, from, at);
        }
        Table { rows, parse }
    }

    /// What the lines of that key say for that major.
    pub(super) fn get(&'static self, major: Major, key: &str) -> Option<&'static T> {
        let rows = self.rows.get(key)?;
        let slot = rows.parsed.get(usize::from(major.number().checked_sub(FIRST_MAJOR)?))?;
        Some(slot.get_or_init(|| (self.parse)(rows.lines, major)))
    }

    /// Every key, in no order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.rows.keys().copied()
    }
}

/// INVARIANT (sorted): a key whose lines are not neighbours keeps its first lines only; a test
/// reads every table and finds that there is none.
fn insert<T>(
    rows: &mut HashMap<&'static str, Rows<T>>,
    text: &'static str,
    key: &'static str,
    from: usize,
    to: usize,
) {
    let lines = text.get(from..to).unwrap_or_default();
    rows.entry(key).or_insert_with(|| Rows { lines, parsed: std::array::from_fn(|_| OnceLock::new()) });
}

/// Whether a field of majors (`15-18`, `17-18`, `16`) has that one.
pub(super) fn has_major(field: &str, major: Major) -> bool {
    let number = |text: &str| text.parse::<u8>().ok();
    let (first, last) = field.split_once('-').unwrap_or((field, field));
    matches!((number(first), number(last)), (Some(first), Some(last)) if (first..=last).contains(&major.number()))
}

const FIRST_MAJOR: u8 = Major::V15.number();
/// For the map's first size only.
const BYTES_A_KEY: usize = 64;
