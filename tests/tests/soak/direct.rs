//! Message by message, simple and extended in turn, so that nothing repairs or hides.

use pgmoat_lab::User;
use pgmoat_tests::front::{b, e, p, s};
use pgmoat_tests::{Login, Raw};

use crate::client::{Answer, Session};

pub(crate) struct Direct {
    raw: Raw,
    extended: bool,
}

pub(crate) fn connect(port: u16, user: &str) -> Result<Direct, Answer> {
    let password = User::named(user).map(User::password).unwrap_or_default();
    match Raw::connect(&Login { port, user, password, database: "lab", more: &[] }) {
        Ok(raw) => Ok(Direct { raw, extended: false }),
        Err(error) => Err(Answer::Gone { code: None, text: error.to_string() }),
    }
}

impl Session for Direct {
    fn ask(&mut self, sql: &str, nonce: &str) -> Answer {
        self.extended = !self.extended;
        let literal = sql.replace("$1", &format!("'{nonce}'"));
        let values: &[&str] = if sql.contains("$1") { &[nonce] } else { &[] };
        let said = match self.extended {
            true => self.raw.ask(&[p("", sql), b("", "", values), e("", 0), s()]),
            false => self.raw.query(&literal),
        };
        let heard = match said {
            Ok(heard) => heard,
            Err(error) if error.to_string().contains("within a message") => {
                return Answer::Protocol(error.to_string());
            }
            Err(error) => return Answer::Gone { code: None, text: error.to_string() },
        };
        let code = heard.codes().first().cloned();
        let text = heard.error_field(b'M').unwrap_or_else(|| heard.to_string());
        // One answer of the right kinds in the right order, and no other; settings and notices may stand anywhere.
        let tags: Vec<u8> = heard.messages.iter().map(|message| message.tag).collect();
        let tags: Vec<u8> = tags.into_iter().filter(|tag| !b"NS".contains(tag)).collect();
        let known = tags.iter().all(|tag| b"12TDCEZ".contains(tag));
        match code {
            _ if !known => Answer::Protocol(heard.to_string()),
            code if heard.closed => Answer::Gone { code, text },
            Some(code) => Answer::Error { code, text },
            None if tags.ends_with(b"CZ") => Answer::Rows(heard.rows()),
            None => Answer::Protocol(heard.to_string()),
        }
    }
}
