//! One message from the client: what is to be done with it (hop 1).

use std::sync::Arc;

use pgmoat_upstream::frame::frontend::Object;
use pgmoat_upstream::frame::{DecodeError, Frame};

use super::ask::Ask;
use super::held::Holds;
use super::message::{Bind, Message, Parse, UNKNOWN_FORMAT};
use super::name::UpstreamName;
use super::names::{End, Found};
use super::pass::{Pass, Unjudged};
use super::queue::{Change, Fate, Governed, What};
use super::refusal::{InFailed, Refusal};
use super::refuse::Refused;
use super::replay::Naming;
use super::terms::{After, Portal, Statement, Terms};
use super::{Input, Session};

/// What is to be done with a message.
#[derive(Debug)]
pub enum Step<'f> {
    /// Have it judged, then [`Session::settle`] it.
    Judge(Ask<'f>),
    /// There is no room for it: have that entered, then [`Session::settle`] the refusal.
    Refuse(Ask<'f>, Refusal),
    /// Send this upstream; there is nothing to judge in it.
    Forward(Pass<'f>),
    /// Send this to the client; upstream is not touched.
    Answer(Answer),
    /// Nothing.
    Ignore,
    /// Ask again with the same message when the server has answered something.
    Wait,
    /// The client says good-bye.
    End,
}

/// An answer of the proxy's own.
#[derive(Debug)]
pub struct Answer {
    /// The error, if there is one.
    pub error: Option<Refusal>,
    /// ReadyForQuery (`I`) follows.
    pub ready: bool,
}

impl<'f> Step<'f> {
    /// Passes a message on that holds nothing to judge. Any other (there is none here) goes nowhere.
    fn unjudged(frame: Frame<'f>) -> Step<'f> {
        Unjudged::of(frame).map_or(Step::Ignore, |message| Step::Forward(Pass::Unjudged(message)))
    }
}

impl Session {
    /// Takes one message. Where it has to be judged nothing has changed yet: [`Session::settle`] goes on.
    ///
    /// # Errors
    /// It is no message of the protocol: the session ends.
    pub fn step<'f>(&mut self, frame: Frame<'f>, now_us: u64) -> Result<Step<'f>, DecodeError> {
        let to_sync = matches!(self.input, Input::Refused | Input::Skipping);
        if to_sync && SKIPPED.contains(&frame.tag) {
            // As the server: without a look inside.
            return Ok(Step::Ignore);
        }
        if !matches!(frame.tag, b'd' | b'c' | b'f' | b'H') {
            self.note_asked();
        }
        if self.may_fail_by_rows() && !matches!(frame.tag, b'd' | b'c' | b'f' | b'X') {
            return Ok(Step::Wait);
        }
        if self.is_in_doubt(frame) {
            return Ok(Step::Wait);
        }
        let message = match Message::decode(frame) {
            Ok(message) => message,
            Err(error) => return self.malformed(frame, error, now_us),
        };
        if self.ignores_sync() && !message.is_of_copy() {
            return Err(DecodeError::BadValue { what: "unexpected message during COPY from stdin" });
        }
        Ok(match message {
            Message::Query { .. } if self.is_any_undecided() => Step::Wait,
            Message::Query { text } => Step::Judge(Ask::Query { text, frame: frame.bytes }),
            Message::FunctionCall => Step::Judge(Ask::FunctionCall),
            Message::Parse(parse) => self.parse(parse),
            Message::Bind(bind) => self.bind(bind, now_us),
            Message::Describe(object, name) => self.describe(object, name, now_us),
            Message::Execute { portal, max_rows } => self.execute(portal, max_rows, now_us),
            Message::Close(object, name) => self.close(object, name, now_us),
            // Where nothing is on its way there is nothing to flush.
            Message::Flush if self.is_quiet() => Step::Ignore,
            Message::Flush => Step::unjudged(frame),
            Message::Sync => self.sync(frame, now_us),
            Message::CopyData => match self.takes_copy_data() {
                true => Step::unjudged(frame),
                false => Step::Ignore,
            },
            Message::CopyDone | Message::CopyFail => match self.takes_copy_data() {
                true => {
                    self.end_copy_in(now_us);
                    Step::unjudged(frame)
                }
                false => Step::Ignore,
            },
            Message::Terminate => Step::End,
        })
    }

    /// A message whose frame is whole and whose body is not what its kind says: an error as any other, as far as what
    /// is sent in its place can be told.
    fn malformed(
        &mut self,
        frame: Frame<'_>,
        error: DecodeError,
        now_us: u64,
    ) -> Result<Step<'static>, DecodeError> {
        if self.ignores_sync() && matches!(frame.tag, b'H' | b'S') {
            // Inside a copy-in the server ignores these without a look inside.
            return Ok(Step::Ignore);
        }
        let refused = match frame.tag {
            b'Q' => Refused::MalformedQuery,
            b'S' => Refused::MalformedSync,
            b'P' => Refused::UnknownParse,
            b'B' => Refused::UnknownBind,
            b'D' | b'C' | b'H' => Refused::Describe(Object::Portal),
            b'E' => Refused::Execute,
            _ => return Err(error),
        };
        if self.ignores_sync() {
            return Err(error);
        }
        // The server looks at the statement's name first.
        let unknown = Bind::statement_of(frame.body()).filter(|_| frame.tag == b'B');
        if let Some(name) = unknown {
            match self.statements.find_certain(name, self.batch) {
                Found::Wait => return Ok(Step::Wait),
                Found::Nothing => {
                    return Ok(self.refuse(refused, Refusal::no_statement(name), now_us).into());
                }
                Found::Is(_) => {}
            }
        }
        let refusal = match error {
            DecodeError::NotUtf8 { .. } => {
                Refusal::plain("22021", "invalid byte sequence for encoding \"UTF8\"", "malformed")
            }
            DecodeError::BadValue { what: UNKNOWN_FORMAT } => {
                Refusal::plain("22023", "unsupported format code", "malformed")
            }
            DecodeError::Truncated { .. }
            | DecodeError::NoNul { .. }
            | DecodeError::LeftOver { .. }
            | DecodeError::BadValue { .. } => Refusal::plain("08P01", error.to_string(), "malformed"),
        };
        let refusal = Refusal { in_failed: InFailed::Same, ..refusal };
        Ok(self.refuse(refused, refusal, now_us).into())
    }

    fn parse<'f>(&mut self, parse: Parse<'f>) -> Step<'f> {
        let no_room = |parse, refusal| {
            let never = UpstreamName::NEVER_GIVEN;
            let ask = Ask::Parse { parse, upstream: never, edited: never, prepared: None, taken: None };
            Step::Refuse(ask, refusal)
        };
        if let Some(refusal) = self.unusable_name(parse.name) {
            return no_room(parse, refusal);
        }
        if self.texts.held().saturating_add(parse.text.len()) > self.limits.statement_bytes {
            // Replies that are on their way may make room.
            if self.queue.will_be_answered() {
                return Step::Wait;
            }
            return no_room(parse, *self.full_of_text());
        }
        let live = match self.statements.find_certain(parse.name, self.batch) {
            Found::Wait if !parse.name.is_empty() => return Step::Wait,
            // A new unnamed statement replaces the old one, whichever that is.
            Found::Is(_) | Found::Wait if parse.name.is_empty() => None,
            Found::Is(live) => Some(live),
            Found::Nothing | Found::Wait => None,
        };
        if let Some(live) = live {
            let live = self.taken_by(&live);
            if self.is_open(&live) {
                return Step::Wait;
            }
            let (upstream, prepared) = (live.upstream, None);
            return Step::Judge(Ask::Parse {
                parse,
                upstream,
                edited: upstream,
                prepared,
                taken: Some(live),
            });
        }
        let free = match parse.name {
            "" => UpstreamName::Unnamed,
            _ => match self.name_statement(parse.text.len(), 0) {
                Ok(name) => name,
                Err(refusal) => return no_room(parse, *refusal),
            },
        };
        let (upstream, prepared) = match self.naming(&parse) {
            Naming::Content(name, prepared) => (name, Some(prepared)),
            Naming::Own => (free, None),
        };
        if self.holds(upstream, prepared.as_ref()) == Holds::Wait && upstream != UpstreamName::Unnamed {
            return Step::Wait;
        }
        Step::Judge(Ask::Parse { parse, upstream, edited: free, prepared, taken: None })
    }

    fn bind<'f>(&mut self, bind: Bind<'f>, now_us: u64) -> Step<'f> {
        let unknown = Refused::UnknownBind;
        if let Some(refusal) = self.unusable_name(bind.statement).or(self.unusable_name(bind.portal)) {
            return self.refuse(unknown, refusal, now_us).into();
        }
        let statement = match self.statements.find(bind.statement, self.batch) {
            Found::Wait => return Step::Wait,
            Found::Nothing => {
                let refusal = Refusal::no_statement(bind.statement);
                return self.refuse(unknown, refusal, now_us).into();
            }
            Found::Is(statement) if self.is_open(&statement) => return Step::Wait,
            Found::Is(statement) => statement,
        };
        let portal = match self.portals.find_certain(bind.portal, self.batch) {
            Found::Wait | Found::Is(_) | Found::Nothing if bind.portal.is_empty() => UpstreamName::Unnamed,
            Found::Wait => return Step::Wait,
            Found::Is(open) => open.upstream,
            Found::Nothing => match self.name_portal(0) {
                Ok(name) => name,
                Err(refusal) => {
                    let portal = UpstreamName::NEVER_GIVEN;
                    return Step::Refuse(Ask::Bind { bind, statement, portal }, *refusal);
                }
            },
        };
        Step::Judge(Ask::Bind { bind, statement, portal })
    }

    fn describe(&mut self, object: Object, name: &str, now_us: u64) -> Step<'static> {
        let found = match object {
            Object::Statement => match self.statements.find(name, self.batch) {
                Found::Is(statement) if self.is_open(&statement) => None,
                Found::Is(statement) => {
                    self.note_use(&statement);
                    self.make_sure(&statement, 0, now_us);
                    let governed = self.governed(&statement.terms, statement.generation);
                    Some(Some((statement.upstream, governed)))
                }
                Found::Nothing => Some(None),
                Found::Wait => None,
            },
            Object::Portal => self.find_portal(name).map(|portal| portal.map(|portal| self.facts(&portal))),
        };
        let (upstream, governed) = match found {
            None => return Step::Wait,
            Some(None) => {
                let refusal = match object {
                    Object::Statement => Refusal::no_statement(name),
                    Object::Portal => Refusal::no_portal(name),
                };
                return self.refuse(Refused::Describe(object), refusal, now_us).into();
            }
            Some(Some(facts)) => facts,
        };
        let key = self.key(object, name);
        self.owe(
            What::Describe { object, name: key, parameters_seen: false },
            Fate::Forward,
            governed,
            now_us,
        );
        self.input = Input::Unsynced;
        Step::Forward(Pass::Describe(object, upstream))
    }

    fn execute(&mut self, name: &str, max_rows: i32, now_us: u64) -> Step<'static> {
        let portal = match self.find_portal(name) {
            None => return Step::Wait,
            Some(None) => return self.refuse(Refused::Execute, Refusal::no_portal(name), now_us).into(),
            Some(Some(portal)) if self.is_any_open(&portal.terms) => return Step::Wait,
            Some(Some(portal)) => portal,
        };
        if !self.rules.still_hold(&portal) || portal.sees_double(self.snapshot) {
            let name = self.portals.key(name);
            return Step::Judge(Ask::Execute { name, portal, max_rows });
        }
        if let After::Prepared { name: prepared, statement: Some(own) } = &portal.terms.after {
            // The name was free when the text was parsed; upstream, which has another one, would not notice.
            match self.statements.find_certain(prepared, self.batch) {
                Found::Wait => return Step::Wait,
                Found::Is(other) if other.upstream != own.upstream => {
                    return self.refuse(Refused::Execute, Refusal::statement_exists(prepared), now_us).into();
                }
                Found::Is(_) | Found::Nothing => {}
            }
        }
        self.run(name, &portal, now_us);
        Step::Forward(Pass::Execute(portal.upstream, max_rows))
    }

    /// Notes that a portal runs whose terms hold.
    pub(super) fn run(&mut self, name: &str, portal: &Arc<Portal>, now_us: u64) {
        self.make_sure_of_all(&portal.terms, portal.decision, now_us);
        let name = self.portals.key(name);
        if let After::Declared { name, portal: cursor } = &portal.terms.after {
            // Each run opens another cursor, with a count of its own.
            let (stamp, opened) = (self.stamp(), cursor.opened_by(portal.decision));
            self.portals.change(name, stamp, Some(Arc::new(opened)));
            self.leaves(&portal.terms.lasting);
        } else {
            self.begin_effects(&portal.terms);
        }
        let what = What::Execute { name, portal: Some(Arc::clone(portal)) };
        self.owe(what, Fate::Forward, &portal.terms, now_us);
        self.input = Input::Unsynced;
    }

    fn close(&mut self, object: Object, name: &str, now_us: u64) -> Step<'static> {
        let found = match object {
            Object::Statement => self.find_statement(name),
            Object::Portal => self.find_portal(name).map(|portal| portal.map(|portal| self.facts(&portal))),
        };
        let upstream = match found {
            None => return Step::Wait,
            // Closing what does not exist succeeds. The name is one that nothing was ever given.
            Some(None) if name.is_empty() => UpstreamName::Unnamed,
            Some(None) => UpstreamName::NEVER_GIVEN,
            // Others go on with the statement that it stands for.
            Some(Some((UpstreamName::Own(_), _))) if self.is_shared(object, name) => {
                UpstreamName::NEVER_GIVEN
            }
            Some(Some((upstream, _))) => upstream,
        };
        let (key, stamp) = (self.key(object, name), self.stamp());
        match object {
            Object::Statement => self.statements.change(&key, stamp, None),
            Object::Portal => self.portals.change(&key, stamp, None),
        }
        self.owe(What::Close { object, name: key }, Fate::Forward, self.rules.errors, now_us);
        self.input = Input::Unsynced;
        Step::Forward(Pass::Close(object, upstream))
    }

    fn sync<'f>(&mut self, frame: Frame<'f>, now_us: u64) -> Step<'f> {
        if self.input == Input::Refused {
            self.input = Input::Synced;
            return Step::Answer(Answer { error: None, ready: true });
        }
        if self.sync_in_copy(now_us) {
            return Step::unjudged(frame);
        }
        if self.ignores_sync() {
            return Step::Ignore;
        }
        self.input = Input::Synced;
        self.owe(What::Sync, Fate::Forward, self.rules.errors, now_us);
        self.batch += 1;
        Step::unjudged(frame)
    }

    /// The statement's upstream name and terms; the outer none says to wait.
    fn find_statement(&self, name: &str) -> Option<Option<(UpstreamName, Governed)>> {
        let facts = |statement: Arc<Statement>| {
            (statement.upstream, self.governed(&statement.terms, statement.generation))
        };
        match self.statements.find(name, self.batch) {
            Found::Wait => None,
            Found::Nothing => Some(None),
            Found::Is(statement) => Some(Some(facts(statement))),
        }
    }

    fn facts(&self, portal: &Portal) -> (UpstreamName, Governed) {
        (portal.upstream, self.governed(&portal.terms, portal.generation))
    }

    /// Terms of other rules than those in force say nothing about what may be seen: what runs is judged anew.
    fn governed(&self, terms: &Arc<Terms>, generation: u64) -> Governed {
        if generation == self.rules.generation { terms.into() } else { terms.errors.into() }
    }

    fn find_portal(&self, name: &str) -> Option<Option<Arc<Portal>>> {
        match self.portals.find(name, self.batch) {
            Found::Wait => None,
            Found::Nothing => Some(None),
            Found::Is(portal) => Some(Some(portal)),
        }
    }

    pub(super) fn key(&self, object: Object, name: &str) -> Arc<str> {
        match object {
            Object::Statement => self.statements.key(name),
            Object::Portal => self.portals.key(name),
        }
    }
}

/// What a change of the unnamed or a named statement does when its Parse fails.
pub(super) fn parse_change(name: &str) -> Change {
    // A failed Parse of the unnamed statement drops the old one; of a named one, keeps it (wire 2).
    Change { on_error: if name.is_empty() { End::Lost } else { End::Dropped } }
}

/// The kinds that the server drops up to a Sync.
const SKIPPED: &[u8] = b"QPBDCEHFdcf";
