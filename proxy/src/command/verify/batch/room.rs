//! A bound on the bytes that wait, whatever the length of lines.

use parking_lot::{Condvar, Mutex};

/// So many bytes may be on their way at once.
#[derive(Debug)]
pub(super) struct Room {
    taken: Mutex<usize>,
    given_back: Condvar,
    max_bytes: usize,
}

/// Bytes that are on their way. Dropping it gives them back.
#[derive(Debug)]
pub(super) struct Place<'r> {
    room: &'r Room,
    bytes: usize,
}

impl Room {
    pub(super) fn new(max_bytes: usize) -> Room {
        Room { taken: Mutex::new(0), given_back: Condvar::new(), max_bytes }
    }

    /// Waits until there is room; what is larger than all of it waits until it is alone.
    pub(super) fn take(&self, bytes: usize) -> Place<'_> {
        let mut taken = self.taken.lock();
        let full = |taken: &mut usize| *taken > 0 && taken.saturating_add(bytes) > self.max_bytes;
        self.given_back.wait_while(&mut taken, full);
        *taken += bytes;
        Place { room: self, bytes }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.room.taken.lock() -= self.bytes;
        self.room.given_back.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn never_more_than_the_bound_unless_alone() {
        let (room, now, most) = (Room::new(10), AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for bytes in [1, 4, 10, 25, 3].into_iter().cycle().take(200) {
                        let place = room.take(bytes);
                        let together = now.fetch_add(bytes, Ordering::SeqCst) + bytes;
                        most.fetch_max(together, Ordering::SeqCst);
                        assert!(together <= 10 || together == bytes, "{together} with {bytes}");
                        now.fetch_sub(bytes, Ordering::SeqCst);
                        drop(place);
                    }
                });
            }
        });
        assert_eq!((most.into_inner(), *room.taken.lock()), (25, 0));
    }
}
