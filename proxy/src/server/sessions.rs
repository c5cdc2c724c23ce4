//! Who is connected: the cancel keys of live sessions, and the way to reach each of them.
//!
//! Keys are the proxy's own: a random positive process number and a random secret, compared in
//! constant time. What a cancel does is the session's business ([`Control`]); a key that matches
//! nobody does nothing, in silence, as with PostgreSQL.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use pgmoat_upstream::frame::startup::PROTOCOL_3_2;
use subtle::ConstantTimeEq as _;

use super::users::{Place, Who};
use crate::shared::Control;

/// The longest secret.
const KEY_BYTES_MAX: usize = 32;

/// How long a session's secret is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyLength {
    /// 4 bytes: all that protocol 3.0 has room for.
    Short,
    /// 32 bytes, PostgreSQL's own MAX_CANCEL_KEY_LENGTH: from protocol 3.2 on.
    Long,
}

impl KeyLength {
    /// What a protocol version allows.
    pub(crate) fn of(version: u32) -> KeyLength {
        if version >= PROTOCOL_3_2 { KeyLength::Long } else { KeyLength::Short }
    }

    fn bytes(self) -> usize {
        match self {
            KeyLength::Short => 4,
            KeyLength::Long => KEY_BYTES_MAX,
        }
    }
}

/// Every session of this process.
#[derive(Default)]
pub(crate) struct Sessions {
    next_id: AtomicU64,
    live: Mutex<HashMap<i32, Live>>,
}

struct Live {
    id: u64,
    key: Box<[u8]>,
    control: Arc<Control>,
    who: Who,
}

/// A session's place in the registry; it leaves when this is dropped.
pub(crate) struct Registration {
    sessions: Arc<Sessions>,
    pid: i32,
    key: Box<[u8]>,
    _place: Place,
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
        length: KeyLength,
        control: Arc<Control>,
        who: Who,
        place: Place,
    ) -> Result<Registration, getrandom::Error> {
        let mut live = self.live.lock();
        loop {
            let mut bytes = [0_u8; 4 + KEY_BYTES_MAX];
            getrandom::fill(&mut bytes)?;
            let [a, b, c, d, key @ ..] = bytes;
            let key: Box<[u8]> = key.into_iter().take(length.bytes()).collect();
            // Positive: a negative number broke a driver.
            let pid = i32::from_be_bytes([a & 0x7f, b, c, d]);
            if pid != 0 && !live.contains_key(&pid) {
                live.insert(pid, Live { id, key: key.clone(), control, who });
                return Ok(Registration { sessions: Arc::clone(self), pid, key, _place: place });
            }
        }
    }

    /// The session that a CancelRequest means, with its number, if its key is right.
    pub(crate) fn find(&self, pid: i32, key: &[u8]) -> Option<(u64, Arc<Control>)> {
        let live = self.live.lock();
        let session = live.get(&pid)?;
        bool::from(session.key.ct_eq(key)).then(|| (session.id, Arc::clone(&session.control)))
    }

    /// Every live session's control.
    pub(crate) fn all(&self) -> Vec<Arc<Control>> {
        self.live.lock().values().map(|session| Arc::clone(&session.control)).collect()
    }

    /// Ends, each at its next end of a statement, those that may not go on; how many they are.
    pub(crate) fn retire(&self, keep: impl Fn(&Who) -> bool) -> usize {
        let live = self.live.lock();
        let ending = live.values().filter(|session| !keep(&session.who));
        ending.inspect(|session| session.control.retire()).count()
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
    use crate::server::users::{Connections, User};

    #[test]
    fn a_session_is_found_by_its_own_key_only_and_only_while_it_lives() {
        for (length, bytes) in [(KeyLength::Short, 4), (KeyLength::Long, 32)] {
            let sessions = Arc::new(Sessions::default());
            let ann = User::sample("ann", None, 1);
            let place = Connections::new(1).take(&ann).map_err(|_| ()).unwrap();
            let who = Who {
                user: Arc::clone(&ann.name),
                principal: Arc::clone(&ann.principal),
                database: "lab".into(),
                address: None,
            };
            let registration = sessions.register(7, length, Control::new(), who, place).unwrap();
            assert_eq!(registration.key().len(), bytes);
            found_by_its_key_only(&sessions, registration);
        }
    }

    fn found_by_its_key_only(sessions: &Arc<Sessions>, registration: Registration) {
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
