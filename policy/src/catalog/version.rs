//! Which catalog, and which server it describes.

use std::fmt;

use sha2::{Digest, Sha256};

/// A catalog's version: the first eight bytes of its text's SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CatalogVersion([u8; VERSION_BYTES]);

impl CatalogVersion {
    /// The version of a catalog text, byte for byte as it is.
    pub fn of(text: &str) -> CatalogVersion {
        let mut version = [0; VERSION_BYTES];
        for (to, from) in version.iter_mut().zip(Sha256::digest(text.as_bytes())) {
            *to = from;
        }
        CatalogVersion(version)
    }

    /// The eight bytes.
    pub const fn bytes(self) -> [u8; VERSION_BYTES] {
        self.0
    }
}

impl fmt::Display for CatalogVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A server's major version, of those that the compiled tables know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "PostgreSQL's own numbers")]
pub enum Major {
    V15,
    V16,
    V17,
    V18,
}

impl Major {
    /// Every one, oldest first.
    pub const ALL: [Major; 4] = [Major::V15, Major::V16, Major::V17, Major::V18];

    /// From `server_version_num` (150004 is 15.4); none where the version is not supported.
    pub const fn of_version_num(number: u32) -> Option<Major> {
        match number / 10_000 {
            15 => Some(Major::V15),
            16 => Some(Major::V16),
            17 => Some(Major::V17),
            18 => Some(Major::V18),
            _ => None,
        }
    }

    /// 15 to 18.
    pub const fn number(self) -> u8 {
        match self {
            Major::V15 => 15,
            Major::V16 => 16,
            Major::V17 => 17,
            Major::V18 => 18,
        }
    }
}

impl fmt::Display for Major {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

const VERSION_BYTES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_the_head_of_the_texts_sha256() {
        assert_eq!(CatalogVersion::of("").to_string(), "e3b0c44298fc1c14");
        assert_eq!(CatalogVersion::of("abc").to_string(), "ba7816bf8f01cfea");
    }

    #[test]
    fn major_is_known_from_15_to_18_only() {
        assert_eq!(Major::of_version_num(150_004), Some(Major::V15));
        assert_eq!(Major::of_version_num(180_000), Some(Major::V18));
        assert_eq!(Major::of_version_num(140_012), None);
        assert_eq!(Major::of_version_num(190_000), None);
    }
}
