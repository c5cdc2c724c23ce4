//! How many CancelRequests are looked at: each costs a connection to the server, or is a guess at a key.
//!
//! What is over is dropped in silence, as PostgreSQL answers no CancelRequest; and without an audit line, since a flood
//! of them must not fill the disk. The log says once a second how many there were.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Counts requests, in total and by address, second by second.
pub(crate) struct Cancels {
    in_total: u32,
    per_address: u32,
    second: Mutex<Second>,
}

struct Second {
    begun: Instant,
    in_total: u32,
    /// At most `in_total` of them: those over are counted nowhere.
    by_address: HashMap<Option<IpAddr>, u32>,
    dropped: u64,
}

impl Cancels {
    /// So many a second.
    pub(crate) fn new(in_total: u32, per_address: u32) -> Cancels {
        let second = Second { begun: Instant::now(), in_total: 0, by_address: HashMap::new(), dropped: 0 };
        Cancels { in_total, per_address, second: Mutex::new(second) }
    }

    /// Whether another one from there is looked at now. None is a Unix socket.
    pub(crate) fn admit(&self, address: Option<IpAddr>, now: Instant) -> bool {
        let mut second = self.second.lock();
        if now.saturating_duration_since(second.begun) >= Duration::from_secs(1) {
            if second.dropped > 0 {
                tracing::warn!(
                    dropped = second.dropped,
                    "requests to cancel were dropped: too many in a second"
                );
            }
            (second.begun, second.in_total, second.dropped) = (now, 0, 0);
            second.by_address = HashMap::new();
        }
        let Second { in_total, by_address, dropped, .. } = &mut *second;
        let from_there = by_address.get(&address).copied().unwrap_or_default();
        if *in_total >= self.in_total || from_there >= self.per_address {
            *dropped = dropped.saturating_add(1);
            return false;
        }
        *in_total += 1;
        by_address.insert(address, from_there + 1);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_share_and_all_have_theirs() {
        let cancels = Cancels::new(5, 3);
        let (one, other) = (Some(IpAddr::from([10, 0, 0, 1])), Some(IpAddr::from([10, 0, 0, 2])));
        let now = Instant::now();
        let admitted = |address, now| (0..10).filter(|_| cancels.admit(address, now)).count();
        assert_eq!(admitted(one, now), 3);
        assert_eq!(admitted(other, now), 2, "what is left in total");
        assert_eq!(admitted(None, now), 0);
        assert_eq!(admitted(one, now + Duration::from_secs(1)), 3, "another second");
    }
}
