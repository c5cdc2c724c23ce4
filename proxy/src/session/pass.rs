//! What goes upstream without having been judged: messages that hold nothing to judge, and those that must fail.

use bytes::BytesMut;
use pgmoat_upstream::frame::frontend::{self, Object};
use pgmoat_upstream::frame::{EncodeError, Frame};

use super::name::UpstreamName;
use super::replay::Replay;

/// A message for upstream that holds nothing to judge.
#[derive(Debug)]
pub enum Pass<'f> {
    /// As it came.
    Unjudged(Unjudged<'f>),
    /// Describe under the upstream name.
    Describe(Object, UpstreamName),
    /// Execute under the upstream name, with its row limit.
    Execute(UpstreamName, i32),
    /// Close under the upstream name.
    Close(Object, UpstreamName),
    /// A Parse that was let through before.
    Replay(Replay),
    /// In the place of a refused message, one of its kind that must fail (wire 2).
    Poison(Poison),
}

/// Something that must fail.
#[derive(Debug)]
pub enum Poison {
    /// A text that cannot be parsed, as Query.
    Query(String),
    /// A text without its NUL, as Query: nothing is forgotten for it.
    MalformedQuery(String),
    /// A Sync with something in it.
    MalformedSync,
    /// A text that cannot be parsed, as Parse; whether the refused one was unnamed.
    Parse(String, UpstreamName),
    /// A Bind of a statement that cannot exist.
    Bind(String),
    /// A Describe of something that cannot exist.
    Describe(Object, String),
    /// An Execute of a portal that cannot exist.
    Execute(String),
}

/// A message that has neither text, values nor names, as it came. No other can become one.
#[derive(Debug)]
pub struct Unjudged<'f>(&'f [u8]);

impl<'f> Unjudged<'f> {
    /// A Sync of the proxy's own.
    pub(super) const SYNC: Unjudged<'static> = Unjudged(b"S\0\0\0\x04");

    /// None for a message of any other kind.
    pub(super) fn of(frame: Frame<'f>) -> Option<Unjudged<'f>> {
        // CopyData, CopyDone, CopyFail, Flush, Sync.
        matches!(frame.tag, b'd' | b'c' | b'f' | b'H' | b'S').then_some(Unjudged(frame.bytes))
    }
}

impl Pass<'_> {
    /// Appends it to what goes upstream.
    ///
    /// # Errors
    /// It would be longer than the protocol allows.
    pub fn write(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        match self {
            Pass::Unjudged(Unjudged(bytes)) => out.extend_from_slice(bytes),
            Pass::Describe(object, name) => frontend::describe(*object, &name.bytes(), out)?,
            Pass::Execute(name, max_rows) => frontend::execute(&name.bytes(), *max_rows, out)?,
            Pass::Close(object, name) => frontend::close(*object, &name.bytes(), out)?,
            Pass::Replay(replay) => replay.write(out)?,
            Pass::Poison(poison) => poison.write(out)?,
        }
        Ok(())
    }
}

impl Poison {
    fn write(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        match self {
            Poison::Query(text) => frontend::query(text.as_bytes(), out),
            Poison::MalformedQuery(text) => frontend::malformed_query(text.as_bytes(), out),
            Poison::MalformedSync => {
                frontend::malformed_sync(out);
                Ok(())
            }
            Poison::Parse(text, name) => frontend::parse(&name.bytes(), text.as_bytes(), &[], out),
            Poison::Bind(name) => frontend::bind(b"", name.as_bytes(), &[], &[], &[], out),
            Poison::Describe(object, name) => frontend::describe(*object, name.as_bytes(), out),
            Poison::Execute(name) => frontend::execute(name.as_bytes(), 0, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_text_values_or_names_is_never_passed_as_it_came() {
        for tag in 0..=u8::MAX {
            let bytes = [tag, 0, 0, 0, 4];
            let passes = Unjudged::of(Frame { tag, bytes: &bytes }).is_some();
            assert_eq!(passes, b"dcfHS".contains(&tag), "{tag}");
        }
    }
}
