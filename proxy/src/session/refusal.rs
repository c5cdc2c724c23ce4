//! An error of the proxy's own: what the client reads when a message is refused (policy 5, contracts 3).

use pgmoat_policy::{Code, Denial, Object};
use pgmoat_upstream::frame::Fields;

/// An ErrorResponse in the making, either sent as it is or put into one of upstream's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// `C`
    pub sqlstate: &'static str,
    /// `M`
    pub message: String,
    /// `D`
    pub detail: Option<String>,
    /// `H`
    pub hint: Option<String>,
    /// `P`, 1-based, in characters of the client's text.
    pub position: Option<usize>,
    /// `s`, `t`, `c`
    pub object: Object,
    /// What the text that stands in for the refused message is called in the server's log.
    pub label: String,
    /// How an already failed transaction changes the answer.
    pub in_failed: InFailed,
}

/// What a refusal becomes inside a transaction that has failed already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InFailed {
    /// 25P02, as for any statement.
    Aborted,
    /// Itself: PostgreSQL finds these before it looks at the transaction (a syntax error, an unknown name).
    Same,
}

/// Where a refused statement stands.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// In a text: which statement (from 1), and the text that a byte offset counts in.
    Statement(usize, &'a str),
    /// At Bind: which parameter.
    Parameter(u32),
    /// At Execute.
    Execute,
}

impl Refusal {
    /// What a denial by policy says.
    pub fn denied(denial: &Denial, policy_version: u64, place: Place<'_>) -> Refusal {
        let (part, position) = match place {
            Place::Statement(number, text) => {
                (format!(", statement: {number}"), denial.at.map(|at| characters(text, at)))
            }
            Place::Parameter(number) => (format!(", parameter: {number}"), None),
            Place::Execute => (String::new(), None),
        };
        let syntax = denial.code == Code::SyntaxError;
        let own_words = !syntax && denial.code != Code::NameUnknown;
        Refusal {
            sqlstate: denial.sqlstate.0,
            message: denial.message.clone(),
            // PostgreSQL's own errors have no DETAIL of ours, or psql would show it under every typing mistake.
            detail: own_words.then(|| format!("code: {}, policy: {policy_version}{part}", denial.code)),
            hint: denial.hint.clone(),
            position,
            object: denial.object.clone(),
            label: denial.code.to_string(),
            in_failed: if syntax { InFailed::Same } else { InFailed::Aborted },
        }
    }

    /// One without DETAIL, as PostgreSQL or the proxy itself would say it.
    pub fn plain(sqlstate: &'static str, message: impl Into<String>, label: &str) -> Refusal {
        Refusal {
            sqlstate,
            message: message.into(),
            detail: None,
            hint: None,
            position: None,
            object: Object::default(),
            label: label.to_owned(),
            in_failed: InFailed::Aborted,
        }
    }

    /// PostgreSQL's 26000 for a name that the client does not have.
    pub fn no_statement(name: &str) -> Refusal {
        let message = match name {
            "" => "unnamed prepared statement does not exist".to_owned(),
            name => format!("prepared statement \"{name}\" does not exist"),
        };
        Refusal { in_failed: InFailed::Same, ..Refusal::plain("26000", message, "name_unknown") }
    }

    /// PostgreSQL's 42P05 for a name that the client has already.
    pub fn statement_exists(name: &str) -> Refusal {
        Refusal::plain("42P05", format!("prepared statement \"{name}\" already exists"), "name_taken")
    }

    /// PostgreSQL's 34000 for a name that the client does not have.
    pub fn no_portal(name: &str) -> Refusal {
        let message = format!("portal \"{name}\" does not exist");
        Refusal { in_failed: InFailed::Same, ..Refusal::plain("34000", message, "name_unknown") }
    }

    /// The whole ErrorResponse, for an answer without upstream.
    pub fn fields(&self) -> Fields {
        let mut fields = Fields::new();
        fields.set(b'S', "ERROR");
        fields.set(b'V', "ERROR");
        self.put(&mut fields);
        fields
    }

    /// Takes the place of an upstream error, whose severity stays.
    pub fn swap(&self, upstream: &Fields, failed: bool) -> Fields {
        let mut fields = upstream.clone();
        fields.retain(|field| matches!(field.code, b'S' | b'V'));
        match (failed, self.in_failed) {
            (true, InFailed::Aborted) => {
                fields.set(b'C', "25P02");
                fields.set(b'M', ABORTED);
            }
            (true, InFailed::Same) | (false, InFailed::Aborted | InFailed::Same) => self.put(&mut fields),
        }
        fields
    }

    /// Text in the place of the refused one that cannot be parsed, whatever the server's version.
    pub fn poison(&self) -> String {
        format!("pgmoat refused this statement: {}", self.label)
    }

    /// A name in the place of the refused one that no statement or portal can have: theirs have no spaces.
    pub fn impossible_name(&self) -> String {
        format!("pgmoat refused: {}", self.label)
    }

    fn put(&self, fields: &mut Fields) {
        fields.set(b'C', self.sqlstate);
        // A NUL would end the field early; no message of ours has one, but names come from clients.
        fields.set(b'M', without_nul(&self.message));
        let optional = [
            (b'D', self.detail.as_deref()),
            (b'H', self.hint.as_deref()),
            (b's', self.object.schema.as_deref()),
            (b't', self.object.table.as_deref()),
            (b'c', self.object.column.as_deref()),
        ];
        let position = self.position.map(|position| position.to_string());
        let position = [(b'P', position.as_deref())];
        for (code, value) in optional.into_iter().take(2).chain(position).chain(optional.into_iter().skip(2))
        {
            if let Some(value) = value {
                fields.set(code, without_nul(value));
            }
        }
    }
}

/// The 1-based character position of a byte offset in a text.
pub fn characters(text: &str, at: u32) -> usize {
    let at = usize::try_from(at).unwrap_or(usize::MAX).min(text.len());
    text.char_indices().take_while(|(start, _)| *start < at).count() + 1
}

pub(super) fn without_nul(text: &str) -> String {
    text.replace('\0', " ")
}

/// PostgreSQL's text for 25P02.
pub(super) const ABORTED: &str =
    "current transaction is aborted, commands ignored until end of transaction block";

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;
    use pgmoat_policy::Rule;

    fn denial() -> Denial {
        Denial::new(Rule::Tenancy, Code::TenantUnproven, Some(8), "no proof").hint("add one")
    }

    #[test]
    fn a_denial_names_code_policy_and_statement() {
        let refusal = Refusal::denied(&denial(), 7, Place::Statement(2, "sélect 1 from t"));
        let fields = refusal.fields();
        assert_eq!(fields.sqlstate(), Some("42501"));
        assert_eq!(fields.text(b'D'), Some("code: tenant_unproven, policy: 7, statement: 2"));
        assert_eq!(fields.text(b'H'), Some("add one"));
        assert_eq!(fields.text(b'P'), Some("8"));
        let codes: Vec<u8> = fields.iter().map(|field| field.code).collect();
        assert_eq!(codes, b"SVCMDHP");
    }

    #[test]
    fn at_bind_there_is_a_parameter_and_no_position() {
        let fields = Refusal::denied(&denial(), 7, Place::Parameter(2)).fields();
        assert_eq!(fields.text(b'D'), Some("code: tenant_unproven, policy: 7, parameter: 2"));
        assert_eq!(fields.text(b'P'), None);
    }

    #[test]
    fn positions_count_characters_from_one() {
        assert_eq!(characters("select x", 7), 8);
        assert_eq!(characters("sélect x", 8), 8);
        assert_eq!(characters("", 0), 1);
        assert_eq!(characters("ab", 99), 3);
    }

    #[test]
    fn only_the_severity_of_the_upstream_error_stays() {
        let upstream = Fields::decode(
            b"SFEHLER\0VERROR\0C42601\0Msyntax error at or near \"pgmoat\"\0P1\0Fscan.l\0L1\0Rx\0\0",
        )
        .unwrap();
        let refusal = Refusal::denied(&denial(), 7, Place::Statement(1, ""));
        let swapped = refusal.swap(&upstream, false);
        assert_eq!((swapped.text(b'S'), swapped.text(b'V')), (Some("FEHLER"), Some("ERROR")));
        assert_eq!(
            (swapped.sqlstate(), swapped.get(b'F'), swapped.text(b'P')),
            (Some("42501"), None, Some("1"))
        );
        let aborted = refusal.swap(&upstream, true);
        assert_eq!((aborted.sqlstate(), aborted.message()), (Some("25P02"), Some(ABORTED)));
        let unknown = Refusal::no_statement("a\0b").swap(&upstream, true);
        assert_eq!(unknown.message(), Some("prepared statement \"a b\" does not exist"));
    }
}
