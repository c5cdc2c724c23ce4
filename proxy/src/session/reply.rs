//! One message from the server: whose reply it is, and what the client gets (hop 5).
//!
//! Replies are matched to the head of the queue by kind. An error reaches to the next Sync's entry, as the server's
//! own skip does. Rows are not seen here: see [`Session::rows`].

use std::sync::Arc;

use bytes::BytesMut;
use pgmoat_upstream::frame::backend::{TransactionStatus, command_complete, ready_for_query};
use pgmoat_upstream::frame::frontend::Object;
use pgmoat_upstream::frame::{Fields, Frame};

use super::broken::Broken;
use super::doubt::Server;
use super::error::write_error;
use super::names::End;
use super::pass::Poison;
use super::queue::{Entry, Fate, Holding, Script, What};
use super::rows::{RowFlow, counted, cut_notice, put_overrun};
use super::tag::Tag;
use super::{Block, Done, Input, Reached, Session, redact};

/// What the client gets for a message of the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relay {
    /// The message.
    Same,
    /// What was appended to `out`, then the message.
    After,
    /// What was appended to `out` instead.
    Instead,
    /// Nothing.
    Nothing,
}

impl Session {
    /// Matches a message to what is owed.
    pub(super) fn matched(&mut self, frame: Frame<'_>, out: &mut BytesMut) -> Result<Relay, Broken> {
        match frame.tag {
            b'C' => self.complete(Some(command_complete(frame.body())?), frame.tag, out),
            b'Z' => self.ready(ready_for_query(frame.body())?),
            b'T' => {
                self.compare_description(frame.body())?;
                self.described(frame.tag)
            }
            b'n' => self.described(frame.tag),
            b't' => self.parameters_described(),
            b'1' | b'2' | b'3' => self.acknowledged(frame.tag),
            b'I' | b's' => self.complete(None, frame.tag, out),
            b'E' => self.error(Fields::decode(frame.body())?, out),
            b'N' => self.notice(Fields::decode(frame.body())?, out),
            b'S' | b'A' => Ok(Relay::Same),
            b'G' | b'H' | b'c' => self.copy_step(frame.tag),
            tag => Err(Broken::Unasked(tag)),
        }
    }

    /// Everything that is owed will never come: how the statements in it ended.
    pub fn abandon(&mut self) -> Vec<Done> {
        let mut done = std::mem::take(&mut self.events.done);
        let rows = self.rows.delivered;
        done.extend(self.queue.drain().filter_map(|entry| {
            let (of, rows) = match &entry.what {
                What::Query(script) => (script.decision, rows),
                What::Execute { portal: Some(portal), .. } => (portal.decision, rows),
                What::Execute { portal: None, .. }
                | What::Parse { .. }
                | What::Bind { .. }
                | What::Describe { .. }
                | What::Close { .. }
                | What::Sync
                | What::CopyEnd => return None,
            };
            let done = Done {
                of,
                reached: Reached::Unknown,
                tag: None,
                sqlstate: None,
                rows,
                sent_us: entry.sent_us,
            };
            (of != 0).then_some(done)
        }));
        done
    }

    /// ParseComplete, BindComplete, CloseComplete.
    fn acknowledged(&mut self, tag: u8) -> Result<Relay, Broken> {
        if tag == b'3' {
            self.end_doubt()?;
        }
        let relay = self.shown()?;
        if relay != Relay::Nothing && !self.queue.head().is_some_and(|entry| entry.does_nothing()) {
            self.cannot_retry();
        }
        let Some(head) = self.queue.head() else { return Err(Broken::Unasked(tag)) };
        match (&head.what, &head.fate, tag) {
            (What::Parse { .. }, Fate::Skip | Fate::Quiet | Fate::Try, b'1')
            | (What::Bind { .. }, Fate::Skip, b'2')
            | (What::Close { .. }, Fate::Skip | Fate::Quiet, b'3') => {}
            (What::Parse { name, change, .. }, Fate::Forward, b'1') => {
                if change.is_some() {
                    self.statements.end(name, End::Made);
                }
            }
            (What::Bind { portal, change, .. }, Fate::Forward, b'2') => {
                if change.is_some() {
                    self.portals.end(portal, End::Made);
                }
            }
            (What::Close { object: Object::Statement, name }, Fate::Forward, b'3') => {
                self.statements.end(name, End::Made);
            }
            (What::Close { object: Object::Portal, name }, Fate::Forward, b'3') => {
                self.portals.end(name, End::Made);
            }
            _ => return Err(Broken::Unasked(tag)),
        }
        if let Some(Entry { holding: Holding::Changes, .. }) = self.queue.pop() {
            self.hold_ended(End::Made);
        }
        Ok(relay)
    }

    /// ParameterDescription, which a RowDescription or NoData follows.
    fn parameters_described(&mut self) -> Result<Relay, Broken> {
        let relay = self.shown()?;
        self.cannot_retry();
        match self.queue.head().map(|entry| (&mut entry.what, &entry.fate)) {
            Some((What::Describe { object: Object::Statement, parameters_seen, .. }, Fate::Forward))
                if !*parameters_seen =>
            {
                *parameters_seen = true;
                Ok(relay)
            }
            _ => Err(Broken::Unasked(b't')),
        }
    }

    /// RowDescription, NoData.
    fn described(&mut self, tag: u8) -> Result<Relay, Broken> {
        let relay = self.shown()?;
        match self.queue.head().map(|entry| (&entry.what, &entry.fate)) {
            Some((What::Describe { object, parameters_seen, .. }, Fate::Forward))
                if *parameters_seen == (*object == Object::Statement) =>
            {
                self.queue.pop();
                Ok(relay)
            }
            Some((What::Query(_), Fate::Forward)) if tag == b'T' => Ok(relay),
            _ => Err(Broken::Unasked(tag)),
        }
    }

    /// CopyInResponse, CopyOutResponse, CopyDone.
    fn copy_step(&mut self, tag: u8) -> Result<Relay, Broken> {
        let relay = self.shown()?;
        let runs = match self.queue.head() {
            Some(Entry { what: What::Query(script), fate: Fate::Forward, .. }) => script.current().is_some(),
            Some(Entry { what: What::Execute { portal: Some(_), .. }, fate: Fate::Forward, .. }) => true,
            _ => false,
        };
        // CopyDone and then an error is what PostgreSQL never says.
        let (drain_rows, in_block) = (self.drain_rows(), self.in_block());
        let fails =
            tag == b'c' && self.queue.head().is_some_and(|entry| fails_by_rows(entry, in_block, drain_rows));
        let relay = if fails { Relay::Nothing } else { relay };
        let fits = match tag {
            b'G' => runs && self.begin_copy_in(),
            b'H' => {
                self.copy.begin_out();
                runs
            }
            _ => runs && self.copy.is_out(),
        };
        if fits { Ok(relay) } else { Err(Broken::Unasked(tag)) }
    }

    /// CommandComplete, EmptyQueryResponse, PortalSuspended.
    fn complete(&mut self, tag: Option<&str>, kind: u8, out: &mut BytesMut) -> Result<Relay, Broken> {
        let shown = self.shown()?;
        let (drain_rows, in_block) = (self.drain_rows(), self.in_block());
        self.copy.end();
        self.rows.end_row();
        self.events.next = true;
        let Some(entry) = self.queue.head() else { return Err(Broken::Unasked(kind)) };
        let (mut overrun, mut notice) = (None, None);
        let fails = can_fail(entry, in_block);
        if let Some((cap, counter)) = counted(entry).filter(|_| shown == Relay::Same) {
            overrun = (fails && counter.overrun(cap, drain_rows)).then_some(cap);
            notice = if overrun.is_none() { cut_notice(cap, counter) } else { None };
        }
        let sqlstate = overrun.map(|_| Box::from("53400"));
        let ended = match (&mut entry.what, &entry.fate) {
            (What::Query(script), Fate::Forward) if kind != b's' && script.current().is_some() => {
                let ended = script.current().map(Arc::clone);
                script.ended += 1;
                script.rows = super::Counter::default();
                script.tag = tag.map(Tag::new);
                script.sqlstate = script.sqlstate.take().or(sqlstate);
                self.queue.ignore_perhaps();
                ended
            }
            (What::Execute { .. }, Fate::Skip) => {
                self.queue.pop();
                return Ok(Relay::Nothing);
            }
            (What::Execute { portal: Some(portal), .. }, Fate::Forward) => {
                let ended = Arc::clone(&portal.terms);
                if self.queue.ignore_perhaps() {
                    // The batch goes on: what ends it is still to come.
                    self.input = Input::Unsynced;
                }
                self.executed(tag, sqlstate);
                Some(ended)
            }
            _ => return Err(Broken::Unasked(kind)),
        };
        if let Some(tag) = tag {
            self.note_tag(tag);
        }
        if let Some(terms) = ended {
            self.lasts(&terms, tag);
        }
        if let Some(cap) = overrun {
            self.fail_for_rows();
            let mut fields = Fields::new();
            fields.set(b'S', "ERROR");
            fields.set(b'V', "ERROR");
            put_overrun(cap, &mut fields);
            write_error(&fields, out);
            return Ok(Relay::Instead);
        }
        // A notice that cannot be written is not worth an error.
        Ok(match notice.map(|notice| notice.encode_notice(out)) {
            Some(Ok(())) => Relay::After,
            Some(Err(_)) | None => shown,
        })
    }

    /// The client is being told of an error that the server does not know of: what is open has to fail there too.
    fn fail_for_rows(&mut self) {
        if !self.queue.is_empty() {
            // A Query: its ReadyForQuery is still to come.
            self.told = true;
            return;
        }
        // A batch, of which nothing more was sent: the server skips to the client's Sync, as after any error.
        let poison = Poison::Parse(FAILED_BY_ROWS.to_owned(), self.own_name());
        self.events.fail = Some(poison);
        let what = What::Parse { name: Arc::from(""), change: None, decision: 0 };
        self.owe(what, Fate::Fail, self.rules.errors, 0);
        self.input = Input::Skipping;
    }

    fn executed(&mut self, tag: Option<&str>, sqlstate: Option<Box<str>>) {
        let Some(Entry { what: What::Execute { portal: Some(portal), .. }, sent_us, .. }) = self.queue.pop()
        else {
            return;
        };
        self.end_effects(&portal.terms, End::Made);
        let rows = std::mem::take(&mut self.rows.delivered);
        let tag = tag.map(Tag::new);
        if portal.decision != 0 {
            let (of, reached) = (portal.decision, Reached::Ran);
            self.events.has_ended(Done { of, reached, tag, sqlstate, rows, sent_us });
        }
    }

    /// ReadyForQuery.
    fn ready(&mut self, status: TransactionStatus) -> Result<Relay, Broken> {
        if let Some(counted) = self.count_sync() {
            return counted;
        }
        let Some(entry) = self.queue.pop() else { return Err(Broken::Unasked(b'Z')) };
        let mut shown = matches!(entry.fate, Fate::Forward | Fate::Perhaps | Fate::Fail | Fate::Replace(_));
        match entry.what {
            What::Query(mut script) => {
                self.query_ended(&mut script, &entry.fate, entry.sent_us)?;
                self.spare = script.spare();
            }
            // It must have failed.
            What::Sync if matches!(entry.fate, Fate::Replace(_)) => return Err(Broken::Unasked(b'Z')),
            What::Sync => {}
            What::Parse { .. }
            | What::Bind { .. }
            | What::Describe { .. }
            | What::Execute { .. }
            | What::Close { .. }
            | What::CopyEnd => return Err(Broken::Unasked(b'Z')),
        }
        (self.status, self.block) = (status, Block::AsReady);
        self.copy.end();
        self.clear_doubt(Server::Reads)?;
        (self.rows, self.timed_out) = (RowFlow::default(), false);
        self.note_ready(status == TransactionStatus::Idle);
        if self.is_quiet() {
            self.snapshot.ended();
        }
        if status == TransactionStatus::Idle {
            self.portals.clear(|portal| portal.hold);
        }
        if std::mem::take(&mut self.told)
            && status == TransactionStatus::InTransaction
            && self.queue.is_empty()
        {
            // The client was told of an error that the server does not know of: its transaction has to fail too.
            self.events.fail = Some(Poison::Query(FAILED_BY_ROWS.to_owned()));
            self.owe(What::Query(Box::default()), Fate::Fail, self.rules.errors, entry.sent_us);
            self.batch += 1;
            shown = false;
        }
        self.events.next = true;
        Ok(if shown { Relay::Same } else { Relay::Nothing })
    }

    fn query_ended(&mut self, script: &mut Script, fate: &Fate, sent_us: u64) -> Result<(), Broken> {
        self.end_script(script, true);
        match fate {
            // A Query of the proxy's own fails something.
            Fate::Skip | Fate::Quiet | Fate::Try | Fate::Given => return Err(Broken::Unasked(b'Z')),
            Fate::Fail => return Ok(()),
            // The poison must have failed.
            Fate::Replace(_) if script.sqlstate.is_none() => return Err(Broken::Unasked(b'Z')),
            Fate::Replace(_) => return Ok(()),
            Fate::Forward | Fate::Perhaps => {}
        }
        if script.sqlstate.is_none() && script.ended != script.terms.len() {
            return Err(Broken::Statements { judged: script.terms.len(), ran: script.ended });
        }
        let (tag, sqlstate) = (script.tag, script.sqlstate.take());
        let rows = std::mem::take(&mut self.rows.delivered);
        self.events.has_ended(Done {
            of: script.decision,
            reached: Reached::Ran,
            tag,
            sqlstate,
            rows,
            sent_us,
        });
        Ok(())
    }

    fn notice(&mut self, fields: Fields, out: &mut BytesMut) -> Result<Relay, Broken> {
        let (errors, own, scoped) = match self.queue.head() {
            Some(entry) => {
                let scoped = match &entry.what {
                    What::Query(script) => script.is_scoped(),
                    What::Parse { .. }
                    | What::Bind { .. }
                    | What::Describe { .. }
                    | What::Execute { .. }
                    | What::Close { .. }
                    | What::Sync
                    | What::CopyEnd => entry.terms.as_ref().is_some_and(|terms| terms.scoped),
                };
                (entry.errors, matches!(entry.fate, Fate::Skip | Fate::Fail), scoped)
            }
            None => (self.rules.errors, false, false),
        };
        if own {
            return Ok(Relay::Nothing);
        }
        let Some(mut fields) = redact::notice(fields, errors, scoped) else {
            self.events.notices = self.events.notices.saturating_add(1);
            return Ok(Relay::Nothing);
        };
        self.rename(&mut fields);
        // What cannot be written is not worth an error: a notice may be lost.
        Ok(fields.encode_notice(out).map_or(Relay::Nothing, |()| Relay::Instead))
    }

    /// What the client sees of the replies to the head.
    fn shown(&mut self) -> Result<Relay, Broken> {
        let told = self.told;
        Ok(match self.queue.head().map(|entry| &entry.fate) {
            Some(Fate::Skip | Fate::Quiet | Fate::Try | Fate::Fail) => Relay::Nothing,
            Some(Fate::Forward | Fate::Perhaps | Fate::Replace(_)) if told => Relay::Nothing,
            Some(Fate::Forward | Fate::Given | Fate::Perhaps | Fate::Replace(_)) | None => Relay::Same,
        })
    }
}

/// Whether what runs may end with an error though the server has finished it. What is done for good is not told as
/// failed: its surplus rows are cut.
fn can_fail(entry: &Entry, in_block: bool) -> bool {
    match &entry.what {
        // The whole batch is rolled back by the poison that follows.
        What::Execute { .. } => true,
        What::Query(script) => match script.terms.as_slice() {
            [only] => in_block || only.reads,
            _ => false,
        },
        What::Parse { .. }
        | What::Bind { .. }
        | What::Describe { .. }
        | What::Close { .. }
        | What::Sync
        | What::CopyEnd => false,
    }
}

fn fails_by_rows(entry: &Entry, in_block: bool, drain_rows: Option<u64>) -> bool {
    let over = counted(entry).is_some_and(|(cap, counter)| counter.overrun(cap, drain_rows));
    over && can_fail(entry, in_block)
}

/// What the server's log shows.
const FAILED_BY_ROWS: &str = "pgmoat fails this transaction: limit_rows";
