//! What all clones of a pool, its leases and its upkeep share.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::time::Instant;

use super::breaker::Breaker;
use super::hosts::Hosts;
use super::look::{NEWS_TRAVEL, look, look_again};
use super::places::Places;
use super::slot::{Slot, Slots};
use super::stats::{Cause, Counts};
use super::upkeep::retry;
use super::{CheckoutError, PoolConfig};
use crate::address::Target;
use crate::connect::{Found, search};
use crate::connect_error::ConnectError;
use crate::connection::Connection;

pub(super) struct Shared {
    pub(super) target: Target,
    pub(super) config: PoolConfig,
    pub(super) places: Places,
    pub(super) slots: Slots,
    /// Held by the first of those who have a place and no connection; the others stand in line for it.
    pub(super) line: tokio::sync::Mutex<()>,
    pub(super) resting: Mutex<Resting>,
    pub(super) leased: AtomicUsize,
    pub(super) counts: Counts,
}

/// What is looked at and changed together.
pub(super) struct Resting {
    /// The last one returned is at the end, and used first: those at the front grow old.
    pub(super) idle: Vec<Idle>,
    pub(super) breaker: Breaker,
    pub(super) hosts: Hosts,
    pub(super) closed: bool,
}

pub(super) struct Idle {
    pub(super) pooled: Pooled,
    pub(super) since: Instant,
}

/// A connection of the pool's.
#[derive(Debug)]
pub(super) struct Pooled {
    // Handed from one to the other as a pointer.
    pub(super) connection: Box<Connection>,
    /// When it is too old.
    pub(super) expires: Instant,
    // Dropped after the connection: it counts until its socket is closed.
    _slot: Slot,
}

/// What someone with a place and without a connection can do.
pub(super) enum Outlook {
    Connect(Slot),
    Wait,
}

impl Shared {
    pub(super) fn new(target: Target, config: PoolConfig) -> Self {
        let hosts = Hosts::new(target.hosts().count(), target.attributes.is_one_server());
        let resting = Resting { idle: Vec::new(), breaker: Breaker::default(), hosts, closed: false };
        Shared {
            places: Places::new(config.size(), config.reserve),
            slots: Slots::new(config.size().saturating_add(config.reserve)),
            line: tokio::sync::Mutex::new(()),
            resting: Mutex::new(resting),
            leased: AtomicUsize::new(0),
            counts: Counts::default(),
            target,
            config,
        }
    }

    /// The connection that came back last, if it is young, still there and silent.
    pub(super) async fn take_idle(&self) -> Option<Pooled> {
        loop {
            let Idle { mut pooled, since } = self.resting.lock().idle.pop()?;
            let now = Instant::now();
            let looked = match pooled.expires <= now {
                true => Err(Cause::Aged),
                false => look(&mut pooled.connection, now - since).await,
            };
            if let Some(pooled) = self.good(pooled, looked) {
                return Some(pooled);
            }
        }
    }

    /// The same, of one that has just come back: it takes no wait to look at it.
    pub(super) fn take_fresh(&self) -> Option<Pooled> {
        let now = Instant::now();
        let Idle { mut pooled, .. } = self.resting.lock().idle.pop_if(|idle| {
            let rested = now.saturating_duration_since(idle.since);
            rested < NEWS_TRAVEL && now < idle.pooled.expires
        })?;
        let looked = look_again(&mut pooled.connection);
        self.good(pooled, looked)
    }

    /// It, where a look has found nothing and its server still is what is asked for; else it is closed.
    fn good(&self, pooled: Pooled, looked: Result<(), Cause>) -> Option<Pooled> {
        let fits = || self.target.attributes.still_fits(pooled.connection.parameters());
        let cause = match looked {
            Ok(()) if fits() => return Some(pooled),
            Ok(()) => Cause::Moved,
            Err(cause) => cause,
        };
        self.destroy(pooled, cause);
        None
    }

    /// The last error, if the server is down and nothing is left from before.
    pub(super) fn fail_fast(&self) -> Result<(), CheckoutError> {
        let resting = self.resting.lock();
        match resting.breaker.last_error() {
            _ if resting.closed => Err(CheckoutError::Closed),
            Some(error) if resting.idle.is_empty() && !self.makes_do(&error) => {
                Err(CheckoutError::Down(error))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// What there is to do where nothing is at rest.
    pub(super) fn outlook(&self) -> Result<Outlook, CheckoutError> {
        let resting = self.resting.lock();
        match resting.breaker.last_error() {
            _ if resting.closed => Err(CheckoutError::Closed),
            Some(error) if self.makes_do(&error) => Ok(Outlook::Wait),
            Some(error) => Err(CheckoutError::Down(error)),
            None => Ok(self.slots.take(usize::MAX).map_or(Outlook::Wait, Outlook::Connect)),
        }
    }

    /// A server that is up and has no room for more connections: those that are leased will come back.
    fn makes_do(&self, error: &ConnectError) -> bool {
        error.is_for_want_of_room() && self.leased.load(Ordering::Acquire) > 0
    }

    /// A new connection.
    pub(super) async fn connect(self: &Arc<Self>, slot: Slot) -> Result<Pooled, Arc<ConnectError>> {
        self.try_connect(slot).await.map_err(|error| self.failed(error))
    }

    /// The same, where a failure is not news.
    pub(super) async fn try_connect(&self, slot: Slot) -> Result<Pooled, Arc<ConnectError>> {
        let order = self.resting.lock().hosts.order(Instant::now());
        match search(&self.target, order).await {
            Ok(found) => Ok(self.connected(found, slot)),
            Err(error) => {
                self.counts.failed.fetch_add(1, Ordering::Relaxed);
                Err(Arc::new(error))
            }
        }
    }

    /// There is nothing to retry any more.
    pub(super) fn has_recovered(&self) -> bool {
        let resting = self.resting.lock();
        resting.closed || resting.breaker.last_error().is_none()
    }

    /// The one who retries has failed again. False if another one has not.
    pub(super) fn is_still_down(&self, error: &Arc<ConnectError>) -> bool {
        self.resting.lock().breaker.renew(Arc::clone(error))
    }

    fn connected(&self, found: Found, slot: Slot) -> Pooled {
        let Found { connection, tried } = found;
        let number = self.counts.opened.fetch_add(1, Ordering::Relaxed);
        let now = Instant::now();
        let left: Vec<Idle> = {
            let mut resting = self.resting.lock();
            let Resting { idle, breaker, hosts, closed: _ } = &mut *resting;
            breaker.close();
            hosts.learn(tried, now);
            idle.extract_if(.., |idle| hosts.has_left(&idle.pooled.connection.route)).collect()
        };
        left.into_iter().for_each(|idle| self.destroy(idle.pooled, Cause::Moved));
        self.slots.tell_all();
        Pooled {
            connection: Box::new(connection),
            expires: now + self.config.lifetime_of(number),
            _slot: slot,
        }
    }

    /// Opens the breaker; the first to do so starts the one who tries again.
    fn failed(self: &Arc<Self>, error: Arc<ConnectError>) -> Arc<ConnectError> {
        let first = self.resting.lock().breaker.open(Arc::clone(&error));
        if first {
            tracing::warn!(database = %self.target.database, %error, "upstream is down");
            tokio::spawn(retry(Arc::downgrade(self)));
        }
        error
    }

    /// Takes a clean connection back.
    pub(super) fn rest(&self, pooled: Pooled) {
        let now = Instant::now();
        let fits = self.target.attributes.still_fits(pooled.connection.parameters());
        let cause = {
            let mut resting = self.resting.lock();
            if resting.closed {
                Cause::Closed
            } else if pooled.expires <= now {
                Cause::Aged
            } else if !fits || resting.hosts.has_left(&pooled.connection.route) {
                Cause::Moved
            } else {
                resting.idle.push(Idle { pooled, since: now });
                drop(resting);
                return self.slots.tell_one();
            }
        };
        self.destroy(pooled, cause);
    }

    pub(super) fn destroy(&self, pooled: Pooled, cause: Cause) {
        tracing::debug!(pid = pooled.connection.backend_pid(), %cause, "an upstream connection is closed");
        self.counts.destroyed(cause);
        let Pooled { connection, expires: _, _slot } = pooled;
        connection.terminate();
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("target", &self.target)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
