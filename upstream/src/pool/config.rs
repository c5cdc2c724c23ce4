//! What makes a pool, and its limits.

use std::time::Duration;

use crate::settings::PinnedSettings;

/// What connections must have in common to be shared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PoolKey {
    /// The database's name on the server.
    pub database: String,
    /// The role that it logs in as.
    pub user: String,
    /// The settings that it starts with.
    pub settings: PinnedSettings,
}

/// A pool's limits.
#[derive(Clone, Debug)]
pub struct PoolConfig {
    /// Live connections, leased and idle, without the reserve.
    pub max_connections: usize,
    /// Connections that are kept, whether anybody needs them or not; at most `max_connections`.
    pub minimum: usize,
    /// Further connections for those who have waited for `reserve_wait`.
    pub reserve: usize,
    /// How long a checkout waits before it may have one of the reserve.
    pub reserve_wait: Duration,
    /// How long a checkout may wait for a free one.
    pub wait_timeout: Duration,
    /// How long a connection over the minimum may rest before it is closed.
    pub idle_timeout: Duration,
    /// How old a connection may become; looked at while it rests. Each has up to a tenth less, so that those that were
    /// opened together are not closed together.
    pub lifetime: Duration,
    /// For DISCARD ALL when a connection comes back.
    pub reset_timeout: Duration,
    /// The first pause between two attempts at a server that is down; doubles each time.
    pub backoff_initial: Duration,
    /// The longest pause.
    pub backoff_max: Duration,
}

impl Default for PoolConfig {
    fn default() -> Self {
        PoolConfig {
            max_connections: 20,
            minimum: 0,
            reserve: 0,
            reserve_wait: Duration::from_secs(1),
            wait_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(600),
            lifetime: Duration::from_secs(3_600),
            reset_timeout: Duration::from_secs(5),
            backoff_initial: Duration::from_millis(100),
            backoff_max: Duration::from_secs(5),
        }
    }
}

impl PoolConfig {
    /// At least one.
    pub(super) fn size(&self) -> usize {
        self.max_connections.max(1)
    }

    /// How long the connection with this number may live. The golden ratio's multiples spread any run of numbers evenly
    /// (Knuth, TAOCP 6.4), which random ones do not.
    pub(super) fn lifetime_of(&self, number: u64) -> Duration {
        let spread = u32::try_from(number.wrapping_mul(GOLDEN) >> 32).unwrap_or(u32::MAX);
        self.lifetime - self.lifetime / JITTER_PART * (spread >> 16) / (1 << 16)
    }
}

/// 2^64 over the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// So much of a lifetime may be missing: one in ten.
const JITTER_PART: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes_of_neighbours_are_spread_over_a_tenth() {
        let config = PoolConfig { lifetime: Duration::from_secs(1000), ..PoolConfig::default() };
        let mut ends: Vec<_> = (0..16).map(|number| config.lifetime_of(number)).collect();
        ends.sort();
        assert!(ends.iter().all(|end| (900..=1000).contains(&end.as_secs())), "{ends:?}");
        assert!(
            ends.windows(2).all(|pair| matches!(pair, [a, b] if *b - *a >= Duration::from_secs(2))),
            "{ends:?}"
        );
    }
}
