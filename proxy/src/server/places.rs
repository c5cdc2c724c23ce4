//! How many connections there may be that have not logged in: nobody knows yet who they are, so one address alone must
//! not take all the room (known from every flood of half-open logins).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

/// Counts connections from accept to the end of the login.
pub(super) struct Unauthenticated {
    in_total: usize,
    per_address: usize,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    in_total: usize,
    by_address: HashMap<Option<IpAddr>, usize>,
}

/// One of them; its place is free again when this is dropped.
pub(super) struct Knock {
    places: Arc<Unauthenticated>,
    address: Option<IpAddr>,
}

impl Unauthenticated {
    /// So many at one time.
    pub(super) fn new(in_total: usize, per_address: usize) -> Arc<Unauthenticated> {
        Arc::new(Unauthenticated { in_total, per_address, counts: Mutex::default() })
    }

    /// A place for one from there, if there is one. None is a Unix socket.
    pub(super) fn take(self: &Arc<Self>, address: Option<IpAddr>) -> Option<Knock> {
        let mut counts = self.counts.lock();
        let from_there = counts.by_address.get(&address).copied().unwrap_or_default();
        if counts.in_total >= self.in_total || from_there >= self.per_address {
            return None;
        }
        counts.in_total += 1;
        counts.by_address.insert(address, from_there + 1);
        Some(Knock { places: Arc::clone(self), address })
    }
}

impl Drop for Knock {
    fn drop(&mut self) {
        let mut counts = self.places.counts.lock();
        counts.in_total = counts.in_total.saturating_sub(1);
        if let Some(count) = counts.by_address.get_mut(&self.address) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                counts.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_does_not_take_all_the_room() {
        let places = Unauthenticated::new(3, 2);
        let (one, other) = (Some(IpAddr::from([10, 0, 0, 1])), Some(IpAddr::from([10, 0, 0, 2])));
        let first = places.take(one);
        let second = places.take(one);
        assert!(first.is_some() && second.is_some() && places.take(one).is_none());
        let third = places.take(other);
        assert!(third.is_some() && places.take(None).is_none(), "all of it is taken");
        drop(first);
        assert!(places.take(one).is_some());
        drop((second, third));
        assert!(places.counts.lock().by_address.is_empty(), "nobody is kept");
    }
}
