//! Who is connected: the cancel keys of live sessions, and the way to reach each of them.
//!
//! Keys are the proxy's own: a random positive process number and a random secret, compared in
//! constant time. What a cancel does is the session's business ([`Control`]); a key that matches
//! nobody does nothing, in silence, as with PostgreSQL.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use subtle::ConstantTimeEq as _;

use crate::shared::Control;

/// The secret's length in protocol 3.0.
const KEY_BYTES: usize = 4;

/// Every session of this process.
#[derive(Default)]
pub(crate) struct Sessions {
    next_id: AtomicU64,
    live: Mutex<HashMap<i32, Live>>,
}

struct Live {
    id: u64,
    key: [u8; KEY_BYTES],
    control: Arc<Control>,
}

/// A session's place in the registry; it leaves when this is dropped.
pub(crate) struct Registration {
    sessions: Arc<Sessions>,
    pid: i32,
    key: [u8; KEY_BYTES],
}

impl Sessions {
    /// A number that no other session of this process has.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Enters a session under a fresh key.
    ///
    /// # Errors
    /// The system has no randomness to give.
    pub(crate) fn register(
        self: &Arc<Self>,
        id: u64,
        control: Arc<Control>,
    ) -> Result<Registration, getrandom::Error> {
        let mut live = self.live.lock();
        loop {
            let mut bytes = [0_u8; 4 + KEY_BYTES];
            getrandom::fill(&mut bytes)?;
            let [a, b, c, d, key @ ..] = bytes;
            // Positive: a negative number broke a driver.
            let pid = i32::from_be_bytes([a & 0x7f, b, c, d]);
            if pid != 0 && !live.contains_key(&pid) {
                live.insert(pid, Live { id, key, control });
                return Ok(Registration { sessions: Arc::clone(self), pid, key });
            }
        }
    }

    /// The session that a CancelRequest means, with its number, if its key is right.
    pub(crate) fn find(&self, pid: i32, key: &[u8]) -> Option<(u64, Arc<Control>)> {
        let live = self.live.lock();
        let session = live.get(&pid)?;
        bool::from(session.key.as_slice().ct_eq(key)).then(|| (session.id, Arc::clone(&session.control)))
    }

    /// Every live session's control.
    pub(crate) fn all(&self) -> Vec<Arc<Control>> {
        self.live.lock().values().map(|session| Arc::clone(&session.control)).collect()
    }

    /// How many sessions there are.
    pub(crate) fn count(&self) -> usize {
        self.live.lock().len()
    }
}

impl Registration {
    /// The process number for BackendKeyData.
    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// The secret for BackendKeyData.
    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.sessions.live.lock().remove(&self.pid);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn a_session_is_found_by_its_own_key_only_and_only_while_it_lives() {
        let sessions = Arc::new(Sessions::default());
        let registration = sessions.register(7, Control::new()).unwrap();
        let (pid, key) = (registration.pid(), registration.key().to_vec());
        assert!(pid > 0);
        assert_eq!(sessions.find(pid, &key).unwrap().0, 7);
        assert!(sessions.find(pid ^ 1, &key).is_none());
        let mut wrong = key.clone();
        *wrong.first_mut().unwrap() ^= 1;
        assert!(sessions.find(pid, &wrong).is_none());
        assert!(sessions.find(pid, key.get(..3).unwrap()).is_none(), "a prefix is not a key");
        assert!(sessions.find(pid, &[]).is_none());
        assert_eq!(sessions.count(), 1);
        drop(registration);
        assert!(sessions.find(pid, &key).is_none());
        assert_eq!(sessions.count(), 0);
    }
}
