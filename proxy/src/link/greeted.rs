//! What the greeting has said of a client's own settings is not said again when upstream takes them.

use super::Link;

impl Link {
    /// Whether a ParameterStatus says what the greeting has said, while the start-up settings are given for the first
    /// time. Later ones are news, whatever their value.
    pub(super) fn was_greeted(&mut self, name: &str, value: &str) -> bool {
        if self.info.reported.is_empty() {
            return false;
        }
        if !self.session.is_being_set_up() {
            self.info.reported = Vec::new();
            return false;
        }
        let said = self.info.reported.iter().position(|(own, word)| **own == *name && **word == *value);
        said.map(|at| self.info.reported.swap_remove(at)).is_some()
    }
}
