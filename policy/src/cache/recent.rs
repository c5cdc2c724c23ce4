//! The verdicts that a session was given last.

use std::sync::Arc;

use super::kept::Kept;
use super::key::Wanted;

/// A session's own small front of the cache: a few short entries, found without a lock. It costs a few
/// words while it is empty, and forgets everything when it is used with another cache.
#[derive(Debug)]
pub struct Recent<T = ()> {
    /// The number of the cache that they are of.
    of: u64,
    kept: [Option<Arc<Kept<T>>>; RECENT_MAX],
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Recent { of: 0, kept: [const { None }; RECENT_MAX] }
    }
}

impl<T> Recent<T> {
    /// What is there for a key, under a cache's policy and catalog.
    pub(super) fn get(&mut self, of: u64, wanted: &Wanted<'_>) -> Option<&Arc<Kept<T>>> {
        if self.of != of {
            *self = Recent { of, ..Recent::default() };
        }
        self.kept.get(place(wanted.hash))?.as_ref().filter(|kept| wanted.is(kept.key()))
    }

    pub(super) fn put(&mut self, hash: u64, kept: &Arc<Kept<T>>) {
        if let Some(place) = self.kept.get_mut(place(hash))
            && kept.weight() <= RECENT_BYTES_MAX
        {
            *place = Some(Arc::clone(kept));
        }
    }
}

/// The hash's upper bits: the shared table uses the others.
fn place(hash: u64) -> usize {
    usize::try_from(hash >> (u64::BITS - RECENT_BITS)).unwrap_or(0)
}

const RECENT_BITS: u32 = 3;
/// Entries of a session.
const RECENT_MAX: usize = 1 << RECENT_BITS;
/// A larger entry stays in the shared table: sessions keep theirs alive when that lets them go.
const RECENT_BYTES_MAX: usize = 3 << 10;
