//! What fdatasync(2) has made durable. Group commit: who comes while another one syncs waits, and one sync of
//! its own, or of whoever was first, serves all that waited.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

use crate::Fault;

/// A log's files with how far they were written and synced.
pub(crate) struct Durable {
    /// Held during a sync.
    syncing: Mutex<()>,
    /// The file that is written, behind those before it that were not synced since. Never held during a system call, so
    /// that who appends does not wait for who syncs.
    files: Mutex<Vec<Arc<File>>>,
    written_seq: AtomicU64,
    synced_seq: AtomicU64,
    /// The errno of the first sync that failed; 0 for none.
    errno: AtomicI32,
    /// Who waits for which line. One a line, so one that asks again takes its own place.
    waiting: Mutex<BTreeMap<u64, Waker>>,
}

impl Durable {
    pub(crate) fn new(file: Arc<File>, synced_seq: u64) -> Self {
        Self {
            syncing: Mutex::new(()),
            files: Mutex::new(vec![file]),
            written_seq: AtomicU64::new(synced_seq),
            synced_seq: AtomicU64::new(synced_seq),
            errno: AtomicI32::new(0),
            waiting: Mutex::new(BTreeMap::new()),
        }
    }

    /// All lines up to `seq` were written.
    pub(crate) fn written(&self, seq: u64) {
        self.written_seq.store(seq, Ordering::Release);
    }

    /// How far the file is durable.
    pub(crate) fn synced_seq(&self) -> u64 {
        self.synced_seq.load(Ordering::Acquire)
    }

    /// Returns when the written line `seq` is durable.
    pub(crate) fn reach(&self, seq: u64) -> Result<(), Fault> {
        let _one_by_one = self.syncing.lock();
        self.check()?;
        if self.synced_seq() >= seq {
            return Ok(());
        }
        // Before the look at the files: all these lines are in them.
        let written = self.written_seq.load(Ordering::Acquire).max(seq);
        self.sync(written)
    }

    /// Ready when the written line `seq` is durable, by whoever syncs.
    pub(crate) fn poll_reach(&self, seq: u64, cx: &Context<'_>) -> Poll<Result<(), Fault>> {
        let mut waiting = self.waiting.lock();
        if let Err(fault) = self.check() {
            return Poll::Ready(Err(fault));
        }
        // Under the lock: who syncs takes it after the number was raised.
        if self.synced_seq() >= seq {
            return Poll::Ready(Ok(()));
        }
        waiting.insert(seq, cx.waker().clone());
        Poll::Pending
    }

    /// Goes on with another file, which is written up to `seq`. The one before it is synced with it, and first.
    pub(crate) fn go_on_with(&self, next: Arc<File>, seq: u64) {
        self.files.lock().push(next);
        self.written(seq);
    }

    /// INVARIANT (a failed sync is final): after one the kernel may have dropped the pages and call the next
    /// sync a success (Linux does; PostgreSQL stops for the same reason), so the fault stays.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        match self.errno.load(Ordering::Acquire) {
            0 => Ok(()),
            errno => Err(Fault::System(errno)),
        }
    }

    fn sync(&self, written: u64) -> Result<(), Fault> {
        let files = self.files.lock().clone();
        // In their order: a line is never durable without those before it.
        if let Err(error) = files.iter().try_for_each(|file| file.sync_data()) {
            let fault = Fault::from(&error);
            self.errno.store(fault.errno().unwrap_or(EIO), Ordering::Release);
            self.wake(u64::MAX);
            return Err(fault);
        }
        // Nothing more comes into those that others follow.
        self.files.lock().drain(..files.len().saturating_sub(1));
        self.advance(written);
        Ok(())
    }

    fn advance(&self, seq: u64) {
        self.synced_seq.store(seq, Ordering::Release);
        self.wake(seq);
    }

    fn wake(&self, seq: u64) {
        let reached = {
            let mut waiting = self.waiting.lock();
            let later = waiting.split_off(&seq.saturating_add(1));
            std::mem::replace(&mut *waiting, later)
        };
        reached.into_values().for_each(Waker::wake);
    }
}

const EIO: i32 = 5;

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    fn poll(durable: &Durable, seq: u64) -> Poll<Result<(), Fault>> {
        durable.poll_reach(seq, &Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_failed_sync_is_never_forgotten() {
        // Linux refuses to sync a character device: EINVAL.
        let durable = Durable::new(Arc::new(File::open("/dev/null").unwrap()), 7);
        durable.written(9);
        assert_eq!(durable.reach(7), Ok(()));
        assert_eq!(poll(&durable, 8), Poll::Pending);
        let fault = durable.reach(8).unwrap_err();
        assert_eq!(fault.errno(), Some(22));
        assert_eq!(durable.check(), Err(fault));
        // Not even for lines that were durable before.
        assert_eq!(durable.reach(7), Err(fault));
        assert_eq!(poll(&durable, 7), Poll::Ready(Err(fault)));
        durable.go_on_with(Arc::new(tempfile::tempfile().unwrap()), 10);
        assert_eq!(durable.reach(10), Err(fault));
    }

    #[test]
    fn one_sync_serves_all_that_wait_for_lines_written_before_it() {
        let durable = Durable::new(Arc::new(tempfile::tempfile().unwrap()), 0);
        durable.written(3);
        for seq in 1..=3 {
            assert_eq!(poll(&durable, seq), Poll::Pending);
        }
        durable.reach(1).unwrap();
        for seq in 1..=3 {
            assert_eq!(poll(&durable, seq), Poll::Ready(Ok(())));
        }
        assert!(durable.waiting.lock().is_empty());
        assert_eq!(poll(&durable, 4), Poll::Pending);
        durable.go_on_with(Arc::new(tempfile::tempfile().unwrap()), 4);
        assert_eq!(poll(&durable, 4), Poll::Pending);
        durable.reach(4).unwrap();
        assert_eq!(poll(&durable, 4), Poll::Ready(Ok(())));
        assert_eq!(durable.files.lock().len(), 1, "the finished file is let go");
    }

    #[test]
    fn a_line_is_not_durable_while_the_file_before_its_own_is_not() {
        // The first one cannot be synced.
        let durable = Durable::new(Arc::new(File::open("/dev/null").unwrap()), 3);
        durable.go_on_with(Arc::new(tempfile::tempfile().unwrap()), 5);
        let fault = durable.reach(5).unwrap_err();
        assert_eq!((fault.errno(), durable.synced_seq()), (Some(22), 3));
    }
}
