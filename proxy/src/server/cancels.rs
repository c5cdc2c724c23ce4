//! How many CancelRequests are looked at: each costs a connection to the server, or is a guess at a key.
//!
//! What is over is dropped in silence, as PostgreSQL answers no CancelRequest; and without an audit line, since a flood
//! of them must not fill the disk. The log says once a second how many there were.

use std::net::IpAddr;
use std::time::Instant;

use parking_lot::Mutex;

use super::rate::Rate;

/// Counts requests.
pub(crate) struct Cancels(Mutex<Counts>);

struct Counts {
    rate: Rate,
    dropped: u64,
}

impl Cancels {
    /// So many a second.
    pub(crate) fn new(in_total: u32, per_address: u32) -> Cancels {
        Cancels(Mutex::new(Counts { rate: Rate::new(in_total, per_address), dropped: 0 }))
    }

    /// Whether another one from there is looked at now. None is a Unix socket.
    pub(crate) fn admit(&self, address: Option<IpAddr>, now: Instant) -> bool {
        let mut counts = self.0.lock();
        let Counts { rate, dropped } = &mut *counts;
        if rate.turns(now) && *dropped > 0 {
            tracing::warn!(dropped, "requests to cancel were dropped: too many in a second");
            *dropped = 0;
        }
        let admitted = rate.admit(address, now);
        *dropped = dropped.saturating_add(u64::from(!admitted));
        admitted
    }
}
