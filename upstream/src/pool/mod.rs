//! Sharing connections: a client has one from checkout until it gives it back clean.
//!
//! Every connection of a pool is alike: database, user and pinned settings are the pool's key, and
//! nothing that depends on a principal is ever set on one. There are never more than the pool's size and
//! reserve (`slot.rs`); waiters are served first come, first served (`places.rs`).
//!
//! While the server is down one background task tries to reach it, with growing pauses; everybody
//! else is told the last error at once ([`CheckoutError::Down`]). With several servers each new connection goes to the
//! first that will do; connections to one that has been replaced are closed as soon as nobody uses them (`hosts.rs`).

mod breaker;
mod clean;
mod config;
mod hosts;
mod lease;
mod look;
mod places;
mod shared;
mod slot;
mod stats;
mod upkeep;

use std::error::Error;
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::MutexGuard;
use tokio::time::{Instant, timeout_at};

use crate::address::Target;
use crate::connect_error::ConnectError;

pub use clean::{CleanProof, NotClean, Quiet};
pub use config::{PoolConfig, PoolKey};
pub use lease::Lease;
use places::NoPlace;
use shared::{Outlook, Shared};
pub use stats::{Cause, PoolStats};

/// Connections to one database as one user. A clone is the same pool.
#[derive(Clone, Debug)]
pub struct Pool {
    shared: Arc<Shared>,
}

impl Pool {
    /// A pool; all connections over the minimum are made when they are asked for. Must be called inside a tokio
    /// runtime: a task that makes the minimum and closes what has rested too long lives as long as the pool.
    pub fn new(target: Target, config: PoolConfig) -> Self {
        let shared = Arc::new(Shared::new(target, config));
        tokio::spawn(upkeep::upkeep(Arc::downgrade(&shared)));
        Pool { shared }
    }

    /// What its connections have in common.
    pub fn key(&self) -> PoolKey {
        let Target { database, user, settings, .. } = &self.shared.target;
        PoolKey { database: database.clone(), user: user.clone(), settings: settings.clone() }
    }

    /// A connection for one client, by `deadline` and within the pool's `wait_timeout`; making a new
    /// one has its own limit (`connect_timeout`).
    ///
    /// # Errors
    ///
    /// See [`CheckoutError`]. While the server is down the answer comes at once.
    pub async fn checkout(&self, deadline: Instant) -> Result<Lease, CheckoutError> {
        let shared = &self.shared;
        shared.fail_fast()?;
        let until = deadline.min(Instant::now() + shared.config.wait_timeout);
        let place = shared.places.take(shared.config.reserve_wait, until).await;
        let place = place.map_err(|none| self.without_place(none))?;
        // Whoever stands in line came first.
        let mut turn = match shared.line.try_lock() {
            Ok(_) => None,
            Err(_) => Some(self.turn(until).await?),
        };
        loop {
            let mut news = pin!(shared.slots.news());
            news.as_mut().enable();
            if let Some(pooled) = shared.take_idle().await {
                shared.counts.reused.fetch_add(1, Ordering::Relaxed);
                return Ok(Lease::new(pooled, place, Arc::clone(shared)));
            }
            match shared.outlook()? {
                Outlook::Connect(slot) => {
                    drop(turn);
                    return match timeout_at(deadline, shared.connect(slot)).await {
                        Ok(Ok(pooled)) => Ok(Lease::new(pooled, place, Arc::clone(shared))),
                        Ok(Err(error)) => Err(CheckoutError::Connect(error)),
                        Err(_) => Err(self.without_place(NoPlace::TooLate)),
                    };
                }
                // One is being made, or those that there are have to do.
                Outlook::Wait if turn.is_none() => turn = Some(self.turn(until).await?),
                Outlook::Wait => {
                    let _waiting = shared.places.wait();
                    if timeout_at(until, news).await.is_err() {
                        return Err(self.without_place(NoPlace::TooLate));
                    }
                }
            }
        }
    }

    /// A connection that is at rest and was used a moment ago, if nobody waits for one. None says nothing: ask
    /// [`Pool::checkout`] then.
    pub fn checkout_resting(&self) -> Option<Lease> {
        let shared = &self.shared;
        // Whoever stands in line came first; who waits for a place has got none while there is one.
        let _first = shared.line.try_lock().ok()?;
        let place = shared.places.take_now()?;
        let pooled = shared.take_fresh()?;
        shared.counts.reused.fetch_add(1, Ordering::Relaxed);
        Some(Lease::new(pooled, place, Arc::clone(shared)))
    }

    /// To be the first of those who wait for a connection to come back or to be made.
    async fn turn(&self, until: Instant) -> Result<MutexGuard<'_, ()>, CheckoutError> {
        let _waiting = self.shared.places.wait();
        let turn = timeout_at(until, self.shared.line.lock()).await;
        turn.map_err(|_| self.without_place(NoPlace::TooLate))
    }

    /// How it stands.
    pub fn stats(&self) -> PoolStats {
        let Shared { places, slots, resting, counts, .. } = &*self.shared;
        let resting = resting.lock();
        let (waits, waited_us) = places.waited();
        PoolStats {
            in_use: places.in_use(),
            idle: resting.idle.len(),
            live: slots.live(),
            waiting: places.waiting(),
            down: resting.breaker.last_error().is_some(),
            waits,
            waited_us,
            ..counts.totals()
        }
    }

    /// Connections at most, the reserve included.
    pub fn size(&self) -> usize {
        self.shared.config.max_connections + self.shared.config.reserve
    }

    /// Nobody gets a connection any more, waiters are told so, those at rest are closed. Leases go
    /// on until they end.
    pub fn close(&self) {
        self.shared.places.close();
        let idle = {
            let mut resting = self.shared.resting.lock();
            resting.closed = true;
            std::mem::take(&mut resting.idle)
        };
        idle.into_iter().for_each(|idle| self.shared.destroy(idle.pooled, Cause::Closed));
    }

    fn without_place(&self, none: NoPlace) -> CheckoutError {
        match none {
            NoPlace::TooLate => {
                self.shared.counts.timeouts.fetch_add(1, Ordering::Relaxed);
                CheckoutError::WaitTimeout
            }
            NoPlace::Closed => CheckoutError::Closed,
        }
    }
}

/// Why there is no connection for this client.
#[derive(Clone, Debug)]
pub enum CheckoutError {
    /// None became free in time.
    WaitTimeout,
    /// The server is down; this is why the last attempt failed. Nothing was tried now.
    Down(Arc<ConnectError>),
    /// A new connection was tried and failed.
    Connect(Arc<ConnectError>),
    /// The pool is closed.
    Closed,
}

impl fmt::Display for CheckoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckoutError::WaitTimeout => f.write_str("no upstream connection became free in time"),
            CheckoutError::Down(error) => write!(f, "the upstream is down: {error}"),
            CheckoutError::Connect(error) => write!(f, "no upstream connection: {error}"),
            CheckoutError::Closed => f.write_str("the pool is closed"),
        }
    }
}

impl Error for CheckoutError {}
