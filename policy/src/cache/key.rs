//! What a verdict is found by, beside its pins: role, protocol, skeleton.
//!
//! They are hashed once, with a key that each cache draws for itself: clients choose the bytes.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use ahash::RandomState;
use quick_cache::Equivalent;

use crate::judge::Request;
use crate::shape::Shape;
use crate::{Mode, Oid};

/// What a kept verdict is found by.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Key {
    hash: u64,
    role: Arc<str>,
    /// None: by the simple query protocol.
    declared: Option<Box<[Oid]>>,
    pub(super) skeleton: Box<[u8]>,
}

impl Key {
    /// What it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let declared = self.declared.as_ref().map_or(0, |all| all.len() * size_of::<Oid>());
        self.skeleton.len() + declared
    }
}

/// The same, while it is looked for.
pub(super) struct Wanted<'w> {
    pub(super) hash: u64,
    role: &'w Arc<str>,
    declared: Option<&'w [Oid]>,
    skeleton: &'w [u8],
}

/// Hashes what is wanted.
#[derive(Debug, Default)]
pub(super) struct Keyring(RandomState);

impl Keyring {
    pub(super) fn wanted<'w>(&self, request: &Request<'w>, shape: &'w Shape) -> Wanted<'w> {
        let declared = match request.mode {
            Mode::Simple => None,
            Mode::Extended { declared } => Some(declared),
        };
        let (role, skeleton) = (&request.principal.role, shape.skeleton());
        let hash = self.0.hash_one((&**role, declared, skeleton));
        Wanted { hash, role, declared, skeleton }
    }
}

impl Wanted<'_> {
    /// Whether it is short enough.
    pub(super) fn may_be_kept(&self) -> bool {
        self.skeleton.len() <= SKELETON_BYTES_MAX && self.declared.is_none_or(|all| all.len() <= DECLARED_MAX)
    }

    pub(super) fn is(&self, key: &Key) -> bool {
        self.hash == key.hash
            && **self.role == *key.role
            && self.declared == key.declared.as_deref()
            && *self.skeleton == *key.skeleton
    }

    pub(super) fn key(&self) -> Key {
        Key {
            hash: self.hash,
            role: Arc::clone(self.role),
            declared: self.declared.map(Into::into),
            skeleton: self.skeleton.into(),
        }
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Hash for Wanted<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Equivalent<Arc<Key>> for Wanted<'_> {
    fn equivalent(&self, key: &Arc<Key>) -> bool {
        self.is(key)
    }
}

/// Takes keys by the hash that they bring.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Keyed(u64);

impl BuildHasher for Keyed {
    type Hasher = Keyed;

    fn build_hasher(&self) -> Keyed {
        Keyed(0)
    }
}

impl Hasher for Keyed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Keys bring a number and nothing else; this is for completeness.
        for &byte in bytes {
            self.0 = self.0.rotate_left(u8::BITS) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// A longer skeleton is not kept, in bytes.
const SKELETON_BYTES_MAX: usize = 16 << 10;
/// Nor a text with more declared parameter types.
const DECLARED_MAX: usize = 256;
