//! What the greeting has said of a client's own settings is not said again when upstream takes them.

use super::Link;

impl Link {
    /// Whether a ParameterStatus says what the greeting has said.
    pub(super) fn was_greeted(&self, _name: &str, _value: &str) -> bool {
        false
    }
}
