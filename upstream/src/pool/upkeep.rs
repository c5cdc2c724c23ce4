//! What is done for a pool while nobody asks: the minimum is kept, what is too old is closed, and a server that is down is
//! tried again.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::shared::{Idle, Shared};
use super::stats::Cause;

/// Runs until the pool is gone.
pub(super) async fn upkeep(pool: Weak<Shared>) {
    let Some((config, slots)) = pool.upgrade().map(|shared| (shared.config.clone(), shared.slots.clone()))
    else {
        return;
    };
    let least = config.idle_timeout.min(config.lifetime / 2);
    let period = (least / 4).clamp(SWEEP_MIN, SWEEP_MAX);
    loop {
        let Some(shared) = pool.upgrade() else { return };
        shared.sweep();
        shared.fill().await;
        drop(shared);
        match config.minimum {
            0 => sleep(period).await,
            _ => {
                // One that was closed may have been of the minimum.
                let _ = timeout(period, slots.freed()).await;
                sleep(SWEEP_MIN).await;
            }
        }
    }
}

/// Tries until the server answers or the pool is gone; what it opened is put to rest.
pub(super) async fn retry(pool: Weak<Shared>) {
    let Some(mut pause) = pool.upgrade().map(|shared| shared.config.backoff_initial) else { return };
    loop {
        sleep(pause).await;
        let Some(shared) = pool.upgrade() else { return };
        if shared.has_recovered() {
            return;
        }
        let Some(slot) = shared.slots.take(usize::MAX) else {
            // There are as many as may be: whoever needs the next one finds out.
            shared.resting.lock().breaker.close();
            return shared.slots.tell_all();
        };
        match shared.try_connect(slot).await {
            Ok(pooled) => {
                tracing::info!(database = %shared.target.database, "upstream is back");
                return shared.rest(pooled);
            }
            Err(error) if shared.is_still_down(&error) => {}
            // Somebody who had begun before has got through: the next one to fail starts another of these.
            Err(_) => return,
        }
        pause = (pause * 2).min(shared.config.backoff_max);
    }
}

impl Shared {
    /// Closes connections that have grown too old, that have rested too long and are not of the minimum, or that are of
    /// the reserve while nobody waits.
    fn sweep(&self) {
        let now = Instant::now();
        let calm = self.places.waiting() == 0;
        let mut out: Vec<(Idle, Cause)> = Vec::new();
        {
            let idle = &mut self.resting.lock().idle;
            let aged = idle.extract_if(.., |idle| idle.pooled.expires <= now);
            out.extend(aged.map(|idle| (idle, Cause::Aged)));
            let live = self.slots.live().saturating_sub(out.len());
            let mut surplus = if calm { live.saturating_sub(self.config.size()) } else { 0 };
            let mut spare = live.saturating_sub(self.config.minimum);
            let mut kept = Vec::with_capacity(idle.len());
            for one in idle.drain(..) {
                let rested = one.since + self.config.idle_timeout <= now;
                let cause = match (surplus, spare) {
                    (1.., _) => Cause::Surplus,
                    (0, 1..) if rested => Cause::Idle,
                    (0, _) => {
                        kept.push(one);
                        continue;
                    }
                };
                surplus = surplus.saturating_sub(1);
                spare = spare.saturating_sub(1);
                out.push((one, cause));
            }
            *idle = kept;
        }
        out.into_iter().for_each(|(idle, cause)| self.destroy(idle.pooled, cause));
    }

    /// Makes what is missing of the minimum, one after the other. A server that does not answer is the retrying task's.
    async fn fill(self: &Arc<Self>) {
        loop {
            let may = {
                let resting = self.resting.lock();
                !resting.closed && resting.breaker.last_error().is_none()
            };
            let Some(slot) = self.slots.take(self.config.minimum).filter(|_| may) else { return };
            match self.connect(slot).await {
                Ok(pooled) => self.rest(pooled),
                Err(_) => return,
            }
        }
    }
}

const SWEEP_MIN: Duration = Duration::from_millis(50);
const SWEEP_MAX: Duration = Duration::from_secs(30);
