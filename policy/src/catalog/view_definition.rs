//! What a view selects: its text, and what was once read in it.

use std::sync::OnceLock;

use crate::ir::Query;

/// A view's query, as pg_get_viewdef prints it under an empty search_path.
#[derive(Debug, Clone)]
pub struct ViewDefinition {
    text: Box<str>,
    /// Kept, since every statement on the view needs it, and reading it costs more than judging most statements.
    query: OnceLock<Option<Query>>,
}

impl ViewDefinition {
    pub(crate) fn new(text: impl Into<Box<str>>) -> ViewDefinition {
        ViewDefinition { text: text.into(), query: OnceLock::new() }
    }

    /// Its words.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The query in it; none where `read` finds none that is understood. `read` is a function of the text alone: what it
    /// said first is what is said from then on.
    pub(crate) fn query(&self, read: fn(&str) -> Option<Query>) -> Option<&Query> {
        self.query.get_or_init(|| read(&self.text)).as_ref()
    }
}
