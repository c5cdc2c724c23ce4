//! What a line's hash is taken with.

use hmac::{Hmac, Mac};
use sha2::{Digest as _, Sha256};

use crate::{Hash, Key};

/// SHA-256, or HMAC-SHA-256 where the log has a key.
#[derive(Clone)]
pub(crate) enum Digest {
    Plain,
    /// The state after the key was taken in, so that a line costs two blocks less. With the key's public
    /// identifier.
    Keyed(Box<Hmac<Sha256>>, String),
}

impl Digest {
    pub(crate) fn new(key: Option<&Key>) -> Self {
        match key {
            None => Self::Plain,
            Some(key) => Self::Keyed(Box::new(key.mac()), key.id()),
        }
    }

    pub(crate) fn of(&self, bytes: &[u8]) -> Hash {
        match self {
            Self::Plain => Hash(Sha256::digest(bytes).into()),
            Self::Keyed(mac, _) => {
                Hash(mac.as_ref().clone().chain_update(bytes).finalize().into_bytes().into())
            }
        }
    }

    /// The key's identifier, as in `open.key`.
    pub(crate) fn key_id(&self) -> Option<&str> {
        match self {
            Self::Plain => None,
            Self::Keyed(_, id) => Some(id),
        }
    }
}
