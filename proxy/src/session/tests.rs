//! The session against scripts: what the client sends, what the server says, what each of them gets.
//!
//! No socket and no PostgreSQL: the server's side of each script is what was seen on PostgreSQL 15 (wire 2).

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::sync::Arc;

use bytes::{Buf as _, BytesMut};
use pgmoat_policy::{
    BindCheck, Code, Denial, ErrorPosture, Family, Must, Over, RowCap, Rule, TenantColumnClass,
};
use pgmoat_upstream::frame::{Fields, Frame, frontend};

use super::error::write_error;
use super::*;

mod caps;
mod copying;
mod naming;
mod refusing;
mod relaying;
mod settings;
mod sharing;
mod turns;

/// A session, with the server's and the client's ends as transcripts.
struct Play {
    session: Session,
    /// What went upstream, by tags, with names and texts.
    upstream: Vec<String>,
    /// What the client got.
    client: Vec<String>,
    decision: u64,
    cap: Option<RowCap>,
    errors: ErrorPosture,
}

impl Play {
    fn new() -> Play {
        let session = Session::new(1, ErrorPosture::Redact, SessionLimits::default());
        Play {
            session,
            upstream: vec![],
            client: vec![],
            decision: 0,
            cap: None,
            errors: ErrorPosture::Redact,
        }
    }

    /// The client sends messages: `Q:text`, `P:name:text`, `B:portal:statement[:value]`, `D:S:name`, `E:portal[:max]`,
    /// `C:P:name`, `S`, `H`, `F`, `d`, `c`, `f`. Text with `denied` in it is refused, a value other than `acme` where the
    /// text has `$1`. True if the last one has to wait.
    fn send(&mut self, messages: &str) -> bool {
        messages.split(' ').filter(|message| !message.is_empty()).any(|message| self.send_one(message))
    }

    fn send_one(&mut self, message: &str) -> bool {
        let bytes = encode(message);
        let frame = Frame { tag: bytes[0], bytes: &bytes };
        match self.session.step(frame, 0).unwrap() {
            Step::Judge(ask) => self.judge(&ask),
            Step::Refuse(ask, refusal) => self.refuse(&ask, refusal),
            Step::Forward(pass) => {
                self.prelude();
                let mut out = BytesMut::new();
                pass.write(&mut out).unwrap();
                self.sent(out);
            }
            Step::Answer(answer) => self.answer(&answer),
            Step::Ignore => {}
            Step::Wait => return true,
            Step::End => self.client.push("end".to_owned()),
        }
        false
    }

    fn judge(&mut self, ask: &Ask<'_>) {
        self.decision += 1;
        let (text, mut out) = (text_of(ask), BytesMut::new());
        let denial = Denial::new(Rule::Tenancy, Code::TenantUnproven, Some(0), "no proof");
        let refused = match ask {
            Ask::Bind { bind, statement, .. } => {
                let bad = |(value, _)| value != Some(b"acme".as_slice());
                (!statement.terms.binds.is_empty() && bind.values().any(bad)).then_some(Place::Parameter(1))
            }
            Ask::Query { .. } | Ask::Parse { .. } if text.contains("denied") => {
                Some(Place::Statement(1, &text))
            }
            Ask::Query { .. } | Ask::Parse { .. } | Ask::Execute { .. } => None,
            Ask::FunctionCall => Some(Place::Execute),
        };
        match refused {
            Some(place) => self.refuse(ask, Refusal::denied(&denial, 7, place)),
            None => {
                let terms: Vec<Arc<Terms>> = text.split(';').map(|part| Arc::new(self.terms(part))).collect();
                let verdict = Verdict::Admitted {
                    terms: &terms,
                    decision: self.decision,
                    generation: 0,
                    shape: None,
                    parsed_anew: false,
                };
                bytes_of(ask).write(&mut out).unwrap();
                match self.session.settle(ask, verdict, 0) {
                    Settled::Forward => {
                        self.prelude();
                        self.sent(out);
                    }
                    Settled::Given(Given::Now) => self.client.push("1".to_owned()),
                    Settled::Given(Given::InQueue) => {}
                    Settled::Substitute(_) | Settled::Answer(_) => panic!("an admitted message was refused"),
                }
            }
        }
    }

    /// What goes upstream before a message; and as the link does, asks whether what follows is kept.
    fn prelude(&mut self) {
        let mut out = BytesMut::new();
        for pass in self.session.take_prelude() {
            pass.write(&mut out).unwrap();
        }
        self.sent(out);
        self.session.begins_retry();
    }

    fn refuse(&mut self, ask: &Ask<'_>, refusal: Refusal) {
        let mut out = BytesMut::new();
        match self.session.settle(ask, Verdict::Refused(refusal), 0) {
            Settled::Forward | Settled::Given(_) => panic!("a refused message was forwarded"),
            Settled::Substitute(pass) => {
                pass.write(&mut out).unwrap();
                self.sent(out);
            }
            Settled::Answer(answer) => self.answer(&answer),
        }
    }

    fn terms(&self, text: &str) -> Terms {
        let class = TenantColumnClass { column: "tenant_id".into(), family: Family::Text };
        let after = match text.trim() {
            "deallocate-all" => After::DeallocatedAll,
            "discard-all" => After::DiscardedAll,
            "copy-in" => After::CopiedIn,
            text => match text.strip_prefix("deallocate-") {
                Some(name) => After::Deallocated(Arc::from(name)),
                None => After::Nothing,
            },
        };
        let must = Must::Own { class, ty: None, many: false };
        let binds = if text.contains("$1") { vec![BindCheck { param: 1, must }] } else { vec![] };
        Terms {
            binds,
            cap: self.cap,
            errors: self.errors,
            after,
            names: Vec::new(),
            reads: !text.contains("change"),
            scoped: false,
            by_unique_keys: false,
            masks: None,
            edits: Vec::new(),
            lasting: lasting(text.trim()),
            needs: self.needs(text.trim()),
        }
    }

    /// What a Query's text names: `execute-NAME` what there is, `prepare-NAME` what has the name.
    fn needs(&self, word: &str) -> Vec<Arc<Statement>> {
        let find = |name: &str| match self.session.named_statement(name) {
            Found::Is(statement) => Some(statement),
            Found::Nothing | Found::Wait => None,
        };
        let executed = word.strip_prefix("execute-").and_then(find);
        let taken = word.strip_prefix("prepare-").and_then(find);
        executed.or(taken.map(|live| self.session.taken_by(&live))).into_iter().collect()
    }

    fn answer(&mut self, answer: &Answer) {
        if let Some(refusal) = &answer.error {
            let mut out = BytesMut::new();
            write_error(&refusal.fields(), &mut out);
            self.got(&out);
        }
        if answer.ready {
            self.client.push("Z(I)".to_owned());
        }
    }

    fn sent(&mut self, mut bytes: BytesMut) {
        while !bytes.is_empty() {
            let length = usize::try_from(u32::from_be_bytes(bytes[1..5].try_into().unwrap())).unwrap();
            let message = bytes.split_to(length + 1);
            let words: Vec<String> = message[5..]
                .split(|byte| *byte == 0)
                .map(|word| String::from_utf8_lossy(word).into_owned())
                .collect();
            let tag = char::from(message[0]);
            self.upstream.push(match tag {
                'Q' => format!("Q({})", words[0]),
                'P' | 'B' => format!("{tag}({},{})", words[0], words[1]),
                'D' | 'C' | 'E' => format!("{tag}({})", words[0]),
                _ => tag.to_string(),
            });
        }
    }

    /// The server says: tags as `1 2 3 T D C I s n t G H c Z(I)`, `C=tag`, `E=sqlstate`, `N=sqlstate`, `D*3` for three rows.
    fn hear(&mut self, messages: &str) {
        for message in messages.split(' ').filter(|message| !message.is_empty()) {
            self.try_hear(message).unwrap();
        }
    }

    fn try_hear(&mut self, message: &str) -> Result<(), Broken> {
        let tag = message.as_bytes()[0];
        if matches!(tag, b'D' | b'd') {
            let rows = message.get(2..).map_or(1, |count| count.parse().unwrap());
            for _ in 0..rows {
                if self.session.rows(tag, 1)? {
                    self.client.push(char::from(tag).to_string());
                }
            }
            return Ok(());
        }
        let body: Vec<u8> = match (tag, message.get(2..)) {
            (b'Z', Some(status)) => vec![status.as_bytes()[0]],
            (b'C', tag) => [tag.unwrap_or("SELECT 1").replace('_', " ").as_bytes(), b"\0"].concat(),
            (b'E' | b'N', Some(code)) => {
                let (severity, code) =
                    code.split_once('!').map_or(("ERROR", code), |(code, _)| ("FATAL", code));
                let stale = if code == "0A000" { "RRevalidateCachedQuery\0" } else { "" };
                format!("S{severity}\0V{severity}\0C{code}\0Msecret\0P1\0{stale}\0").into_bytes()
            }
            _ => vec![],
        };
        let length = u32::try_from(body.len() + 4).unwrap();
        let bytes = [&[tag], &length.to_be_bytes()[..], &body].concat();
        let mut own = BytesMut::new();
        let relay = self.session.reply(Frame { tag, bytes: &bytes }, &mut own)?;
        match relay {
            Relay::Same => self.got(&bytes),
            Relay::After => {
                self.got(&own);
                self.got(&bytes);
            }
            Relay::Instead => self.got(&own),
            Relay::Nothing => {}
        }
        if let Some(before) = self.session.events().again.take() {
            let mut out = BytesMut::new();
            before.iter().for_each(|pass| pass.write(&mut out).unwrap());
            self.sent(out);
            self.upstream.push("again".to_owned());
        }
        if let Some(poison) = self.session.events().fail.take() {
            let mut out = BytesMut::new();
            Pass::Poison(poison).write(&mut out).unwrap();
            self.sent(out);
        }
        Ok(())
    }

    fn got(&mut self, mut bytes: &[u8]) {
        while bytes.has_remaining() {
            let length = usize::try_from(u32::from_be_bytes(bytes[1..5].try_into().unwrap())).unwrap();
            let (message, rest) = bytes.split_at(length + 1);
            bytes = rest;
            let tag = char::from(message[0]);
            self.client.push(match tag {
                'E' | 'N' => format!("{tag}({})", Fields::decode(&message[5..]).unwrap().sqlstate().unwrap()),
                'Z' => format!("Z({})", char::from(message[5])),
                _ => tag.to_string(),
            });
        }
    }

    /// What went upstream since the last time.
    fn upstream(&mut self) -> String {
        std::mem::take(&mut self.upstream).join(" ")
    }

    /// What the client got since the last time.
    fn client(&mut self) -> String {
        std::mem::take(&mut self.client).join(" ")
    }

    /// Prepares a named statement, to its end.
    fn prepare(&mut self, name: &str, text: &str) -> String {
        self.send(&format!("P:{name}:{text} S"));
        let sent = self.upstream();
        self.hear("1 Z(I)");
        self.client();
        sent.split(['(', ',']).nth(1).unwrap().to_owned()
    }

    /// Opens a transaction block.
    fn begin(&mut self) {
        self.send("Q:begin");
        self.hear("C=BEGIN Z(T)");
        self.upstream();
        self.client();
    }
}

/// What a word leaves: `reset-all`, `set-NAME`, `reset-NAME`, `savepoint`, `rollback-to`, …
fn lasting(word: &str) -> Lasting {
    let set = |name: &str, value: Option<&str>| Assignment::Set {
        name: SettingText::Is(Arc::from(name)),
        value: value.map(|value| SettingText::Is(Arc::from(value))),
        local: false,
    };
    let settings = match word {
        "reset-all" => vec![Assignment::ResetAll],
        "discard-all" => vec![Assignment::DiscardAll],
        _ => {
            let reset = word.strip_prefix("reset-").map(|name| set(name, None));
            let given = word.strip_prefix("set-").map(|name| set(name, Some("client's")));
            reset.or(given).into_iter().collect()
        }
    };
    let transaction = match word {
        "commit" => TransactionStep::Commit,
        "discard-all" => TransactionStep::CommitsAtOnce,
        "rollback" => TransactionStep::Rollback,
        "savepoint" => TransactionStep::Savepoint("s".into()),
        "rollback-to" => TransactionStep::RollbackTo(Some("s".into())),
        _ => TransactionStep::None,
    };
    Lasting { settings, transaction, ..Lasting::default() }
}

fn text_of(ask: &Ask<'_>) -> String {
    match ask {
        Ask::Query { text, .. } => (*text).to_owned(),
        Ask::Parse { parse, .. } => parse.text.to_owned(),
        Ask::Bind { statement, .. } => statement.text.to_string(),
        Ask::Execute { portal, .. } => portal.statement.text.to_string(),
        Ask::FunctionCall => String::new(),
    }
}

fn bytes_of<'f>(ask: &Ask<'f>) -> JudgedBytes<'f> {
    match ask {
        Ask::Query { frame, .. } => JudgedBytes::Exact(frame),
        Ask::Parse { parse, upstream, .. } => JudgedBytes::Parse(*upstream, parse.rest),
        Ask::Bind { bind, statement, portal, .. } => {
            JudgedBytes::Bind(*portal, statement.upstream, bind.rest)
        }
        Ask::Execute { portal, max_rows, .. } => JudgedBytes::Execute(portal.upstream, *max_rows),
        Ask::FunctionCall => panic!("a function call was forwarded"),
    }
}

fn encode(message: &str) -> BytesMut {
    let mut out = BytesMut::new();
    let words: Vec<&str> = message.split(':').collect();
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let object = if word(1) == "S" { frontend::Object::Statement } else { frontend::Object::Portal };
    match word(0) {
        "Q" => frontend::query(word(1).replace('_', " ").as_bytes(), &mut out).unwrap(),
        "P" => frontend::parse(word(1).as_bytes(), word(2).as_bytes(), &[], &mut out).unwrap(),
        "B" => {
            let values: Vec<Option<&[u8]>> =
                words.iter().skip(3).map(|value| Some(value.as_bytes())).collect();
            frontend::bind(word(1).as_bytes(), word(2).as_bytes(), &[], &values, &[], &mut out).unwrap();
        }
        "D" => frontend::describe(object, word(2).as_bytes(), &mut out).unwrap(),
        "C" => frontend::close(object, word(2).as_bytes(), &mut out).unwrap(),
        "E" => frontend::execute(word(1).as_bytes(), word(2).parse().unwrap_or(0), &mut out).unwrap(),
        "S" => frontend::sync(&mut out),
        "H" => frontend::flush(&mut out),
        "F" => out.extend_from_slice(b"F\0\0\0\x04"),
        "d" => out.extend_from_slice(b"d\0\0\0\x05x"),
        "c" => frontend::copy_done(&mut out),
        "f" => frontend::copy_fail(b"no", &mut out).unwrap(),
        "X" => frontend::terminate(&mut out),
        other => panic!("no such message: {other}"),
    }
    out
}
