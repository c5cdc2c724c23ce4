//! One client message after the other: framed, stepped, judged, forwarded (hops 1 to 4).

use pgmoat_upstream::frame::{self, Frame, FrameError, Header, OPAQUE_CAP_BYTES, Phase};

use super::audience::Backlog;
use super::end::End;
use super::outbox::CopyRest;
use super::{Link, OWED_MAX, READY, Service, TO_SERVER_BYTES_MAX};
use crate::gate::{Admitted, Gate, Outcome};
use crate::session::error::write_error;
use crate::session::{Answer, Ask, Given, PARSE_COMPLETE, Refusal, Settled, Step, Verdict};

/// A message that is not collected.
#[derive(Debug)]
pub(super) enum Opaque {
    /// There is none.
    Nothing,
    /// CopyData on its way to the server.
    Forward(CopyRest),
    /// CopyData that belongs to no copy.
    Drop(usize),
    /// A Query, Parse or FunctionCall longer than any that may pass: what stands in for it, and its length.
    Refuse { left: usize, stand_in: Vec<u8>, bytes: usize },
}

/// What became of a message.
#[derive(PartialEq, Eq)]
enum Taken {
    Done,
    /// It waits for a reply.
    Wait,
    /// It waits for an upstream connection.
    Attach,
    /// It is to be taken once more: there is an upstream connection now.
    Again,
}

impl Link {
    /// Takes as many messages as there are and may be; how many bytes they were, and whether an upstream connection
    /// is needed to go on.
    pub(super) fn take_all(&mut self, input: &[u8]) -> Result<(usize, bool), End> {
        self.refresh_rules();
        self.note_budget();
        let mut at = 0;
        loop {
            let rest = input.get(at..).unwrap_or_default();
            if rest.is_empty() && !self.stands_in() {
                return Ok((at, false));
            }
            let full = self.outbox.len() >= TO_SERVER_BYTES_MAX || self.session.owed() >= OWED_MAX;
            if full || self.waits_for_settings() {
                self.backlog = Backlog::Ready;
                return Ok((at, false));
            }
            match self.take_one(rest)? {
                None => return Ok((at, false)),
                Some((used, Taken::Done)) => {
                    self.note_kept();
                    at += used;
                }
                Some((_, Taken::Again)) => {}
                Some((_, taken)) => {
                    self.backlog = if taken == Taken::Wait { Backlog::ForReply } else { Backlog::Ready };
                    return Ok((at, taken == Taken::Attach));
                }
            }
        }
    }

    fn stands_in(&self) -> bool {
        matches!(self.opaque, Opaque::Refuse { left: 0, .. })
    }

    /// Takes what stands at the start of `rest`; none where more bytes are needed.
    fn take_one(&mut self, rest: &[u8]) -> Result<Option<(usize, Taken)>, End> {
        match &mut self.opaque {
            Opaque::Nothing => {}
            Opaque::Refuse { left: 0, .. } => return self.refuse_oversized().map(|taken| Some((0, taken))),
            Opaque::Forward(copy) => {
                let bytes = self.outbox.copy_on(copy, rest);
                if copy.has_ended() {
                    self.opaque = Opaque::Nothing;
                }
                return Ok(Some((bytes, Taken::Done)));
            }
            Opaque::Drop(left) | Opaque::Refuse { left, .. } => {
                let bytes = rest.len().min(*left);
                *left -= bytes;
                let ended = *left == 0;
                if ended && !self.stands_in() {
                    self.opaque = Opaque::Nothing;
                }
                return Ok(Some((bytes, Taken::Done)));
            }
        }
        let phase = Phase::ClientSession { large_bytes: OPAQUE_CAP_BYTES };
        let Some(header) = frame::peek(rest, phase).map_err(malformed)? else { return Ok(None) };
        if header.total() > self.collected_bytes_max(header.tag) {
            return match header.tag {
                b'Q' | b'P' | b'F' => self.oversized(header, rest),
                _ => Err(self.too_long(header.len)),
            };
        }
        let Some(bytes) = rest.get(..header.total()) else {
            return if header.tag == b'd' { self.stream_copy_data(header, rest) } else { Ok(None) };
        };
        let taken = self.take(Frame { tag: header.tag, bytes }, None)?;
        if let Some(upstream) = self.upstream.as_mut().filter(|_| taken == Taken::Done) {
            upstream.service = Service::Done;
        }
        Ok(Some((bytes.len(), taken)))
    }

    /// CopyData whose end is not there yet is not waited for.
    fn stream_copy_data(&mut self, header: Header, rest: &[u8]) -> Result<Option<(usize, Taken)>, End> {
        self.opaque = if self.session.takes_copy_data() {
            Opaque::Forward(self.outbox.copy(header, rest).ok_or(End::Internal)?)
        } else {
            Opaque::Drop(header.total() - rest.len())
        };
        Ok(Some((rest.len(), Taken::Done)))
    }

    /// A text longer than the role's limit is refused without being collected.
    fn oversized(&mut self, header: Header, rest: &[u8]) -> Result<Option<(usize, Taken)>, End> {
        let body = rest.get(Header::BYTES..).unwrap_or_default();
        let name = match header.tag {
            b'P' => match body.iter().take(NAME_LOOK_BYTES).position(|byte| *byte == 0) {
                Some(end) => body.get(..end).unwrap_or_default(),
                None if body.len() < NAME_LOOK_BYTES => return Ok(None),
                // Longer than any name may be: as good as any other that is refused for that.
                None => body.get(..NAME_LOOK_BYTES).unwrap_or_default(),
            },
            _ => &[],
        };
        let stand_in = stand_in(header.tag, name);
        let used = rest.len().min(header.total());
        self.opaque = Opaque::Refuse { left: header.total() - used, stand_in, bytes: header.total() };
        Ok(Some((used, Taken::Done)))
    }

    fn too_long(&self, bytes: usize) -> End {
        let max = self.shared.limits.message_bytes;
        End::Malformed(format!("a message of {bytes} bytes is too long, at most {max} are accepted"))
    }

    fn refuse_oversized(&mut self) -> Result<Taken, End> {
        let Opaque::Refuse { stand_in, bytes, .. } = std::mem::replace(&mut self.opaque, Opaque::Nothing)
        else {
            return Err(End::Internal);
        };
        let tag = stand_in.first().copied().unwrap_or_default();
        let taken = self.take(Frame { tag, bytes: &stand_in }, Some(bytes))?;
        if let Some(upstream) = self.upstream.as_mut().filter(|_| taken == Taken::Done) {
            upstream.service = Service::Done;
        }
        if taken != Taken::Done {
            self.opaque = Opaque::Refuse { left: 0, stand_in, bytes };
        }
        Ok(taken)
    }

    fn take(&mut self, frame: Frame<'_>, oversized: Option<usize>) -> Result<Taken, End> {
        if self.answer_alone(frame) {
            return Ok(Taken::Done);
        }
        if self.upstream.is_none() && self.session.describes_known(frame) {
            match self.no_backend.take() {
                Some(refusal) => {
                    let answer = self.session.refuse_describe(refusal, self.now_us);
                    self.answer(&answer);
                    return Ok(Taken::Done);
                }
                None => return Ok(Taken::Attach),
            }
        }
        if self.takes_one_first(frame)? {
            return Ok(Taken::Again);
        }
        if self.would_overdraw() {
            return Ok(Taken::Wait);
        }
        match self.session.step(frame, self.now_us).map_err(|error| End::Malformed(error.to_string()))? {
            Step::Judge(ask) => return self.judge(&ask, oversized, None),
            Step::Refuse(ask, refusal) => return self.judge(&ask, oversized, Some(refusal)),
            Step::Forward(pass) => {
                self.send_prelude()?;
                self.keep_for_retry();
                self.outbox.pass(&pass).map_err(|_| End::Internal)?;
                self.ask_for_replies();
            }
            Step::Answer(answer) => self.answer(&answer),
            Step::Ignore => {}
            Step::Wait => return Ok(Taken::Wait),
            Step::End => return Err(End::Terminated),
        }
        Ok(Taken::Done)
    }

    /// Has a message judged, or a refusal entered that needs no judgement.
    fn judge(
        &mut self,
        ask: &Ask<'_>,
        oversized: Option<usize>,
        refused: Option<Refusal>,
    ) -> Result<Taken, End> {
        let Some(rules) = &self.rules else { return Err(End::NoRules) };
        // It is this message's, or nobody's.
        let no_backend = self.no_backend.take();
        let gate = Gate {
            shared: &self.shared,
            rules,
            info: &self.info,
            database: &self.database.name,
            client: &self.client_name,
            backend: self.upstream.as_ref().map(|upstream| upstream.lease.backend_pid()),
            budget: self.budget.as_deref(),
            now: self.now().into_std(),
        };
        let outcome = match (oversized, refused) {
            (Some(bytes), _) => gate.refuse_oversized(ask, bytes),
            (None, Some(refusal)) => Outcome::Refused(gate.refuse_unserved(ask, refusal)),
            (None, None) => gate.admit(ask, &mut self.session, &mut self.recent),
        };
        let refusal = match outcome {
            Outcome::Admitted(admitted) => {
                self.statements += 1;
                let settled = self.session.settle(ask, admitted.verdict(), self.now_us);
                return match settled {
                    Settled::Forward => self.forward(admitted),
                    other @ (Settled::Substitute(_) | Settled::Answer(_) | Settled::Given(_)) => {
                        self.settle(other)
                    }
                };
            }
            Outcome::Refused(refusal) => refusal,
            Outcome::NeedsReply => return Ok(Taken::Wait),
            Outcome::NeedsBackend => match no_backend {
                Some(refusal) => gate.refuse_unserved(ask, refusal),
                None => return Ok(Taken::Attach),
            },
        };
        self.statements += 1;
        self.denied += 1;
        let settled = self.session.settle(ask, Verdict::Refused(refusal), self.now_us);
        self.settle(settled)
    }

    fn settle(&mut self, settled: Settled) -> Result<Taken, End> {
        match settled {
            // Only what was admitted is forwarded.
            Settled::Forward => return Err(End::Internal),
            Settled::Substitute(pass) => self.outbox.pass(&pass).map_err(|_| End::Internal)?,
            Settled::Answer(answer) => self.answer(&answer),
            Settled::Given(Given::Now) => self.to_client.extend_from_slice(PARSE_COMPLETE),
            Settled::Given(Given::InQueue) => {}
        }
        Ok(Taken::Done)
    }

    /// Keeps what is sent from here on, where the server may throw it away without having done anything.
    fn keep_for_retry(&mut self) {
        if self.session.begins_retry() {
            self.outbox.keep();
        }
    }

    /// What was not kept as a whole cannot be sent again, and what will not be sent again is not kept.
    fn note_kept(&mut self) {
        match (self.session.may_retry(), self.outbox.keeps()) {
            (true, false) => self.session.cannot_retry(),
            (false, true) => self.outbox.forget(),
            (true, true) | (false, false) => {}
        }
    }

    /// Sends what the connection has to be told before the client's message.
    fn send_prelude(&mut self) -> Result<(), End> {
        for pass in self.session.take_prelude() {
            self.outbox.pass(&pass).map_err(|_| End::Internal)?;
        }
        Ok(())
    }

    /// Sends a judged message upstream, which uses up its permit.
    fn forward(&mut self, admitted: Admitted<'_>) -> Result<Taken, End> {
        self.send_prelude()?;
        self.keep_for_retry();
        self.outbox.judged(admitted).map_err(|_| End::Internal)?;
        self.ask_for_replies();
        Ok(Taken::Done)
    }

    /// What waits for a reply that the server would keep for the Sync makes it be said now.
    fn ask_for_replies(&mut self) {
        if self.session.may_fail_by_rows() || self.session.awaits_copy_end() {
            self.outbox.ask_for_replies();
        }
    }

    fn answer(&mut self, answer: &Answer) {
        if let Some(refusal) = &answer.error {
            write_error(&refusal.fields(), &mut self.to_client);
        }
        if answer.ready {
            self.to_client.extend_from_slice(READY);
        }
    }

    /// The longest message of a kind that is collected; longer ones of the kinds that carry text are refused.
    fn collected_bytes_max(&self, tag: u8) -> usize {
        match tag {
            b'Q' | b'P' => {
                self.text_bytes_max.saturating_add(BESIDE_TEXT_BYTES).min(self.shared.limits.message_bytes)
            }
            b'F' => BESIDE_TEXT_BYTES,
            b'B' => self.shared.limits.message_bytes,
            _ => usize::MAX,
        }
    }
}

fn malformed(error: FrameError) -> End {
    End::Malformed(error.to_string())
}

/// A message of the same kind and name with an empty text.
fn stand_in(tag: u8, name: &[u8]) -> Vec<u8> {
    let body: Vec<u8> = match tag {
        b'P' => [name, b"\0\0\0\0"].concat(),
        b'Q' => vec![0],
        _ => Vec::new(),
    };
    // A name of at most NAME_LOOK_BYTES.
    let length = u32::try_from(body.len() + 4).unwrap_or(u32::MAX);
    [&[tag], &length.to_be_bytes()[..], &body].concat()
}

/// What a Query or Parse may have beside its text: names, and 65,535 parameter types.
const BESIDE_TEXT_BYTES: usize = 320 << 10;
/// Where the end of a statement's name is looked for.
const NAME_LOOK_BYTES: usize = 64;
