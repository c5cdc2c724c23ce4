//! So many a second, in total and by address: what anybody may ask for without a password must not cost more.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Counts second by second.
pub(super) struct Rate {
    in_total: u32,
    per_address: u32,
    begun: Instant,
    admitted: u32,
    /// At most `in_total` of them: those over are counted nowhere.
    by_address: HashMap<Option<IpAddr>, u32>,
}

impl Rate {
    /// So many a second.
    pub(super) fn new(in_total: u32, per_address: u32) -> Rate {
        Rate { in_total, per_address, begun: Instant::now(), admitted: 0, by_address: HashMap::new() }
    }

    /// Begins another second, if it is time.
    pub(super) fn turns(&mut self, now: Instant) -> bool {
        let turns = now.saturating_duration_since(self.begun) >= Duration::from_secs(1);
        if turns {
            (self.begun, self.admitted) = (now, 0);
            self.by_address = HashMap::new();
        }
        turns
    }

    /// Whether another one from there is within the limits. None is a Unix socket.
    pub(super) fn admit(&mut self, address: Option<IpAddr>, now: Instant) -> bool {
        self.turns(now);
        let from_there = self.by_address.get(&address).copied().unwrap_or_default();
        if self.admitted >= self.in_total || from_there >= self.per_address {
            return false;
        }
        self.admitted += 1;
        self.by_address.insert(address, from_there + 1);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_share_and_all_have_theirs() {
        let mut rate = Rate::new(5, 3);
        let (one, other) = (Some(IpAddr::from([10, 0, 0, 1])), Some(IpAddr::from([10, 0, 0, 2])));
        let now = Instant::now();
        let mut admitted = |address, now| (0..10).filter(|_| rate.admit(address, now)).count();
        assert_eq!(admitted(one, now), 3);
        assert_eq!(admitted(other, now), 2, "what is left in total");
        assert_eq!(admitted(None, now), 0);
        assert_eq!(admitted(one, now + Duration::from_secs(1)), 3, "another second");
    }
}
