//! What a server says, and its short form: `1 2 D C Z(I)`, `E(42501) Z(I)`.

use std::fmt;
use std::io;

/// One message of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its letter.
    pub tag: u8,
    /// Its bytes after the length.
    pub body: Vec<u8>,
}

/// Messages in the order in which they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript {
    /// The messages.
    pub messages: Vec<Message>,
    /// Whether the connection ended after them.
    pub closed: bool,
}

impl Message {
    /// Takes one whole message off the front of a buffer, if there is one.
    pub(crate) fn take(buffer: &mut Vec<u8>) -> io::Result<Option<Self>> {
        let Some((&tag, rest)) = buffer.split_first() else { return Ok(None) };
        let Some((length, _)) = rest.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_be_bytes(*length) as usize;
        if !(4..=LARGEST_BYTES).contains(&length) {
            return Err(io::Error::other(format!("a message {:?} of {length} bytes", char::from(tag))));
        }
        if rest.len() < length {
            return Ok(None);
        }
        let message: Vec<u8> = buffer.drain(..=length).collect();
        Ok(Some(Self { tag, body: message.get(5..).unwrap_or_default().to_vec() }))
    }

    /// A field of an ErrorResponse or NoticeResponse, such as `b'C'`, the SQLSTATE.
    #[must_use]
    pub fn field(&self, code: u8) -> Option<String> {
        if !matches!(self.tag, b'E' | b'N') {
            return None;
        }
        let field = self.body.split(|byte| *byte == 0).find(|field| field.first() == Some(&code))?;
        Some(String::from_utf8_lossy(field.get(1..)?).into_owned())
    }

    /// The text of a CommandComplete.
    #[must_use]
    pub fn command(&self) -> Option<String> {
        let text = self.body.strip_suffix(&[0])?;
        (self.tag == b'C').then(|| String::from_utf8_lossy(text).into_owned())
    }

    /// The columns of a DataRow, in text.
    #[must_use]
    pub fn row(&self) -> Option<Vec<Option<String>>> {
        if self.tag != b'D' {
            return None;
        }
        let (count, mut rest) = self.body.split_first_chunk::<2>()?;
        let mut columns = Vec::new();
        for _ in 0..u16::from_be_bytes(*count) {
            let (length, after) = rest.split_first_chunk::<4>()?;
            match usize::try_from(i32::from_be_bytes(*length)) {
                Ok(length) => {
                    columns.push(Some(String::from_utf8_lossy(after.get(..length)?).into_owned()));
                    rest = after.get(length..)?;
                }
                Err(_) => {
                    columns.push(None);
                    rest = after;
                }
            }
        }
        Some(columns)
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tag = char::from(self.tag);
        match self.tag {
            b'Z' => write!(f, "Z({})", self.body.first().copied().map_or('?', char::from)),
            b'E' => {
                let code = self.field(b'C').unwrap_or_default();
                match self.field(b'V').as_deref() {
                    Some("ERROR") => write!(f, "E({code})"),
                    severity => write!(f, "E({code},{})", severity.unwrap_or_default()),
                }
            }
            _ => write!(f, "{tag}"),
        }
    }
}

impl Transcript {
    /// How many ReadyForQuery.
    #[must_use]
    pub fn ready(&self) -> usize {
        self.messages.iter().filter(|message| message.tag == b'Z').count()
    }

    /// The texts of the CommandCompletes.
    #[must_use]
    pub fn commands(&self) -> Vec<String> {
        self.messages.iter().filter_map(Message::command).collect()
    }

    /// The rows, in text.
    #[must_use]
    pub fn rows(&self) -> Vec<Vec<Option<String>>> {
        self.messages.iter().filter_map(Message::row).collect()
    }

    /// The SQLSTATEs of the errors.
    #[must_use]
    pub fn codes(&self) -> Vec<String> {
        self.errors().filter_map(|error| error.field(b'C')).collect()
    }

    /// The errors.
    pub fn errors(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(|message| message.tag == b'E')
    }

    /// The first error's field, such as `b'M'`, its text.
    #[must_use]
    pub fn error_field(&self, code: u8) -> Option<String> {
        self.errors().find_map(|error| error.field(code))
    }

    /// The last message's short form, or `closed`.
    pub(crate) fn last_word(&self) -> String {
        match self.messages.last() {
            Some(message) if !self.closed => message.to_string(),
            _ => "closed".to_owned(),
        }
    }

    /// The texts of the errors, for the reader of a failed test.
    pub(crate) fn complaints(&self) -> String {
        self.errors().filter_map(|error| error.field(b'M')).map(|text| format!("\n  {text}")).collect()
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<String> = self.messages.iter().map(Message::to_string).collect();
        if self.closed {
            words.push("closed".to_owned());
        }
        f.write_str(&words.join(" "))
    }
}

/// No test asks for a larger message; a length beyond it is rubbish.
const LARGEST_BYTES: usize = 64 << 20;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_taken_when_it_is_whole() {
        let mut buffer = vec![b'Z', 0, 0, 0, 5];
        assert_eq!(Message::take(&mut buffer).unwrap(), None);
        buffer.extend([b'I', b'1']);
        assert_eq!(Message::take(&mut buffer).unwrap().unwrap().to_string(), "Z(I)");
        assert_eq!(buffer, [b'1']);
        assert!(Message::take(&mut vec![b'Z', 0, 0, 0, 3]).is_err());
    }

    #[test]
    fn errors_show_their_sqlstate_and_an_unusual_severity() {
        let error = |severity: &str| Message {
            tag: b'E',
            body: format!("V{severity}\0C08P01\0Mno\0\0").into_bytes(),
        };
        let heard = Transcript { messages: vec![error("ERROR"), error("FATAL")], closed: true };
        assert_eq!(heard.to_string(), "E(08P01) E(08P01,FATAL) closed");
    }
}
