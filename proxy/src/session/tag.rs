//! A command tag, kept in place: each statement has one, and none is longer than PostgreSQL's own buffer for it.

use std::fmt;

/// A command tag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Tag {
    bytes: [u8; TAG_BYTES_MAX],
    len: u8,
}

impl Tag {
    /// The tag of that text, cut where it is longer than a server of PostgreSQL's kind makes one.
    pub fn new(text: &str) -> Self {
        let end = (0..=text.len().min(TAG_BYTES_MAX)).rev().find(|end| text.is_char_boundary(*end));
        let text = text.get(..end.unwrap_or(0)).unwrap_or_default().as_bytes();
        let mut bytes = [0; TAG_BYTES_MAX];
        bytes.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
        Tag { bytes, len: u8::try_from(text.len()).unwrap_or(0) }
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        let text = self.bytes.get(..usize::from(self.len)).unwrap_or_default();
        std::str::from_utf8(text).unwrap_or_default()
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// COMPLETION_TAG_BUFSIZE in PostgreSQL's cmdtag.h, without its NUL.
const TAG_BYTES_MAX: usize = 63;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_its_text_up_to_the_servers_own_limit() {
        let long = "x".repeat(TAG_BYTES_MAX);
        for text in ["", "SELECT 1", &long] {
            assert_eq!(Tag::new(text).as_str(), text);
        }
        assert_eq!(Tag::new(&format!("{long}y")).as_str(), long);
        // A character is not cut in two.
        let odd = format!("{}é", "x".repeat(TAG_BYTES_MAX - 1));
        assert_eq!(Tag::new(&odd).as_str(), &odd[..TAG_BYTES_MAX - 1]);
    }
}
