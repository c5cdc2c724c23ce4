//! A line's hash: 32 bytes, written as 64 lower-case hex digits.

use std::fmt;

use crate::json;

/// SHA-256 or HMAC-SHA-256 of a line's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(pub(crate) [u8; 32]);

impl Hash {
    /// What the very first line of the very first file holds as the hash before it.
    pub(crate) const NONE: Self = Self([0; 32]);

    /// Exactly 64 lower-case hex digits. One form only: a second spelling of a hash would be an edit that is
    /// not found.
    pub(crate) fn from_hex(text: &[u8]) -> Option<Self> {
        let (pairs, []) = text.as_chunks::<2>() else {
            return None;
        };
        let mut bytes = [0; 32];
        if pairs.len() != bytes.len() {
            return None;
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = nibble(*high)? << 4 | nibble(*low)?;
        }
        Some(Self(bytes))
    }

    /// As it is written.
    pub(crate) fn hex(&self) -> [u8; HEX_BYTES] {
        let mut text = [0; HEX_BYTES];
        json::hex_into(&mut text, &self.0);
        text
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

pub(crate) const HEX_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_64_lower_case_digits_are_a_hash() {
        let hash = Hash(std::array::from_fn(|at| u8::try_from(at * 8).unwrap_or_default()));
        let text = hash.to_string();
        assert_eq!(Hash::from_hex(text.as_bytes()), Some(hash));
        assert_eq!(Hash::from_hex(text.to_uppercase().as_bytes()), None);
        assert_eq!(Hash::from_hex(text.replacen('0', "g", 1).as_bytes()), None);
        assert_eq!(Hash::from_hex(format!("{text}0").as_bytes()), None);
        assert_eq!(Hash::from_hex(format!("{text}00").as_bytes()), None);
        assert_eq!(Hash::from_hex(b""), None);
    }
}
