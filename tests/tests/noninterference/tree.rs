//! Statements as trees of text, so that one that shows a difference can be made smaller.
//!
//! The tree knows no SQL. It knows which parts may be left out (optional nodes, items of lists), and
//! which may be replaced by a smaller part of their own sort; the minimiser tries these, and the
//! judge and PostgreSQL say which of them still are statements.

use std::borrow::Cow;

use crate::bound::{Bound, Declared};
use crate::schema::Class;

/// What may stand in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// A statement or a query: may be replaced by one inside it.
    Query,
    /// An item of FROM: a join may be replaced by one of its sides.
    From,
    /// A condition: may be TRUE, or one inside it.
    Bool,
    /// A condition that is a tenant equality, or looks like one.
    Equality,
    /// A scalar: may be a scalar inside it.
    Scalar,
    /// A scalar that is T.
    Own(Class),
    /// May be left out.
    Optional,
}

/// A part of a statement.
#[derive(Debug, Clone)]
pub(crate) enum Tree {
    /// Text as it is.
    Text(Cow<'static, str>),
    /// `$n`, numbered when it is written down, and the value that is bound.
    Param { id: u32, value: Bound },
    /// A query that is prepared under a name and executed with its parameters' values in the text.
    Prepared { name: String, query: Box<Tree> },
    /// Parts in order.
    Node { sort: Sort, parts: Vec<Tree> },
    /// Parts that may be left out one by one; with none of them, nothing is written.
    List { head: &'static str, between: &'static str, tail: &'static str, least: usize, items: Vec<Tree> },
}

/// A statement as it is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) sql: String,
    pub(crate) values: Vec<Bound>,
}

pub(crate) fn text(text: impl Into<Cow<'static, str>>) -> Tree {
    Tree::Text(text.into())
}

pub(crate) fn node(sort: Sort, parts: impl IntoIterator<Item = Tree>) -> Tree {
    Tree::Node { sort, parts: parts.into_iter().collect() }
}

pub(crate) fn scalar(parts: impl IntoIterator<Item = Tree>) -> Tree {
    node(Sort::Scalar, parts)
}

pub(crate) fn condition(parts: impl IntoIterator<Item = Tree>) -> Tree {
    node(Sort::Bool, parts)
}

pub(crate) fn optional(parts: impl IntoIterator<Item = Tree>) -> Tree {
    node(Sort::Optional, parts)
}

/// A list with commas of which one item must stay.
pub(crate) fn commas(items: Vec<Tree>) -> Tree {
    Tree::List { head: "", between: ", ", tail: "", least: 1, items }
}

/// Conditions that all hold: ` WHERE a AND b`, or nothing.
pub(crate) fn clause(head: &'static str, items: Vec<Tree>) -> Tree {
    Tree::List { head, between: " AND ", tail: "", least: 0, items }
}

impl Sort {
    /// Whether one of this sort may stand where the other stands.
    fn fits(self, place: Self) -> bool {
        let family = |sort| match sort {
            Self::Equality => Self::Bool,
            Self::Own(_) => Self::Scalar,
            Self::Query | Self::From | Self::Bool | Self::Scalar | Self::Optional => sort,
        };
        family(self) == family(place)
    }
}

impl Tree {
    /// The text, its parameters numbered from 1 in the order in which they come.
    pub(crate) fn written(&self) -> Written {
        let mut written = Written::default();
        let mut ids = Vec::new();
        self.write(&mut written, &mut ids);
        written
    }

    fn write(&self, into: &mut Written, ids: &mut Vec<u32>) {
        match self {
            Self::Text(text) => into.sql.push_str(text),
            Self::Param { id, value } => {
                let place = ids.iter().position(|known| known == id).unwrap_or_else(|| {
                    ids.push(*id);
                    into.values.push(value.clone());
                    ids.len() - 1
                });
                into.sql.push_str(&format!("${}", place + 1));
            }
            Self::Node { parts, .. } => parts.iter().for_each(|part| part.write(into, ids)),
            Self::Prepared { name, query } => {
                let inner = query.written();
                let arguments = in_parentheses(inner.values.iter().map(argument));
                let types = match inner.values.iter().any(|value| value.declared.is_some()) {
                    true => in_parentheses(
                        inner
                            .values
                            .iter()
                            .map(|value| value.declared.map_or("unknown", |d| d.name).to_owned()),
                    ),
                    false => String::new(),
                };
                into.sql.push_str(&format!(
                    "PREPARE {name}{types} AS {}; EXECUTE {name}{arguments}; DEALLOCATE {name}",
                    inner.sql
                ));
            }
            Self::List { items, .. } if items.is_empty() => {}
            Self::List { head, between, tail, items, .. } => {
                into.sql.push_str(head);
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        into.sql.push_str(between);
                    }
                    item.write(into, ids);
                }
                into.sql.push_str(tail);
            }
        }
    }

    pub(crate) fn parts(&self) -> &[Tree] {
        match self {
            Self::Text(_) | Self::Param { .. } => &[],
            Self::Prepared { query, .. } => std::slice::from_ref(query),
            Self::Node { parts, .. } => parts,
            Self::List { items, .. } => items,
        }
    }

    /// How many parts it has, all depths counted.
    pub(crate) fn size(&self) -> usize {
        1 + self.parts().iter().map(Tree::size).sum::<usize>()
    }

    /// Every tree that is this one with one part left out or replaced by something smaller; the
    /// largest changes first.
    pub(crate) fn smaller(&self) -> Vec<Tree> {
        let mut all = Vec::new();
        self.reductions(&mut |tree| all.push(tree));
        all.sort_by_key(Tree::size);
        all
    }

    fn reductions(&self, each: &mut dyn FnMut(Tree)) {
        if let Self::Node { sort, parts } = self {
            match sort {
                Sort::Optional if !parts.is_empty() => each(node(Sort::Optional, [])),
                Sort::Bool | Sort::Equality if self.size() > 2 => each(condition([text("TRUE")])),
                Sort::Query
                | Sort::From
                | Sort::Scalar
                | Sort::Own(_)
                | Sort::Optional
                | Sort::Bool
                | Sort::Equality => {}
            }
            if *sort != Sort::Optional {
                parts.iter().for_each(|part| part.nearest(*sort, &mut |found| each(found.clone())));
            }
        }
        if let Self::List { least, items, .. } = self
            && items.len() > *least
        {
            for at in 0..items.len() {
                each(self.with_parts(|parts| drop(parts.remove(at))));
            }
        }
        if let Self::Prepared { name, query } = self {
            query.reductions(&mut |smaller| {
                each(Self::Prepared { name: name.clone(), query: Box::new(smaller) });
            });
            return;
        }
        for (at, part) in self.parts().iter().enumerate() {
            part.reductions(&mut |smaller| each(self.with_parts(|parts| parts[at] = smaller)));
        }
    }

    fn with_parts(&self, change: impl FnOnce(&mut Vec<Tree>)) -> Tree {
        let mut changed = self.clone();
        match &mut changed {
            Self::Text(_) | Self::Param { .. } | Self::Prepared { .. } => {}
            Self::Node { parts, .. } | Self::List { items: parts, .. } => change(parts),
        }
        changed
    }

    /// A statement that is prepared gets another name: one whose execution fails stays prepared.
    pub(crate) fn rename(&mut self, suffix: &str) {
        if let Self::Prepared { name, .. } = self {
            name.push_str(suffix);
        }
        self.parts_mut().iter_mut().for_each(|part| part.rename(suffix));
    }

    /// The `nth` part that is wanted, all depths counted.
    pub(crate) fn find(&mut self, wanted: &dyn Fn(&Tree) -> bool, nth: &mut usize) -> Option<&mut Tree> {
        if wanted(self) {
            if *nth == 0 {
                return Some(self);
            }
            *nth -= 1;
        }
        self.parts_mut().iter_mut().find_map(|part| part.find(wanted, nth))
    }

    /// How many parts are wanted, all depths counted.
    pub(crate) fn count(&self, wanted: &dyn Fn(&Tree) -> bool) -> usize {
        usize::from(wanted(self)) + self.parts().iter().map(|part| part.count(wanted)).sum::<usize>()
    }

    pub(crate) fn parts_mut(&mut self) -> &mut [Tree] {
        match self {
            Self::Text(_) | Self::Param { .. } => &mut [],
            Self::Prepared { query, .. } => std::slice::from_mut(query),
            Self::Node { parts, .. } => parts,
            Self::List { items, .. } => items,
        }
    }

    /// The nodes of a sort that are not below another of it.
    fn nearest<'t>(&'t self, wanted: Sort, each: &mut dyn FnMut(&'t Tree)) {
        match self {
            Self::Node { sort, .. } if sort.fits(wanted) => each(self),
            Self::Text(_)
            | Self::Param { .. }
            | Self::Prepared { .. }
            | Self::Node { .. }
            | Self::List { .. } => {
                self.parts().iter().for_each(|part| part.nearest(wanted, each));
            }
        }
    }
}

/// `(a, b)`, or nothing.
fn in_parentheses(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() { String::new() } else { format!("({})", items.join(", ")) }
}

/// A value as an argument of EXECUTE; where it would be sent in binary it is cast.
fn argument(value: &Bound) -> String {
    let text =
        value.text.as_ref().map_or("NULL".to_owned(), |text| format!("'{}'", text.replace('\'', "''")));
    match value.declared {
        Some(Declared { name, binary: true, .. }) => format!("{text}::{name}"),
        Some(_) | None => text,
    }
}

/// A template's text with a tree at each `{}`.
pub(crate) fn fill(template: &'static str, trees: impl IntoIterator<Item = Tree>) -> Vec<Tree> {
    let mut trees = trees.into_iter();
    let mut parts = Vec::new();
    for (at, piece) in template.split("{}").enumerate() {
        if at > 0 {
            parts.push(trees.next().expect("as many trees as places"));
        }
        if !piece.is_empty() {
            parts.push(text(piece));
        }
    }
    assert!(trees.next().is_none(), "as many places as trees: {template}");
    parts
}
