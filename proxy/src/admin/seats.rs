//! Who may stay at the listener: connections that have shown a good token, and strangers.
//!
//! Known from slow-header floods: who may say nothing and keep a place for it keeps out those who watch the process. So
//! `connections` counts those that have shown a good token. A stranger has a few seconds for each request, and where
//! there is no room the one that has been silent for longest makes some. There is always room for a few strangers, who
//! may ask for `/healthz` and `/readyz`.
//!
//! INVARIANT (bounded): there are no more sockets than `connections` and [`STRANGERS_KEPT`].

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until, timeout};

use super::refused::Refused;

/// All of them.
pub(super) struct Seats {
    room: Arc<Semaphore>,
    known: Arc<Semaphore>,
    /// How long a stranger may be silent.
    patience: Duration,
    all: Mutex<All>,
}

#[derive(Default)]
struct All {
    /// Where the next one is kept: they never come again.
    next: u64,
    seats: HashMap<u64, Arc<Seat>>,
}

/// Room for a connection; free again when this is dropped.
pub(super) struct Room {
    _held: OwnedSemaphorePermit,
}

/// A connection's.
pub(super) struct Seat {
    seats: Arc<Seats>,
    standing: Mutex<Standing>,
    ended: Notify,
}

/// Takes the seat away when the connection ends.
pub(super) struct Seated {
    pub(super) seat: Arc<Seat>,
    number: u64,
    _room: Room,
}

enum Standing {
    /// A stranger that has asked nothing since then.
    Silent(Instant),
    /// A stranger that is being answered.
    Asking,
    /// It has shown a good token, and has one of so many places.
    Known { _held: OwnedSemaphorePermit },
    /// It has to leave.
    Ended,
}

impl Seats {
    /// For so many that have shown a token.
    pub(super) fn new(connections: usize, patience: Duration) -> Arc<Seats> {
        Arc::new(Seats {
            room: Arc::new(Semaphore::new(connections.saturating_add(STRANGERS_KEPT))),
            known: Arc::new(Semaphore::new(connections)),
            patience,
            all: Mutex::default(),
        })
    }

    /// Room for another one, for which the most silent stranger leaves where there is none. Never none: the semaphore is
    /// not closed.
    pub(super) async fn room(&self) -> Option<Room> {
        loop {
            if let Ok(_held) = Arc::clone(&self.room).try_acquire_owned() {
                return Some(Room { _held });
            }
            self.end_the_most_silent();
            // That no stranger is silent lasts for as long as it takes to say that the process is alive.
            if let Ok(held) = timeout(LOOK_AGAIN, Arc::clone(&self.room).acquire_owned()).await {
                return held.ok().map(|_held| Room { _held });
            }
        }
    }

    fn end_the_most_silent(&self) {
        let all = self.all.lock();
        let silent = all.seats.values().filter_map(|seat| Some((seat.silent_since()?, seat)));
        let Some((_, seat)) = silent.min_by_key(|(since, _)| *since) else { return };
        // What has just begun to ask is looked past once.
        let mut standing = seat.standing.lock();
        if let Standing::Silent(_) = *standing {
            *standing = Standing::Ended;
            seat.ended.notify_one();
        }
    }

    /// Seats a connection: a stranger.
    pub(super) fn seat(self: &Arc<Self>, room: Room) -> Seated {
        let standing = Mutex::new(Standing::Silent(Instant::now()));
        let seat = Arc::new(Seat { seats: Arc::clone(self), standing, ended: Notify::new() });
        let mut all = self.all.lock();
        let number = all.next;
        all.next += 1;
        all.seats.insert(number, Arc::clone(&seat));
        Seated { seat, number, _room: room }
    }
}

impl Drop for Seated {
    fn drop(&mut self) {
        self.seat.seats.all.lock().seats.remove(&self.number);
        // A batch may outlive its connection by a verdict: its place is another's already.
        *self.seat.standing.lock() = Standing::Ended;
    }
}

impl Seat {
    /// The head of a request is there.
    pub(super) fn asks(&self) {
        let mut standing = self.standing.lock();
        if let Standing::Silent(_) = *standing {
            *standing = Standing::Asking;
        }
    }

    /// It is answered.
    pub(super) fn answered(&self) {
        let mut standing = self.standing.lock();
        if let Standing::Asking = *standing {
            *standing = Standing::Silent(Instant::now());
        }
    }

    /// It has shown a good token.
    ///
    /// # Errors
    /// There are so many of them already.
    pub(super) fn know(&self) -> Result<(), Refused> {
        let mut standing = self.standing.lock();
        match *standing {
            Standing::Known { .. } | Standing::Ended => Ok(()),
            Standing::Silent(_) | Standing::Asking => {
                let known = Arc::clone(&self.seats.known).try_acquire_owned();
                *standing = Standing::Known { _held: known.map_err(|_| Refused::crowded())? };
                Ok(())
            }
        }
    }

    /// It has shown none, or a wrong one.
    pub(super) fn forget(&self) {
        let mut standing = self.standing.lock();
        if let Standing::Known { .. } = *standing {
            *standing = Standing::Asking;
        }
    }

    fn silent_since(&self) -> Option<Instant> {
        match *self.standing.lock() {
            Standing::Silent(since) => Some(since),
            Standing::Asking | Standing::Known { .. } | Standing::Ended => None,
        }
    }

    /// Returns when the connection has to end: a stranger that was silent for too long, or makes room. Who is known has
    /// hyper's own time for heads.
    pub(super) async fn ends(&self) {
        let patience = self.seats.patience;
        let mut at = Instant::now() + patience;
        loop {
            tokio::select! {
                () = self.ended.notified() => return,
                () = sleep_until(at) => {}
            }
            let now = Instant::now();
            let since = self.silent_since().unwrap_or(now);
            at = since + patience;
            if at <= now {
                return;
            }
        }
    }
}

/// Places that those who are known do not get.
const STRANGERS_KEPT: usize = 16;
/// Between two looks for a stranger that is silent.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

    use std::future::poll_fn;
    use std::task::Poll;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    /// So many that come one after the other.
    async fn come(seats: &Arc<Seats>, count: usize) -> Vec<Seated> {
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(seats.seat(seats.room().await.unwrap()));
        }
        all
    }

    fn is_ended(seated: &Seated) -> bool {
        matches!(*seated.seat.standing.lock(), Standing::Ended)
    }

    #[tokio::test]
    async fn the_most_silent_stranger_makes_room() {
        let seats = Seats::new(2, PATIENCE);
        let mut all = come(&seats, 2 + STRANGERS_KEPT).await;
        all[0].seat.asks();
        all[1].seat.asks();
        all[1].seat.know().unwrap();
        let waiting = seats.room();
        tokio::pin!(waiting);
        let waits = poll_fn(|cx| Poll::Ready(waiting.as_mut().poll(cx).is_pending()));
        assert!(waits.await, "the socket is still there");
        let ended: Vec<usize> = (0..all.len()).filter(|at| is_ended(&all[*at])).collect();
        assert_eq!(ended, [2], "not the one that asks, not the one that is known");
        all[2].seat.ends().await;
        all.remove(2);
        assert!(waiting.await.is_some());
    }

    #[tokio::test]
    async fn those_who_are_known_do_not_take_the_strangers_places() {
        let seats = Seats::new(2, PATIENCE);
        let mut all = come(&seats, 3).await;
        assert!(all[0].seat.know().is_ok() && all[1].seat.know().is_ok() && all[1].seat.know().is_ok());
        assert!(all[2].seat.know().is_err());
        all[1].seat.forget();
        assert!(all[2].seat.know().is_ok() && all[1].seat.know().is_err());
        all.remove(0);
        assert!(all[0].seat.know().is_ok(), "its place is another's");
        drop(all);
        assert!(seats.all.lock().seats.is_empty(), "nobody is kept");
    }

    #[tokio::test]
    async fn a_stranger_has_its_time_for_each_request() {
        let patience = Duration::from_millis(50);
        let seats = Seats::new(1, patience);
        let seated = seats.seat(seats.room().await.unwrap());
        let ends = seated.seat.ends();
        tokio::pin!(ends);
        seated.seat.asks();
        assert!(timeout(patience * 3, &mut ends).await.is_err(), "it is being answered");
        let answered = Instant::now();
        seated.seat.answered();
        ends.await;
        assert!(answered.elapsed() >= patience);
    }
}
