//! The secret that makes a chain nobody else can recompute.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::fmt;
use zeroize::Zeroizing;

/// A key for HMAC-SHA-256. Never shown by `Debug`; its bytes are overwritten when it is dropped.
#[derive(Clone)]
pub struct Key(Zeroizing<Vec<u8>>);

impl Key {
    /// A key of [`MIN_KEY_BYTES`] to [`MAX_KEY_BYTES`]. One newline at the end does not count, so that a key
    /// in a file is the same with and without it.
    ///
    /// # Errors
    /// The key is too short or too long.
    pub fn new(bytes: &[u8]) -> Result<Self, KeyError> {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if !(MIN_KEY_BYTES..=MAX_KEY_BYTES).contains(&bytes.len()) {
            return Err(KeyError::Length { bytes: bytes.len() });
        }
        Ok(Self(Zeroizing::new(bytes.to_vec())))
    }

    /// Reads a key from a file.
    ///
    /// # Errors
    /// The file cannot be read, or what it holds is no key.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(READ_BYTES));
        let limit = u64::try_from(READ_BYTES).unwrap_or(u64::MAX);
        File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)).map_err(KeyError::Io)?;
        Self::new(&bytes)
    }

    /// What the log says about its key: enough to tell that another key was given, nothing about the key.
    pub(crate) fn id(&self) -> String {
        let tag = self.mac().chain_update(ID_OF).finalize().into_bytes();
        tag.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn mac(&self) -> Hmac<Sha256> {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of every length (RFC 2104)")]
        Hmac::new_from_slice(&self.0).expect("HMAC takes a key of any length")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Why something is no key.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeyError {
    /// Too short to be a secret, or too long to be meant as one.
    Length {
        /// What was given.
        bytes: usize,
    },
    /// The file cannot be read.
    Io(io::Error),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { bytes } => write!(
                f,
                "the audit key has {bytes} bytes; it needs {MIN_KEY_BYTES} to {MAX_KEY_BYTES}, for example from \
                 `openssl rand -hex 32`"
            ),
            Self::Io(error) => write!(f, "the audit key cannot be read: {error}"),
        }
    }
}

impl Error for KeyError {}

/// RFC 2104 section 3: a key shorter than the hash weakens the MAC.
pub(crate) const MIN_KEY_BYTES: usize = 32;
const MAX_KEY_BYTES: usize = 4096;
/// Room for a line end and for one byte too many.
const READ_BYTES: usize = MAX_KEY_BYTES + 3;
/// No line starts like this, so the identifier is the MAC of nothing in a log.
const ID_OF: &[u8] = b"pgmoat audit key identifier";

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn debug_does_not_show_the_key() {
        let key = Key::new("secret-secret-secret-secret-secret".as_bytes()).unwrap();
        assert_eq!(format!("{key:?}"), "Key(..)");
    }

    #[test]
    fn a_newline_at_the_end_is_not_part_of_the_key() {
        let text = "0123456789abcdef0123456789abcdef";
        let ids = [text.to_owned(), format!("{text}\n"), format!("{text}\r\n")]
            .map(|text| Key::new(text.as_bytes()).unwrap().id());
        assert_eq!(ids[0], ids[1]);
        assert_eq!(ids[0], ids[2]);
        assert_eq!(ids[0].len(), 16);
    }

    #[test]
    fn short_and_long_keys_are_refused() {
        assert!(matches!(Key::new(&[7; 31]), Err(KeyError::Length { bytes: 31 })));
        assert!(matches!(Key::new(&[7; 4097]), Err(KeyError::Length { bytes: 4097 })));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), vec![7; 100_000]).unwrap();
        assert!(matches!(Key::read(file.path()), Err(KeyError::Length { .. })));
    }
}
