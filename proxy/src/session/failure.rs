//! An ErrorResponse of the server's: whose it is, what it takes with it, what the client reads.

use bytes::BytesMut;
use pgmoat_policy::NameSpace;
use pgmoat_upstream::frame::Fields;
use pgmoat_upstream::frame::frontend::Object;

use super::broken::Broken;
use super::doubt::Server;
use super::error::write_error;
use super::names::End;
use super::queue::{Entry, Fate, Holding, What};
use super::redact::About;
use super::refusal::Refusal;
use super::reply::Relay;
use super::rows::{counted, put_overrun};
use super::terms::Named;
use super::{Done, Input, Reached, Session, Sight, redact};

impl Session {
    pub(super) fn error(&mut self, fields: Fields, out: &mut BytesMut) -> Result<Relay, Broken> {
        if self.retries(&fields) {
            return Ok(Relay::Nothing);
        }
        let fatal = matches!(fields.severity(), Some("FATAL" | "PANIC"));
        self.events.ended |= fatal;
        self.note_fault();
        let copies = self.copy.is_in();
        if !copies {
            self.queue.count_perhaps();
        }
        self.copy.end();
        self.rows.end_row();
        let own = self.is_being_set_up();
        let Some(answer) = self.answer_to_error(&fields, fatal)? else { return Ok(Relay::Nothing) };
        if copies && !fatal {
            // An Execute's. A Query's is over with its ReadyForQuery.
            self.clear_doubt(Server::Skips)?;
        }
        if own {
            // The client's start-up settings were not accepted: a direct connection would not have come about.
            self.events.ended = true;
        }
        if std::mem::take(&mut self.told) && !fatal {
            self.told = true;
            return Ok(Relay::Nothing);
        }
        write_error(&answer, out);
        Ok(Relay::Instead)
    }

    fn answer_to_error(&mut self, fields: &Fields, fatal: bool) -> Result<Option<Fields>, Broken> {
        let failed = self.has_failed();
        let (drain_rows, timed_out) = (self.drain_rows(), self.timed_out);
        let sight = self.rules.sight.clone();
        let plain = About { errors: self.rules.errors, answers_parse: false, sight: sight.as_deref() };
        let Some(head) = self.queue.head() else {
            // Only the end of the connection comes unasked.
            return if fatal {
                Ok(Some(redact::error(fields, plain, &[])))
            } else {
                Err(Broken::Unasked(b'E'))
            };
        };
        let mut answer = match &head.fate {
            Fate::Fail | Fate::Try => None,
            Fate::Replace(refusal) => Some(refusal.swap(fields, failed)),
            Fate::Skip => {
                let mut fields = fields.clone();
                fields.set(b'S', "FATAL");
                fields.set(b'V', "FATAL");
                Some(fields)
            }
            Fate::Forward | Fate::Quiet | Fate::Given | Fate::Perhaps => {
                self.events.errors += u32::from(counts(head, fields) && !fatal);
                Some(read_as(head, fields, sight.as_deref(), drain_rows, timed_out))
            }
        };
        if fatal {
            // What was owed stays owed: the link says of each statement that its end is not known.
            return Ok(answer.or_else(|| Some(redact::error(fields, plain, &[]))));
        }
        if let Some(read) = &mut answer {
            self.rename(read);
        }
        let sqlstate: Box<str> = fields.sqlstate().unwrap_or("XX000").into();
        let Some(head) = self.queue.head() else { return Ok(answer) };
        match &mut head.what {
            What::Query(script) => script.sqlstate = Some(sqlstate),
            // One that had to fail has.
            What::Sync => head.fate = Fate::Forward,
            What::Parse { .. }
            | What::Bind { .. }
            | What::Describe { .. }
            | What::Execute { .. }
            | What::Close { .. }
            | What::CopyEnd => self.skip_to_sync(sqlstate),
        }
        Ok(answer)
    }

    /// The head has failed; the server skips what follows up to a Sync.
    fn skip_to_sync(&mut self, sqlstate: Box<str>) {
        if let Some(entry) = self.queue.pop() {
            self.fell(entry, Some(sqlstate));
        }
        while !self.queue.at_sync() {
            let Some(entry) = self.queue.pop() else {
                self.input = Input::Skipping;
                return;
            };
            self.fell(entry, None);
        }
    }

    /// A message has failed (with an SQLSTATE), or was skipped.
    fn fell(&mut self, entry: Entry, sqlstate: Option<Box<str>>) {
        let failed = sqlstate.is_some();
        if entry.holding == Holding::Changes {
            self.hold_ended(if failed { End::Lost } else { End::Dropped });
        }
        let replaced = matches!(entry.fate, Fate::Replace(_));
        let mut rows = 0;
        let (decision, reached) = match &entry.what {
            What::Parse { name, change, decision } => {
                if let Some(change) = change {
                    self.statements.end(name, if failed { change.on_error } else { End::Dropped });
                }
                (*decision, Reached::Not)
            }
            What::Bind { portal, change, decision, .. } => {
                if let Some(change) = change {
                    self.portals.end(portal, if failed { change.on_error } else { End::Dropped });
                }
                (if failed { *decision } else { 0 }, Reached::Not)
            }
            What::Execute { portal: Some(portal), .. } => {
                self.end_effects(&portal.terms, End::Dropped);
                if failed {
                    rows = std::mem::take(&mut self.rows.delivered);
                }
                (portal.decision, if failed { Reached::Ran } else { Reached::Not })
            }
            What::Close { object: Object::Statement, name } => {
                self.statements.end(name, End::Dropped);
                (0, Reached::Not)
            }
            What::Close { object: Object::Portal, name } => {
                self.portals.end(name, End::Dropped);
                (0, Reached::Not)
            }
            What::Query(script) => {
                self.end_script(script, false);
                (script.decision, Reached::Not)
            }
            What::Execute { portal: None, .. } | What::Describe { .. } | What::Sync | What::CopyEnd => {
                (0, Reached::Not)
            }
        };
        if decision != 0 && !replaced {
            let (tag, sent_us) = (None, entry.sent_us);
            self.events.has_ended(Done { of: decision, reached, tag, sqlstate, rows, sent_us });
        }
    }
}

/// What the client reads where upstream refused a message of the client's own.
fn read_as(
    head: &Entry,
    fields: &Fields,
    sight: Option<&Sight>,
    drain_rows: Option<u64>,
    timed_out: bool,
) -> Fields {
    let answers_parse = matches!(head.what, What::Parse { .. });
    let about = About { errors: head.errors, answers_parse, sight };
    let mut read = match &head.what {
        What::Query(script) => {
            redact::error(fields, about, script.terms.iter().flat_map(|terms| &terms.edits))
        }
        What::Parse { .. }
        | What::Bind { .. }
        | What::Describe { .. }
        | What::Execute { .. }
        | What::Close { .. }
        | What::Sync
        | What::CopyEnd => redact::error(fields, about, head.terms.iter().flat_map(|terms| &terms.edits)),
    };
    if fields.sqlstate() == Some("57014") {
        if let Some((cap, _)) = counted(head).filter(|(cap, counter)| counter.overrun(*cap, drain_rows)) {
            put_overrun(cap, &mut read);
        } else if timed_out {
            read.set(b'M', "canceling statement due to statement timeout");
        }
    }
    if let Some(refusal) = names(head, fields) {
        read.set(b'M', refusal);
    }
    read
}

/// Whether an error counts against the error budget: it may depend on what other tenants' rows hold (policy 3.9).
fn counts(head: &Entry, fields: &Fields) -> bool {
    let scoped = match &head.what {
        What::Query(script) => script.is_scoped(),
        // No row is looked at.
        What::Parse { .. } => false,
        What::Bind { .. }
        | What::Describe { .. }
        | What::Execute { .. }
        | What::Close { .. }
        | What::Sync
        | What::CopyEnd => head.terms.as_ref().is_some_and(|terms| terms.scoped),
    };
    let sqlstate = fields.sqlstate();
    let analysed = fields.get(b'P').is_some() && sqlstate.is_some_and(redact::is_analysis);
    let uncounted = sqlstate.is_some_and(|sqlstate| UNCOUNTED.contains(&sqlstate));
    scoped && !analysed && !uncounted && names(head, fields).is_none()
}

/// PostgreSQL's text with the client's name, where the error is about a name (contracts 2): one in the message, or one
/// in the statement's text, which is told by what it is called upstream.
fn names(head: &Entry, fields: &Fields) -> Option<String> {
    let sqlstate = fields.sqlstate()?;
    let said = fields.message().unwrap_or_default();
    let is_said = |named: &&Named| said.contains(&named.upstream.to_string());
    if let Some(named) = head.running().and_then(|terms| terms.names.iter().find(is_said)) {
        return about(named, sqlstate);
    }
    match (&head.what, sqlstate) {
        (What::Parse { name, .. }, "42P05") => Some(Refusal::statement_exists(name).message),
        (What::Bind { portal, .. }, "42P03") => Some(format!("cursor \"{portal}\" already exists")),
        (What::Bind { statement, .. }, "26000") => Some(Refusal::no_statement(statement).message),
        (What::Describe { object: Object::Statement, name, .. }, "26000") => {
            Some(Refusal::no_statement(name).message)
        }
        (What::Describe { object: Object::Portal, name, .. } | What::Execute { name, .. }, "34000") => {
            Some(Refusal::no_portal(name).message)
        }
        _ => None,
    }
}

/// The same for a name in the statement's text.
fn about(named: &Named, sqlstate: &str) -> Option<String> {
    let name = &named.name;
    Some(match (named.space, sqlstate) {
        (NameSpace::Statement, "42P05") => Refusal::statement_exists(name).message,
        (NameSpace::Statement, "26000") => Refusal::no_statement(name).message,
        (NameSpace::Cursor, "42P03") => format!("cursor \"{name}\" already exists"),
        (NameSpace::Cursor, "34000") => format!("cursor \"{name}\" does not exist"),
        _ => return None,
    })
}

/// SQLSTATEs that say nothing about another tenant's values: other transactions were in the way, somebody cancelled,
/// the statement's own row was not acceptable, or the transaction had failed before and nothing was looked at.
const UNCOUNTED: &[&str] = &["23502", "23503", "23505", "25P02", "40001", "40P01", "55P03", "57014"];
