//! Room for names: how many a client may have, how long they are, and how much text stands behind them.

use super::Session;
use super::name::UpstreamName;
use super::refusal::Refusal;

/// What a session may hold and send.
#[derive(Debug, Clone, Copy)]
pub struct SessionLimits {
    /// Named statements.
    pub statements: usize,
    /// The texts of all statements that are still referred to, in bytes: unnamed, pending and closed ones too.
    pub statement_bytes: usize,
    /// Named portals.
    pub portals: usize,
    /// The longest message that is taken, in bytes.
    pub message_bytes: usize,
    /// Surplus rows of a cut result that are read before the statement is cancelled (contracts 7).
    pub drain_rows: u64,
}

impl Default for SessionLimits {
    fn default() -> Self {
        SessionLimits {
            statements: 1_000,
            statement_bytes: 16 << 20,
            portals: 1_000,
            message_bytes: 64 << 20,
            drain_rows: 100_000,
        }
    }
}

impl Session {
    pub(super) fn unusable_name(&self, name: &str) -> Option<Refusal> {
        (name.len() > NAME_BYTES_MAX).then(|| {
            let message = format!("names of statements and portals have at most {NAME_BYTES_MAX} bytes");
            Refusal::plain("42622", message, "name_too_long")
        })
    }

    /// A name for another prepared statement, beside those that there are and `more` that are about to be.
    ///
    /// # Errors
    /// There is no room for it, or for so many bytes of text.
    pub fn name_statement(&mut self, text_bytes: usize, more: usize) -> Result<UpstreamName, Box<Refusal>> {
        if self.texts.held().saturating_add(text_bytes) > self.limits.statement_bytes {
            return Err(self.full_of_text());
        }
        let taken = self.statements.count().saturating_add(more);
        if taken >= self.limits.statements
            && taken.saturating_sub(self.statements.leaving()) >= self.limits.statements
        {
            return Err(full("prepared statements", self.limits.statements));
        }
        self.numbers.fresh().ok_or_else(|| full("prepared statements", self.limits.statements))
    }

    /// The same for a portal.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn name_portal(&mut self, more: usize) -> Result<UpstreamName, Box<Refusal>> {
        let taken = self.portals.count().saturating_add(more);
        if taken >= self.limits.portals && taken.saturating_sub(self.portals.leaving()) >= self.limits.portals
        {
            return Err(full("open portals", self.limits.portals));
        }
        self.numbers.fresh().ok_or_else(|| full("open portals", self.limits.portals))
    }

    pub(super) fn full_of_text(&self) -> Box<Refusal> {
        let max = self.limits.statement_bytes;
        let message =
            format!("the prepared statements of this session would have more than {max} bytes of text");
        let hint = Some("close statements and portals that are not needed".to_owned());
        Box::new(Refusal { hint, ..Refusal::plain("53400", message, "names") })
    }
}

fn full(what: &str, max: usize) -> Box<Refusal> {
    let message = format!("this session has too many {what}: at most {max}");
    let hint = Some("close those that are not needed".to_owned());
    Box::new(Refusal { hint, ..Refusal::plain("53400", message, "names") })
}

/// NAMEDATALEN - 1: where PostgreSQL cuts names, so that two could become one.
const NAME_BYTES_MAX: usize = 63;
