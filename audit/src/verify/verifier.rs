//! The chain, read: a state machine over lines. Pure.

use serde_json::Value;

use super::Expect;
use super::breaks::{Break, Broken};
use super::outcome::{HeadSeen, Outcome, Recoveries, Unreadable, Whole};
use crate::digest::Digest;
use crate::envelope::{self, Envelope};
use crate::{Head, Kind, MAX_LINE_BYTES};

/// How far a log was read.
pub(crate) struct Verifier {
    digest: Digest,
    given: Comparison,
    beside: Comparison,
    lines: u64,
    progress: Progress,
    recoveries: Recoveries,
}

enum Progress {
    Nothing,
    Chain {
        /// The last line before this file.
        before: Head,
        last: Head,
    },
}

/// A head from elsewhere, compared with each line as it passes.
struct Comparison {
    head: Option<Head>,
    seen: HeadSeen,
}

/// A line without its newline; none where the newline is missing.
pub(crate) fn line_of(bytes: &[u8]) -> Option<&[u8]> {
    bytes.strip_suffix(b"\n")
}

impl Verifier {
    pub(crate) fn new(expect: &Expect<'_>, beside: Option<Head>) -> Self {
        Self {
            digest: Digest::new(expect.key),
            given: Comparison::new(expect.head),
            beside: Comparison::new(beside),
            lines: 0,
            progress: Progress::Nothing,
            recoveries: Recoveries::default(),
        }
    }

    /// Takes the next line, without its newline. An error is the outcome of the whole.
    pub(crate) fn line(&mut self, line: &[u8]) -> Result<(), Box<Outcome>> {
        self.lines = self.lines.saturating_add(1);
        let envelope = envelope::parse(line).map_err(|what| self.broken(Break::Malformed(what)))?;
        match self.progress {
            Progress::Nothing => self.first(line, &envelope),
            Progress::Chain { before, last } => self.next(line, &envelope, before, last),
        }
    }

    /// The end of the log; `rest` is what followed the last newline.
    pub(crate) fn end(self, rest: &[u8]) -> Outcome {
        let Progress::Chain { before, last } = self.progress else {
            return self.broken_at(1, Break::Empty);
        };
        let line = self.lines.saturating_add(1);
        if rest.len() >= MAX_LINE_BYTES {
            return self.broken_at(line, Break::TooLong);
        }
        for (comparison, beside) in [(&self.given, false), (&self.beside, true)] {
            if let Some(head) = comparison.head
                && head.seq > last.seq
            {
                return self.broken_at(line, Break::CutTail { last, head, beside });
            }
        }
        Outcome::Whole(Whole {
            lines: self.lines,
            before,
            last,
            keyed: self.digest.key_id().is_some(),
            given: self.given.seen,
            beside: self.beside.seen,
            recoveries: self.recoveries,
            unfinished_bytes: u64::try_from(rest.len()).unwrap_or(u64::MAX),
        })
    }

    fn first(&mut self, line: &[u8], envelope: &Envelope<'_>) -> Result<(), Box<Outcome>> {
        if envelope.kind != Kind::Open {
            return Err(self.broken(Break::NoOpen));
        }
        let fields = self.fields(line)?;
        self.key_fits(&fields, envelope)?;
        if self.digest.of(envelope.hashed) != envelope.hash {
            return Err(self.broken(Break::Edited));
        }
        if fields.get("resumed") != Some(&Value::Bool(false)) {
            return Err(self.broken(Break::NoOpen));
        }
        let before = Head { seq: envelope.seq.saturating_sub(1), hash: envelope.prev };
        let after = match fields.get("after") {
            Some(Value::Null) => Some(Head::GENESIS),
            Some(Value::String(after)) => after.parse().ok(),
            Some(_) | None => None,
        };
        if envelope.seq == 0 || after != Some(before) {
            return Err(self.broken(Break::Malformed("\"after\" is not what \"seq\" and \"prev\" say")));
        }
        self.compare(before)?;
        self.advance(before, Head { seq: envelope.seq, hash: envelope.hash })
    }

    fn next(
        &mut self,
        line: &[u8],
        envelope: &Envelope<'_>,
        before: Head,
        last: Head,
    ) -> Result<(), Box<Outcome>> {
        if self.digest.of(envelope.hashed) != envelope.hash {
            return Err(self.broken(Break::Edited));
        }
        let expected = last.seq.saturating_add(1);
        if envelope.seq != expected {
            return Err(self.broken(Break::Sequence { expected, found: envelope.seq }));
        }
        if envelope.prev != last.hash {
            return Err(self.broken(Break::Link));
        }
        match envelope.kind {
            Kind::Open => {
                let fields = self.fields(line)?;
                self.key_fits(&fields, envelope)?;
                if fields.get("resumed") != Some(&Value::Bool(true)) {
                    return Err(self.broken(Break::SecondFile));
                }
            }
            Kind::Recovered => {
                let bytes = self.fields(line)?.get("bytes").and_then(Value::as_u64);
                let bytes = bytes.ok_or_else(|| self.broken(Break::Malformed("\"bytes\" is no number")))?;
                self.recoveries.add(self.lines, bytes);
            }
            Kind::Login
            | Kind::LoginFailed
            | Kind::Logout
            | Kind::Decision
            | Kind::Completion
            | Kind::Cancel
            | Kind::Reload
            | Kind::Catalog
            | Kind::Rotate
            | Kind::Close => {}
        }
        self.advance(before, Head { seq: envelope.seq, hash: envelope.hash })
    }

    fn advance(&mut self, before: Head, last: Head) -> Result<(), Box<Outcome>> {
        self.compare(last)?;
        self.progress = Progress::Chain { before, last };
        Ok(())
    }

    fn compare(&mut self, line: Head) -> Result<(), Box<Outcome>> {
        if !self.given.passes(line) {
            return Err(self.broken(Break::HeadDiffers { line, beside: false }));
        }
        if !self.beside.passes(line) {
            return Err(self.broken(Break::HeadDiffers { line, beside: true }));
        }
        Ok(())
    }

    /// An `open` line names the key that its file is hashed with.
    fn key_fits(&self, fields: &Value, envelope: &Envelope<'_>) -> Result<(), Box<Outcome>> {
        match (fields.get("key"), self.digest.key_id()) {
            (Some(Value::Null), None) => Ok(()),
            (Some(Value::String(named)), Some(ours)) if named == ours => Ok(()),
            (Some(Value::String(_)), None) => Err(Box::new(Outcome::Unreadable(Unreadable::NeedsKey))),
            // Somebody who holds no key may have written this line; then it is no matter of keys.
            (Some(Value::String(named)), Some(_)) if self.digest.of(envelope.hashed) != envelope.hash => {
                Err(Box::new(Outcome::Unreadable(Unreadable::OtherKey {
                    named: named.chars().take(64).collect(),
                })))
            }
            (Some(Value::Null), Some(_)) => Err(self.broken(Break::NoKey)),
            (Some(_) | None, Some(_) | None) => Err(self.broken(Break::Malformed("\"key\" names no key"))),
        }
    }

    fn fields(&self, line: &[u8]) -> Result<Value, Box<Outcome>> {
        serde_json::from_slice(line).map_err(|_| self.broken(Break::Malformed("it is not JSON")))
    }

    fn broken(&self, what: Break) -> Box<Outcome> {
        Box::new(self.broken_at(self.lines, what))
    }

    fn broken_at(&self, line: u64, what: Break) -> Outcome {
        let last = match self.progress {
            Progress::Nothing => None,
            Progress::Chain { last, .. } => Some(last),
        };
        Outcome::Broken(Broken { line, what, last })
    }
}

impl Comparison {
    const fn new(head: Option<Head>) -> Self {
        let seen = match head {
            None => HeadSeen::NotGiven,
            // Until a line passes that it names, it is about an earlier file.
            Some(head) => HeadSeen::Before(head),
        };
        Self { head, seen }
    }

    /// Whether the head does not contradict this line.
    fn passes(&mut self, line: Head) -> bool {
        match self.head {
            Some(head) if head.seq == line.seq => {
                self.seen = HeadSeen::At(head);
                head == line
            }
            Some(_) | None => true,
        }
    }
}
