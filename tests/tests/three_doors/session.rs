//! The third door: sessions through the proxy, one a user, used again and again.

use std::collections::HashMap;

use pgmoat_tests::corpus::{Case, Protocol};
use pgmoat_tests::front::{d_portal, e, p, q, s};
use pgmoat_tests::{Front, Proxied, Raw, Transcript};

use crate::answer::Answer;
use crate::library::Judged;

pub(crate) struct Sessions<'a> {
    proxied: &'a Proxied,
    open: HashMap<String, Raw>,
}

impl<'a> Sessions<'a> {
    pub(crate) fn new(proxied: &'a Proxied) -> Self {
        Self { proxied, open: HashMap::new() }
    }

    /// What the client is told; a statement that is refused is sent outside and inside a transaction, since the two
    /// are answered in different ways. One that is let through runs in a transaction that is rolled back, unless it
    /// begins or ends transactions itself.
    pub(crate) fn play(&mut self, case: &Case, judged: &Judged) -> Vec<Answer> {
        match judged.answer {
            Answer::Allowed | Answer::Failed { .. } => vec![self.once(case, !judged.transactional)],
            Answer::Denied { .. } => vec![self.once(case, false), self.once(case, true)],
        }
    }

    fn once(&mut self, case: &Case, in_transaction: bool) -> Answer {
        let raw = self
            .open
            .entry(case.principal.clone())
            .or_insert_with(|| Raw::connect(&self.proxied.login(&case.principal)).unwrap());
        if in_transaction {
            raw.send(&[q("BEGIN")]).unwrap();
            raw.expect("C Z(T)").unwrap();
        }
        let heard = raw.ask(&messages(case)).map_err(|error| format!("{}: {error}", case.id)).unwrap();
        assert!(!heard.closed, "{}: the session ended: {heard}", case.id);
        if !heard.to_string().ends_with("Z(I)") {
            // Settings that go back are reported.
            let back = raw.query("ROLLBACK").unwrap().to_string();
            assert_eq!(back.replace("S ", ""), "C Z(I)", "{}: ROLLBACK after it", case.id);
        }
        // Prepared statements, settings and cursors of one case are no business of the next.
        let cleaned = raw.query("DISCARD ALL").unwrap();
        assert_eq!(cleaned.codes(), Vec::<String>::new(), "{}: DISCARD ALL after it", case.id);
        answer(&heard)
    }
}

fn messages(case: &Case) -> Vec<Front> {
    match case.protocol {
        Protocol::Simple => vec![q(&case.sql)],
        Protocol::Extended => {
            let values = case.params.iter().map(|value| value.clone().map(String::into_bytes)).collect();
            let bind = Front::Bind(String::new(), String::new(), values, Vec::new(), Vec::new());
            vec![p("", &case.sql), bind, d_portal(""), e("", 0), s()]
        }
    }
}

fn answer(heard: &Transcript) -> Answer {
    let Some(error) = heard.errors().next() else { return Answer::Allowed };
    let field = |code: u8| error.field(code).unwrap_or_default();
    let (sqlstate, message) = (field(b'C'), field(b'M'));
    let code = field(b'D').strip_prefix("code: ").and_then(|rest| rest.split(',').next().map(str::to_owned));
    let position = error.field(b'P').and_then(|position| position.parse().ok());
    match code {
        Some(code) => Answer::Denied { code, sqlstate, position, message },
        // Syntax errors are told as PostgreSQL tells them: without a DETAIL of ours. What a value is to be parsed as at
        // run time (`note::jsonpath`) has the same SQLSTATE, and no position.
        None if sqlstate == "42601" && position.is_some() => {
            Answer::Denied { code: "syntax_error".to_owned(), sqlstate, position, message }
        }
        None => Answer::Failed { sqlstate, message },
    }
}
