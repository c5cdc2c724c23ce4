//! The chain, read: a state machine over lines. Pure.

use std::path::{Path, PathBuf};

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
    place: Place,
    files: usize,
    /// Over all files.
    lines: u64,
    /// The line before the first file.
    before: Option<Head>,
    progress: Progress,
    recoveries: Recoveries,
    unfinished_bytes: u64,
}

/// Where it is read.
#[derive(Clone, Default)]
struct Place {
    file: Option<PathBuf>,
    /// The line's number in the file.
    line: u64,
    files_left: usize,
}

enum Progress {
    /// At the start of a file; after the last line of the one before it.
    Start(Option<Head>),
    /// In a file, after this line.
    Chain(Head),
    /// Behind a file's `rotate` line.
    Finished(Head),
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
            place: Place::default(),
            files: 0,
            lines: 0,
            before: None,
            progress: Progress::Start(None),
            recoveries: Recoveries::default(),
            unfinished_bytes: 0,
        }
    }

    /// What comes is the start of this file; so many are left after it.
    pub(crate) fn begin_file(&mut self, file: &Path, files_left: usize) {
        self.place = Place { file: Some(file.to_owned()), line: 0, files_left };
    }

    /// Takes the next line, without its newline. An error is the outcome of the whole.
    pub(crate) fn line(&mut self, line: &[u8]) -> Result<(), Box<Outcome>> {
        self.place.line = self.place.line.saturating_add(1);
        self.lines = self.lines.saturating_add(1);
        let envelope = envelope::parse(line).map_err(|what| self.broken(Break::Malformed(what)))?;
        match self.progress {
            Progress::Start(last) => self.first(line, &envelope, last),
            Progress::Chain(last) => self.next(line, &envelope, last),
            Progress::Finished(_) => Err(self.broken(Break::AfterRotation)),
        }
    }

    /// The end of a file; `rest` is what followed the last newline.
    pub(crate) fn end_file(&mut self, rest: &[u8]) -> Result<(), Box<Outcome>> {
        let last = match self.progress {
            Progress::Start(_) => return Err(self.broken_next(Break::Empty)),
            Progress::Finished(_) if !rest.is_empty() => return Err(self.broken_next(Break::AfterRotation)),
            Progress::Chain(_) if rest.len() >= MAX_LINE_BYTES => {
                return Err(self.broken_next(Break::TooLong));
            }
            Progress::Chain(last) | Progress::Finished(last) => last,
        };
        let rest = u64::try_from(rest.len()).unwrap_or(u64::MAX);
        self.unfinished_bytes = self.unfinished_bytes.saturating_add(rest);
        self.files = self.files.saturating_add(1);
        // What the state of the last file was is asked after the end.
        if self.place.files_left > 0 {
            self.progress = Progress::Start(Some(last));
        }
        Ok(())
    }

    /// The end of the log.
    pub(crate) fn end(self) -> Outcome {
        let (last, finished) = match self.progress {
            Progress::Chain(last) => (last, false),
            Progress::Finished(last) => (last, true),
            Progress::Start(_) => return *self.broken_next(Break::Empty),
        };
        for (comparison, beside) in [(&self.given, false), (&self.beside, true)] {
            if let Some(head) = comparison.head
                && head.seq > last.seq
            {
                return *self.broken_next(Break::CutTail { last, head, beside });
            }
        }
        Outcome::Whole(Whole {
            files: self.files,
            lines: self.lines,
            before: self.before.unwrap_or(Head::GENESIS),
            last,
            finished,
            keyed: self.digest.key_id().is_some(),
            given: self.given.seen,
            beside: self.beside.seen,
            recoveries: self.recoveries,
            unfinished_bytes: self.unfinished_bytes,
        })
    }

    fn first(
        &mut self,
        line: &[u8],
        envelope: &Envelope<'_>,
        last: Option<Head>,
    ) -> Result<(), Box<Outcome>> {
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
        match last {
            Some(last) if last != before => return Err(self.broken(Break::NotNext { last, before })),
            Some(_) => {}
            None => {
                self.compare(before)?;
                self.before = Some(before);
            }
        }
        self.advance(Head { seq: envelope.seq, hash: envelope.hash })
    }

    fn next(&mut self, line: &[u8], envelope: &Envelope<'_>, last: Head) -> Result<(), Box<Outcome>> {
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
                self.recoveries.add(self.place.line, bytes);
            }
            Kind::Login
            | Kind::LoginFailed
            | Kind::Logout
            | Kind::Decision
            | Kind::Completion
            | Kind::Cancel
            | Kind::Reload
            | Kind::Catalog
            | Kind::Verify
            | Kind::Rotate
            | Kind::Close => {}
        }
        let last = Head { seq: envelope.seq, hash: envelope.hash };
        self.advance(last)?;
        if envelope.kind == Kind::Rotate {
            self.progress = Progress::Finished(last);
        }
        Ok(())
    }

    fn advance(&mut self, last: Head) -> Result<(), Box<Outcome>> {
        self.compare(last)?;
        self.progress = Progress::Chain(last);
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

    /// The line that was just read is wrong.
    fn broken(&self, what: Break) -> Box<Outcome> {
        self.broken_at(self.place.line, what)
    }

    /// What comes behind the line that was just read is wrong.
    fn broken_next(&self, what: Break) -> Box<Outcome> {
        self.broken_at(self.place.line.saturating_add(1), what)
    }

    fn broken_at(&self, line: u64, what: Break) -> Box<Outcome> {
        let last = match self.progress {
            Progress::Start(last) => last,
            Progress::Chain(last) | Progress::Finished(last) => Some(last),
        };
        let Place { file, files_left, .. } = self.place.clone();
        Box::new(Outcome::Broken(Broken { file, line, what, last, files_left }))
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
