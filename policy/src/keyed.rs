//! Maps of the judge: keyed hashes, without SipHash's price.
//!
//! A verdict looks some four hundred names and numbers up, and clients choose the names, so the hash has a key that they do
//! not know. One key for the whole process: a map that is made costs nothing.

use std::hash::BuildHasher;
use std::sync::LazyLock;

use ahash::{AHasher, RandomState};

/// A map with the process's key.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, Keyed>;

/// A set with the process's key.
pub(crate) type HashSet<K> = std::collections::HashSet<K, Keyed>;

/// Hashes with the process's key.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Keyed;

impl BuildHasher for Keyed {
    type Hasher = AHasher;

    fn build_hasher(&self) -> AHasher {
        KEY.build_hasher()
    }
}

static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
