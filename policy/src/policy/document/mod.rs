//! A YAML file as a tree whose every value knows its line, and the closed shape that it must have.
//!
//! One declaration, a [`Section`] of [`Key`]s, is what a file is checked against ([`conform`]),
//! what its JSON Schema is made of ([`schema`]) and what its reference page is made of
//! ([`reference`]): the three cannot drift apart. Every problem is collected; nothing stops at the
//! first. The policy file and the proxy's configuration are both read this way.

mod conform;
mod reference;
mod schema;
mod shape;
mod yaml;

use std::sync::Arc;

pub use conform::conform;
pub use reference::reference;
pub use schema::schema;
pub use shape::{Built, Key, Presence, Section, Shape, Word};

use super::problem::{Place, Problem};

/// A value in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it stands.
    pub place: Place,
    /// What it is.
    pub content: Content,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// `null`, `~`, nothing.
    Null,
    /// `true`, `false`.
    Boolean(bool),
    /// An integer that fits 64 bits.
    Integer(i64),
    /// Any other number.
    Number,
    /// A string.
    Text(Box<str>),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in the order of the file; no key stands twice.
    Map(Vec<Entry>),
}

/// One entry of a mapping.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Box<str>,
    /// Where the key stands.
    pub place: Place,
    /// The value.
    pub value: Node,
}

/// Reads a file's text.
///
/// # Errors
/// Where it is no YAML, or YAML beyond what these files need: several documents, tags, merge keys,
/// keys that are no text, and more than the bounds. Keys that stand twice are problems too, beside
/// a tree that has the first of them.
pub fn read(text: &str, file: &str) -> (Option<Node>, Vec<Problem>) {
    yaml::read(text, &Arc::from(file))
}

impl Node {
    /// The value of a key of a mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|entry| *entry.key == *key).map(|entry| &entry.value)
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            Content::Null
            | Content::Boolean(_)
            | Content::Integer(_)
            | Content::Number
            | Content::List(_)
            | Content::Map(_) => None,
        }
    }

    /// The integer, if it is one.
    pub fn integer(&self) -> Option<i64> {
        match self.content {
            Content::Integer(value) => Some(value),
            Content::Null
            | Content::Boolean(_)
            | Content::Number
            | Content::Text(_)
            | Content::List(_)
            | Content::Map(_) => None,
        }
    }

    /// The boolean, if it is one.
    pub fn boolean(&self) -> Option<bool> {
        match self.content {
            Content::Boolean(value) => Some(value),
            Content::Null
            | Content::Integer(_)
            | Content::Number
            | Content::Text(_)
            | Content::List(_)
            | Content::Map(_) => None,
        }
    }

    /// The elements of a sequence; of anything else none.
    pub fn items(&self) -> &[Node] {
        match &self.content {
            Content::List(items) => items,
            Content::Null
            | Content::Boolean(_)
            | Content::Integer(_)
            | Content::Number
            | Content::Text(_)
            | Content::Map(_) => &[],
        }
    }

    /// The entries of a mapping; of anything else none.
    pub fn entries(&self) -> &[Entry] {
        match &self.content {
            Content::Map(entries) => entries,
            Content::Null
            | Content::Boolean(_)
            | Content::Integer(_)
            | Content::Number
            | Content::Text(_)
            | Content::List(_) => &[],
        }
    }
}
