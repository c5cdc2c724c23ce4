//! The head of a chain: the last line's sequence number and hash, written `SEQ:HASH`.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use crate::Hash;

/// Where a chain ends. Kept somewhere that the log's writer cannot change, it proves that nothing up to it
/// was cut off or recomputed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The last line's sequence number; 0 where there is no line yet.
    pub seq: u64,
    /// The last line's hash.
    pub hash: Hash,
}

impl Head {
    pub(crate) const GENESIS: Self = Self { seq: 0, hash: Hash::NONE };
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

impl FromStr for Head {
    type Err = BadHead;

    fn from_str(text: &str) -> Result<Self, BadHead> {
        let (seq, hash) = text.split_once(':').ok_or(BadHead)?;
        // u64's own parser takes a sign.
        if !seq.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(BadHead);
        }
        Ok(Self {
            seq: seq.parse().map_err(|_| BadHead)?,
            hash: Hash::from_hex(hash.as_bytes()).ok_or(BadHead)?,
        })
    }
}

/// The text is no head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadHead;

impl fmt::Display for BadHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a head is SEQ:HASH, a line's sequence number and its hash of 64 lower-case hex digits")
    }
}

impl Error for BadHead {}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn a_head_reads_back_and_nothing_else_does() {
        let head = Head { seq: 17, hash: Hash([0xab; 32]) };
        assert_eq!(head.to_string().parse::<Head>().unwrap(), head);
        let hash = head.hash;
        for bad in
            ["", "17", "17:", ":", &format!("+17:{hash}"), &format!("-1:{hash}"), &format!("17:{hash}\n")]
        {
            assert_eq!(bad.parse::<Head>(), Err(BadHead), "{bad:?}");
        }
        assert_eq!(format!("18446744073709551616:{hash}").parse::<Head>(), Err(BadHead));
    }
}
