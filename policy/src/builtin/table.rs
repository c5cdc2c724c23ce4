//! A table of lines, found by their first field and parsed when first asked for.

use std::sync::OnceLock;

use crate::catalog::{Listing, Major};
use crate::keyed::{HashMap, Keyed};

/// A text of lines `key TAB field TAB …`, in which a key's lines are neighbours. `# ` at the start
/// makes a comment (`#` is an operator). All its lines are on one list.
#[derive(Clone, Copy)]
pub(super) struct File {
    pub(super) listing: Listing,
    pub(super) text: &'static str,
}

/// The lines of some files by key, and what they say for each major.
pub(super) struct Table<T: 'static> {
    rows: HashMap<&'static str, Rows<T>>,
    files: &'static [File],
    parse: fn(Row, Major) -> Option<T>,
}

/// One line.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) listing: Listing,
    pub(super) key: &'static str,
    /// What comes after the key.
    pub(super) fields: &'static str,
}

struct Rows<T> {
    /// The key's lines in each file, the key included.
    lines: [&'static str; FILES_MAX],
    parsed: [OnceLock<Box<[T]>>; Major::ALL.len()],
}

impl<T> Table<T> {
    /// Indexes the files; `parse` says what a line means for a major, none where the line is not
    /// about it.
    pub(super) fn new(files: &'static [File], parse: fn(Row, Major) -> Option<T>) -> Table<T> {
        let bytes: usize = files.iter().map(|file| file.text.len()).sum();
        let mut rows = HashMap::with_capacity_and_hasher(bytes / BYTES_A_KEY, Keyed);
        for (number, file) in files.iter().enumerate() {
            index(&mut rows, number, file.text);
        }
        Table { rows, files, parse }
    }

    /// What the lines of that key say for that major, in the order of the files.
    pub(super) fn get(&'static self, major: Major, key: &str) -> &'static [T] {
        let Some(rows) = self.rows.get(key) else { return &[] };
        let Some(slot) = rows.parsed.get(usize::from(major.number() - FIRST_MAJOR)) else {
            return &[];
        };
        slot.get_or_init(|| {
            let lines = self
                .files
                .iter()
                .zip(rows.lines)
                .flat_map(|(file, lines)| lines.lines().filter_map(|line| row(file.listing, line)));
            lines.filter_map(|row| (self.parse)(row, major)).collect()
        })
    }

    /// Every key, in no order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.rows.keys().copied()
    }
}

/// The rows of a text, in order.
pub(super) fn rows(file: File) -> impl Iterator<Item = Row> {
    file.text.lines().filter_map(move |line| row(file.listing, line))
}

/// Whether a field of majors (`15-18`, `17-18`, `16`) has that one.
pub(super) fn has_major(field: &str, major: Major) -> bool {
    let number = |text: &str| text.parse::<u8>().ok();
    let (first, last) = field.split_once('-').unwrap_or((field, field));
    match (number(first), number(last)) {
        (Some(first), Some(last)) => (first..=last).contains(&major.number()),
        _ => false,
    }
}

fn row(listing: Listing, line: &'static str) -> Option<Row> {
    if line.starts_with("# ") {
        return None;
    }
    let (key, fields) = line.split_once('\t')?;
    Some(Row { listing, key, fields })
}

/// INVARIANT (neighbours): a key that comes again after another one would hide its first lines; a
/// test reads every file and finds that none does.
fn index<T>(rows: &mut HashMap<&'static str, Rows<T>>, file: usize, text: &'static str) {
    let mut open: Option<(&'static str, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let key = row(Listing::Unlisted, line).map(|row| row.key);
        if open.map(|(key, _)| key) != key {
            if let Some((key, from)) = open {
                put(rows, file, key, text.get(from..at).unwrap_or_default());
            }
            open = key.map(|key| (key, at));
        }
        at += line.len();
    }
    if let Some((key, from)) = open {
        put(rows, file, key, text.get(from..).unwrap_or_default());
    }
}

fn put<T>(rows: &mut HashMap<&'static str, Rows<T>>, file: usize, key: &'static str, lines: &'static str) {
    let rows = rows
        .entry(key)
        .or_insert_with(|| Rows { lines: [""; FILES_MAX], parsed: std::array::from_fn(|_| OnceLock::new()) });
    if let Some(slot) = rows.lines.get_mut(file) {
        *slot = lines;
    }
}

/// The most files of one table.
const FILES_MAX: usize = 3;
const FIRST_MAJOR: u8 = Major::V15.number();
/// For the map's first size only.
const BYTES_A_KEY: usize = 64;
