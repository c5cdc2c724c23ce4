//! How much text a session keeps: each statement holds its share until nothing refers to it any more.
//!
//! A closed statement lives on in its portals, and a pending one in the reply queue: so the share goes when the
//! statement itself does, and not with its name.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that a session's statements keep together.
#[derive(Debug, Default)]
pub(super) struct Account(Arc<AtomicUsize>);

/// A statement's share, given back when it is dropped.
#[derive(Debug)]
pub struct Share {
    account: Arc<AtomicUsize>,
    bytes: usize,
}

impl Account {
    /// Bytes held now.
    pub(super) fn held(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes a share.
    pub(super) fn take(&self, bytes: usize) -> Share {
        // One task counts: atomic only because statements are shared with portals and the reply queue.
        self.0.fetch_add(bytes, Ordering::Relaxed);
        Share { account: Arc::clone(&self.0), bytes }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.account.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_given_back_once() {
        let account = Account::default();
        let (one, two) = (account.take(3), account.take(4));
        assert_eq!(account.held(), 7);
        drop(one);
        assert_eq!(account.held(), 4);
        drop(two);
        assert_eq!(account.held(), 0);
    }
}
