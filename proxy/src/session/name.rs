//! Names of prepared statements and portals as upstream knows them (contracts 2).
//!
//! INVARIANT (one name, one text): a numbered name is given out once in the life of a process, so upstream it
//! stands for one text and one binding, whatever order of messages a client sends.

use std::fmt;

/// What a prepared statement or a portal is called upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UpstreamName {
    /// The unnamed one.
    Unnamed,
    /// `pgmoat_` and these 16 hex digits.
    Own(u64),
}

impl UpstreamName {
    /// One that is never given to anything: what has it upstream does not exist.
    pub const NEVER_GIVEN: UpstreamName = UpstreamName::Own(0);

    /// A statement that is always there on a shared connection when somebody gives a name that is taken.
    pub(super) const TAKEN: UpstreamName = UpstreamName::Own(1 << 63);

    /// How a name of our own begins.
    pub const PREFIX: &str = PREFIX;

    /// How long a name of our own is, in characters.
    pub const OWN_CHARACTERS: usize = OWN_NAME_BYTES;

    /// The name that a text is, if it is one of our own.
    pub fn read(text: &str) -> Option<UpstreamName> {
        let digits =
            text.strip_prefix(PREFIX).filter(|digits| digits.len() == OWN_NAME_BYTES - PREFIX.len())?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        digits.bytes().all(is_digit).then(|| u64::from_str_radix(digits, 16).ok().map(UpstreamName::Own))?
    }

    /// The name as it goes over the wire, without its NUL.
    pub fn bytes(self) -> NameBytes {
        let mut bytes = NameBytes { text: [0; OWN_NAME_BYTES], len: 0 };
        let UpstreamName::Own(number) = self else { return bytes };
        let digits = (0..DIGITS).rev().map(|place| {
            let digit = (number >> (4 * place)) & 0xf;
            char::from_digit(u32::try_from(digit).unwrap_or(0), 16).map_or(b'0', |digit| digit as u8)
        });
        for (to, from) in bytes.text.iter_mut().zip(PREFIX.bytes().chain(digits)) {
            *to = from;
        }
        bytes.len = OWN_NAME_BYTES;
        bytes
    }
}

impl fmt::Display for UpstreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UpstreamName::Unnamed => Ok(()),
            UpstreamName::Own(number) => write!(f, "{PREFIX}{number:016x}"),
        }
    }
}

/// A name's bytes, without an allocation.
#[derive(Clone, Copy, Debug)]
pub struct NameBytes {
    text: [u8; OWN_NAME_BYTES],
    len: usize,
}

impl std::ops::Deref for NameBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.text.get(..self.len).unwrap_or_default()
    }
}

/// Gives out the numbered names of one session: its own number above, a counter below.
#[derive(Debug)]
pub(super) struct Numbers {
    session: u32,
    next: u32,
}

impl Numbers {
    pub(super) fn new(session: u32) -> Self {
        // 0 is never given: the name of what does not exist. The highest bit is of names that sessions share.
        Numbers { session: session & (u32::MAX >> 1), next: 1 }
    }

    /// A name that was never given out before; none after 2^32 - 2 of them.
    pub(super) fn fresh(&mut self) -> Option<UpstreamName> {
        let number = (u64::from(self.session) << 32) | u64::from(self.next);
        self.next = self.next.checked_add(1)?;
        Some(UpstreamName::Own(number))
    }
}

const PREFIX: &str = "pgmoat_";
const DIGITS: u32 = 16;
const OWN_NAME_BYTES: usize = 23;

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn names_are_a_prefix_and_sixteen_hex_digits() {
        assert_eq!(&*UpstreamName::Unnamed.bytes(), b"");
        assert_eq!(&*UpstreamName::Own(0xfe).bytes(), b"pgmoat_00000000000000fe");
        assert_eq!(UpstreamName::Own(u64::MAX).to_string().as_bytes(), &*UpstreamName::Own(u64::MAX).bytes());
    }

    #[test]
    fn no_name_is_given_out_twice() {
        let mut numbers = Numbers::new(7);
        assert_eq!(numbers.fresh(), Some(UpstreamName::Own(0x7_0000_0001)));
        assert_eq!(numbers.fresh(), Some(UpstreamName::Own(0x7_0000_0002)));
        numbers.next = u32::MAX - 1;
        numbers.fresh().unwrap();
        assert_eq!(numbers.fresh(), None);
        assert_eq!(numbers.fresh(), None);
    }
}
